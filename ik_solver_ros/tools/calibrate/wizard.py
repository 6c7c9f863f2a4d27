"""The wizard that calibrates an arm: finds its servos, and asks for zero, direction and range of every joint.

For servos that measure, and are moved by hand meanwhile. `calibrate_board` is for those that are pulsed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ik_solver_ros.errors import CalibrationError, listed
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.servo.by_hand import ByHand
from ik_solver_ros.servo.calibration import FAMILIES, Calibration, Family, ServoJoint, load_calibration

# Shows a question, calls the function again and again while waiting, shows what it returns, and returns the answer.
Ask = Callable[[str, Callable[[], str] | None], str]
Show = Callable[[str], None]

SEARCHED = range(1, 31)  # ids
CLEARLY = 0.09  # [rad] by which a joint must be moved to tell its direction
EDGE = 0.015  # [rad] that the range is kept away from where the joint was stopped by hand


def calibrate(chain: Chain, servos: ByHand, protocol: str, out: Path, ask: Ask, show: Show) -> Calibration:
    """Lead somebody through the calibration of an arm whose torque is off, and write it to `out`.

    Raises CalibrationError where no calibration comes of it, and BusError.
    """
    ids = servos.found(SEARCHED)
    if not ids:
        raise CalibrationError(f"no servo answers on {servos.port.url} at {servos.port.baud} baud; is it powered?")
    show(f"servos that answer: {listed(ids)}")
    servos.release(ids)
    show("all torque is off: support the arm")
    family, joints, left = FAMILIES[protocol], [], list(ids)
    for name in [*chain.joint_names, *(joint.name for joint in chain.other_joints)]:
        if not left:
            if name in chain.joint_names:
                raise CalibrationError(f"no servo is left for joint {name!r}", joint=name)
            break
        show(f"\n{name}")
        servo_id = _id(servos, left, family.per_tick, ask, show)
        if servo_id is None:
            if name in chain.joint_names:
                raise CalibrationError(f"joint {name!r} of the chain must have a servo", joint=name)
            continue
        left.remove(servo_id)
        joints.append(_joint(servos, name, servo_id, family, ask))
    calibration = Calibration(protocol, servos.port.baud, tuple(joints))
    calibration.fit({j.name: (j.lower, j.upper) for j in chain.model.joints.values()}, chain.joint_names)
    calibration.dump(out)
    show(f"\nwritten to {out}")
    _verify(chain, servos, load_calibration(out), ask, show)
    return calibration


def _id(servos: ByHand, left: list[int], per_tick: float, ask: Ask, show: Show) -> int | None:
    """Which servo it is; it can be made to move a little, to see."""
    while True:
        answer = ask(
            f"  id of its servo [{left[0]}], 'j {left[0]}' moves that one a little, 'n' for none: ", None
        ).strip()
        if answer == "n":
            return None
        jog = answer.startswith("j")
        number = answer.removeprefix("j").strip() or str(left[0])
        if not number.isdigit() or int(number) not in left:
            show(f"  {answer!r}: one of {listed(left)} is wanted")
        elif jog:
            servos.jog(int(number), per_tick)
        else:
            return int(number)


def _joint(servos: ByHand, name: str, servo_id: int, family: Family, ask: Ask) -> ServoJoint:
    """Zero, direction and range of one joint."""

    def live() -> str:
        return f"  {servos.position(servo_id)} ticks "

    ask("  put it where the URDF has it at 0, and press Enter: ", live)
    zero = servos.position(servo_id)
    while True:
        ask("  move it a good way in its positive direction, and press Enter: ", live)
        way = servos.position(servo_id) - zero
        if abs(way) * family.per_tick >= CLEARLY:
            break
    seen = [zero, zero + way]

    def ranging() -> str:
        ticks = servos.position(servo_id)
        seen[:] = [min(seen[0], seen[1], ticks), max(seen[0], seen[1], ticks)]
        return f"  {ticks} ticks, seen {seen[0]} to {seen[1]} "

    ask("  move it through its whole range, to both ends, and press Enter: ", ranging)
    edge = round(EDGE / family.per_tick)
    low, high = max(min(seen) + edge, family.ticks[0]), min(max(seen) - edge, family.ticks[1])
    if low >= high:
        raise CalibrationError(f"joint {name!r} was moved by {max(seen) - min(seen)} ticks only", joint=name)
    offset = servos.homing_offset(servo_id)
    return ServoJoint(name, servo_id, 1 if way > 0 else -1, zero, low, high, family.per_tick, offset)


def _verify(chain: Chain, servos: ByHand, calibration: Calibration, ask: Ask, show: Show) -> None:
    joints = {joint.name: joint for joint in calibration.joints}

    def pose() -> str:
        q = np.array([joints[name].position(servos.position(joints[name].id)) for name in chain.joint_names])
        tip, _ = chain.forward(chain.clamped(q))
        angles = ", ".join(f"{name} {math.degrees(value):.0f}" for name, value in zip(chain.joint_names, q))
        return f"  [deg] {angles}; {chain.tip_link} at x {tip[0]:.3f}, y {tip[1]:.3f}, z {tip[2]:.3f} m "

    show(f"move the arm and watch: x forward, y to the left, z up from {chain.base_link!r}")
    ask("  press Enter when it is right (or calibrate again): ", pose)
