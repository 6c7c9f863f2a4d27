"""Servos that are moved by hand and tell where they are: what a calibration needs of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Protocol

from ik_solver_ros.errors import CalibrationError
from ik_solver_ros.servo.bus import Port, RegisterBus
from ik_solver_ros.servo.lx16a import POSITION_READ, TORQUE_READ
from ik_solver_ros.servo.lx16a_bus import Lx16aBus

NUDGE, STEPS = 0.06, 10  # [rad] of a jog there and back, and in how many steps each way
PAUSE = 0.03  # [s] after each of them
ROUNDS = 3  # in which servos are asked that have not answered yet: a reply may be lost, or come too late


class ByHand(Protocol):
    """Servos that share a port. All raise BusError where the port is gone."""

    port: Port

    def found(self, ids: Iterable[int]) -> list[int]:
        """Those that answer."""

    def release(self, ids: Iterable[int]) -> None:
        """Take their torque off."""

    def position(self, servo_id: int) -> int:
        """Where a servo is [ticks]. Raises CalibrationError where it does not answer."""

    def jog(self, servo_id: int, per_tick: float) -> None:
        """A little there and back from where it is, where a tick is so many rad."""

    def homing_offset(self, servo_id: int) -> int | None:
        """What a servo adds to its positions [ticks], where it can."""


class RegisterServosByHand:
    """Feetech's and Dynamixel's servos."""

    def __init__(self, bus: RegisterBus) -> None:
        self.bus, self.port, self._registers = bus, bus.port, bus.codec.registers

    def found(self, ids: Iterable[int]) -> list[int]:
        """Those that answer."""
        return _answering(ids, self.bus.ping)

    def release(self, ids: Iterable[int]) -> None:
        """Take their torque off."""
        self.bus.sync_write(self._registers["torque_enable"], dict.fromkeys(ids, 0))

    def position(self, servo_id: int) -> int:
        """Where a servo is [ticks]."""
        return _known(servo_id, lambda: self.bus.read(servo_id, self._registers["position"]))

    def jog(self, servo_id: int, per_tick: float) -> None:
        """Its goal is where it is before its torque comes on."""
        goal, torque = self._registers["goal_position"], self._registers["torque_enable"]
        here = self.position(servo_id)
        self.bus.write(servo_id, goal, here)
        self.bus.write(servo_id, torque, 1)
        for step in _there_and_back(per_tick):
            self.bus.write(servo_id, goal, here + step)
            time.sleep(PAUSE)
        self.bus.write(servo_id, torque, 0)

    def homing_offset(self, servo_id: int) -> int | None:
        """Where their protocol has a calibration note it."""
        return self.bus.read(servo_id, self._registers["homing_offset"]) if self.bus.codec.notes_offset else None


class Lx16aByHand:
    """Hiwonder's LX-16A."""

    def __init__(self, bus: Lx16aBus) -> None:
        self.bus, self.port = bus, bus.port

    def found(self, ids: Iterable[int]) -> list[int]:
        """Those that answer."""
        return _answering(ids, lambda servo_id: self.bus.read(servo_id, POSITION_READ) is not None)

    def release(self, ids: Iterable[int]) -> None:
        """Take their torque off."""
        for servo_id in ids:
            self._let_go(servo_id)

    def position(self, servo_id: int) -> int:
        """Where a servo is [ticks]."""
        return _known(servo_id, lambda: self.bus.read(servo_id, POSITION_READ))

    def jog(self, servo_id: int, per_tick: float) -> None:
        """A move brings the torque on by itself."""
        here = self.position(servo_id)
        for step in _there_and_back(per_tick):
            self.bus.move({servo_id: min(max(here + step, 0), 1000)}, round(1e3 * PAUSE))
            time.sleep(PAUSE)
        self._let_go(servo_id)

    def _let_go(self, servo_id: int) -> None:
        """Take its torque off, and ask whether it is: these servos confirm nothing that is written."""
        for _ in range(ROUNDS):
            self.bus.torque(servo_id, False)
            if not _known(servo_id, lambda: self.bus.read(servo_id, TORQUE_READ)):
                return
        raise CalibrationError(f"servo {servo_id} keeps its torque on, so that nobody can move it")

    def homing_offset(self, servo_id: int) -> None:
        """Theirs is not read: it changes only by a command of its own."""


def _answering(ids: Iterable[int], answers: Callable[[int], bool]) -> list[int]:
    asked = list(ids)
    found: set[int] = set()
    for _ in range(ROUNDS):
        found.update(servo_id for servo_id in asked if servo_id not in found and answers(servo_id))
    return [servo_id for servo_id in asked if servo_id in found]


def _known(servo_id: int, read: Callable[[], int | None]) -> int:
    for _ in range(ROUNDS):
        ticks = read()
        if ticks is not None:
            return ticks
    raise CalibrationError(f"servo {servo_id} does not answer any more")


def _there_and_back(per_tick: float) -> list[int]:
    out = [round(NUDGE / per_tick * step / STEPS) for step in range(STEPS + 1)]
    return out + out[-2::-1]
