"""RegisterServoArm: joints led by servos with a table of registers, Feetech's and Dynamixel's.

Torque comes on only after every goal register was set to where its servo is measured to be, and read back. What is
written is finite and within the calibrated range, whoever asks for it.
"""

from __future__ import annotations

from ik_solver_ros.arm.base import checked_command
from ik_solver_ros.arm.measured_servos import ENABLE_WITHIN, MeasuredServos
from ik_solver_ros.arm.servos import Sample
from ik_solver_ros.errors import ArmError
from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.servo.bus import RegisterBus
from ik_solver_ros.servo.calibration import Calibration, ServoJoint
from ik_solver_ros.servo.registers import Register

# What is read again and again: in one piece where they lie together, a gap of so many bytes is not worth a request.
WATCHED = ("torque_enable", "position", "velocity", "load", "voltage", "temperature", "hardware_error")
GAP = 30
TRIES, FIRST_TRIES = 3, 10  # to find a servo; the first time, servos and machine may be busy starting
MISSED = 4  # times in a row that a servo does not answer before it is left out of the others' requests
ASK_AGAIN = 20  # cycles after which one that was left out is asked again
VOLT = 0.1  # of a unit of voltage


class RegisterServoArm(MeasuredServos):
    """All joints of a calibration. Not thread-safe: one thread owns it."""

    def __init__(self, calibration: Calibration, bus: RegisterBus) -> None:
        super().__init__(calibration, bus.port, f"{calibration.protocol} servos on {bus.port.url}")
        self.bus, self.time_outs = bus, bus.time_outs
        self._registers = bus.codec.registers
        self._ids = [joint.id for joint in calibration.joints]
        self._blocks = _blocks([self._registers[name] for name in WATCHED])
        self._missed = dict.fromkeys(self._ids, 0)
        self._turn, self._tries = 0, FIRST_TRIES

    def samples(self) -> dict[str, Sample]:
        """What every servo that answers tells of itself, by joint. Raises BusError where the port is gone."""
        ids = self._asked()
        read = [self.bus.sync_read_block(first, size, ids) for first, size in self._blocks if ids]
        out = {}
        for joint in self.calibration.joints:
            if joint.id in ids and all(joint.id in replies for replies in read):
                out[joint.name] = self._sample([replies[joint.id] for replies in read])
                self._missed[joint.id] = 0
            else:
                self._missed[joint.id] += 1
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
        """Set all goals. Raises ArmError for what is not finite, and BusError."""
        checked_command(self.joint_names, positions=positions, velocities=velocities)
        goals = {j.id: j.ticks(float(q)) for j, q in zip(self.calibration.joints, positions)}
        self.bus.sync_write(self._registers["goal_position"], goals)

    def release(self) -> None:
        """Take the torque off. Raises BusError."""
        self.bus.sync_write(self._registers["torque_enable"], dict.fromkeys(self._ids, 0))

    def health(self) -> dict[str, float]:
        """Latency and repeated requests."""
        return {"latency_ms": 1e3 * self.bus.latency, "repeated": self.bus.repeated}

    def _answers(self, joint: ServoJoint) -> bool:
        return any(self.bus.ping(joint.id) for _ in range(self._tries))

    def _get_to_know(self, joint: ServoJoint) -> None:
        self._missed[joint.id], self._tries = 0, TRIES
        if joint.homing_offset is None:
            return
        found = self.bus.read(joint.id, self._registers["homing_offset"])
        if found != joint.homing_offset:
            raise ArmError(
                f"servo of {joint.name!r} (id {joint.id}) has the homing offset {found}, the calibration "
                f"{joint.homing_offset}: it is another servo, or was calibrated since; calibrate again"
            )

    def _position(self, joint: ServoJoint) -> int | None:
        return self.bus.read(joint.id, self._registers["position"])

    def _take_torque(self, joint: ServoJoint, ticks: int) -> bool:
        self.bus.write(joint.id, self._registers["goal_position"], ticks)
        goal = self.bus.read(joint.id, self._registers["goal_position"])
        if goal is None or abs(goal - ticks) > ENABLE_WITHIN:
            raise ArmError(f"no torque: the goal of {joint.name!r} is {goal} where {ticks} was written")
        self.bus.write(joint.id, self._registers["torque_enable"], 1)
        return bool(self.bus.read(joint.id, self._registers["torque_enable"]))

    def _sample(self, replies: list[bytes]) -> Sample:
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
