"""The wizard that calibrates an arm: finds its servos, and asks for zero, direction and range of every joint."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from ik_solver_ros.errors import CalibrationError, listed
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.servo.bus import TableBus
from ik_solver_ros.servo.calibration import FAMILIES, Calibration, ServoJoint, load_calibration

# Shows a question, calls the function again and again while waiting, shows what it returns, and returns the answer.
Ask = Callable[[str, Callable[[], str] | None], str]
Show = Callable[[str], None]

SEARCHED = range(1, 31)  # ids
CLEARLY = 60  # [ticks] by which a joint must be moved to tell its direction
NUDGE = 40  # [ticks] of a jog
EDGE = 10  # [ticks] that the range is kept away from where the joint was stopped by hand


def found_servos(bus: TableBus, ids: Iterable[int] = SEARCHED) -> list[int]:
    """The ids that answer. Raises BusError."""
    return [servo_id for servo_id in ids if bus.ping(servo_id)]


def calibrate(chain: Chain, bus: TableBus, protocol: str, out: Path, ask: Ask, show: Show) -> Calibration:
    """Lead somebody through the calibration of an arm whose torque is off, and write it to `out`.

    Raises CalibrationError where no calibration comes of it, and BusError.
    """
    ids = found_servos(bus)
    if not ids:
        raise CalibrationError(f"no servo answers on {bus.port.url} at {bus.port.baud} baud; is it powered?")
    show(f"servos that answer: {listed(ids)}")
    registers = bus.codec.registers
    bus.sync_write(registers["torque_enable"], dict.fromkeys(ids, 0))
    show("all torque is off: support the arm")
    family, joints, left = FAMILIES[protocol], [], list(ids)
    for name in [*chain.joint_names, *(joint.name for joint in chain.other_joints)]:
        if not left:
            if name in chain.joint_names:
                raise CalibrationError(f"no servo is left for joint {name!r}", joint=name)
            break
        show(f"\n{name}")
        servo_id = _id(bus, left, ask, show)
        if servo_id is None:
            if name in chain.joint_names:
                raise CalibrationError(f"joint {name!r} of the chain must have a servo", joint=name)
            continue
        left.remove(servo_id)
        joints.append(_joint(bus, name, servo_id, family.per_tick, ask))
    calibration = Calibration(protocol, bus.port.baud, tuple(joints))
    calibration.fit({j.name: (j.lower, j.upper) for j in chain.model.joints.values()}, chain.joint_names)
    calibration.dump(out)
    show(f"\nwritten to {out}")
    _verify(chain, bus, load_calibration(out), ask, show)
    return calibration


def _position(bus: TableBus, servo_id: int) -> int:
    ticks = bus.read(servo_id, bus.codec.registers["position"])
    if ticks is None:
        raise CalibrationError(f"servo {servo_id} does not answer any more")
    return ticks


def _id(bus: TableBus, left: list[int], ask: Ask, show: Show) -> int | None:
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
            _jog(bus, int(number))
        else:
            return int(number)


def _jog(bus: TableBus, servo_id: int) -> None:
    """A little there and back, from where it is."""
    registers, here = bus.codec.registers, _position(bus, servo_id)
    low, high = registers["goal_position"], registers["torque_enable"]
    bus.write(servo_id, low, here)
    bus.write(servo_id, high, 1)
    for step in (*range(0, NUDGE, 4), *range(NUDGE, 0, -4), 0):
        bus.write(servo_id, low, here + step)
        _position(bus, servo_id)
    bus.write(servo_id, high, 0)


def _joint(bus: TableBus, name: str, servo_id: int, per_tick: float, ask: Ask) -> ServoJoint:
    """Zero, direction and range of one joint."""

    def live() -> str:
        return f"  {_position(bus, servo_id)} ticks "

    ask("  put it where the URDF has it at 0, and press Enter: ", live)
    zero = _position(bus, servo_id)
    while True:
        ask("  move it a good way in its positive direction, and press Enter: ", live)
        way = _position(bus, servo_id) - zero
        if abs(way) >= CLEARLY:
            break
    seen = [zero, zero + way]

    def ranging() -> str:
        ticks = _position(bus, servo_id)
        seen[:] = [min(seen[0], seen[1], ticks), max(seen[0], seen[1], ticks)]
        return f"  {ticks} ticks, seen {seen[0]} to {seen[1]} "

    ask("  move it through its whole range, to both ends, and press Enter: ", ranging)
    low, high = min(seen) + EDGE, max(seen) - EDGE
    if low >= high:
        raise CalibrationError(f"joint {name!r} was moved by {max(seen) - min(seen)} ticks only", joint=name)
    offset = None
    if bus.codec.name == "feetech":
        offset = bus.read(servo_id, bus.codec.registers["homing_offset"])
    return ServoJoint(name, servo_id, 1 if way > 0 else -1, zero, low, high, per_tick, offset)


def _verify(chain: Chain, bus: TableBus, calibration: Calibration, ask: Ask, show: Show) -> None:
    joints = {joint.name: joint for joint in calibration.joints}

    def pose() -> str:
        q = np.array([joints[name].position(_position(bus, joints[name].id)) for name in chain.joint_names])
        tip, _ = chain.forward(chain.clamped(q))
        angles = ", ".join(f"{name} {math.degrees(value):.0f}" for name, value in zip(chain.joint_names, q))
        return f"  [deg] {angles}; {chain.tip_link} at x {tip[0]:.3f}, y {tip[1]:.3f}, z {tip[2]:.3f} m "

    show(f"move the arm and watch: x forward, y to the left, z up from {chain.base_link!r}")
    ask("  press Enter when it is right (or calibrate again): ", pose)
