"""RegisterServoArm: joints led by servos with a table of registers, Feetech's and Dynamixel's.

Torque comes on only after a goal register was set to where its servo is measured to be, and read back. What is written
is finite and within the calibrated range, whoever asks for it; and written only to servos whose last reply said that
their torque is on and their goal one from here: to others a goal may bring the torque on.
"""

from __future__ import annotations

import math
import time

from ik_solver_ros.arm.base import checked_command
from ik_solver_ros.arm.given_goals import GivenGoals
from ik_solver_ros.arm.measured_servos import ENABLE_WITHIN, ROUNDS, MeasuredServos
from ik_solver_ros.arm.servo_settings import checked_settings
from ik_solver_ros.arm.servos import Sample
from ik_solver_ros.errors import ArmError
from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.servo.bus import RegisterBus
from ik_solver_ros.servo.calibration import Calibration, ServoJoint
from ik_solver_ros.servo.registers import Register

# What is read again and again: in one piece where they lie together, a gap of so many bytes is not worth a request.
WATCHED = ("torque_enable", "goal_position", "position", "velocity", "load", "voltage", "temperature", "hardware_error")
GAP = 30
TRIES, FIRST_TRIES = 3, 10  # to find a servo; the first time, servos and machine may be busy starting
MISSED = 4  # times in a row that a servo does not answer before it is left out of the others' requests
ASK_AGAIN = 20  # cycles after which one that was left out is asked again
VOLT = 0.1  # of a unit of voltage
SPEED_MARGIN = 1.15  # of a joint's velocity limit that its servo is let go, to catch up
REBOOT_WITHIN = 1.5  # [s] that a servo may take to start anew


class RegisterServoArm(MeasuredServos):
    """All joints of a calibration. Not thread-safe: one thread owns it."""

    def __init__(self, calibration: Calibration, bus: RegisterBus) -> None:
        super().__init__(calibration, bus.port, f"{calibration.protocol} servos on {bus.port.url}")
        self.bus, self.time_outs = bus, bus.time_outs
        self._registers = bus.codec.registers
        self._ids = [joint.id for joint in calibration.joints]
        self._blocks = _blocks([self._registers[name] for name in WATCHED])
        self._missed = dict.fromkeys(self._ids, 0)
        self._given = GivenGoals(self._ids)
        self._obedient: set[int] = set()  # servos that may be given a goal
        self._goals: dict[int, int | None] = {}  # [ticks] that servos have said to have
        self._turn, self._tries = 0, FIRST_TRIES

    def samples(self) -> dict[str, Sample]:
        """What every servo that answers tells of itself, by joint. Raises BusError where the port is gone."""
        ids = self._asked()
        read = [self.bus.sync_read_block(first, size, ids) for first, size in self._blocks if ids]
        out = {}
        for joint in self.calibration.joints:
            if joint.id in ids and all(joint.id in replies for replies in read):
                out[joint.name] = self._sample(joint.id, [replies[joint.id] for replies in read])
                self._missed[joint.id] = 0
            else:
                self._missed[joint.id] += 1
        self._obedient = {joint.id for joint in self.calibration.joints if joint.name in out and out[joint.name].obeys}
        self._goals = {joint.id: out[joint.name].goal for joint in self.calibration.joints if joint.name in out}
        return out

    def _asked(self) -> list[int]:
        """Whom to ask together: one that is silent would have all the others waited for."""
        self._turn += 1
        silent = [servo_id for servo_id in self._ids if self._missed[servo_id] >= MISSED]
        if len(silent) == len(self._ids):  # and if all are, nobody waits
            return self._ids
        if silent and self._turn % ASK_AGAIN == 0:
            again = silent[self._turn // ASK_AGAIN % len(silent)]
            if self.bus.ping(again):
                self._missed[again] = 0
        return [servo_id for servo_id in self._ids if self._missed[servo_id] < MISSED]

    def write(self, positions: Array, velocities: Array) -> None:
        """Set the goals of all servos that obey. Raises ArmError for what is not finite, and BusError."""
        checked_command(self.joint_names, positions=positions, velocities=velocities)
        goals = {}
        for joint, position in zip(self.calibration.joints, positions):
            ticks = joint.ticks(float(position))
            has_it = self._goals.get(joint.id) == ticks == self._given.last(joint.id)
            if joint.id in self._obedient and not has_it:
                goals[joint.id] = ticks
        if goals:
            self._given.give(goals)
            self.bus.sync_write(self._registers["goal_position"], goals)

    def health(self) -> dict[str, float]:
        """Latency and repeated requests."""
        return {"latency_ms": 1e3 * self.bus.latency, "repeated": self.bus.repeated}

    def _answers(self, joint: ServoJoint) -> bool:
        return any(self.bus.ping(joint.id) for _ in range(self._tries))

    def _get_to_know(self, joint: ServoJoint) -> None:
        self._missed[joint.id], self._tries = 0, TRIES
        narrowed = checked_settings(self.bus, joint)
        self.calibration = self.calibration.with_joint(narrowed)

    def _revive(self) -> None:
        """Clear what servos have shut down for: by a REBOOT where they know it, else by taking the torque off."""
        down = {name for _ in range(ROUNDS) for name, sample in self.samples().items() if sample.stopping}
        joints = [joint for joint in self.calibration.joints if joint.name in down]
        for joint in joints:
            if self.bus.codec.reboots:
                self.bus.reboot(joint.id)
            else:
                self._let_go(joint)
        deadline = time.monotonic() + REBOOT_WITHIN
        for joint in joints:
            while not self.bus.ping(joint.id) and time.monotonic() < deadline:
                pass
            self._get_to_know(joint)

    def _prepare(self, joint: ServoJoint, fastest: float) -> None:
        speed = math.ceil(SPEED_MARGIN * fastest / self.bus.codec.velocity_unit)
        for name, wanted in {**self.bus.codec.ready, "goal_velocity": speed, **joint.gains}.items():
            value = self.bus.read(joint.id, self._registers[wanted]) if isinstance(wanted, str) else wanted
            if value is None:
                raise ArmError(f"no torque: servo of {joint.name!r} (id {joint.id}) does not answer")
            self._set(joint, name, value)

    def _take_torque(self, joint: ServoJoint, ticks: int) -> None:
        self._set(joint, "goal_position", ticks)
        here = self.bus.read(joint.id, self._registers["position"])
        if here is None or abs(here - ticks) > ENABLE_WITHIN:
            raise ArmError(
                f"no torque: {joint.name!r} (id {joint.id}) is at {here} ticks where it was at {ticks}: hold it still"
            )
        self._set(joint, "torque_enable", 1)

    def _keep(self, joint: ServoJoint, goal: int) -> None:
        self._given.begin(joint.id, goal)
        self._obedient.add(joint.id)

    def _let_go(self, joint: ServoJoint) -> None:
        self._obedient.discard(joint.id)
        self.bus.write(joint.id, self._registers["torque_enable"], 0)

    def _is_off(self, joint: ServoJoint) -> bool:
        return self.bus.read(joint.id, self._registers["torque_enable"]) == 0

    def _set(self, joint: ServoJoint, name: str, value: int) -> None:
        """Have a register at a value, and make sure of it. Raises ArmError, and BusError."""
        register, found = self._registers[name], None
        for _ in range(ROUNDS):
            found = self.bus.read(joint.id, register)
            if found == value:
                return
            self.bus.write(joint.id, register, value)
        found = self.bus.read(joint.id, register)
        if found != value:
            raise ArmError(f"no torque: {name} of {joint.name!r} (id {joint.id}) is {found} where {value} was written")

    def _sample(self, servo_id: int, replies: list[bytes]) -> Sample:
        values = {}
        for name in WATCHED:
            register = self._registers[name]
            for (first, size), data in zip(self._blocks, replies):
                if first <= register.address < first + size:
                    values[name] = register.decode(data[register.address - first :])
        return Sample(
            values["position"],
            values["velocity"] * self.bus.codec.velocity_unit,
            bool(values["torque_enable"]),
            values["load"],
            VOLT * values["voltage"],
            values["temperature"],
            self.bus.codec.faults(values["hardware_error"]),
            values["goal_position"],
            bool(values["torque_enable"]) and self._given.knows(servo_id, values["goal_position"]),
        )


def _blocks(registers: list[Register]) -> list[tuple[int, int]]:
    """First address and size of the pieces in which these registers are read."""
    out: list[tuple[int, int]] = []
    for register in sorted(registers, key=lambda register: register.address):
        end = register.address + register.size
        if out and register.address - sum(out[-1]) <= GAP:
            out[-1] = out[-1][0], end - out[-1][0]
        else:
            out.append((register.address, register.size))
    return out
