"""ServoArm: joints led by serial servos that measure where they are.

Torque comes on only after every goal register was set to where its servo is measured to be, and read back. What is
written is finite and within the calibrated range, whoever asks for it.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from ik_solver_ros.arm.base import Reading, checked_command
from ik_solver_ros.errors import ArmError, BusError
from ik_solver_ros.kinematics.kernels import Array
from ik_solver_ros.servo.bus import Port, TableBus
from ik_solver_ros.servo.calibration import Calibration, ServoJoint
from ik_solver_ros.servo.table import Register

# What is read again and again: in one piece where they lie together, a gap of so many bytes is not worth a request.
WATCHED = ("torque_enable", "position", "velocity", "load", "voltage", "temperature", "hardware_error")
GAP = 30
TRIES, FIRST_TRIES = 3, 10  # to find a servo; the first time, servos and machine may be busy starting
MISSED = 4  # times in a row that a servo does not answer before it is left out of the others' requests
ASK_AGAIN = 20  # cycles after which one that was left out is asked again
ENABLE_WITHIN = 8  # [ticks] of its goal register that a servo must be measured when its torque comes on
DXL_VELOCITY = 0.229 * 4096.0 / 60.0  # [ticks/s] of a unit of Dynamixel's velocity
VOLT = 0.1  # of a unit of either's voltage


class Sample(NamedTuple):
    """One servo, as it told of itself."""

    ticks: int
    velocity: float  # [ticks/s]
    torque: bool
    load: int  # the servo's own units
    voltage: float  # [V]
    temperature: int  # deg C
    faults: list[str]


class Servos(Protocol):
    """What leads servos, whether they can be measured or not."""

    calibration: Calibration
    joint_names: tuple[str, ...]
    name: str  # for people
    port: Port
    time_outs: dict[int, int]  # of each servo, ever

    def health(self) -> dict[str, float]:
        """Numbers on the wire, by name."""

    def open(self) -> None:
        """Connect. Raises ArmError and BusError that say what is wrong."""

    def samples(self) -> dict[str, Sample]:
        """What there is to know of every servo, by joint. Raises BusError where the port is gone."""

    def read(self) -> Reading:
        """The joints. Raises ArmError where a servo does not answer, and BusError."""

    def reading(self, samples: dict[str, Sample]) -> Reading:
        """The joints by these samples; as before where there is none."""

    def write(self, positions: Array, velocities: Array) -> None:
        """Lead all joints. Raises ArmError for what is not finite, and BusError."""

    def enable(self) -> None:
        """Bring the torque on, every servo where it is. Raises ArmError and BusError."""

    def release(self) -> None:
        """Take the torque off. Raises BusError."""

    def close(self) -> None:
        """Let go of the port."""


class MeasuredJoints:
    """What arms of servos that measure have in common: joints by their samples."""

    def __init__(self, calibration: Calibration) -> None:
        self.calibration = calibration
        self.joint_names = tuple(joint.name for joint in calibration.joints)
        self._positions = np.full(len(calibration.joints), np.nan)

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

    def _position_for_torque(self, joint: ServoJoint, ticks: int | None) -> int:
        """The position that a servo is at [ticks]. Raises ArmError where its torque must not come on there."""
        if ticks is None:
            raise ArmError(f"no torque: servo of {joint.name!r} (id {joint.id}) does not answer")
        if not joint.min - ENABLE_WITHIN <= ticks <= joint.max + ENABLE_WITHIN:
            raise ArmError(
                f"no torque: {joint.name!r} is at {ticks} ticks, outside its calibrated range [{joint.min}, "
                f"{joint.max}]; move it there by hand, or calibrate again"
            )
        return ticks


class ServoArm(MeasuredJoints):
    """All joints of a calibration. Not thread-safe: one thread owns it."""

    def __init__(self, calibration: Calibration, bus: TableBus) -> None:
        super().__init__(calibration)
        self.bus, self.port, self.time_outs = bus, bus.port, bus.time_outs
        self.name = f"{calibration.protocol} servos on {bus.port.url}"
        self._ids = [joint.id for joint in calibration.joints]
        self._blocks = _blocks([bus.codec.registers[name] for name in WATCHED])
        self._missed = dict.fromkeys(self._ids, 0)
        self._turn, self._tries = 0, FIRST_TRIES

    def open(self) -> None:
        """Connect, and find every servo. Raises ArmError and BusError that say what is wrong."""
        self.bus.port.open()
        try:
            missing = [j for j in self.calibration.joints if not any(self.bus.ping(j.id) for _ in range(self._tries))]
            if missing:
                names = ", ".join(f"{joint.name} (id {joint.id})" for joint in missing)
                raise ArmError(
                    f"servos that do not answer on {self.bus.port.url} at {self.calibration.baud} baud: {names}; "
                    "are they powered, are their ids right, and is every cable in?"
                )
            for joint in self.calibration.joints:
                self._check_offset(joint)
            self._missed, self._tries = dict.fromkeys(self._ids, 0), TRIES
            self.read()
        except (ArmError, BusError):
            self.bus.port.close()
            raise

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
        if silent and (self._turn % ASK_AGAIN == 0 or len(silent) == len(self._ids)):
            again = silent[self._turn // ASK_AGAIN % len(silent)]
            if self.bus.ping(again):
                self._missed[again] = 0
        return [servo_id for servo_id in self._ids if self._missed[servo_id] < MISSED]

    def write(self, positions: Array, velocities: Array) -> None:
        """Set all goals. Raises ArmError for what is not finite, and BusError."""
        checked_command(self.joint_names, positions=positions, velocities=velocities)
        goals = {j.id: j.ticks(float(q)) for j, q in zip(self.calibration.joints, positions)}
        self.bus.sync_write(self.bus.codec.registers["goal_position"], goals)

    def enable(self) -> None:
        """Bring the torque on, every servo where it is. Raises ArmError, with all torque off again, and BusError."""
        registers = self.bus.codec.registers
        try:
            for joint in self.calibration.joints:
                here = self._position_for_torque(joint, self.bus.read(joint.id, registers["position"]))
                self.bus.write(joint.id, registers["goal_position"], here)
                goal = self.bus.read(joint.id, registers["goal_position"])
                if goal is None or abs(goal - here) > ENABLE_WITHIN:
                    raise ArmError(f"no torque: the goal of {joint.name!r} is {goal} where {here} was written")
                self.bus.write(joint.id, registers["torque_enable"], 1)
                if not self.bus.read(joint.id, registers["torque_enable"]):
                    raise ArmError(f"no torque: servo of {joint.name!r} (id {joint.id}) does not take it on")
        except ArmError:
            self.release()
            raise

    def release(self) -> None:
        """Take the torque off. Raises BusError."""
        self.bus.sync_write(self.bus.codec.registers["torque_enable"], dict.fromkeys(self._ids, 0))

    def health(self) -> dict[str, float]:
        """Latency and repeated requests."""
        return {"latency_ms": 1e3 * self.bus.latency, "repeated": self.bus.repeated}

    def close(self) -> None:
        """Let go of the port; the servos stay as they are."""
        self.bus.port.close()

    def _sample(self, replies: list[bytes]) -> Sample:
        codec, values = self.bus.codec, {}
        for name in WATCHED:
            register = codec.registers[name]
            for (first, size), data in zip(self._blocks, replies):
                if first <= register.address < first + size:
                    values[name] = register.decode(data[register.address - first :])
        return Sample(
            values["position"],
            values["velocity"] * (1.0 if codec.name == "feetech" else DXL_VELOCITY),
            bool(values["torque_enable"]),
            values["load"],
            VOLT * values["voltage"],
            values["temperature"],
            codec.faults(values["hardware_error"]),
        )

    def _check_offset(self, joint: ServoJoint) -> None:
        if joint.homing_offset is None:
            return
        found = self.bus.read(joint.id, self.bus.codec.registers["homing_offset"])
        if found != joint.homing_offset:
            raise ArmError(
                f"servo of {joint.name!r} (id {joint.id}) has the homing offset {found}, the calibration "
                f"{joint.homing_offset}: it is another servo, or was calibrated since; calibrate again"
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
