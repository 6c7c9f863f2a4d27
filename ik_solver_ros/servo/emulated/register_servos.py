"""Emulated servos of Feetech's and Dynamixel's: each has a table of registers as the real one.

It moves to its goal at its speed while its torque is on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ik_solver_ros.servo import dynamixel, feetech
from ik_solver_ros.servo.emulated.emulator import EmulatedServo, Emulator
from ik_solver_ros.servo.registers import (
    BROADCAST,
    PING,
    READ,
    SYNC_READ,
    SYNC_WRITE,
    WRITE,
    Packet,
    RegisterCodec,
)

FASTEST = 4000.0  # [ticks/s] of a servo without a limit of its own: some 6 rad/s
MEMORY = 1024  # bytes of the table


@dataclass(frozen=True)
class Manual:
    """What a maker says of how its servos behave."""

    codec: RegisterCodec
    power_up: Mapping[str, int]  # registers that are not 0 then
    ping_reply: tuple[str, ...]  # registers that the answer to a PING carries
    alert: int | None  # error of every reply while hardware_error is not 0; None: what that register has


AT_REST = {"voltage": 120, "temperature": 30, "max_position": 4095}  # of an arm on 12 V that has not worked yet

# Feetech's memory table of the STS3215: model 777; a reply has the error bits themselves
FEETECH = Manual(feetech, AT_REST | {"model": 777}, ping_reply=(), alert=None)

# ROBOTIS' e-Manual of the XL330-M288 (model 1200) and of protocol 2.0: Ping, Status Packet
DYNAMIXEL = Manual(
    dynamixel, AT_REST | {"model": 1200, "firmware": 48}, ping_reply=("model", "firmware"), alert=dynamixel.ALERT
)


class RegisterServo(EmulatedServo):
    """One servo's registers and motion."""

    def __init__(self, manual: Manual, servo_id: int, position: float) -> None:
        self.manual, self.registers = manual, manual.codec.registers
        self.memory = bytearray(MEMORY)
        super().__init__(servo_id, position)
        self.restart()

    def restart(self) -> None:
        """As after a loss of power: torque off, registers as at the start; it is where it was."""
        self.memory[:] = bytes(MEMORY)
        for name, value in self.manual.power_up.items():
            self.set(name, value)
        self._measure(0.0)

    def get(self, name: str) -> int:
        """A register."""
        return self.registers[name].decode(self.bytes_of(name))

    def bytes_of(self, name: str) -> bytes:
        """A register as it stands in the table."""
        register = self.registers[name]
        return bytes(self.memory[register.address : register.address + register.size])

    def set(self, name: str, value: int) -> None:
        """Set a register, as the servo itself does."""
        register = self.registers[name]
        self.memory[register.address : register.address + register.size] = register.encode(value)

    @property
    def homing_offset(self) -> int:
        """What it adds to its positions [ticks]."""
        return self.get("homing_offset")

    @homing_offset.setter
    def homing_offset(self, value: int) -> None:
        self.set("homing_offset", value)

    def error(self) -> int:
        """The error of its replies."""
        bits = self.get("hardware_error")
        return bits if self.manual.alert is None or not bits else self.manual.alert

    def advance(self, seconds: float) -> None:
        """Move for a while."""
        before = self.position
        if self.get("torque_enable"):
            limit = self.get("goal_velocity") * self.manual.codec.velocity_unit
            self.approach(self.get("goal_position"), seconds * (limit or FASTEST))
        self._measure((self.position - before) / seconds if seconds > 0.0 else 0.0)

    def _measure(self, velocity: float) -> None:
        self.set("position", round(self.position))
        self.set("velocity", round(velocity / self.manual.codec.velocity_unit))


class RegisterEmulator(Emulator[RegisterServo]):
    """Servos that share a wire."""

    manual: Manual

    def __init__(self, positions: Mapping[int, float]) -> None:
        """Servos at `positions` [ticks] by id."""
        super().__init__({i: RegisterServo(self.manual, i, position) for i, position in positions.items()})

    def obey(self, now: float) -> list[bytes]:
        """Read, write and answer."""
        packets, self.received = self.manual.codec.parse_instructions(self.received)
        return [reply for packet in packets for reply in self._replies(packet, now)]

    def _replies(self, packet: Packet, now: float) -> list[bytes]:
        wide = self.manual.codec.address_size
        address, size = (int.from_bytes(packet.data[at : at + wide], "little") for at in (0, wide))
        rest = packet.data[2 * wide :]
        if packet.code == SYNC_READ:
            return [self._read(self.servos[i], address, size) for i in rest if self.hears(i)]
        if packet.code == SYNC_WRITE:
            for at in range(0, len(rest), size + 1):
                if self.hears(rest[at]):
                    self._write(self.servos[rest[at]], address, rest[at + 1 : at + 1 + size], now)
            return []
        out: list[bytes] = []
        for servo_id in sorted(self.servos) if packet.servo_id == BROADCAST else [packet.servo_id]:
            if not self.hears(servo_id):
                continue
            servo = self.servos[servo_id]
            if packet.code == PING:
                out.append(self._status(servo, b"".join(servo.bytes_of(name) for name in self.manual.ping_reply)))
            elif packet.code == READ:
                out.append(self._read(servo, address, size))
            elif packet.code == WRITE:
                self._write(servo, address, packet.data[wide:], now)
                if packet.servo_id != BROADCAST:
                    out.append(self._status(servo))
        return out

    def _status(self, servo: RegisterServo, data: bytes = b"") -> bytes:
        return self.manual.codec.status(servo.servo_id, servo.error(), data)

    def _read(self, servo: RegisterServo, address: int, size: int) -> bytes:
        return self._status(servo, bytes(servo.memory[address : address + size]))

    def _write(self, servo: RegisterServo, address: int, data: bytes, now: float) -> None:
        servo.memory[address : address + len(data)] = data
        written = range(address, address + len(data))
        if servo.registers["goal_position"].address in written:
            self.note(now, servo.servo_id, servo.get("goal_position"), bool(servo.get("torque_enable")))
        if servo.registers["torque_enable"].address in written and not servo.get("torque_enable"):
            servo.set("goal_position", round(servo.position))


class FeetechEmulator(RegisterEmulator):
    """STS3215 servos."""

    manual = FEETECH


class DynamixelEmulator(RegisterEmulator):
    """XL330-M288 servos."""

    manual = DYNAMIXEL
