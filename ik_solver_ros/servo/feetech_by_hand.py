"""Feetech's STS servos, moved by hand.

Present_Position is (actual position - Homing_Offset) modulo 4096, as huggingface/lerobot#3586 and its driver have it;
Lock must be 0 while what is kept without power is written, by the maker's memory table.
"""

from __future__ import annotations

from collections.abc import Mapping

from ik_solver_ros.errors import CalibrationError
from ik_solver_ros.servo import feetech
from ik_solver_ros.servo.register_by_hand import RegisterServosByHand

TURN = 4096
MARGIN = 50  # [ticks] that a range keeps away from the seam
FARTHEST = 2047  # [ticks] of a homing offset
MANY_TURNS = 0x10  # bit of Phase: positions go on beyond a turn (huggingface/lerobot#3373 clears it)


class FeetechByHand(RegisterServosByHand):
    """STS servos."""

    bauds = feetech.BAUDS

    def unlock(self, servo_id: int) -> None:
        """Open what is kept without power."""
        self.put(servo_id, "lock", 0)

    def lock(self, servo_id: int) -> None:
        """Close it."""
        self.put(servo_id, "lock", 1)

    def remember(self, servo_id: int, values: Mapping[str, int]) -> None:
        """Between unlocking and locking."""
        self.unlock(servo_id)
        try:
            super().remember(servo_id, values)
        finally:
            self.lock(servo_id)

    def wrong(self, servo_id: int) -> list[str]:
        """Operating mode and Phase."""
        mode, phase = self.get(servo_id, "operating_mode"), self.get(servo_id, "phase")
        out = [f"operating mode {mode}, 0 (position) is wanted"] if mode != 0 else []
        if phase & MANY_TURNS:
            out.append(f"Phase {phase}: it counts beyond a turn, and forgets that without power")
        return out

    def put_right(self, servo_id: int) -> None:
        """Position mode, readings within a turn."""
        phase = self.get(servo_id, "phase")
        self.remember(servo_id, {"operating_mode": 0, "phase": phase & ~MANY_TURNS})

    def place(self, servo_id: int, low: int, high: int) -> int:
        """Where the seam is in the range, a homing offset brings its middle to the middle of the turn."""
        if high - low >= TURN - 2 * MARGIN:
            raise CalibrationError(
                f"servo {servo_id} was turned by {high - low} ticks, and a turn has {TURN}: where nothing stops the "
                f"joint, move it only as far as the arm shall go"
            )
        turns = low // TURN * TURN
        if low - turns >= MARGIN and high - turns < TURN - MARGIN:
            return -turns
        middle = (low + high) // 2
        old = self.get(servo_id, "homing_offset")
        offset = max((old + middle) % TURN - TURN // 2, -FARTHEST)
        self.set_offset(servo_id, offset, old - offset)
        to_middle = TURN // 2 - middle
        return to_middle + (old - offset - to_middle + TURN // 2) % TURN - TURN // 2  # and -2048 cannot be written
