"""doctor: what inverse kinematics can do with a URDF, and what of it looks wrong; in sentences for people."""

from __future__ import annotations

import math
import time
from xml.etree import ElementTree

import numpy as np

from ik_solver_ros.errors import listed
from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.kinematics.chain import Chain, Wrist
from ik_solver_ros.kinematics.geometry import collision_shapes, visual_shapes
from ik_solver_ros.kinematics.joint import Joint
from ik_solver_ros.kinematics.quaternion import rotate
from ik_solver_ros.solvers.batch import solve_batch
from ik_solver_ros.solvers.solution import Status
from ik_solver_ros.tools.doctor_sense import Finding, nonsense, tip_moves

SAMPLES = 20_000  # configurations that the reach is measured by
GOALS = 2_000  # that are tried
PLACEHOLDERS = (math.pi, 2.0 * math.pi, 3.14, 6.28, 3.1416, 6.2832, 100.0, 1000.0)  # limits that nobody measured
FAST, STRONG = 10.0, 1000.0  # [rad/s], [N m]: no small arm is as fast or as strong
ROUNDING = 1.01  # by which rounded moments of inertia may violate the triangle inequality


def examine(chain: Chain) -> list[Finding]:
    """All findings about a chain and its robot."""
    found = [*_chain(chain), *nonsense(chain), *_limits(chain), *_inertias(chain), *_shapes(chain)]
    if tip_moves(chain):
        found += _reach(chain)
        if chain.n > 1:  # what one joint can do, it does
            found += _goals(chain)
    return found


def _ok(text: str) -> Finding:
    return Finding(False, text)


def _wrong(text: str) -> Finding:
    return Finding(True, text)


def _chain(chain: Chain) -> list[Finding]:
    tool = (np.round(chain.tool_axis, 3) + 0.0).tolist()  # no -0.0
    out = [
        _ok(f"{chain.model.name}: {_joints(chain)} from {chain.base_link!r} to {chain.tip_link!r}"),
        _ok("joints: " + ", ".join(chain.joint_names)),
        _ok(f"the tool points along {tool} of the tip: {chain.tool_axis_reason}"),
    ]
    out += [_wrong(doubt) for doubt in chain.doubts]
    others = [joint.name for joint in chain.other_joints]
    if others:
        out.append(_ok(f"off the chain, for the gripper's controller: {listed(others)}"))
    if chain.n >= 6 and chain.direction_rank == 5:
        meaning = "six joints and more: any pose within reach, but for limits"
    elif chain.wrist is Wrist.ROLL and chain.n == 5:
        meaning = (
            "the wrist rolls the tool: the tool can only point within the arm's vertical plane, and of most poses the "
            "position is reached and the nearest direction. goal_mode approach or position suits it"
        )
    elif chain.wrist is Wrist.ACROSS and chain.n == 5:
        meaning = (
            "the last hinge lies across the tool: position and direction can be chosen, the roll comes as it comes. "
            "goal_mode approach suits it"
        )
    else:
        meaning = (
            f"{_joints(chain)}: of position and direction ({chain.direction_rank} of 5 can be chosen), the nearest"
        )
    out.append(_ok(meaning))
    closed = "in closed form (docs/waist_arm.md)" if chain.waist_arm is not None else "by sweeps and descents"
    out.append(_ok(f"solved {closed}"))
    return out


def _joints(chain: Chain) -> str:
    return "1 joint" if chain.n == 1 else f"{chain.n} joints"


def _limits(chain: Chain) -> list[Finding]:
    joints = [chain.model.joints[name] for name in chain.joint_names]
    width = max(len(joint.name) for joint in joints)
    out = [_ok(f"  {joint.name:{width}}  {_range(joint)}") for joint in joints]
    for joint in joints:
        what = f"joint {joint.name!r}"
        bounds = [bound for bound in (joint.lower, joint.upper) if math.isfinite(bound)]
        if any(math.isclose(abs(bound), each, rel_tol=1e-6) for bound in bounds for each in PLACEHOLDERS):
            out.append(
                _wrong(f"{what}: limits [{joint.lower:g}, {joint.upper:g}] look like placeholders; measure them")
            )
        if bounds and not joint.lower <= 0.0 <= joint.upper:
            out.append(_ok(f"{what}: 0 is outside its limits; ~/home goes to the nearest limit, or set `home`"))
        if not abs(joint.velocity) > 0.0:  # nan, too
            out.append(_wrong(f"{what}: no velocity limit; set joint_limits.{joint.name}.max_velocity"))
        elif joint.type != "prismatic" and abs(joint.velocity) >= FAST:
            out.append(_wrong(f"{what}: velocity limit {joint.velocity:g} rad/s looks like a placeholder"))
        if math.isfinite(joint.effort) and (joint.effort == 0.0 or abs(joint.effort) >= STRONG):
            out.append(_wrong(f"{what}: effort limit {joint.effort:g} looks like a placeholder; PyBullet moves by it"))
    for what, values in (("velocity", chain.velocity_limit), ("effort", chain.effort_limit)):
        if chain.n > 2 and np.isfinite(values).all() and len(set(values.tolist())) == 1:
            out.append(_ok(f"all joints have the same {what} limit, {values[0]:g}: true of equal motors"))
    return out


def _range(joint: Joint) -> str:
    if joint.type == "prismatic":
        return f"{1e3 * joint.lower:.1f} to {1e3 * joint.upper:.1f} mm, {joint.velocity:g} m/s, {joint.effort:g} N"
    bounds = "turns on and on"
    if math.isfinite(joint.lower):
        bounds = f"{math.degrees(joint.lower):.1f} to {math.degrees(joint.upper):.1f} deg"
    return f"{bounds}, {joint.velocity:g} rad/s, {joint.effort:g} N m"


def _inertias(chain: Chain) -> list[Finding]:
    moved = {chain.model.joints[name].child for name in chain.joint_names}
    out, masses = [], {}
    robot = ElementTree.fromstring(chain.model.text.encode(), parser=ElementTree.XMLParser(encoding="utf-8"))
    for link in robot.findall("link"):
        name = link.get("name", "")
        if name not in moved:
            continue
        inertial = link.find("inertial")
        mass = None if inertial is None else inertial.find("mass")
        if inertial is None or mass is None:
            out.append(_wrong(f"link {name!r} has no <inertial>: PyBullet takes it for 1 kg, and the arm sags"))
            continue
        try:
            masses[name] = float(mass.get("value", "nan"))
            element = inertial.find("inertia")
            inertia = _matrix(element) if element is not None else np.full((3, 3), np.nan)
        except ValueError as error:
            out.append(_wrong(f"link {name!r}: its inertia cannot be read: {error}"))
            continue
        out += [_wrong(f"link {name!r}: {wrong}") for wrong in _faults(masses[name], inertia, chain.reach)]
    if len(masses) > 2 and len(set(masses.values())) == 1:
        out.append(_wrong(f"all links weigh {next(iter(masses.values())):g} kg: placeholders"))
    elif masses and not any(finding.warning for finding in out):
        out.append(_ok(f"the moving links weigh {sum(masses.values()):.3g} kg"))
    return out


def _matrix(element: ElementTree.Element) -> Array:
    xx, xy, xz, yy, yz, zz = (float(element.get(key, "0")) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _faults(mass: float, inertia: Array, size: float) -> list[str]:
    """What cannot be true of a body of this mass [kg] and inertia (3, 3) [kg m2] in an arm of this size [m]."""
    if not (math.isfinite(mass) and mass > 0.0):
        return [f"its mass is {mass:g} kg"]
    if not np.isfinite(inertia).all():
        return ["its inertia is missing or not finite"]
    least, middle, most = np.linalg.eigvalsh(inertia)
    if least <= 0.0:
        return [f"its inertia has the principal moment {least:.3g}: all must be positive"]
    out = []
    if most > ROUNDING * (least + middle):
        out.append(
            f"its principal moments {least:.3g}, {middle:.3g}, {most:.3g} are of no body (the largest exceeds the sum)"
        )
    gyration = math.sqrt(most / mass)
    if gyration > size:
        out.append(f"its inertia is that of a body {gyration:.2g} m in radius, on an arm that reaches {size:.2g} m")
    return out


def _shapes(chain: Chain) -> list[Finding]:
    out = []
    for what, (shapes, notes) in (("visual", visual_shapes(chain.model)), ("collision", collision_shapes(chain.model))):
        out += [_wrong(note) for note in notes]
        if not shapes and what == "collision":
            out.append(_wrong("no link has a <collision>: nothing guards the arm against itself and the floor"))
        elif not shapes:
            out.append(_ok("no link has a <visual>: RViz and PyBullet have nothing to show"))
    return out


def _reach(chain: Chain) -> list[Finding]:
    rng = np.random.default_rng(0)
    tips = np.array([chain.forward(q)[0] for q in rng.uniform(*chain.finite_limits, (SAMPLES, chain.n))])
    low, high = tips.min(axis=0), tips.max(axis=0)
    spans = ", ".join(f"{axis} {a:.3f} to {b:.3f}" for axis, a, b in zip("xyz", low, high))
    radius = np.linalg.norm(tips[:, :2], axis=1).max()
    return [_ok(f"the tip reaches {spans} m, up to {radius:.3f} m from the axis through {chain.base_link!r}")]


def _goals(chain: Chain) -> list[Finding]:
    rng = np.random.default_rng(1)
    poses = [chain.forward(q) for q in rng.uniform(*chain.finite_limits, (GOALS, chain.n))]
    directions = np.array([rotate(quat, chain.tool_axis) for _, quat in poses])
    positions = np.array([position for position, _ in poses])
    solve_batch(chain, positions[:8], directions[:8], threads=1)  # compiles
    began = time.perf_counter()
    answers = solve_batch(chain, positions, directions, threads=1)
    each = 1e6 * (time.perf_counter() - began) / GOALS  # [us]
    percent = 100.0 * sum(status is Status.REACHED for status in answers.status) / GOALS
    text = f"of {GOALS} positions with directions that it can have, {percent:.4g} % were reached, in {each:.3g} us each"
    return [Finding(percent < 99.0, text)]
