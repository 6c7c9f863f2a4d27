"""Answers that are kept while a calibration is not finished: what is done of it, beside the file that it will be."""

from __future__ import annotations

from pathlib import Path

from ik_solver_ros.errors import CalibrationError, listed
from ik_solver_ros.servo.calibration import Calibration, ServoJoint, load_calibration
from ik_solver_ros.tools.calibrate.dialogue import Ask, Show, agreed


class Kept:
    """The answers so far, in OUT.partial."""

    def __init__(self, out: Path, protocol: str, baud: int) -> None:
        self.path = out.with_name(out.name + ".partial")
        self._protocol, self._baud = protocol, baud

    def before(self, ask: Ask, show: Show) -> dict[str, ServoJoint]:
        """The answers of a wizard that ended early, by joint, where somebody wants to go on from there."""
        if not self.path.exists():
            return {}
        try:
            found = load_calibration(self.path)
        except CalibrationError as error:
            show(f"left aside: {error}")
            return {}
        if found.protocol != self._protocol:
            show(f"left aside: {self.path} is of {found.protocol} servos")
            return {}
        names = listed(joint.name for joint in found.joints)
        if not agreed(ask, f"{self.path} has {names} already: go on from there?", usual=True):
            return {}
        return {joint.name: joint for joint in found.joints}

    def save(self, joints: tuple[ServoJoint, ...]) -> None:
        """What there is now."""
        Calibration(self._protocol, self._baud, joints).dump(self.path)

    def drop(self) -> None:
        """It is done."""
        self.path.unlink(missing_ok=True)
