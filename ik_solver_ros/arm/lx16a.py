"""Lx16aArm: joints led by LX-16A servos, which are asked one by one: positions each cycle, the rest in turns."""

from __future__ import annotations

import time
from dataclasses import replace

from ik_solver_ros.arm.base import checked_command
from ik_solver_ros.arm.measured_servos import ROUNDS, MeasuredServos
from ik_solver_ros.arm.servos import Sample
from ik_solver_ros.errors import ArmError
from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.servo.calibration import Calibration, ServoJoint
from ik_solver_ros.servo.lx16a import (
    GOAL_READ,
    LIMITS_READ,
    MODE_READ,
    POSITION_READ,
    SERVO_MODE,
    TEMPERATURE_READ,
    TORQUE_READ,
    VOLTAGE_READ,
)
from ik_solver_ros.servo.lx16a_bus import Lx16aBus

LEAD = 30  # [ms] that a servo is given for each step: a little more than a cycle, so that it does not stop between them
TURNS = (TORQUE_READ, TEMPERATURE_READ, TORQUE_READ, VOLTAGE_READ)
RESTARTS_IN = 0.04  # [s] at least that a servo takes to start anew: one that answers more often has not


class Lx16aArm(MeasuredServos):
    """All joints of a calibration. Not thread-safe: one thread owns it.

    A move brings a servo's torque on by itself, so none is sent to one whose torque is not known to be on.
    """

    def __init__(self, calibration: Calibration, bus: Lx16aBus) -> None:
        super().__init__(calibration, bus.port, f"LX-16A servos on {bus.port.url}")
        self.bus, self.time_outs = bus, bus.time_outs
        self._known: dict[tuple[str, int], int] = {}  # what each servo said last, by joint and question
        self._last: dict[str, tuple[float, int]] = {}  # when and where
        self._led: set[str] = set()  # joints that were enabled
        self._turn = 0

    def samples(self) -> dict[str, Sample]:
        """What every servo that answers tells of itself, by joint. Raises BusError where the port is gone."""
        out = {}
        joints = self.calibration.joints
        self._ask(joints[self._turn % len(joints)], TURNS[self._turn // len(joints) % len(TURNS)])
        self._turn += 1
        for joint in joints:
            ticks = self._position(joint)
            now = time.monotonic()
            when, before = self._last.get(joint.name, (now, ticks))
            if ticks is None or now - when > RESTARTS_IN:
                self._known.pop((joint.name, TORQUE_READ), None)  # it may have lost its power since
            if ticks is None:
                continue
            if (joint.name, TORQUE_READ) not in self._known:
                self._ask(joint, TORQUE_READ)
            self._last[joint.name] = now, ticks
            torque = bool(self._known.get((joint.name, TORQUE_READ), 0))
            out[joint.name] = Sample(
                ticks,
                (ticks - (before or 0)) / (now - when) if now > when else 0.0,
                torque,
                0,
                1e-3 * self._known.get((joint.name, VOLTAGE_READ), 0),
                self._known.get((joint.name, TEMPERATURE_READ), 0),
                [],
                self._known.get((joint.name, GOAL_READ)),
                torque and joint.name in self._led,
            )
        return out

    def write(self, positions: Array, velocities: Array) -> None:
        """Set the goals of all servos whose torque is on. Raises ArmError for what is not finite, and BusError."""
        checked_command(self.joint_names, positions=positions, velocities=velocities)
        goals = {}
        for joint, position in zip(self.calibration.joints, positions):
            if joint.name in self._led and self._known.get((joint.name, TORQUE_READ)):
                goals[joint.id] = joint.ticks(float(position))
                self._keep(joint, goals[joint.id])
        if goals:
            self.bus.move(goals, LEAD)

    def health(self) -> dict[str, float]:
        """Latency."""
        return {"latency_ms": 1e3 * self.bus.latency}

    def _answers(self, joint: ServoJoint) -> bool:
        return self._position(joint) is not None

    def _get_to_know(self, joint: ServoJoint) -> None:
        self._ask(joint, TORQUE_READ)
        self._ask(joint, GOAL_READ)
        mode, limits = self._sure(joint, MODE_READ) & 0xFF, self._sure(joint, LIMITS_READ)
        if mode != SERVO_MODE:
            raise ArmError(f"servo of {joint.name!r} (id {joint.id}) is set to turn as a motor does; calibrate again")
        low, high = limits & 0xFFFF, limits >> 16
        narrowed = replace(joint, min=max(joint.min, low), max=min(joint.max, high))
        if narrowed.min >= narrowed.max:
            raise ArmError(
                f"servo of {joint.name!r} (id {joint.id}) goes from {low} to {high} by its own limits, and from "
                f"{joint.min} to {joint.max} by the calibration; calibrate again"
            )
        self.calibration = self.calibration.with_joint(narrowed)

    def _position(self, joint: ServoJoint) -> int | None:
        return self.bus.read(joint.id, POSITION_READ)

    def _take_torque(self, joint: ServoJoint, ticks: int) -> None:
        self.bus.move({joint.id: min(max(ticks, joint.min), joint.max)}, 0)
        if not self._sure(joint, TORQUE_READ):
            raise ArmError(f"no torque: servo of {joint.name!r} (id {joint.id}) does not take it on")

    def _keep(self, joint: ServoJoint, goal: int) -> None:
        self._led.add(joint.name)
        self._known[joint.name, GOAL_READ] = goal

    def _let_go(self, joint: ServoJoint) -> None:
        self._led.discard(joint.name)
        self.bus.torque(joint.id, False)
        self._known.pop((joint.name, TORQUE_READ), None)

    def _is_off(self, joint: ServoJoint) -> bool:
        self._ask(joint, TORQUE_READ)
        return self._known.get((joint.name, TORQUE_READ)) == 0

    def _sure(self, joint: ServoJoint, question: int) -> int:
        """Its answer. Raises ArmError where it gives none."""
        for _ in range(ROUNDS):
            self._known.pop((joint.name, question), None)
            self._ask(joint, question)
            if (joint.name, question) in self._known:
                return self._known[joint.name, question]
        raise ArmError(f"servo of {joint.name!r} (id {joint.id}) does not answer any more")

    def _ask(self, joint: ServoJoint, question: int) -> None:
        answer = self.bus.read(joint.id, question)
        if answer is not None:
            self._known[joint.name, question] = answer & 0xFFFF if question == GOAL_READ else answer
