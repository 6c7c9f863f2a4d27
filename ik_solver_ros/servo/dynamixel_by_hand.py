"""Dynamixel's X servos, moved by hand.

By ROBOTIS' e-Manual (Homing Offset, Present Position, Operating Mode): Present Position is the actual position plus
Homing Offset; in position mode an offset beyond 1024 ticks is ignored, goals are within 0 and 4095, and the actual
position counts on over several turns while the torque is off, but is brought back into one turn when it comes on. So
the offset does not move the seam: https://forum.robotis.com/t/7814 has a servo that goes round once for that reason.
"""

from __future__ import annotations

from ik_solver_ros.errors import CalibrationError
from ik_solver_ros.servo import dynamixel
from ik_solver_ros.servo.bus import RegisterBus
from ik_solver_ros.servo.register_by_hand import RegisterServosByHand

TURN = 4096
MARGIN = 12  # [ticks] that a range keeps away from the seam, which is where its horn puts it
FARTHEST = 1024  # [ticks] of a homing offset in position mode; others are ignored
POSITION_MODE = 3


class DynamixelByHand(RegisterServosByHand):
    """X servos."""

    bauds = dynamixel.BAUDS

    def __init__(self, bus: RegisterBus) -> None:
        super().__init__(bus)
        self._offsets: dict[int, int] = {}  # that are in effect

    def position(self, servo_id: int) -> int:
        """Where it would be once its torque is on: within one turn [ticks]."""
        if servo_id not in self._offsets:
            offset = self.get(servo_id, "homing_offset")
            self._offsets[servo_id] = offset if abs(offset) <= FARTHEST else 0
        offset = self._offsets[servo_id]
        return (super().position(servo_id) - offset) % TURN + offset

    def wrong(self, servo_id: int) -> list[str]:
        """Operating mode, drive mode, and an offset that is ignored."""
        mode, drive = self.get(servo_id, "operating_mode"), self.get(servo_id, "drive_mode")
        offset = self.get(servo_id, "homing_offset")
        out = [f"operating mode {mode}, {POSITION_MODE} (position) is wanted"] if mode != POSITION_MODE else []
        if drive:
            out.append(f"drive mode {drive}, 0 (not reversed, profile by velocity) is wanted")
        if abs(offset) > FARTHEST:
            out.append(f"homing offset {offset}: position mode ignores those beyond {FARTHEST}")
        return out

    def put_right(self, servo_id: int) -> None:
        """Position mode, not reversed, no offset that is ignored."""
        values = {"operating_mode": POSITION_MODE, "drive_mode": 0}
        if abs(self.get(servo_id, "homing_offset")) > FARTHEST:
            values["homing_offset"] = 0
        self.remember(servo_id, values)
        self._offsets.pop(servo_id, None)

    def place(self, servo_id: int, low: int, high: int) -> int:
        """Within one turn already, or refused; an offset that keeps goals out of 0 to 4095 is taken away."""
        if high - low >= TURN:
            raise CalibrationError(
                f"servo {servo_id} was turned by {high - low} ticks, and a turn has {TURN}: where nothing stops the "
                f"joint, move it only as far as the arm shall go"
            )
        self.position(servo_id)
        offset = self._offsets[servo_id]
        turns = (low - offset) // TURN * TURN
        if low - offset - turns < MARGIN or high - offset - turns >= TURN - MARGIN:
            raise CalibrationError(
                f"the range of servo {servo_id} passes where its turn begins anew (4095 to 0). Position mode does not "
                f"pass there, and a homing offset does not move it: put its horn on by a quarter or half a turn farther"
            )
        if low - turns >= 0 and high - turns < TURN:
            return -turns
        self.set_offset(servo_id, 0, -offset)
        return -turns - offset

    def set_offset(self, servo_id: int, offset: int, moves: int) -> None:
        """And it is in effect."""
        self._offsets.pop(servo_id, None)
        super().set_offset(servo_id, offset, moves)
        self._offsets.pop(servo_id, None)
