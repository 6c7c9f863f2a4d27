"""The wizard for boards that pulse hobby servos and cannot measure: joints are driven, and looked at."""

from __future__ import annotations

import math
import time
from pathlib import Path

import numpy as np

from ik_solver_ros.errors import CalibrationError
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.servo.boards import BoardCodec
from ik_solver_ros.servo.bus import Port
from ik_solver_ros.servo.calibration import FAMILIES, Calibration, Family, ServoJoint
from ik_solver_ros.tools.calibrate.wizard import Ask, Show

CHANNELS = range(32)
MIDDLE = 1500  # [us] of the first pulse
SLOWLY, PAUSE = 10, 0.02  # [us] from a pulse to the next, and how much later [s]
CLEARLY = 50  # [us] that a joint must be driven to tell its direction and how far it turns
HELP = "+50 or -50 drives it so many us, 1500 to that pulse, Enter when it is there"


class Driven:
    """The servos of a board: no pulse before `begin`, and every change slow."""

    def __init__(self, port: Port, codec: BoardCodec, family: Family) -> None:
        self.port, self.codec, self.family = port, codec, family
        self.pulses: dict[int, int] = {}

    def begin(self, channel: int) -> None:
        """The first pulse: the servo snaps to the middle from wherever it is. Raises BusError."""
        self.port.write(self.codec.pulses({channel: MIDDLE}))
        self.pulses[channel] = MIDDLE

    def go(self, channel: int, pulse: int) -> None:
        """Slowly, to no farther than the servos of the family go [us]. Raises BusError."""
        low, high = self.family.ticks
        pulse = min(max(pulse, low), high)
        while (left := pulse - self.pulses[channel]) != 0:
            self.pulses[channel] += min(max(left, -SLOWLY), SLOWLY)
            self.port.write(self.codec.pulses({channel: self.pulses[channel]}))
            time.sleep(PAUSE)

    def end(self) -> None:
        """No more pulses. Raises BusError."""
        if self.pulses:
            self.port.write(self.codec.pulses(dict.fromkeys(self.pulses, 0)))
            self.pulses = {}


def calibrate_board(
    chain: Chain, port: Port, codec: BoardCodec, protocol: str, out: Path, ask: Ask, show: Show
) -> Calibration:
    """Lead somebody through the calibration of an arm whose joints nobody can measure, and write it to `out`.

    Raises CalibrationError where no calibration comes of it, and BusError. No pulse is left in the end.
    """
    time.sleep(codec.reset_time)
    family, joints = FAMILIES[protocol], []
    driven = Driven(port, codec, family)
    show("servos get no pulse before you say so; then they snap to the middle, so keep clear")
    try:
        for name in [*chain.joint_names, *(joint.name for joint in chain.other_joints)]:
            show(f"\n{name}")
            channel = _channel(set(driven.pulses), ask, show)
            if channel is not None:
                driven.begin(channel)
                joints.append(_joint(chain, driven, name, channel, ask, show))
            elif name in chain.joint_names:
                raise CalibrationError(f"joint {name!r} of the chain must have a servo", joint=name)
        calibration = Calibration(protocol, port.baud, tuple(joints))
        calibration.fit({j.name: (j.lower, j.upper) for j in chain.model.joints.values()}, chain.joint_names)
        calibration.dump(out)
        tip, _ = chain.forward(chain.clamped(np.zeros(chain.n)))
        show(f"\nwritten to {out}")
        show(
            f"all joints are at 0 now: {chain.tip_link} should be at x {tip[0]:.3f} (forward), y {tip[1]:.3f} (to the "
            f"left), z {tip[2]:.3f} m (up) from {chain.base_link!r}; if not, calibrate again"
        )
        ask("  support the arm: Enter takes the pulses off: ", None)
    finally:
        driven.end()
    return calibration


def _channel(taken: set[int], ask: Ask, show: Show) -> int | None:
    free = next(channel for channel in CHANNELS if channel not in taken)
    while True:
        answer = ask(f"  channel of its servo [{free}], 'n' for none; it snaps to the middle: ", None).strip()
        if answer == "n":
            return None
        answer = answer or str(free)
        if answer.isdigit() and int(answer) in CHANNELS and int(answer) not in taken:
            return int(answer)
        show(f"  {answer!r}: a channel from 0 to {CHANNELS[-1]} that is not taken is wanted")


def _joint(chain: Chain, driven: Driven, name: str, channel: int, ask: Ask, show: Show) -> ServoJoint:
    """Zero, direction, scale and range of one joint."""
    show(f"  {HELP}")
    zero = _driven(driven, channel, "drive it to where the URDF has it at 0", ask, show)
    while True:
        way = _driven(driven, channel, "drive it a good way in its positive direction", ask, show) - zero
        if abs(way) >= CLEARLY:
            break
        show(f"  by {CLEARLY} us and more")
    unit, of_unit = ("mm", 1e-3) if chain.model.joints[name].type == "prismatic" else ("degrees", math.pi / 180.0)
    usual = abs(way) * driven.family.per_tick / of_unit
    far = _number(ask, show, f"how many {unit} is it from 0 now? measure", round(usual, 1))
    one = _driven(driven, channel, "drive it to one end of its range", ask, show)
    other = _driven(driven, channel, "and to the other end", ask, show)
    if one == other:
        raise CalibrationError(f"both ends of joint {name!r} are at {one} us", joint=name)
    driven.go(channel, zero)
    per_tick = far * of_unit / abs(way)
    return ServoJoint(name, channel, 1 if way > 0 else -1, zero, min(one, other), max(one, other), per_tick)


def _driven(driven: Driven, channel: int, wish: str, ask: Ask, show: Show) -> int:
    while True:
        here = driven.pulses[channel]
        answer = ask(f"  {wish} [{here} us]: ", None).strip()
        if not answer:
            return here
        try:
            driven.go(channel, int(answer) + (here if answer[0] in "+-" else 0))
        except ValueError:
            show(f"  {answer!r}: {HELP}")


def _number(ask: Ask, show: Show, question: str, usual: float) -> float:
    while True:
        answer = ask(f"  {question} [{usual:g}]: ", None).strip()
        try:
            number = float(answer or usual)
        except ValueError:
            number = math.nan
        if math.isfinite(number) and number > 0.0:
            return number
        show(f"  {answer!r}: a positive number is wanted")
