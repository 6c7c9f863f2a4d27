"""A calibration of LeRobot's for a robot of a URDF: what its file does not say is asked for, or measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from ik_solver_ros.errors import CalibrationError, listed
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.servo.by_hand import ByHand
from ik_solver_ros.servo.calibration import Calibration, ServoJoint
from ik_solver_ros.servo.lerobot import GRIPPER, closing, cut, from_lerobot, unmeasured
from ik_solver_ros.tools.calibrate.dialogue import Ask, Show
from ik_solver_ros.tools.calibrate.measure import Measurement, reference, said
from ik_solver_ros.tools.calibrate.watched import patiently
from ik_solver_ros.tools.calibrate.words import motion


@dataclass(frozen=True)
class Given:
    """What was said beforehand."""

    zeros: Mapping[str, int] = field(default_factory=dict)  # by joint [ticks]
    flipped: tuple[str, ...] = ()  # joints that count against their servo
    closed: str = ""  # the gripper's closed end: "min", "max", or not said


class TakeOver:
    """LeRobot's calibration as one of this robot."""

    def __init__(self, chain: Chain, given: Given, ask: Ask | None, show: Show, servos: ByHand | None = None) -> None:
        """Ask: None where nobody can be asked. servos: where zeros are looked for, their torque off."""
        self._chain, self._given, self._ask, self._show, self._servos = chain, given, ask, show, servos
        self._limits = {joint.name: (joint.lower, joint.upper) for joint in chain.model.joints.values()}

    def take(self, source: Path, protocol: str) -> Calibration:
        """What a file has, completed.

        Zeros are the middle of each range where nobody says otherwise, the gripper's where it closes as the URDF's.
        Raises CalibrationError where a range cannot be true, or does not fit the robot or the servos; OSError.
        """
        given, found = self._given, from_lerobot(source, protocol)
        named = {joint.name for joint in found.joints}
        for name in (*given.zeros, *given.flipped):
            if name not in named:
                raise CalibrationError(f"{source} has no joint {name!r}; there are: {listed(sorted(named))}")
        if self._servos is not None:
            self._look(found, self._servos)
        joints = []
        for joint in found.joints:
            if joint.name not in self._limits:
                joints.append(joint)  # refused below, by name
            elif joint.name == GRIPPER and GRIPPER not in given.zeros:
                joints.append(self._gripper(joint))
            else:
                joints.append(self._joint(joint))
        taken = Calibration(found.protocol, found.baud, tuple(joints))
        taken.fit(self._limits, self._chain.joint_names)
        return taken

    def _look(self, found: Calibration, servos: ByHand) -> None:
        """Take the torque off, and make sure that the servos count as the file has it."""
        servos.release(joint.id for joint in found.joints)
        self._show("all torque is off: support the arm")
        for joint in found.joints:
            offset = servos.settings(joint.id).homing_offset
            if offset != joint.homing_offset:
                raise CalibrationError(
                    f"servo {joint.id} ({joint.name}) has the homing offset {offset}, the file {joint.homing_offset}; "
                    f"it is of another arm, or LeRobot has to write it into the servos (it does when it connects)",
                    joint=joint.name,
                )

    def _gripper(self, joint: ServoJoint) -> ServoJoint:
        usual = "max" if joint.direction < 0 else "min"  # LeRobot's 0, which is closed
        closed = self._given.closed
        while not closed and self._ask is not None:
            answer = self._ask(
                f"{joint.name}: is it closed at min, {joint.min} ticks, or at max, {joint.max}? [{usual}]: ", None
            ).strip()
            closed = {"": usual, "min": "min", "max": "max"}.get(answer, "")
        shut = closing(joint, closed or usual, self._limits[joint.name])
        low, high = shut.limits
        self._show(
            f"{joint.name}: closed at {closed or usual}; from {low:.3g} to {high:.3g} rad, zero at {shut.zero} ticks"
        )
        return shut

    def _joint(self, joint: ServoJoint) -> ServoJoint:
        if joint.name in self._given.flipped:
            joint = replace(joint, direction=-joint.direction)
        if joint.name in self._given.zeros:
            joint = replace(joint, zero=self._given.zeros[joint.name])
        elif self._ask is not None and self._servos is not None:
            joint = self._measured(joint, self._ask, self._servos)
        elif self._ask is not None:
            joint = replace(joint, zero=self._said(joint, self._ask))
        else:
            self._show(f"{joint.name}: zero is the middle of its range, {joint.zero} ticks")
        if unmeasured(joint):
            joint = cut(joint, self._limits[joint.name])
            self._show(
                f"{joint.name}: its range was not measured; the URDF's is taken, {joint.min} to {joint.max} ticks"
            )
        return joint

    def _said(self, joint: ServoJoint, ask: Ask) -> int:
        while True:
            answer = ask(f"{joint.name}: the URDF's 0 is at how many ticks? [{joint.zero}, the middle]: ", None).strip()
            if not answer or answer.lstrip("-").isdigit():
                return int(answer or joint.zero)

    def _measured(self, joint: ServoJoint, ask: Ask, servos: ByHand) -> ServoJoint:
        """Zero by hand, direction by a small move."""
        stands = reference(self._chain.model.joints[joint.name])

        def position() -> int:
            return patiently(servos, lambda: servos.position(joint.id), self._show)

        answer = ask(
            f"{joint.name}: put it where the URDF has it at {said(self._chain.model.joints[joint.name], stands)}, and "
            f"press Enter ('m' takes the middle of its range): ",
            lambda: f"  {position()} ticks ",
        ).strip()
        if answer != "m":
            joint = replace(joint, zero=position() - round(joint.direction * stands / joint.per_tick))
        self._show(f"  {motion(self._chain, joint.name)}")
        return Measurement(servos, servos.family, ask, self._show).confirm_direction(joint, stands)
