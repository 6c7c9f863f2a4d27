"""Simulated arms by name. A new one is a class in a file of its own, and a line in the table."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pkgutil import resolve_name

from ik_solver_ros.arm.base import SimulatedArm
from ik_solver_ros.errors import ArmError, listed
from ik_solver_ros.kinematics.model import RobotModel

# name: "module:class", imported when first asked for and made by (model, initial, gui=..., floor=...)
BACKENDS: dict[str, str] = {
    "pybullet": "ik_solver_ros.arm.bullet:BulletArm",
    "mock": "ik_solver_ros.arm.mock:MockArm",
}


def simulated_arm(
    backend: str,
    model: RobotModel,
    initial: Mapping[str, float] | None = None,
    *,
    gui: bool = False,
    floor: bool = True,
) -> SimulatedArm:
    """An arm of that back-end, not opened yet; "auto" is PyBullet where it is installed, else the mock.

    initial: by joint [rad or m]. gui: with a window, where the back-end has one. floor: a ground plane at z = 0, where
    it has physics. Once the arm is open, its `notes` tell what was chosen or assumed.

    Raises ArmError for an unknown back-end and for an initial position that cannot be.
    """
    instead = backend == "auto" and find_spec("pybullet") is None
    name = ("mock" if instead else "pybullet") if backend == "auto" else backend
    if name not in BACKENDS:
        raise ArmError(f"back-end {backend!r} is unknown; there are: auto, {listed(BACKENDS)}")
    arm: SimulatedArm = resolve_name(BACKENDS[name])(model, initial, gui=gui, floor=floor)
    if instead:
        arm.notes.append("PyBullet is not installed: the kinematic mock moves, without physics")
    return arm
