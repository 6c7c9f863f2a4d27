"""What arms of servos that measure where they are have in common.

Torque comes on only where a servo is measured, again and again, to stand within its calibrated range. One that has its
torque keeps the goal it holds, lest the arm sinks a little each time that somebody asks for the torque. Where one
servo refuses, the others stay as they are.
"""

from __future__ import annotations

import time

import numpy as np

from ik_solver_ros.arm.base import Reading
from ik_solver_ros.arm.servos import Sample
from ik_solver_ros.errors import ArmError, BusError, listed
from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.servo.bus import Port
from ik_solver_ros.servo.calibration import Calibration, ServoJoint

ROUNDS = 3  # in which servos are looked for: a pause of this computer, or of theirs, may take all tries of some of them
ENABLE_WITHIN = 8  # [ticks] of its goal that a servo must be measured when its torque comes on
HOLDING = 0.15  # [rad] of a servo's turn from its own goal, within which it holds that: it sags, and lags
AGREEING, LOOKS, LOOK_EVERY = 3, 30, 0.005  # looks at a servo that must agree, of so many, so far apart [s]


class MeasuredServos:
    """Joints by the samples of their servos. The methods that raise NotImplementedError are the family's own."""

    def __init__(self, calibration: Calibration, port: Port, name: str) -> None:
        self.calibration, self.port, self.name = calibration, port, name
        self.joint_names = tuple(joint.name for joint in calibration.joints)
        self._positions = np.full(len(calibration.joints), np.nan)
        self._holding = HOLDING / calibration.family.per_tick  # [ticks]

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
        samples: dict[str, Sample] = {}
        for _ in range(ROUNDS):
            samples |= self.samples()
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

    def enable(self, fastest: Array) -> Array:
        """Bring the torque on, every servo where it is; those that have it keep what they hold: see ServoArm."""
        self._revive()
        samples = self._agreed()
        refusals = [text for joint in self.calibration.joints if (text := self._refusal(joint, samples[joint.name]))]
        if refusals:
            raise ArmError(f"no torque: {'; '.join(refusals)}; the others stay as they are")
        taken: list[ServoJoint] = []
        held = np.zeros(len(self.joint_names))
        try:
            for i, joint in enumerate(self.calibration.joints):
                sample = samples[joint.name]
                self._prepare(joint, float(fastest[i]) / joint.per_tick)
                goal = self._held(joint, sample)
                if goal is None:
                    goal = sample.ticks
                    if not sample.torque:
                        taken.append(joint)
                    self._take_torque(joint, goal)
                self._keep(joint, goal)
                held[i] = joint.position(goal)
        except (ArmError, BusError):
            for joint in taken:
                self._let_go(joint)
            raise
        return held

    def release(self) -> None:
        """Take the torque off. Raises ArmError where some of it may still be on, and BusError."""
        for _ in range(ROUNDS):
            for joint in self.calibration.joints:
                self._let_go(joint)
            on = [joint.name for joint in self.calibration.joints if not self._is_off(joint)]
            if not on:
                return
        raise ArmError(f"the torque of {listed(on)} may still be on: they do not say that it is off")

    def close(self) -> None:
        """Let go of the port; the servos stay as they are."""
        self.port.close()

    def _agreed(self) -> dict[str, Sample]:
        """A sample of each servo, with which others agree. Raises ArmError naming those that are silent, or move."""
        seen: dict[str, list[Sample]] = {name: [] for name in self.joint_names}
        agreed: dict[str, Sample] = {}
        for _ in range(LOOKS):
            for name, sample in self.samples().items():
                if name not in agreed:
                    seen[name].append(sample)
                    last = seen[name][-AGREEING:]
                    ticks = [one.ticks for one in last]
                    same = len({(one.torque, one.goal, tuple(one.faults)) for one in last}) == 1
                    if len(last) == AGREEING and same and max(ticks) - min(ticks) <= ENABLE_WITHIN:
                        agreed[name] = sample
            if len(agreed) == len(seen):
                return agreed
            time.sleep(LOOK_EVERY)
        silent = [f"{joint.name!r} (id {joint.id})" for joint in self.calibration.joints if not seen[joint.name]]
        if silent:
            raise ArmError(f"no torque: servos do not answer: {', '.join(silent)}; the others stay as they are")
        restless = [name for name in seen if name not in agreed]
        raise ArmError(
            f"no torque: {listed(restless)} cannot be read twice alike: is the arm held still, the cable good?"
        )

    def _refusal(self, joint: ServoJoint, sample: Sample) -> str:
        """Why this servo is not to have torque; empty where it may."""
        if sample.stopping:
            return (
                f"{joint.name!r} (id {joint.id}) has shut down: {listed(sample.stopping)} ({sample.temperature} deg C, "
                f"{sample.voltage:.1f} V)"
            )
        if self._held(joint, sample) is not None:
            return ""
        beyond = max(joint.min - sample.ticks, sample.ticks - joint.max)
        if beyond > ENABLE_WITHIN:
            return (
                f"{joint.name!r} is at {sample.ticks} ticks, outside its calibrated range [{joint.min}, {joint.max}] "
                f"by {beyond}; move it there by hand, or calibrate again"
            )
        return ""

    def _held(self, joint: ServoJoint, sample: Sample) -> int | None:
        """The goal that a servo holds [ticks], where it does, and is to."""
        if not sample.torque or sample.goal is None or not joint.min <= sample.goal <= joint.max:
            return None
        return sample.goal if abs(sample.goal - sample.ticks) <= self._holding else None

    def _revive(self) -> None:
        """Have servos start anew that have shut down, where that is the cure. Raises BusError."""

    def _answers(self, joint: ServoJoint) -> bool:
        """Whether its servo is there."""
        raise NotImplementedError

    def _get_to_know(self, joint: ServoJoint) -> None:
        """Ask what is asked once. Raises ArmError where it is not the servo that was calibrated."""
        raise NotImplementedError

    def _prepare(self, joint: ServoJoint, fastest: float) -> None:
        """Undo what other programs have left set; `fastest` [ticks/s] it is to be. Raises ArmError."""

    def _take_torque(self, joint: ServoJoint, ticks: int) -> None:
        """Bring its torque on where it is [ticks]. Raises ArmError where it is not on, or must not be."""
        raise NotImplementedError

    def _keep(self, joint: ServoJoint, goal: int) -> None:
        """It has torque and this goal [ticks], and goals may follow."""
        raise NotImplementedError

    def _let_go(self, joint: ServoJoint) -> None:
        """Take its torque off."""
        raise NotImplementedError

    def _is_off(self, joint: ServoJoint) -> bool:
        """Whether it says that its torque is off."""
        raise NotImplementedError
