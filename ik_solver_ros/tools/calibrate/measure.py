"""Zero, direction and range of a joint, by where somebody moves it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ik_solver_ros.errors import CalibrationError
from ik_solver_ros.kinematics.joint import Joint
from ik_solver_ros.servo.by_hand import ByHand
from ik_solver_ros.servo.calibration import ServoJoint
from ik_solver_ros.servo.continuous import Extremes
from ik_solver_ros.servo.families import Family
from ik_solver_ros.tools.calibrate.dialogue import Ask, Show, agreed, number
from ik_solver_ros.tools.calibrate.watched import Watched

CLEARLY = 0.09  # [rad] by which a joint must be moved to tell its direction
EDGE = 0.015  # [rad] that the range is kept away from where the joint was stopped by hand
SHOWN = 0.1  # [rad] of the small move that shows the direction


class Measurement:
    """The questions about one joint after another."""

    def __init__(self, servos: ByHand, family: Family, ask: Ask, show: Show) -> None:
        self._servos, self._family, self._ask, self._show = servos, family, ask, show

    def measure(self, joint: Joint, servo_id: int) -> ServoJoint:
        """A joint's servo, as far as hands tell. Raises CalibrationError where it was not moved, or cannot be led so.

        The range is where it was seen, and where the servo's own limits and the family's ticks are.
        """
        servos, family = self._servos, self._family
        self._put_right(servo_id)
        servo = Watched(servos, servo_id, family.turn, self._show)
        stands = reference(joint)
        self._ask(
            f"  put it where the URDF has it at {said(joint, stands)}, and press Enter: ",
            lambda: f"  {servo.look()} ticks ",
        )
        start = servo.settled()
        seen = Extremes(start)

        def ranging() -> str:
            ticks = servo.look()
            seen.add(ticks)
            degrees = math.degrees((seen.high - seen.low) * family.per_tick)
            return f"  {ticks} ticks, seen {seen.low} to {seen.high}, {degrees:.0f} degrees "

        while True:
            answer = self._ask(
                "  move it a good way in its positive direction, and press Enter ('-' and Enter, if it could go the "
                "other way only): ",
                ranging,
            )
            way = (servo.settled() - start) * (-1 if answer.strip() == "-" else 1)
            if abs(way) * family.per_tick >= CLEARLY:
                break
            self._show(f"  it moved by {math.degrees(abs(way) * family.per_tick):.1f} degrees only")
        per_tick = self._scale(joint, way)
        self._ask("  move it through its whole range, to both ends, and press Enter: ", ranging)
        ranging()
        edge = round(EDGE / family.per_tick)
        if seen.high - seen.low <= 2 * edge:
            raise CalibrationError(
                f"joint {joint.name!r} was moved by {seen.high - seen.low} ticks only", joint=joint.name
            )
        shift = servos.place(servo_id, seen.low, seen.high)
        direction = 1 if way > 0 else -1
        zero = start + shift - round(direction * stands / per_tick)
        low, high = self._within_limits(joint.name, servo_id, seen.low + shift + edge, seen.high + shift - edge)
        offset = servos.settings(servo_id).homing_offset
        return ServoJoint(joint.name, servo_id, direction, zero, low, high, per_tick, offset)

    def _put_right(self, servo_id: int) -> None:
        """Have a servo that is no servo of positions made one. Raises CalibrationError where that is not wanted."""
        wrong = self._servos.settings(servo_id).wrong
        if not wrong:
            return
        self._show(f"  servo {servo_id} has {'; '.join(wrong)}")
        if not agreed(self._ask, "  change that in the servo?", usual=True):
            raise CalibrationError(f"servo {servo_id} cannot be used with {'; '.join(wrong)}")
        self._servos.put_right(servo_id)

    def _scale(self, joint: Joint, way: int) -> float:
        """[rad or m] of a tick; what slides is measured."""
        usual = self._family.per_tick
        if joint.type != "prismatic":
            return usual
        far = number(self._ask, self._show, "how many mm is it from there now? measure", 10.0)
        return far * 1e-3 / abs(way)

    def _within_limits(self, name: str, servo_id: int, low: int, high: int) -> tuple[int, int]:
        """The range as far as the servo's own limits let it. Raises CalibrationError where nothing remains."""
        first, last = self._servos.settings(servo_id).limits
        if first <= low and high <= last:
            return low, high
        self._show(f"  servo {servo_id} goes from {first} to {last} ticks only, by its own limits")
        if agreed(self._ask, f"  open them, so that it can go from {low} to {high}?", usual=True):
            self._servos.open_limits(servo_id)
            return low, high
        if max(first, low) >= min(last, high):
            raise CalibrationError(
                f"joint {name!r} moves from {low} to {high}, its servo from {first} to {last} ticks", joint=name
            )
        return max(first, low), min(last, high)

    def confirm_direction(self, joint: ServoJoint, zero_at: float) -> ServoJoint:
        """Have the servo move a little in the positive direction, if somebody agrees, and ask whether it did.

        zero_at: where the URDF has the joint in the pose that was shown [rad or m]. Raises CalibrationError where the
        servo does not move.
        """
        servos, ask = self._servos, self._ask
        by = min(round(SHOWN / self._family.per_tick), (joint.max - joint.min) // 4)
        while agreed(ask, f"  support the arm: shall servo {joint.id} move it by 6 degrees and back, to see the way?"):
            while not joint.min + by <= servos.position(joint.id) <= joint.max - by:
                ask("  put it away from the ends of its range, and press Enter: ", None)
            came = servos.move(joint.id, joint.direction * by)
            if abs(came) < by // 3:
                self._show(f"  it came by {abs(came)} of {by} ticks only: is it blocked, or its supply too weak?")
            if agreed(ask, "  did it go as the picture shows, and back?", usual=True):
                break
            joint = turned(joint, zero_at)
            self._show("  so its direction is the other one; see again")
        return joint


def reference(joint: Joint) -> float:
    """Where a joint is to be put [rad or m]: at 0, or where it comes nearest to that."""
    return float(np.clip(0.0, joint.lower, joint.upper))


def said(joint: Joint, position: float) -> str:
    """A joint's position for people."""
    if position == 0.0:
        return "0"
    return f"{1e3 * position:.0f} mm" if joint.type == "prismatic" else f"{math.degrees(position):.0f} degrees"


def turned(joint: ServoJoint, stands: float) -> ServoJoint:
    """The other way round, when it was put where the joint is at `stands` [rad or m]."""
    measured_at = joint.zero + round(joint.direction * stands / joint.per_tick)
    return replace(
        joint, direction=-joint.direction, zero=measured_at + round(joint.direction * stands / joint.per_tick)
    )
