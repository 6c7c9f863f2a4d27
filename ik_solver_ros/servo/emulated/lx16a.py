"""Emulated LX-16A servos, by Hiwonder's protocol."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ik_solver_ros.servo import lx16a
from ik_solver_ros.servo.emulated.emulator import Emulator, collided
from ik_solver_ros.servo.emulated.mechanics import Drive, EmulatedServo
from ik_solver_ros.servo.emulated.traits import UNKIND, Traits
from ik_solver_ros.servo.registers import BROADCAST

BAUD = 115_200  # the only one
LAST = 1000  # [ticks]
MOVE, MOVE_READ, WAIT, WAIT_READ, START, STOP = 1, 2, 7, 8, 11, 12
ID, ID_READ, OFFSET, OFFSET_SAVE, OFFSET_READ = 13, 14, 17, 18, 19
LIMITS, LIMITS_READ, VOLTAGES, VOLTAGES_READ, HOTTEST, HOTTEST_READ = 20, 21, 22, 23, 24, 25
MODE, MODE_READ, LED, LED_READ, ALARMS, ALARMS_READ = 29, 30, 33, 34, 35, 36
NAMES = {
    MOVE: "MOVE", WAIT: "WAIT", START: "START", STOP: "STOP", ID: "ID", OFFSET: "OFFSET", OFFSET_SAVE: "OFFSET_SAVE",
    LIMITS: "LIMITS", VOLTAGES: "VOLTAGES", HOTTEST: "HOTTEST", MODE: "MODE", lx16a.TORQUE_WRITE: "TORQUE",
    LED: "LED", ALARMS: "ALARMS",
}  # fmt: skip
LENGTHS = {MOVE: 4, WAIT: 4, ID: 1, OFFSET: 1, LIMITS: 4, VOLTAGES: 4, HOTTEST: 1, MODE: 4, LED: 1, ALARMS: 1}
LENGTHS[lx16a.TORQUE_WRITE] = 1
FACTORY = {ID: 1, OFFSET: 0, LIMITS: LAST << 16, VOLTAGES: 12_000 << 16 | 4500, HOTTEST: 85, LED: 0, ALARMS: 7}
HEAT, VOLTAGE, LOCKED = 0, 1, 2  # bits of faults
FULL = 0.95  # of the output, at which it counts as locked


class Lx16aServo(EmulatedServo):
    """One servo. A move brings its torque on. `supply` [V] and `temperature` [deg C] are what it measures."""

    turn = 1500.0

    def __init__(self, servo_id: int, position: float, traits: Traits) -> None:
        self.saved = FACTORY | {ID: servo_id}  # by the command that writes it
        self.supply, self.temperature = traits.lx_supply, 30.0
        self.torque = False
        self.motor = 0  # speed of the motor mode
        self.motor_mode = False
        self.waiting: tuple[int, int] | None = None
        self.offset = 0  # [ticks]
        self._measurements = 0
        super().__init__(servo_id, position, traits)
        self.restart()

    @property
    def energized(self) -> bool:
        """Whether its torque really is on."""
        return self.torque and self.away <= 0.0 and not (self.faults() & (1 << HEAT | 1 << VOLTAGE))

    def restart(self, seconds: float = 0.0) -> None:
        """As after a loss of power of so long."""
        self.torque, self.motor_mode, self.waiting, self.why = False, False, None, "restart"
        self.notice()
        self.offset = _signed(self.saved[OFFSET], 1)
        self.command, self.duration = self.reported(), 0  # [ticks], [ms] of the newest move
        self.speed = math.inf
        super().restart(seconds)

    def reported(self) -> float:
        """Where it says it is [ticks], before rounding and noise."""
        return self.position - (self.offset if self.traits.lx_offset else 0)

    @property
    def homing_offset(self) -> int:
        """What shifts its positions [ticks], -125 to 125."""
        return self.offset

    def faults(self) -> int:
        """What is wrong, as bits of lx16a.FAULTS."""
        if not self.traits.lx_unloading:
            return 0
        low, high = self.saved[VOLTAGES] & 0xFFFF, self.saved[VOLTAGES] >> 16
        bits = (self.temperature > self.saved[HOTTEST]) << HEAT
        bits |= (not low <= round(1000.0 * self.supply) <= high) << VOLTAGE
        return bits | (abs(self.effort) > FULL) << LOCKED

    def goto(self, goal: int, milliseconds: int) -> str:
        """To a goal [ticks], in so long."""
        if self.motor_mode and self.traits.lx_motor_mode:
            return "ignored"
        low, high = self.saved[LIMITS] & 0xFFFF, self.saved[LIMITS] >> 16
        end = min(max(goal, low), high) if self.traits.lx_limits else goal
        way = abs(end - self.reported())
        self.command, self.duration, self.torque, self.why = end, milliseconds, True, NAMES[MOVE]
        self.speed = way / (milliseconds / 1000.0) if milliseconds else math.inf
        return "taken" if end == goal else "clamped"

    def target(self) -> float:
        """The goal of its newest move, in the coordinates of `position` [ticks]."""
        return self.command + (self.offset if self.traits.lx_offset else 0)

    def move(self, seconds: float) -> None:
        """Move for a while."""
        if not self.energized:
            self.coast(seconds)
        elif self.motor_mode and self.traits.lx_motor_mode:
            share = min(max(self.motor / 1000.0, -1.0), 1.0)
            self.spin(share * self.traits.lx_top_speed, share, seconds)
        else:
            self.drive(self.target(), Drive(self.traits.lx_top_speed, self.speed), seconds)

    def obey(self, command: int, data: bytes) -> str:
        """Do what is not a question: what became of it."""
        value = int.from_bytes(data, "little")
        if len(data) != LENGTHS.get(command, 0):
            return "ignored"
        if command == MOVE:
            return self.goto(value & 0xFFFF, value >> 16)
        if command == WAIT:
            self.waiting = (value & 0xFFFF, value >> 16)
        elif command == START:
            if self.waiting is None:
                return "ignored"
            (goal, milliseconds), self.waiting = self.waiting, None
            return self.goto(goal, milliseconds)
        elif command == STOP:
            self.command, self.speed = self.reported(), math.inf
        elif command == lx16a.TORQUE_WRITE:
            self.torque, self.command, self.why = bool(value), self.reported(), NAMES[command]
        elif command == MODE:
            self.motor_mode, self.motor = bool(data[0]), _signed(value >> 16, 2)
        elif command == OFFSET:
            self.offset = _signed(value, 1)
            return "unsaved"
        elif command == OFFSET_SAVE:
            self.saved[OFFSET] = self.offset & 0xFF
        else:
            self.saved[command] = value
        return "taken"

    def answer(self, question: int) -> bytes | None:
        """What it says to a question; None for what is none."""
        questions: dict[int, tuple[int, int]] = {
            MOVE_READ: (round(self.command) & 0xFFFF | self.duration << 16, 4),
            WAIT_READ: ((self.waiting[0] | self.waiting[1] << 16) if self.waiting else 0, 4),
            ID_READ: (self.saved[ID], 1),
            OFFSET_READ: (self.offset, 1),
            LIMITS_READ: (self.saved[LIMITS], 4),
            VOLTAGES_READ: (self.saved[VOLTAGES], 4),
            HOTTEST_READ: (self.saved[HOTTEST], 1),
            lx16a.TEMPERATURE_READ: (round(self.temperature), 1),
            lx16a.VOLTAGE_READ: (round(1000.0 * self.supply), 2),
            lx16a.POSITION_READ: (round(self.reported()) + self._last_digit(question), 2),
            MODE_READ: (int(self.motor_mode) | (self.motor & 0xFFFF) << 16, 4),
            lx16a.TORQUE_READ: (int(self.torque), 1),
            LED_READ: (self.saved[LED], 1),
            ALARMS_READ: (self.saved[ALARMS] if self.traits.lx_alarm_setting else self.faults(), 1),
        }
        if question not in questions:
            return None
        value, size = questions[question]
        return (value & (1 << 8 * size) - 1).to_bytes(size, "little")

    def _last_digit(self, question: int) -> int:
        self._measurements += question == lx16a.POSITION_READ
        return (self._measurements * 7919 // 13 % 5 - 2) // 2 * self.traits.noise


class Lx16aEmulator(Emulator[Lx16aServo]):
    """Servos that share a wire."""

    def __init__(self, positions: Mapping[int, float], traits: Traits = UNKIND) -> None:
        """Servos at `positions` [ticks] by id."""
        super().__init__({i: Lx16aServo(i, position, traits) for i, position in positions.items()}, traits)

    def set_up(self, calibration: Any) -> None:
        """Limits of the joints."""
        for joint in calibration.joints:
            self.servos[joint.id].saved[LIMITS] = max(joint.min, 0) | min(joint.max, LAST) << 16

    def obey(self, now: float) -> list[bytes]:
        """Move and answer."""
        packets, self.received = lx16a.parse(self.received)
        if self.traits.check_baud and self.rate not in (None, BAUD):
            return []
        return [reply for servo_id, command, data in packets for reply in self._do(servo_id, command, data, now)]

    def _do(self, servo_id: int, command: int, data: bytes, now: float) -> list[bytes]:
        replies = []
        for key, servo in self.servos.items():
            if servo_id not in (servo.saved[ID], BROADCAST) or not self.hears(key):
                continue
            if command in NAMES:
                self._order(key, servo, command, data, now)
            elif servo_id != BROADCAST or command == ID_READ:
                answer = servo.answer(command)
                replies += [lx16a.frame(servo.saved[ID], command, answer)] if answer is not None else []
        return collided(replies)

    def _order(self, key: int, servo: Lx16aServo, command: int, data: bytes, now: float) -> None:
        torque, waiting = servo.energized, servo.waiting
        outcome = servo.obey(command, data)
        servo.notice()
        self.enter(key, NAMES[command], int.from_bytes(data, "little"), outcome)
        if command == MOVE or (command == START and waiting):
            goal = int.from_bytes(data[:2], "little") if command == MOVE else (waiting or (0, 0))[0]
            self.note(now, key, goal, torque, servo.target())


def _signed(value: int, size: int) -> int:
    bits = 8 * size
    return value - (1 << bits) if value >> bits - 1 & 1 else value
