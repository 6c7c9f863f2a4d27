"""What arms of servos that measure where they are have in common.

Torque comes on only where a servo is measured to be within its calibrated range, and on all of them or on none.
"""

from __future__ import annotations

import numpy as np

from ik_solver_ros.arm.base import Reading
from ik_solver_ros.arm.servos import Sample
from ik_solver_ros.errors import ArmError, BusError
from ik_solver_ros.servo.bus import Port
from ik_solver_ros.servo.calibration import Calibration, ServoJoint

ROUNDS = 3  # in which servos are looked for: a pause of this computer, or of theirs, may take all tries of some of them
ENABLE_WITHIN = 8  # [ticks] of its goal that a servo must be measured when its torque comes on


class MeasuredServos:
    """Joints by the samples of their servos. The methods that raise NotImplementedError are the family's own."""

    def __init__(self, calibration: Calibration, port: Port, name: str) -> None:
        self.calibration, self.port, self.name = calibration, port, name
        self.joint_names = tuple(joint.name for joint in calibration.joints)
        self._positions = np.full(len(calibration.joints), np.nan)

    def open(self) -> None:
        """Connect, and find every servo. Raises ArmError and BusError that say what is wrong."""
        self.port.open()
        try:
            missing = list(self.calibration.joints)
            for _ in range(ROUNDS):
                missing = [joint for joint in missing if not self._answers(joint)]
            if missing:
                names = ", ".join(f"{joint.name} (id {joint.id})" for joint in missing)
                raise ArmError(
                    f"servos that do not answer on {self.port.url} at {self.calibration.baud} baud: {names}; "
                    "are they powered, are their ids right, and is every cable in?"
                )
            for joint in self.calibration.joints:
                self._get_to_know(joint)
            self.read()
        except (ArmError, BusError):
            self.port.close()
            raise

    def samples(self) -> dict[str, Sample]:
        """What every servo that answers tells of itself, by joint. Raises BusError where the port is gone."""
        raise NotImplementedError

    def read(self) -> Reading:
        """The joints as measured. Raises ArmError where a servo does not answer, and BusError."""
        samples = self.samples()
        silent = [name for name in self.joint_names if name not in samples]
        if silent:
            raise ArmError(f"servos do not answer: {', '.join(silent)}")
        return self.reading(samples)

    def reading(self, samples: dict[str, Sample]) -> Reading:
        """The joints by these samples; as before where there is none."""
        velocities = np.zeros(len(self.joint_names))
        for i, joint in enumerate(self.calibration.joints):
            if joint.name in samples:
                sample = samples[joint.name]
                self._positions[i] = joint.position(sample.ticks)
                velocities[i] = joint.direction * joint.per_tick * sample.velocity
        return Reading(self._positions.copy(), velocities, measured=True)

    def enable(self) -> None:
        """Bring the torque on, every servo where it is. Raises ArmError, with all torque off again, and BusError."""
        try:
            for joint in self.calibration.joints:
                ticks = self._position(joint)
                if ticks is None:
                    raise ArmError(f"no torque: servo of {joint.name!r} (id {joint.id}) does not answer")
                if not joint.min - ENABLE_WITHIN <= ticks <= joint.max + ENABLE_WITHIN:
                    raise ArmError(
                        f"no torque: {joint.name!r} is at {ticks} ticks, outside its calibrated range [{joint.min}, "
                        f"{joint.max}]; move it there by hand, or calibrate again"
                    )
                if not self._take_torque(joint, ticks):
                    raise ArmError(f"no torque: servo of {joint.name!r} (id {joint.id}) does not take it on")
        except ArmError:
            self.release()
            raise

    def release(self) -> None:
        """Take the torque off. Raises BusError."""
        raise NotImplementedError

    def close(self) -> None:
        """Let go of the port; the servos stay as they are."""
        self.port.close()

    def _answers(self, joint: ServoJoint) -> bool:
        """Whether its servo is there."""
        raise NotImplementedError

    def _get_to_know(self, joint: ServoJoint) -> None:
        """Ask what is asked once. Raises ArmError where it is not the servo that was calibrated."""
        raise NotImplementedError

    def _position(self, joint: ServoJoint) -> int | None:
        """Where its servo is [ticks]; None where it does not answer."""
        raise NotImplementedError

    def _take_torque(self, joint: ServoJoint, ticks: int) -> bool:
        """Bring its torque on where it is [ticks]; whether it is on. Raises ArmError where it must not be."""
        raise NotImplementedError
