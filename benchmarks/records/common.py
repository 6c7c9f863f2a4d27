"""What the records share: arms by name, a judge that is neither ours nor theirs, and figures in tables."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
import pinocchio
import yaml
from scipy.spatial.transform import Rotation

from benchmarks.arms import HERE, URDFS
from ik_solver_ros import Chain, load_chain

Pose = np.ndarray  # (4, 4), homogeneous [m]
OTHERS = HERE / "others"
ROUNDING = 1e-6  # [rad or m]


def find(name: str) -> tuple[Path, Chain]:
    """The URDF of an arm of benchmarks/arms, and its chain as its vendor means it."""
    if name in URDFS:
        return URDFS[name], load_chain(URDFS[name])
    meant = yaml.safe_load((OTHERS / "arms.yaml").read_text())[name]
    path = OTHERS / f"{name}.urdf"
    return path, load_chain(path, base_link=meant["base"], tip_link=meant["tip"], tool_axis=meant["tool_axis"])


def judge_of(urdf: str | Path, chain: Chain) -> Callable[[np.ndarray], Pose]:
    """Pinocchio's forward kinematics of that chain: q (n,) to the tip in the base."""
    text = urdf if isinstance(urdf, str) else urdf.read_text()
    model = pinocchio.buildModelFromXML(text)
    data = model.createData()
    base, tip = (model.getFrameId(link, pinocchio.FrameType.BODY) for link in (chain.base_link, chain.tip_link))
    joints = [model.joints[model.getJointId(name)] for name in chain.joint_names]

    def forward(q: np.ndarray) -> Pose:
        full = pinocchio.neutral(model)
        for joint, value in zip(joints, q):
            if joint.nq == 2:  # without limits: as cosine and sine
                full[joint.idx_q : joint.idx_q + 2] = np.cos(value), np.sin(value)
            else:
                full[joint.idx_q] = value
        pinocchio.framesForwardKinematics(model, data, full)
        return np.asarray(data.oMf[base].actInv(data.oMf[tip]).homogeneous)

    return forward


def miss(answer: Pose, goal: Pose) -> np.ndarray:
    """(6,) by which an answer misses: x, y, z [m], and the components of the turn that is left [rad]."""
    turn = Rotation.from_matrix(answer[:3, :3].T @ goal[:3, :3]).as_rotvec()
    return np.concatenate([goal[:3, 3] - answer[:3, 3], turn])


def inside(chain: Chain, q: np.ndarray) -> bool:
    """Within the limits, but for what is lost by those who keep them in single precision."""
    return bool((q >= chain.lower - ROUNDING).all() and (q <= chain.upper + ROUNDING).all())


def pose_of(position: np.ndarray, quat: np.ndarray) -> Pose:
    out = np.eye(4)
    out[:3, :3], out[:3, 3] = Rotation.from_quat(quat).as_matrix(), position
    return out


def table(*head: str) -> None:
    row(*head)
    row(*["---"] * len(head))


def row(*cells: object) -> None:
    print("|", " | ".join(str(cell) for cell in cells), "|", flush=True)


def duration(seconds: float) -> str:
    """With three digits, in us below 1 ms and in ms from there."""
    return f"{1e6 * seconds:.3g} us" if seconds < 0.9995e-3 else f"{1e3 * seconds:.4g} ms"


def release(package: str) -> str:
    """The package with its version, or without where it is not installed."""
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return package
