"""Feetech's and Dynamixel's servos, moved by hand; what differs between them is in a file of each."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence

from ik_solver_ros.errors import CalibrationError, listed
from ik_solver_ros.servo.bus import RegisterBus
from ik_solver_ros.servo.by_hand import ROUNDS, Settings, answering, known, other_rate, pause, stroll
from ik_solver_ros.servo.families import FAMILIES
from ik_solver_ros.servo.probe import replies
from ik_solver_ros.servo.registers import READ, WRITE, read_data, write_data

SETTLES = 0.05  # [s] that a servo takes to remember an id or a rate
# Bytes from the position on that are read to see whether a servo is there: an echo of the question has another length,
# and two servos of one id, which measure differently, damage each other's replies.
PROBED = 4
NEAR = 60  # [ticks] that a joint held by hand moves between two readings, at most
MULTI_TURN = (0, 0)  # limits of a servo that knows none


class RegisterServosByHand:
    """What both have in common. A subclass says how settings are written, and what a range must be."""

    bauds: Sequence[int]  # by the number in baud_rate

    def __init__(self, bus: RegisterBus) -> None:
        self.bus, self.port, self.registers = bus, bus.port, bus.codec.registers
        self.family = FAMILIES[bus.codec.name]

    def found(self, ids: Iterable[int]) -> list[int]:
        """Those that answer."""
        return answering(ids, lambda servo_id: self.asked(servo_id)[0])

    def asked(self, servo_id: int) -> tuple[bool, bytes]:
        """Whether a servo answers, asked once, and all that came."""
        return replies(
            self.port,
            self._question(servo_id),
            self.bus.codec.parse_statuses,
            lambda packet: packet.servo_id == servo_id and len(packet.data) == PROBED,
        )

    def _question(self, servo_id: int) -> bytes:
        codec = self.bus.codec
        return codec.instruction(servo_id, READ, read_data(codec, self.registers["position"].address, PROBED))

    def get(self, servo_id: int, name: str) -> int:
        """A register. Raises CalibrationError where the servo does not answer."""
        return known(servo_id, lambda: self.bus.read(servo_id, self.registers[name]))

    def put(self, servo_id: int, name: str, value: int) -> None:
        """Set a register and read it back. Raises CalibrationError where it is another."""
        for _ in range(ROUNDS):
            self.bus.write(servo_id, self.registers[name], value)
            if (seen := self.get(servo_id, name)) == value:
                return
        raise CalibrationError(f"servo {servo_id} keeps its {name} at {seen}, though {value} was written")

    def remember(self, servo_id: int, values: Mapping[str, int]) -> None:
        """Set registers that are kept without power; takes the torque off."""
        self.put(servo_id, "torque_enable", 0)
        for name, value in values.items():
            self.put(servo_id, name, value)

    def release(self, ids: Iterable[int]) -> None:
        """Take their torque off, and make sure of it."""
        asked = list(ids)
        self.bus.sync_write(self.registers["torque_enable"], dict.fromkeys(asked, 0))
        for servo_id in asked:
            self.put(servo_id, "torque_enable", 0)

    def position(self, servo_id: int) -> int:
        """Where a servo is [ticks]."""
        return self.get(servo_id, "position")

    def move(self, servo_id: int, by: int) -> int:
        """Its goal is where it is, and read back, before its torque comes on."""
        here = self.position(servo_id)
        there, back = stroll(here, by, self.settings(servo_id).limits, self.family.per_tick)
        goal = self.registers["goal_position"]
        try:
            self.put(servo_id, "goal_position", here)
            self.put(servo_id, "torque_enable", 1)
            for ticks in there:
                self.bus.write(servo_id, goal, ticks)
                pause()
            pause()
            came = self.position(servo_id) - here
            for ticks in back:
                self.bus.write(servo_id, goal, ticks)
                pause()
        finally:
            self.put(servo_id, "torque_enable", 0)
        return came

    def settings(self, servo_id: int) -> Settings:
        """What it remembers."""
        limits = (self.get(servo_id, "min_position"), self.get(servo_id, "max_position"))
        offset = self.get(servo_id, "homing_offset")
        first, last = 0, (self.family.turn or 0) - 1
        low, high = (first, last) if limits == MULTI_TURN else (max(limits[0], first), min(limits[1], last))
        return Settings((low, high), offset, tuple(self.wrong(servo_id)))

    def wrong(self, servo_id: int) -> list[str]:
        """What keeps it from being led to positions within a turn."""
        raise NotImplementedError

    def open_limits(self, servo_id: int) -> None:
        """Have it take goals anywhere in its turn."""
        self.remember(servo_id, {"min_position": 0, "max_position": (self.family.turn or 0) - 1})

    def set_offset(self, servo_id: int, offset: int, moves: int) -> None:
        """Write a homing offset, which moves its readings by so many ticks. Raises CalibrationError if it does not.

        Its own limits, which are counted likewise, are opened.
        """
        turn = self.family.turn or 1
        self.open_limits(servo_id)
        old, before = self.get(servo_id, "homing_offset"), self.position(servo_id)
        self.remember(servo_id, {"homing_offset": offset})
        after = self.position(servo_id)
        missed = (after - before - moves + turn // 2) % turn - turn // 2
        if abs(missed) > NEAR:
            self.remember(servo_id, {"homing_offset": old})
            raise CalibrationError(
                f"servo {servo_id} went from {before} to {after} ticks by the homing offset {offset}, "
                f"{(before + moves) % turn} was expected: hold the joint still meanwhile; it has {old} again"
            )

    def renumber(self, servo_id: int, new: int, baud: int) -> None:
        """Give the only servo on the port another id and rate."""
        if baud not in self.bauds:
            raise CalibrationError(f"baud {baud}: such servos have {listed(self.bauds)}")
        self.release([servo_id])
        self.unlock(servo_id)
        # Whether these are answered under the old id or the new one, at the old rate or the new one, differs.
        if new != servo_id:
            self._send(servo_id, "id", new)
        if baud != self.port.baud:
            self._send(new, "baud_rate", self.bauds.index(baud))
            other_rate(self.port, baud)
        if not answering([new], lambda one: self.asked(one)[0]) or self.get(new, "id") != new:
            raise CalibrationError(f"servo {servo_id} does not answer as {new} at {baud} baud: switch it off and on")
        self.lock(new)

    def _send(self, servo_id: int, name: str, value: int) -> None:
        register, codec = self.registers[name], self.bus.codec
        self.port.write(codec.instruction(servo_id, WRITE, write_data(codec, register.address, register.encode(value))))
        time.sleep(SETTLES)

    def unlock(self, servo_id: int) -> None:
        """So that it remembers what is written."""

    def lock(self, servo_id: int) -> None:
        """So that nothing is remembered by mistake."""
