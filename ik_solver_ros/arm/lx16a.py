"""Lx16aArm: joints led by LX-16A servos, which are asked one by one: positions each cycle, the rest in turns."""

from __future__ import annotations

import time

from ik_solver_ros.arm.base import checked_command
from ik_solver_ros.arm.measured_servos import MeasuredServos
from ik_solver_ros.arm.servos import Sample
from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.servo.calibration import Calibration, ServoJoint
from ik_solver_ros.servo.lx16a import FAULT_READ, FAULTS, POSITION_READ, TEMPERATURE_READ, TORQUE_READ, VOLTAGE_READ
from ik_solver_ros.servo.lx16a_bus import Lx16aBus

LEAD = 30  # [ms] that a servo is given for each step: a little more than a cycle, so that it does not stop between them
TURNS = (TORQUE_READ, TEMPERATURE_READ, TORQUE_READ, VOLTAGE_READ, FAULT_READ)


class Lx16aArm(MeasuredServos):
    """All joints of a calibration. Not thread-safe: one thread owns it.

    A move brings a servo's torque on by itself, so none is sent to one whose torque is not known to be on.
    """

    def __init__(self, calibration: Calibration, bus: Lx16aBus) -> None:
        super().__init__(calibration, bus.port, f"LX-16A servos on {bus.port.url}")
        self.bus, self.time_outs = bus, bus.time_outs
        self._known: dict[tuple[str, int], int] = {}  # what each servo said last, by joint and question
        self._last: dict[str, tuple[float, int]] = {}  # when and where
        self._turn = 0

    def samples(self) -> dict[str, Sample]:
        """What every servo that answers tells of itself, by joint. Raises BusError where the port is gone."""
        out, now = {}, time.monotonic()
        joints = self.calibration.joints
        self._ask(joints[self._turn % len(joints)], TURNS[self._turn // len(joints) % len(TURNS)])
        self._turn += 1
        for joint in joints:
            ticks = self._position(joint)
            if ticks is None:
                self._known.pop((joint.name, TORQUE_READ), None)  # it may have lost its power
                continue
            if (joint.name, TORQUE_READ) not in self._known:
                self._ask(joint, TORQUE_READ)
            when, before = self._last.get(joint.name, (now, ticks))
            velocity = (ticks - before) / (now - when) if now > when else 0.0
            self._last[joint.name] = now, ticks
            faults = self._known.get((joint.name, FAULT_READ), 0)
            out[joint.name] = Sample(
                ticks,
                velocity,
                bool(self._known.get((joint.name, TORQUE_READ), 0)),
                0,
                1e-3 * self._known.get((joint.name, VOLTAGE_READ), 0),
                self._known.get((joint.name, TEMPERATURE_READ), 0),
                [name for bit, name in FAULTS.items() if faults >> bit & 1],
            )
        return out

    def write(self, positions: Array, velocities: Array) -> None:
        """Set all goals. Raises ArmError for what is not finite, and BusError."""
        checked_command(self.joint_names, positions=positions, velocities=velocities)
        goals = {
            joint.id: joint.ticks(float(q))
            for joint, q in zip(self.calibration.joints, positions)
            if self._known.get((joint.name, TORQUE_READ))
        }
        self.bus.move(goals, LEAD)

    def release(self) -> None:
        """Take the torque off. Raises BusError."""
        for joint in self.calibration.joints:
            self.bus.torque(joint.id, False)
            self._known[joint.name, TORQUE_READ] = 0

    def health(self) -> dict[str, float]:
        """Latency."""
        return {"latency_ms": 1e3 * self.bus.latency}

    def _answers(self, joint: ServoJoint) -> bool:
        return self._position(joint) is not None

    def _get_to_know(self, joint: ServoJoint) -> None:
        self._ask(joint, TORQUE_READ)

    def _position(self, joint: ServoJoint) -> int | None:
        return self.bus.read(joint.id, POSITION_READ)

    def _take_torque(self, joint: ServoJoint, ticks: int) -> bool:
        self.bus.move({joint.id: min(max(ticks, joint.min), joint.max)}, 0)
        self._ask(joint, TORQUE_READ)
        return bool(self._known.get((joint.name, TORQUE_READ)))

    def _ask(self, joint: ServoJoint, question: int) -> None:
        answer = self.bus.read(joint.id, question)
        if answer is not None:
            self._known[joint.name, question] = answer
