"""An emulated XL330-M288."""

from __future__ import annotations

import math
from typing import Any

from ik_solver_ros.servo import dynamixel
from ik_solver_ros.servo.emulated.mechanics import Drive
from ik_solver_ros.servo.emulated.registers import MEASURED, MOVING, RegisterServo
from ik_solver_ros.servo.emulated.traits import Traits
from ik_solver_ros.servo.registers import PING, READ, SYNC_READ

TURN = 4096
VOLTAGE, HEAT, OVERLOAD = 0, 2, 5  # bits of hardware_error
CURRENT, VELOCITY, POSITION, EXTENDED, CURRENT_POSITION, PWM = 0, 1, 3, 4, 5, 16  # operating modes
REVERSE, TIMED, TORQUE_BY_GOAL = 1, 4, 8  # bits of Drive Mode
FARTHEST = 1_048_575  # [ticks] of the modes with several turns
DATA_RANGE, ACCESS = 0x04, 0x07  # errors of a status
GOALS = {"goal_pwm", "goal_current", "goal_speed", "goal_position"}
WATCHDOG, BARKED = 0.020, 255  # [s] of a unit; its value after it stopped the servo
FULL_PWM, FULL_CURRENT = 885, 1750
P_GAIN = 400  # of the factory
INTEGRAL = 0.005  # [1/s] of a unit of I. Assumption
FULL = 0.95  # of the greatest output, from which on it is an overload
ACCELERATION = 214.577 * TURN / 3600.0  # [ticks/s^2] of a unit


class DynamixelServo(RegisterServo):
    """One XL330-M288, model 1200 of ROBOTIS' e-Manual."""

    codec, bauds, ram = dynamixel, dynamixel.BAUDS, 64
    fixed = frozenset({"model", "firmware", "hardware_error"})

    def __init__(self, servo_id: int, position: float, traits: Traits) -> None:
        self._drive = Drive(traits.dxl_top_speed)
        self._lost = 0.0  # [ticks] of whole turns that it forgot
        self._loaded = self._unasked = 0.0  # [s] at full output; without an instruction
        self._bad = 0  # hardware errors that are present
        super().__init__(servo_id, position, traits)
        self.supply = traits.dxl_supply

    def factory(self) -> dict[str, int]:
        """The control table's initial values."""
        return {
            "model": 1200,
            "firmware": 48,
            "baud_rate": 1 if self.traits.factory_baud else self.bauds.index(1_000_000),
            "return_delay": 250,
            "operating_mode": POSITION,
            "max_temperature": 70,
            "max_voltage": 70,
            "min_voltage": 35,
            "pwm_limit": FULL_PWM,
            "current_limit": FULL_CURRENT,
            "velocity_limit": 445,
            "max_position": TURN - 1,
            "shutdown": 53,
        }

    def defaults(self) -> dict[str, int]:
        """The control table's initial values."""
        self._bad, self._loaded, self._unasked = 0, 0.0, 0.0
        self._forget_turns()
        return {
            "status_level": 2,
            "p_gain": P_GAIN,
            "goal_pwm": self.get("pwm_limit"),
            "goal_current": self.get("current_limit"),
            "goal_position": round(self.reported()),
            "torque_enable": self.get("startup") & 1,
        }

    def reported(self) -> float:
        """Where it says it is [ticks], before rounding and noise."""
        return self._sign * self.position - self._lost + self._offset

    def measure(self) -> None:
        """Write what it measures into its table."""
        load = round(self._sign * FULL_CURRENT * min(max(self.effort, -1.0), 1.0))
        for name, value in (
            ("position", round(self.reported()) + self.last_digit()),
            ("velocity", round(self._sign * self.velocity / self.codec.velocity_unit)),
            ("load", load),
            ("voltage", round(10.0 * self.supply)),
            ("temperature", round(self.temperature)),
            ("moving", int(abs(self.velocity) > MOVING)),
        ):
            register = self.registers[name]
            self.memory[register.address : register.address + register.size] = register.encode(value)

    def target(self) -> float:
        """Where the goal in its register is, in the coordinates of `position` [ticks]."""
        return self._sign * (self._goal + self._lost - self._offset)

    def refresh(self) -> None:
        """After registers changed: how it drives."""
        super().refresh()
        traits, get = self.traits, self.get
        self._goal, self._watchdog = get("goal_position"), get("bus_watchdog") if traits.dxl_watchdog else 0
        self._mode = get("operating_mode") if traits.dxl_modes else POSITION
        self._sign = -1 if traits.dxl_modes and get("drive_mode") & REVERSE else 1
        offset = get("homing_offset") if traits.dxl_offset else 0
        self._offset = 0 if self._mode == POSITION and abs(offset) > TURN // 4 else offset
        speed = acceleration = math.inf
        output = 1.0
        if traits.dxl_speed_registers:
            unit = dynamixel.velocity_unit
            if traits.dxl_modes and get("drive_mode") & TIMED:
                way, milliseconds = abs(self.target() - self.position), get("goal_velocity")
                speed = 1000.0 * way / milliseconds if milliseconds else math.inf
            else:
                speed = get("goal_velocity") * unit or math.inf
                acceleration = get("acceleration") * ACCELERATION or math.inf
            output = min(abs(get("goal_pwm")), get("pwm_limit")) / FULL_PWM
            if self._mode in {CURRENT, CURRENT_POSITION}:
                output = min(output, abs(get("goal_current")) / FULL_CURRENT)
        stiffness, integral = 1.0, 0.0
        if traits.dxl_gains:
            stiffness, integral = get("p_gain") / P_GAIN, get("i_gain") * INTEGRAL
        self._drive = Drive(traits.dxl_top_speed, speed, acceleration, output, stiffness, integral)
        self._alarms = (get("max_temperature"), get("min_voltage") / 10.0, get("max_voltage") / 10.0)

    def move(self, seconds: float) -> None:
        """Do what its mode says, and protect itself."""
        self._protect(seconds)
        drive = self._drive
        if not self.energized:
            self.coast(seconds)
        elif self._watchdog == BARKED:
            self.drive(self.position, drive, seconds)
        elif self._mode == VELOCITY:
            speed = self.get("goal_speed") * dynamixel.velocity_unit
            self._turn(min(max(speed, -drive.top_speed), drive.top_speed), drive.output, seconds)
        elif self._mode in {PWM, CURRENT}:
            name, full = ("goal_pwm", FULL_PWM) if self._mode == PWM else ("goal_current", FULL_CURRENT)
            share = min(max(self.get(name) / full, -1.0), 1.0)
            self._turn(share * drive.top_speed, share, seconds)
        else:
            self.drive(self.target(), drive, seconds)

    def heard(self) -> None:
        """An instruction came."""
        self._unasked = 0.0

    def answers(self, code: int) -> bool:
        """As the status return level says."""
        level = self.get("status_level") if self.traits.dxl_levels else 2
        return code == PING or level >= (1 if code in {READ, SYNC_READ} else 2)

    def error(self) -> int:
        """The alert, where there is a hardware error."""
        return dynamixel.ALERT if self.get("hardware_error") else 0

    def refusal(self, name: str, value: int) -> int:
        """Of the EEPROM while torque is on, of goals outside, and of goals after the watchdog barked."""
        traits = self.traits
        read_only = name in self.fixed or name in MEASURED
        if traits.dxl_eeprom_lock and (read_only or (self._torque and self.registers[name].address < self.ram)):
            return ACCESS
        if self._watchdog == BARKED and name in GOALS:
            return DATA_RANGE
        if name == "goal_position" and traits.dxl_limits:
            low, high = -FARTHEST, FARTHEST
            if self._mode == POSITION:
                low, high = self.get("min_position"), self.get("max_position")
            return 0 if low <= value <= high else DATA_RANGE
        ends = {"goal_pwm": "pwm_limit", "goal_current": "current_limit", "goal_speed": "velocity_limit"}
        if name in ends and traits.dxl_limits and abs(value) > self.get(ends[name]):
            return DATA_RANGE
        return 0

    def wrote(self, name: str, before: int, value: int) -> str:
        """Do what a write means."""
        traits = self.traits
        if name == "torque_enable":
            self.why = name
            if value and traits.dxl_shutdown and self.get("hardware_error") & self.get("shutdown"):
                self.set("torque_enable", 0)
                return "refused"
            if value and not before and self._mode == POSITION:
                self._forget_turns()
            if not value and not traits.dxl_stale_goal:
                self.set("goal_position", round(self.reported()))
        elif name == "goal_position" and traits.dxl_modes and self.get("drive_mode") & TORQUE_BY_GOAL:
            if not self._torque and not self.get("hardware_error") & self.get("shutdown"):
                self.why = name
                self.set("torque_enable", 1)
        elif name == "operating_mode" and traits.dxl_modes:
            for register, back in (("goal_velocity", 0), ("acceleration", 0), ("p_gain", P_GAIN), ("i_gain", 0)):
                self.set(register, back)
            self.set("goal_pwm", self.get("pwm_limit"))
            self.set("goal_current", self.get("current_limit"))
            if value == POSITION:
                self._forget_turns()
        return "taken"

    def trip(self, bit: int = OVERLOAD) -> None:
        """A hardware error, now."""
        self.fault(bit, True)
        self._shut_down()

    def clear_turns(self) -> None:
        """CLEAR: be within one turn again."""
        self._forget_turns()

    def _forget_turns(self) -> None:
        if self.traits.dxl_turns:
            self._lost = math.floor(self._sign * self.position / TURN) * TURN

    def _turn(self, speed: float, effort: float, seconds: float) -> None:
        self.spin(self._sign * speed, self._sign * effort, seconds)

    def _protect(self, seconds: float) -> None:
        """Look at voltage, heat, load and silence."""
        if self._watchdog not in {0, BARKED}:
            self._unasked += seconds
            if self._torque and self._unasked > self._watchdog * WATCHDOG:
                self.set("bus_watchdog", BARKED)
        if not self.traits.dxl_shutdown:
            return
        hottest, lowest, highest = self._alarms
        full = self.energized and abs(self.effort) > FULL * self._drive.output
        self._loaded = self._loaded + seconds if full else 0.0
        bad = (not lowest - 1e-9 <= self.supply <= highest + 1e-9) << VOLTAGE
        bad |= (self.temperature > hottest) << HEAT
        bad |= (self._loaded > self.traits.dxl_overload_after) << OVERLOAD
        if bad == self._bad:
            return
        latched = self.get("shutdown")
        for bit in (VOLTAGE, HEAT, OVERLOAD):
            if (bad ^ self._bad) >> bit & 1 and (bad >> bit & 1 or not latched >> bit & 1):
                self.fault(bit, bool(bad >> bit & 1))
        self._bad = bad
        self._shut_down()

    def _shut_down(self) -> None:
        if self._torque and self.get("hardware_error") & self.get("shutdown"):
            self.why = "shutdown"
            self.set("torque_enable", 0)

    def set_up(self, joint: Any, baud: int) -> None:
        """Limits of the joint, in the mode that reaches them; it reports where it stands."""
        ticks = self.position
        self.set("baud_rate", self.bauds.index(baud) if baud in self.bauds else 1)
        self.set("homing_offset", joint.homing_offset or 0)
        several = not 0 <= joint.min < joint.max < TURN
        self.set("operating_mode", EXTENDED if several else POSITION)
        if not several:
            self.set("min_position", joint.min)
            self.set("max_position", joint.max)
        self.position = ticks - self._offset
        self.release()
        self.boot()
        self._lost = 0.0
        self.set("goal_position", round(self.reported()))
