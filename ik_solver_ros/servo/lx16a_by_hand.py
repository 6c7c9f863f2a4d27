"""Hiwonder's LX-16A, moved by hand."""

from __future__ import annotations

import time
from collections.abc import Iterable

from ik_solver_ros.errors import CalibrationError
from ik_solver_ros.servo import lx16a
from ik_solver_ros.servo.by_hand import PAUSE, ROUNDS, Settings, answering, known, pause, stroll
from ik_solver_ros.servo.families import FAMILIES
from ik_solver_ros.servo.lx16a import LIMITS_READ, MODE_READ, POSITION_READ, TORQUE_READ
from ik_solver_ros.servo.lx16a_bus import Lx16aBus
from ik_solver_ros.servo.probe import replies
from ik_solver_ros.servo.registers import Packet

SETTLES = 0.05  # [s] that a servo takes to remember
LIMITS = (0, 1000)  # [ticks] of positions that it can be told


class Lx16aByHand:
    """LX-16A servos: they confirm nothing that is written, so all of it is read back."""

    def __init__(self, bus: Lx16aBus) -> None:
        self.bus, self.port = bus, bus.port
        self.family = FAMILIES["lx16a"]

    def found(self, ids: Iterable[int]) -> list[int]:
        """Those that answer."""
        return answering(ids, lambda servo_id: self.asked(servo_id)[0])

    def asked(self, servo_id: int) -> tuple[bool, bytes]:
        """Whether a servo answers, asked once, and all that came."""
        return self._ask(servo_id, POSITION_READ, 2)[:2]

    def _ask(self, servo_id: int, command: int, size: int) -> tuple[bool, bytes, bytes]:
        """Whether it answers, all that came, and the data."""
        data: list[bytes] = [b""]

        def right(packet: Packet) -> bool:
            fits = packet.servo_id == servo_id and packet.code == command and len(packet.data) == size
            if fits:
                data[0] = packet.data
            return fits

        came, received = replies(self.port, lx16a.frame(servo_id, command), lx16a.parse, right)
        return came, received, data[0]

    def _read(self, servo_id: int, command: int, size: int) -> bytes | None:
        """The data of an answer; None where none comes: not every firmware knows every question."""
        for _ in range(ROUNDS):
            came, _, data = self._ask(servo_id, command, size)
            if came:
                return data
        return None

    def release(self, ids: Iterable[int]) -> None:
        """Take their torque off, and ask whether it is."""
        for servo_id in ids:
            self._let_go(servo_id)

    def _let_go(self, servo_id: int) -> None:
        for _ in range(ROUNDS):
            self.bus.torque(servo_id, False)
            if not known(servo_id, lambda: self.bus.read(servo_id, TORQUE_READ)):
                return
        raise CalibrationError(f"servo {servo_id} keeps its torque on, so that nobody can move it")

    def position(self, servo_id: int) -> int:
        """Where a servo is [ticks], from 0 to 1000 and a little beyond."""
        return known(servo_id, lambda: self.bus.read(servo_id, POSITION_READ))

    def move(self, servo_id: int, by: int) -> int:
        """A move brings the torque on by itself."""
        here = self.position(servo_id)
        there, back = stroll(here, by, self.settings(servo_id).limits, self.family.per_tick)
        try:
            came = here
            for goals in ([here, *there], back):
                for ticks in goals:
                    self.bus.move({servo_id: ticks}, round(1e3 * PAUSE))
                    pause()
                if goals is not back:
                    came = self.position(servo_id)
        finally:
            self._let_go(servo_id)
        return came - here

    def settings(self, servo_id: int) -> Settings:
        """Its limits and its mode, as far as it tells them."""
        data = self._read(servo_id, LIMITS_READ, 4)
        low, high = LIMITS
        if data is not None:
            low = max(low, int.from_bytes(data[:2], "little"))
            high = min(high, int.from_bytes(data[2:], "little"))
        mode = self._read(servo_id, MODE_READ, 4)
        wrong = ("motor mode: it turns without end, servo mode is wanted",) if mode is not None and mode[0] else ()
        return Settings((low, high), None, wrong)

    def put_right(self, servo_id: int) -> None:
        """Servo mode."""
        self._write(servo_id, lx16a.MODE_WRITE, bytes(4))
        if self.settings(servo_id).wrong:
            raise CalibrationError(f"servo {servo_id} stays in motor mode")

    def open_limits(self, servo_id: int) -> None:
        """Have it take goals from 0 to 1000."""
        self._write(servo_id, lx16a.LIMITS_WRITE, b"".join(limit.to_bytes(2, "little") for limit in LIMITS))
        if (seen := self.settings(servo_id).limits) != LIMITS:
            raise CalibrationError(f"servo {servo_id} keeps its limits {list(seen)}")

    def place(self, servo_id: int, low: int, high: int) -> int:
        """Within what it can be told, or refused."""
        if low < LIMITS[0] or high > LIMITS[1]:
            raise CalibrationError(
                f"servo {servo_id} was moved from {low} to {high} ticks, but it is led from {LIMITS[0]} to {LIMITS[1]} "
                f"only: move it no farther, or put its horn on so that the range lies within"
            )
        return 0

    def renumber(self, servo_id: int, new: int, baud: int) -> None:
        """Give the only servo on the port another id; their rate is always the same."""
        if baud != self.port.baud:
            raise CalibrationError(f"baud {baud}: an LX-16A has {self.port.baud} always")
        self._let_go(servo_id)
        self._write(servo_id, lx16a.ID_WRITE, bytes([new]))
        if not answering([new], lambda one: self.asked(one)[0]):
            raise CalibrationError(f"servo {servo_id} does not answer as {new}: switch it off and on")

    def _write(self, servo_id: int, command: int, data: bytes) -> None:
        self.port.write(lx16a.frame(servo_id, command, data))
        time.sleep(SETTLES)
