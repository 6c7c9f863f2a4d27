"""LxArm: joints led by LX-16A servos, which are asked one by one: positions each cycle, the rest in turns."""

from __future__ import annotations

import time

from ik_solver_ros.arm.base import checked_command
from ik_solver_ros.arm.register_servos import MeasuredJoints, Sample
from ik_solver_ros.errors import ArmError, BusError
from ik_solver_ros.kinematics.kernels import Array
from ik_solver_ros.servo import lx16a
from ik_solver_ros.servo.calibration import Calibration
from ik_solver_ros.servo.lx16a import LxBus

LEAD = 30  # [ms] that a servo is given for each step: a little more than a cycle, so that it does not stop between them
TURNS = (lx16a.TORQUE_READ, lx16a.TEMPERATURE_READ, lx16a.TORQUE_READ, lx16a.VOLTAGE_READ, lx16a.FAULT_READ)


class LxArm(MeasuredJoints):
    """All joints of a calibration. Not thread-safe: one thread owns it.

    A move brings a servo's torque on by itself, so none is sent to one whose torque is not known to be on.
    """

    def __init__(self, calibration: Calibration, bus: LxBus) -> None:
        super().__init__(calibration)
        self.bus, self.port, self.time_outs = bus, bus.port, bus.time_outs
        self.name = f"LX-16A servos on {bus.port.url}"
        self._known: dict[tuple[str, int], int] = {}  # what each servo said last, by joint and question
        self._last: dict[str, tuple[float, int]] = {}  # when and where
        self._turn = 0

    def open(self) -> None:
        """Connect, and find every servo. Raises ArmError and BusError."""
        self.port.open()
        try:
            missing = [j for j in self.calibration.joints if self.bus.read(j.id, lx16a.POSITION_READ) is None]
            if missing:
                names = ", ".join(f"{joint.name} (id {joint.id})" for joint in missing)
                raise ArmError(f"servos that do not answer on {self.port.url}: {names}; are they powered?")
            for joint in self.calibration.joints:
                self._ask(joint.name, joint.id, lx16a.TORQUE_READ)
            self.read()
        except (ArmError, BusError):
            self.port.close()
            raise

    def samples(self) -> dict[str, Sample]:
        """What every servo that answers tells of itself, by joint. Raises BusError where the port is gone."""
        out, now = {}, time.monotonic()
        joints = self.calibration.joints
        asked = joints[self._turn % len(joints)]
        self._ask(asked.name, asked.id, TURNS[self._turn // len(joints) % len(TURNS)])
        self._turn += 1
        for joint in joints:
            ticks = self.bus.read(joint.id, lx16a.POSITION_READ)
            if ticks is None:
                self._known.pop((joint.name, lx16a.TORQUE_READ), None)  # it may have lost its power
                continue
            if (joint.name, lx16a.TORQUE_READ) not in self._known:
                self._ask(joint.name, joint.id, lx16a.TORQUE_READ)
            when, before = self._last.get(joint.name, (now, ticks))
            velocity = (ticks - before) / (now - when) if now > when else 0.0
            self._last[joint.name] = now, ticks
            bits = self._known.get((joint.name, lx16a.FAULT_READ), 0)
            out[joint.name] = Sample(
                ticks,
                velocity,
                bool(self._known.get((joint.name, lx16a.TORQUE_READ), 0)),
                0,
                1e-3 * self._known.get((joint.name, lx16a.VOLTAGE_READ), 0),
                self._known.get((joint.name, lx16a.TEMPERATURE_READ), 0),
                [name for bit, name in lx16a.FAULTS.items() if bits >> bit & 1],
            )
        return out

    def write(self, positions: Array, velocities: Array) -> None:
        """Set all goals. Raises ArmError for what is not finite, and BusError."""
        checked_command(self.joint_names, positions=positions, velocities=velocities)
        goals = {
            joint.id: joint.ticks(float(q))
            for joint, q in zip(self.calibration.joints, positions)
            if self._known.get((joint.name, lx16a.TORQUE_READ))
        }
        self.bus.move(goals, LEAD)

    def enable(self) -> None:
        """Bring the torque on, every servo where it is. Raises ArmError, with all torque off again, and BusError."""
        try:
            for joint in self.calibration.joints:
                here = self._position_for_torque(joint, self.bus.read(joint.id, lx16a.POSITION_READ))
                self.bus.move({joint.id: min(max(here, joint.min), joint.max)}, 0)
                self._ask(joint.name, joint.id, lx16a.TORQUE_READ)
                if not self._known.get((joint.name, lx16a.TORQUE_READ)):
                    raise ArmError(f"no torque: servo of {joint.name!r} (id {joint.id}) does not take it on")
        except ArmError:
            self.release()
            raise

    def release(self) -> None:
        """Take the torque off. Raises BusError."""
        for joint in self.calibration.joints:
            self.bus.torque(joint.id, False)
            self._known[joint.name, lx16a.TORQUE_READ] = 0

    def health(self) -> dict[str, float]:
        """Latency."""
        return {"latency_ms": 1e3 * self.bus.latency}

    def close(self) -> None:
        """Let go of the port; the servos stay as they are."""
        self.port.close()

    def _ask(self, name: str, servo_id: int, question: int) -> None:
        answer = self.bus.read(servo_id, question)
        if answer is not None:
            self._known[name, question] = answer
