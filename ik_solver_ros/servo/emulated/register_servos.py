"""Emulated servos of Feetech's and Dynamixel's on a wire: what each instruction does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from ik_solver_ros.servo import dynamixel, feetech
from ik_solver_ros.servo.emulated.dynamixel import DynamixelServo
from ik_solver_ros.servo.emulated.emulator import Emulator, Reply, collided
from ik_solver_ros.servo.emulated.feetech import FeetechServo
from ik_solver_ros.servo.emulated.registers import RegisterServo
from ik_solver_ros.servo.emulated.traits import UNKIND, Traits
from ik_solver_ros.servo.registers import (
    ACTION,
    BROADCAST,
    CLEAR,
    FACTORY_RESET,
    PING,
    READ,
    REBOOT,
    REG_WRITE,
    SYNC_READ,
    SYNC_WRITE,
    WRITE,
    Packet,
    RegisterCodec,
)

R = TypeVar("R", bound=RegisterServo)
RESULT_FAIL = 0x01  # error of a status, protocol 2.0
SILENCE = -1  # in place of an error: no status
NAMES = {ACTION: "ACTION", CLEAR: "CLEAR", FACTORY_RESET: "FACTORY_RESET", REBOOT: "REBOOT", REG_WRITE: "REG_WRITE"}


class RegisterEmulator(Emulator[R]):
    """Servos that share a wire."""

    codec: RegisterCodec
    ping_reply: tuple[str, ...] = ()  # registers that the answer to a PING carries

    def obey(self, now: float) -> list[bytes]:
        """Read, write and answer."""
        packets, self.received = self.codec.parse_instructions(self.received)
        return [reply for packet in packets for reply in self._replies(packet, now)]

    def set_up(self, calibration: Any) -> None:
        """Ids, limits, offsets and rate of the calibration."""
        for joint in calibration.joints:
            self.servos[joint.id].set_up(joint, calibration.baud)

    def _at(self, servo_id: int) -> list[tuple[int, R]]:
        """Those that listen to an id, with what the logs call them."""
        found = [
            (key, servo)
            for key, servo in self.servos.items()
            if servo_id in (BROADCAST, servo.number) and self.hears(key)
        ]
        return sorted(found, key=lambda one: one[1].number)

    def hears(self, servo_id: int) -> bool:
        """Whether there is such a servo, it is not silent, and this is its rate."""
        if not super().hears(servo_id):
            return False
        return not self.traits.check_baud or self.rate in (None, self.servos[servo_id].baud)

    def _replies(self, packet: Packet, now: float) -> list[bytes]:
        wide = self.codec.address_size
        address, size = (int.from_bytes(packet.data[at : at + wide], "little") for at in (0, wide))
        rest = packet.data[2 * wide :]
        for _, servo in self._at(BROADCAST):
            servo.heard()
        if packet.code == SYNC_READ:
            return [reply for i in rest for reply in self._together(Packet(i, SYNC_READ, packet.data[: 2 * wide]), now)]
        if packet.code == SYNC_WRITE:
            for at in range(0, len(rest) - size, size + 1):
                for key, servo in self._at(rest[at]):
                    self._write(key, servo, address, rest[at + 1 : at + 1 + size], now)
            return []
        if packet.servo_id == BROADCAST and packet.code == PING:
            numbers = dict.fromkeys(servo.number for _, servo in self._at(BROADCAST))
            return [reply for number in numbers for reply in self._together(Packet(number, PING, b""), now)]
        return self._together(packet, now)

    def _together(self, packet: Packet, now: float) -> list[bytes]:
        """The reply of all who have this id."""
        replies = [reply for key, servo in self._at(packet.servo_id) if (reply := self._do(key, servo, packet, now))]
        return [] if packet.servo_id == BROADCAST else collided(replies)

    def _do(self, key: int, servo: R, packet: Packet, now: float) -> Reply | None:
        """Do one instruction: the status, where the servo gives one."""
        wide, code = self.codec.address_size, packet.code
        address, size = (int.from_bytes(packet.data[at : at + wide], "little") for at in (0, wide))
        servo_id, answers, delay = servo.number, servo.answers(code), servo.reply_delay
        error, data = 0, b""
        if code == PING:
            data = b"".join(servo.bytes_of(name) for name in self.ping_reply)
        elif code in {READ, SYNC_READ}:
            data = servo.read(address, size)
        elif code == WRITE:
            error = self._write(key, servo, address, packet.data[wide:], now)
        elif code == REG_WRITE:
            servo.waiting = (address, packet.data[wide:])
        elif code == ACTION and servo.waiting is not None:
            (address, waiting), servo.waiting = servo.waiting, None
            error = self._write(key, servo, address, waiting, now)
        else:
            error = self._special(servo, packet)
            answers = answers and error != SILENCE
        if code in NAMES:
            self.enter(key, NAMES[code], int.from_bytes(packet.data, "little"), "refused" if error else "taken")
        if not answers:
            return None
        reply = Reply(self.codec.status(servo_id, error | servo.error(), data))
        reply.delay = delay
        return reply

    def _special(self, servo: R, packet: Packet) -> int:
        """What only some servos know: the error, or SILENCE."""
        return SILENCE

    def _write(self, key: int, servo: R, address: int, data: bytes, now: float) -> int:
        torque = servo.energized
        error, written = servo.write(address, data)
        for name, value, outcome in written:
            self.enter(key, name, value, outcome)
            if name == "goal_position" and outcome != "refused":
                self.note(now, key, value, torque, servo.target())
        return error


class FeetechEmulator(RegisterEmulator[FeetechServo]):
    """STS3215 servos."""

    codec = feetech

    def __init__(self, positions: Mapping[int, float], traits: Traits = UNKIND) -> None:
        """Servos at `positions` [ticks] by id."""
        super().__init__({i: FeetechServo(i, position, traits) for i, position in positions.items()}, traits)


class DynamixelEmulator(RegisterEmulator[DynamixelServo]):
    """XL330-M288 servos."""

    codec = dynamixel
    ping_reply = ("model", "firmware")

    def __init__(self, positions: Mapping[int, float], traits: Traits = UNKIND) -> None:
        """Servos at `positions` [ticks] by id."""
        super().__init__({i: DynamixelServo(i, position, traits) for i, position in positions.items()}, traits)

    def _special(self, servo: DynamixelServo, packet: Packet) -> int:
        """REBOOT, FACTORY_RESET, CLEAR, and an ACTION without anything to do."""
        if packet.code == REBOOT:
            servo.restart(self.traits.dxl_reboot)
        elif packet.code == FACTORY_RESET:
            kept = {0xFF: (), 0x01: ("id",), 0x02: ("id", "baud_rate")}.get(packet.data[0] if packet.data else -1)
            if kept is None or (servo.energized and self.traits.dxl_eeprom_lock):
                return RESULT_FAIL
            servo.reset(1, kept)
            servo.restart(self.traits.dxl_reboot)
        elif packet.code == CLEAR and not servo.velocity:
            servo.clear_turns()
        else:
            return RESULT_FAIL
        return 0
