"""What real servos, boards and adapters do to who drives them: one field for each trait, switched by its value.

The defaults are as unkind as hardware is reported to be; `KIND` has everything off. Change some with
`dataclasses.replace(KIND, sag=14.0)`. After each field stands its source; an "Assumption:" is a guess of ours.
Lengths of the mechanics are in 4096ths of a turn (an STS3215's ticks), whatever ticks the servo has.

Sources by short name: "STS table": Feetech's memory table of the magnetic encoder STS servos. "e-Manual": ROBOTIS'
pages on the XL330-M288. "LX protocol": Hiwonder's (LewanSoul) Bus Servo Communication Protocol. "SSC-32U manual":
Lynxmotion's. "Maestro guide": Pololu's Maestro Servo Controller User's Guide. "sketch": arduino/ssc32_servos. "#n"
alone: LeRobot's issue or pull request.
"""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Mechanics:
    """Motor, gears and what hangs on them. What is measured is the output shaft (an encoder or a potentiometer)."""

    sag: float = 14.0  # below its goal under gravity, at factory gains: 1.2 deg reported; SO-ARM100 #134: 20 to 30
    stiction: float = 5.0  # of pull before it begins to move. Assumption: from the repeatability in SO-ARM100 #134
    backlash: float = 0.5  # [deg] of what the shaft holds, beyond the sensor. SO-ARM100 #134: 1 in all; half is assumed
    dead_time: float = 0.085  # [s] until a goal has an effect, reported of the STS3215
    lag: float = 0.030  # [s] time constant after that, reported of the STS3215
    fall_speed: float = 100.0  # [1/s] without torque and support. Assumption
    fall_reach: float = 1024.0  # until it hangs straight down. Assumption: a quarter turn
    noise: int = 1  # last digit of what is measured. Assumption: usual for 12 bit encoders
    span: float = 128.0  # of error at which the output is full, at factory gains. Assumption


@dataclass(frozen=True)
class FeetechTraits:
    """Of the STS3215, 12 V."""

    sts_top_speed: float = 3140.0  # [ticks/s] 46 rev/min measured, SO-ARM100 #134
    sts_supply: float = 12.0  # [V] of what it is on: SO-ARM100 #134
    sts_max_voltage: int = 140  # [0.1 V] its factory limit; the 7.4 V version's is 80: python-st3215 #1
    sts_goal_turns_torque_on: bool = True  # a goal other than where it is: #3585
    sts_seam: bool = True  # positions wrap from 4095 to 0: #3587, #3373; Phase bit 4 lifts it
    sts_offset: bool = True  # present = actual - Homing_Offset: LeRobot motors/feetech/feetech.py
    sts_phase: int = 0x0C  # factory Phase: bit 3, speed 0 is the greatest. 0x1C counts turns: #3373. Assumption: 0x0C
    sts_lock: bool = True  # with Lock 1, EEPROM registers change but do not survive a restart: STS table, 55
    sts_limits: bool = True  # goals are clamped to the nearest of its own limits, also across the seam: #3585
    sts_speed_registers: bool = True  # Goal_Velocity, Acceleration, Torque_Limit limit it: STS table, 41, 46, 48
    sts_modes: bool = True  # Operating_Mode, and 128 or 2 in Torque_Enable: STS table, 33, 40
    sts_overload: bool = True  # Protective_Torque after Protection_Time, and still "torque on": STS table, 34 to 36
    sts_goal_clears_overload: bool = True  # a new goal ends it; reported, not in the table
    sts_unloading: bool = True  # voltage and heat cut its output where Unloading_Condition says so: STS table, 13 to 19
    sts_gains: bool = True  # stiffness follows P, I removes sag: STS table, 21 to 23
    sts_stale_goal: bool = True  # its goal survives torque off. Assumption: reachy_mini #1136 says so of the XL330
    sts_goal_after_restart: str = "zero"  # "zero": STS table, 42, initial value; or "present"
    sts_torque_at_power_up: bool = False  # STS table, 40: 0; moveit_pro_example_ws #930 says that it is on
    sts_levels: bool = True  # Response_Status_Level, Return_Delay_Time: STS table, 7, 8


@dataclass(frozen=True)
class DynamixelTraits:
    """Of the XL330-M288, 5 V."""

    dxl_top_speed: float = 7031.0  # [ticks/s] 103 rev/min, e-Manual, specifications
    dxl_supply: float = 5.0  # [V] e-Manual, specifications
    dxl_eeprom_lock: bool = True  # EEPROM is refused with torque on: e-Manual, Torque Enable
    dxl_offset: bool = True  # present = actual + Homing Offset, which mode 3 ignores beyond 1024: e-Manual
    dxl_turns: bool = True  # counts turns, forgets them at boot and at torque on in mode 3: e-Manual, Present Position
    dxl_limits: bool = True  # a goal outside is refused with a data range error: e-Manual, Position Limit
    dxl_modes: bool = True  # Operating Mode, Drive Mode: e-Manual
    dxl_shutdown: bool = True  # an error of Shutdown's mask takes the torque until REBOOT: e-Manual, Shutdown
    dxl_overload_after: float = 2.0  # [s] at full output. DynamixelSDK #285: 5 s at half. Assumption
    dxl_reboot: float = 0.35  # [s] without answers after REBOOT. Assumption
    dxl_watchdog: bool = True  # e-Manual, Bus Watchdog
    dxl_speed_registers: bool = True  # Profile Velocity and Acceleration, Goal PWM: e-Manual
    dxl_gains: bool = True  # e-Manual, Position PID Gain
    dxl_stale_goal: bool = True  # the goal stays in its register without torque: reachy_mini #1136
    dxl_levels: bool = True  # Status Return Level, Return Delay Time: e-Manual


@dataclass(frozen=True)
class Lx16aTraits:
    """Of the LX-16A, 7.4 V."""

    lx_top_speed: float = 1562.0  # [ticks/s] 0.16 s for 60 deg, Hiwonder's specification
    lx_supply: float = 7.4  # [V] Hiwonder's specification
    lx_alarm_setting: bool = True  # command 36 reads which alarms its LED shows, not what is wrong: LX protocol, 35, 36
    lx_limits: bool = True  # its angle limits clamp moves: LX protocol, 20
    lx_offset: bool = True  # LX protocol, 17 to 19; the sign is an assumption
    lx_motor_mode: bool = True  # ignores positions in motor mode: LX protocol, 29
    lx_unloading: bool = True  # no torque while voltage or heat are out of their limits: LX protocol, 22, 24


@dataclass(frozen=True)
class BoardTraits:
    """Of boards for hobby servos."""

    hobby_top_speed: float = 2500.0  # [us/s] 0.13 s for 60 deg. Assumption: a quick standard servo
    board_factory_baud: bool = True  # SSC-32U: 9600, SSC-32U manual; the sketch: 115200
    arduino: bool = True  # who understands the SSC-32's language is an Arduino with the sketch, else an SSC-32U
    arduino_boot: float = 1.6  # [s] that it hears nothing, after its port was opened: the bootloader. Assumption
    first_pulse_at_once: bool = True  # without speed or time: SSC-32U manual, and the sketch
    maestro_limits: bool = True  # 992 to 2000 us, goals clamped silently: Maestro guide, 3, default settings
    maestro_uart: bool = True  # factory: heeds nothing until 0xAA told the baud, on USB never: likewise, and 5.a
    maestro_error_stops: bool = True  # a byte that is no command stops all pulses: likewise, and 4.f


@dataclass(frozen=True)
class LinkTraits:
    """Of the adapter and its wires. What excludes each other here has the value of a good adapter as its default."""

    check_baud: bool = True  # who listens at another rate hears garbage
    factory_baud: bool = True  # Dynamixels listen at 57600, not at 1000000 as Feetech's: e-Manual, Baud Rate
    echo: bool = False  # all that is sent comes back: adapters with TX tied to RX
    latency: float = 0.001  # [s] between hand-overs of what was received: a USB frame; 16 ms: FTDI's latency timer
    pause: float = 0.1  # [s] that nothing is handed over now and then, as on a busy USB. Assumption
    pause_every: float = 20.0  # [s]; 0: never


@dataclass(frozen=True)
class Traits(Mechanics, FeetechTraits, DynamixelTraits, Lx16aTraits, BoardTraits, LinkTraits):
    """All of them."""


UNKIND = Traits()
# Servos that go exactly where they are told, at once, on a good adapter; what a write does to them stays unkind.
PRECISE = replace(
    UNKIND,
    sag=0.0,
    stiction=0.0,
    backlash=0.0,
    dead_time=0.0,
    lag=0.0,
    noise=0,
    board_factory_baud=False,
    arduino=False,
    check_baud=False,
    latency=0.0,
    pause_every=0.0,
)
KIND = replace(
    PRECISE,
    fall_speed=0.0,
    sts_top_speed=4000.0,
    sts_goal_turns_torque_on=False,
    sts_seam=False,
    sts_offset=False,
    sts_lock=False,
    sts_limits=False,
    sts_modes=False,
    sts_overload=False,
    sts_unloading=False,
    sts_gains=False,
    sts_stale_goal=False,
    sts_goal_after_restart="present",
    sts_levels=False,
    dxl_top_speed=4000.0,
    dxl_eeprom_lock=False,
    dxl_offset=False,
    dxl_turns=False,
    dxl_limits=False,
    dxl_modes=False,
    dxl_shutdown=False,
    dxl_watchdog=False,
    dxl_gains=False,
    dxl_stale_goal=False,
    dxl_levels=False,
    lx_top_speed=1200.0,
    lx_alarm_setting=False,
    lx_limits=False,
    lx_offset=False,
    lx_motor_mode=False,
    lx_unloading=False,
    maestro_limits=False,
    maestro_uart=False,
    maestro_error_stops=False,
    factory_baud=False,
)
