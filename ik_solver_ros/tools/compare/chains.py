"""The arms of the comparison: two that people own, and chains of any number of joints."""

from __future__ import annotations

from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.load import load_chain
from ik_solver_ros.share import share_dir

RANGE = 2.6  # [rad] that the hinges of made-up chains turn either way
SLIDE = 0.3  # [m] that their sliding joints go
# The hinges' axes, base to tip, with all bones along x: arms as people build them, while there are few joints.
USUAL = {2: "yy", 3: "zyy", 4: "zyyy", 5: "zyyyx"}
COUNTS = (2, 3, 5, 7, 10, 15, 20)


def compared() -> dict[str, Chain]:
    """Every arm of the comparison, by name."""
    arms = {name: load_chain(share_dir() / "urdf" / f"{name}.urdf") for name in ("so101", "seed_arm")}
    arms |= {"slider": chain_of("s" + USUAL[5][:4]), "balls": chain_of("zyx" * 4)}
    return arms | {f"{n} joints": hinges(n) for n in COUNTS}


def hinges(n: int) -> Chain:
    """A chain of n >= 2 hinges and a reach of 1 m: as `USUAL`, else aside and up by turns."""
    return chain_of(USUAL.get(n, ("zy" * n)[:n]))


def chain_of(axes: str, limits: tuple[float, float] = (-RANGE, RANGE)) -> Chain:
    """A chain of these joints, base to tip: hinges about "x", "y", "z", or "s", which slides along y.

    All bones lie along x at zero, 1 m altogether, one after each joint; three hinges "zyx" are one ball joint, with a
    bone behind the last alone.
    """
    bones = [not axes[i:].startswith(("zyx", "yx")) or axes[i - 1 : i + 2] == "yyx" for i in range(len(axes))]
    length = 1.0 / sum(bones)
    parts, offset = ['<link name="l0"/>'], 0.0
    for i, axis in enumerate(axes):
        low, high = (-SLIDE, SLIDE) if axis == "s" else limits
        kind = "prismatic" if axis == "s" else "revolute"
        along = {"x": "1 0 0", "y": "0 1 0", "z": "0 0 1", "s": "0 1 0"}[axis]
        parts.append(
            f'<link name="l{i + 1}"/><joint name="j{i + 1}" type="{kind}"><parent link="l{i}"/><child link="l{i + 1}"/>'
            f'<origin xyz="{offset!r} 0 0"/><axis xyz="{along}"/>'
            f'<limit lower="{low!r}" upper="{high!r}" effort="10" velocity="3"/></joint>'
        )
        offset = length if bones[i] else 0.0
    n = len(axes)
    parts.append(
        f'<link name="tip"/><joint name="hand" type="fixed"><parent link="l{n}"/><child link="tip"/>'
        f'<origin xyz="{offset!r} 0 0"/></joint>'
    )
    return load_chain(f'<robot name="{axes}">{"".join(parts)}</robot>', tip_link="tip", tool_axis="x")
