"""Those that go down to the goal, step by step, and from new starts where they are stuck."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks.arms import URDFS
from benchmarks.peers import Solver
from ik_solver_ros import Chain


def make_roboticstoolbox(arm: str, chain: Chain) -> Solver:
    ets = elementary_transforms(chain)
    return lambda p, r, d: ets.ik_LM(homogeneous(p, r), q0=chain.mid.copy(), ilimit=30, slimit=100, tol=1e-12)[0]


def elementary_transforms(chain: Chain):
    """The chain as the Robotics Toolbox has it, a roboticstoolbox.ETS."""
    import roboticstoolbox

    steps = []
    for joint in chain.model.path(chain.base_link, chain.tip_link):
        steps.append(roboticstoolbox.ET.SE3(homogeneous(joint.origin_p, joint.origin_q)))
        if joint.type == "fixed":
            continue
        turn = Rotation.align_vectors([joint.axis], [[0.0, 0.0, 1.0]])[0]
        there = homogeneous(np.zeros(3), turn.as_quat())
        steps.append(roboticstoolbox.ET.SE3(there))
        steps.append(roboticstoolbox.ET.Rz(qlim=[joint.lower, joint.upper]))
        steps.append(roboticstoolbox.ET.SE3(there.T))
    return roboticstoolbox.ETS(steps)


def homogeneous(p: np.ndarray, quat: np.ndarray) -> np.ndarray:
    """(4, 4) of a position (3,) [m] and a quaternion xyzw."""
    out = np.eye(4)
    out[:3, :3], out[:3, 3] = Rotation.from_quat(quat).as_matrix(), p
    return out


def make_pytracik(arm: str, chain: Chain) -> Solver:
    from trac_ik import TracIK

    tracik = TracIK(chain.base_link, chain.tip_link, str(URDFS[arm]), timeout=0.005, epsilon=1e-6)

    def run(p, r, d):
        return tracik.ik(p, Rotation.from_quat(r).as_matrix(), chain.mid.copy())

    return run


def make_simple_ik(arm: str, chain: Chain) -> Solver:
    from roboplan.core import CartesianConfiguration, JointConfiguration
    from roboplan.simple_ik import SimpleIk, SimpleIkOptions

    options = SimpleIkOptions(
        "arm", max_restarts=100, max_linear_error_norm=1e-6, max_angular_error_norm=1e-6, check_collisions=False
    )
    solver = SimpleIk(scene_of(without_shapes(arm), chain), options)
    start, found = JointConfiguration(list(chain.joint_names), chain.mid.copy()), JointConfiguration()

    def run(p, r, d):
        goal = CartesianConfiguration(chain.base_link, chain.tip_link, homogeneous(p, r))
        return found.positions.copy() if solver.solveIk(goal, start, found) else None

    return run


def without_shapes(arm: str) -> str:
    """The text of an arm's URDF without what could collide: RoboPlan begins nowhere else than free of collisions."""
    root = ElementTree.parse(URDFS[arm]).getroot()
    for link in root.iter("link"):
        for shape in link.findall("collision"):
            link.remove(shape)
    return ElementTree.tostring(root, encoding="unicode")


def scene_of(urdf: str, chain: Chain, folders: tuple[str, ...] = ()):
    """RoboPlan's scene of a URDF's text, in which the chain's joints are the group "arm"; folders: of its packages."""
    from roboplan.core import Scene

    named = "".join(f'<joint name="{joint}"/>' for joint in chain.joint_names)
    srdf = f'<robot name="{chain.model.name}"><group name="arm">{named}</group></robot>'
    return Scene("scene", urdf=urdf, srdf=srdf, package_paths=list(folders))


def make_pinocchio(arm: str, chain: Chain) -> Solver:
    import pinocchio

    model = pinocchio.buildModelFromUrdf(str(URDFS[arm]))
    names = [name for name in model.names[1:] if name not in chain.joint_names]
    model = pinocchio.buildReducedModel(model, [model.getJointId(n) for n in names], pinocchio.neutral(model))
    data, frame = model.createData(), model.getFrameId(chain.tip_link)

    def run(p, r, d):
        goal, q = pinocchio.SE3(Rotation.from_quat(r).as_matrix(), p), chain.mid.copy()
        for _ in range(200):
            pinocchio.forwardKinematics(model, data, q)
            error = pinocchio.log(pinocchio.updateFramePlacement(model, data, frame).actInv(goal)).vector
            if np.linalg.norm(error) < 1e-7:
                break
            jacobian = pinocchio.computeFrameJacobian(model, data, q, frame)
            step = jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + 1e-6 * np.eye(6), error)
            q = np.clip(pinocchio.integrate(model, q, step), chain.lower, chain.upper)
        return q

    return run


def make_ikpy(arm: str, chain: Chain) -> Solver:
    import ikpy.chain

    elements = [chain.base_link]
    for joint in chain.model.path(chain.base_link, chain.tip_link):
        elements += [joint.name, joint.child]
    peer = ikpy.chain.Chain.from_urdf_file(str(URDFS[arm]), base_elements=elements)
    moving = [i for i, link in enumerate(peer.links) if link.name in chain.joint_names]
    peer.active_links_mask = np.array([i in moving for i in range(len(peer.links))])
    start = np.zeros(len(peer.links))
    start[moving] = chain.mid

    def run(p, r, d):
        matrix = Rotation.from_quat(r).as_matrix()
        return peer.inverse_kinematics(p, matrix, orientation_mode="all", initial_position=start)[moving]

    return run


def make_pybullet(arm: str, chain: Chain) -> Solver:
    import pybullet

    client = pybullet.connect(pybullet.DIRECT)
    body = pybullet.loadURDF(str(URDFS[arm]), useFixedBase=True, physicsClientId=client)
    infos = [pybullet.getJointInfo(body, i, client) for i in range(pybullet.getNumJoints(body, client))]
    moving = [info for info in infos if info[2] != pybullet.JOINT_FIXED]
    tip = next(info[0] for info in infos if info[12].decode() == chain.tip_link)
    order = [[info[1].decode() for info in moving].index(name) for name in chain.joint_names]
    lower, upper, mid = ([0.0] * len(moving) for _ in range(3))
    for k, where in enumerate(order):
        lower[where], upper[where], mid[where] = chain.lower[k], chain.upper[k], chain.mid[k]
    spans = [b - a for a, b in zip(lower, upper)]

    def run(p, r, d):
        for info, value in zip(moving, mid):
            pybullet.resetJointState(body, info[0], value, physicsClientId=client)
        found = pybullet.calculateInverseKinematics(
            body, tip, p, r, lower, upper, spans, mid, maxNumIterations=200, residualThreshold=1e-8,
            physicsClientId=client,
        )  # fmt: skip
        return np.array(found)[order]

    return run
