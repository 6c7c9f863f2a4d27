"""An emulated STS3215."""

from __future__ import annotations

import math
from typing import Any

from ik_solver_ros.servo import feetech
from ik_solver_ros.servo.emulated.mechanics import Drive
from ik_solver_ros.servo.emulated.registers import MOVING, RegisterServo
from ik_solver_ros.servo.emulated.traits import Traits
from ik_solver_ros.servo.registers import PING, READ, SYNC_READ

TURN = 4096
VOLTAGE, HEAT, OVERLOAD = 0, 2, 5  # bits of faults
SLOW_UNIT, ZERO_IS_FASTEST, COUNTS_TURNS = 4, 8, 16  # bits of Phase
POSITION, VELOCITY, PWM, STEPS = 0, 1, 2, 3  # operating modes
ACCELERATION = 100.0  # [ticks/s^2] of a unit: 8.7 deg/s^2
COARSE = 50.0  # [ticks/s] of a unit of velocity without SLOW_UNIT: 0.732 rev/min
P_GAIN = 32  # of the factory
INTEGRAL = 0.2  # [1/s] of a unit of I. Assumption
SET_MIDDLE = 128  # in torque_enable
CURRENT = 400  # [6.5 mA] at full output: 2.7 A


class FeetechServo(RegisterServo):
    """One STS3215: model 777 of Feetech's memory table."""

    codec, bauds, ram = feetech, feetech.BAUDS, 40
    fixed = frozenset({"model", "hardware_error"})

    def __init__(self, servo_id: int, position: float, traits: Traits) -> None:
        self._drive, self._mode = Drive(traits.sts_top_speed), POSITION
        self._loaded = 0.0  # [s] above the overload torque
        self._bad = 0  # faults that are present
        self._overloaded = False
        self._turns = 0.0  # [ticks] of whole turns that it forgot
        self._steps = 0.0  # [ticks] where the way of the step mode ends
        super().__init__(servo_id, position, traits)
        self.supply = traits.sts_supply

    def factory(self) -> dict[str, int]:
        """STS table, initial values; gains as LeRobot's users read them."""
        return {
            "model": 777,
            "status_level": 1,
            "max_position": TURN - 1,
            "max_temperature": 70,
            "max_voltage": self.traits.sts_max_voltage,
            "min_voltage": 40,
            "max_torque": 1000,
            "phase": self.traits.sts_phase,
            "unloading": 1 << VOLTAGE | 1 << HEAT | 1 << OVERLOAD,
            "p_gain": P_GAIN,
            "d_gain": 32,
            "protection_current": 511,
            "protective_torque": 20,
            "protection_time": 200,
            "overload_torque": 80,
        }

    def defaults(self) -> dict[str, int]:
        """STS table, initial values."""
        self._bad, self._overloaded, self._loaded = 0, False, 0.0
        if self.traits.sts_seam:
            self._turns = math.floor((self.position - self._offset) / TURN) * TURN
        torque = int(self.traits.sts_torque_at_power_up)
        present = torque or self.traits.sts_goal_after_restart == "present"
        return {
            "lock": 1,
            "torque_limit": self.get("max_torque"),
            "torque_enable": torque,
            "goal_position": round(self.reported()) if present else 0,
        }

    def reported(self) -> float:
        """Where it says it is [ticks], before rounding and noise."""
        shifted = self.position - self._offset
        if not self.traits.sts_seam:
            return shifted
        if self._phase & COUNTS_TURNS:
            return min(max(shifted - self._turns, -32767.0), 32767.0)
        return shifted % TURN

    def measure(self) -> None:
        """Write what it measures into its table."""
        position = round(self.reported()) + self.last_digit()
        if self.traits.sts_seam and not self._phase & COUNTS_TURNS:
            position %= TURN
        load = round(1000.0 * min(max(self.effort, -1.0), 1.0))
        for name, value in (
            ("position", position),
            ("velocity", round(self.velocity)),
            ("load", load),
            ("current", round(load / 1000.0 * CURRENT)),
            ("voltage", round(10.0 * self.supply)),
            ("temperature", round(self.temperature)),
            ("moving", int(abs(self.velocity) > MOVING)),
        ):
            register = self.registers[name]
            self.memory[register.address : register.address + register.size] = register.encode(value)

    def target(self) -> float:
        """Where the goal in its register is, in the coordinates of `position` [ticks]."""
        return round(self.position - self.reported()) + self._clamped(self._goal)

    def refresh(self) -> None:
        """After registers changed: how it drives."""
        super().refresh()
        traits, get = self.traits, self.get
        self._phase, self._goal = get("phase"), get("goal_position")
        self._offset = get("homing_offset") if traits.sts_offset else 0
        self._limits = (get("min_position"), get("max_position"))
        self._mode = get("operating_mode") if traits.sts_modes else POSITION
        self._unloads = get("unloading") if traits.sts_unloading else 0
        speed = acceleration = math.inf
        output = 1.0
        if traits.sts_speed_registers:
            unit = 1.0 if self._phase & SLOW_UNIT else COARSE
            told = abs(get("goal_velocity")) * unit
            speed = told if told or not self._phase & ZERO_IS_FASTEST else math.inf
            acceleration = get("acceleration") * ACCELERATION or math.inf
            output = min(get("torque_limit"), 1000) / 1000.0
        if self._overloaded:
            output = min(output, get("protective_torque") / 100.0)
        stiffness, integral = 1.0, 0.0
        if traits.sts_gains:
            stiffness, integral = get("p_gain") / P_GAIN, get("i_gain") * INTEGRAL
        self._drive = Drive(traits.sts_top_speed, speed, acceleration, output, stiffness, integral)
        self._thresholds = (get("overload_torque") / 100.0, get("protection_time") / 100.0)
        self._alarms = (get("max_temperature"), get("min_voltage") / 10.0, get("max_voltage") / 10.0)

    def move(self, seconds: float) -> None:
        """Do what its mode says, and protect itself."""
        self._protect(seconds)
        drive = self._drive
        if not self.energized or self._torque == 2:
            self.coast(seconds)
        elif self._mode == VELOCITY:
            goal = self.get("goal_velocity")
            speed = min(drive.speed, drive.top_speed * drive.output)
            self.spin(math.copysign(speed, goal) if goal else 0.0, drive.output, seconds)
        elif self._mode == PWM:
            duty = self.get("goal_time")
            duty = -(duty & 1023) if duty & 1024 else duty & 1023
            self.spin(drive.top_speed * max(min(duty / 1000.0, drive.output), -drive.output), duty / 1000.0, seconds)
        else:
            self.drive(self._steps if self._mode == STEPS else self.target(), drive, seconds)

    def unloaded(self) -> bool:
        """Voltage and heat cut the output; an overload only lessens it."""
        return bool(self._bad & self._unloads & ~(1 << OVERLOAD))

    def saves(self) -> bool:
        """Not while it is locked."""
        return not self.traits.sts_lock or not self.get("lock")

    def answers(self, code: int) -> bool:
        """To all but PING and READ only where the status level says so."""
        return not self.traits.sts_levels or code in {PING, READ, SYNC_READ} or self.get("status_level") > 0

    def wrote(self, name: str, before: int, value: int) -> str:
        """Do what a write means."""
        if name == "goal_position":
            return self._aimed(before, value)
        if name == "torque_enable":
            self.why = name
            if value == SET_MIDDLE and self.traits.sts_modes:
                self._set_middle(before)
            elif not value and not self.traits.sts_stale_goal:
                self.set("goal_position", round(self.reported()))
        return "taken"

    def _aimed(self, before: int, value: int) -> str:
        if self._overloaded and value != before and self.traits.sts_goal_clears_overload:
            self.trip(False)
        if self._mode == STEPS:
            self._steps = self.position + value
        if self.traits.sts_goal_turns_torque_on and value != round(self.reported()) and not self._torque:
            self.why = "goal_position"
            self.set("torque_enable", 1)
        return "taken" if self._mode != POSITION or self._clamped(value) == value else "clamped"

    def _set_middle(self, torque: int) -> None:
        """Here is 2048 from now on."""
        self.set("homing_offset", max(round(self.position) % TURN - TURN // 2, 1 - TURN // 2))
        self.set("torque_enable", torque)

    def _clamped(self, goal: float) -> float:
        low, high = self._limits
        if not self.traits.sts_limits or low == high == 0 or low <= goal <= high:
            return goal
        ways = [(abs((goal - end + TURN / 2) % TURN - TURN / 2), end) for end in (low, high)]
        return float(min(ways)[1])

    def _protect(self, seconds: float) -> None:
        """Look at voltage, heat and load."""
        traits = self.traits
        hottest, lowest, highest = self._alarms
        bad = 0
        if traits.sts_unloading:
            bad |= (not lowest - 1e-9 <= self.supply <= highest + 1e-9) << VOLTAGE
            bad |= (self.temperature > hottest) << HEAT
        for bit in (VOLTAGE, HEAT):
            if (bad ^ self._bad) >> bit & 1:
                self.fault(bit, bool(bad >> bit & 1))
                self.why = "unloading"
        self._bad = bad
        if traits.sts_overload and not self._overloaded:
            threshold, patience = self._thresholds
            self._loaded = self._loaded + seconds if self.energized and abs(self.effort) > threshold else 0.0
            if self._loaded > patience and not self._overloaded:
                self.trip()

    def trip(self, present: bool = True) -> None:
        """An overload, now, or its end."""
        self._overloaded, self._loaded = present, 0.0
        self.fault(OVERLOAD, present)
        self.refresh()

    def set_up(self, joint: Any, baud: int) -> None:
        """As LeRobot leaves them: limits of the joint, its homing offset; it reports where it stands."""
        ticks = self.position
        self.set("baud_rate", self.bauds.index(baud) if baud in self.bauds else 0)
        self.set("homing_offset", joint.homing_offset or 0)
        self.set("min_position", max(joint.min, 0))
        self.set("max_position", max(joint.max, 0))
        self.position = ticks + self._offset
        self.release()
        self.boot()
