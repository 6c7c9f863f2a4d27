"""The families of servos, one row each: their numbers, and where the code for them is. A new family is a new row.

Code is named and not imported: it is loaded when it is needed, and this room needs nothing of arm/.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pkgutil import resolve_name
from typing import Any

EMULATED = "emulated:"  # before a protocol's name: emulated servos of it
TURN = 2.0 * math.pi
SERVO, ARM = "ik_solver_ros.servo", "ik_solver_ros.arm"


@dataclass(frozen=True)
class Family:
    """Servos of one protocol. Strings are "module" or "module:name", imported when first asked for by `load`."""

    ticks: tuple[int, int]  # the positions that they can be told
    per_tick: float  # [rad]
    baud: int
    fastest: float  # [ticks/s] that any of them turns
    codec: str  # bytes in, bytes out: a module
    bus: str  # class (port, codec): requests on a port
    arm: str  # class (calibration, bus), a ServoArm; where nothing is measured (calibration, bus, start, reset_time)
    emulator: str  # class (ticks by id), an Emulator
    by_hand: str = ""  # class (bus), a ByHand for the calibration; none where nothing is measured
    turn: int | None = None  # ticks after which positions begin again; None: they do not
    bauds: tuple[int, ...] = ()  # that such servos are found at, the likeliest first

    @property
    def measures(self) -> bool:
        """Whether they can tell where they are."""
        return bool(self.by_hand)

    def bus_on(self, port: Any) -> Any:
        """Their bus on a port."""
        return load(self.bus)(port, load(self.codec))


def load(reference: str) -> Any:
    """What a string of a family's row stands for."""
    return resolve_name(reference)


REGISTER_SERVOS = {
    "bus": f"{SERVO}.bus:RegisterBus",
    "arm": f"{ARM}.register_servos:RegisterServoArm",
}
# Hobby servos: ticks are us of pulse, id is the channel; half a turn from 500 to 2500 us, as most of them do
SSC32 = Family(
    ticks=(500, 2500),
    per_tick=TURN / 4000.0,
    baud=115_200,
    fastest=5000.0,
    codec=f"{SERVO}.ssc32",
    bus=f"{SERVO}.pulse_bus:PulseBus",
    arm=f"{ARM}.pulse_board:PulseBoardArm",
    emulator=f"{SERVO}.emulated.pulse_boards:Ssc32Emulator",
    bauds=(115_200, 9600, 38_400),  # an SSC-32U comes with 9600
)
FAMILIES = {
    # STS3215: 360 deg in 4096 steps
    "feetech": Family(
        ticks=(0, 4095),
        per_tick=TURN / 4096.0,
        baud=1_000_000,
        fastest=5000.0,
        codec=f"{SERVO}.feetech",
        emulator=f"{SERVO}.emulated.register_servos:FeetechEmulator",
        by_hand=f"{SERVO}.feetech_by_hand:FeetechByHand",
        turn=4096,
        bauds=(1_000_000, 500_000, 115_200, 250_000, 128_000, 76_800, 57_600, 38_400),
        **REGISTER_SERVOS,
    ),
    # XL430: likewise, and several turns in extended position mode
    "dynamixel": Family(
        ticks=(-1_048_575, 1_048_575),
        per_tick=TURN / 4096.0,
        baud=1_000_000,
        fastest=8000.0,
        codec=f"{SERVO}.dynamixel",
        emulator=f"{SERVO}.emulated.register_servos:DynamixelEmulator",
        by_hand=f"{SERVO}.dynamixel_by_hand:DynamixelByHand",
        turn=4096,
        bauds=(57_600, 1_000_000, 115_200, 2_000_000, 3_000_000, 4_000_000, 9600),  # they come with 57,600
        **REGISTER_SERVOS,
    ),
    # 240 deg in 1000 steps
    "lx16a": Family(
        ticks=(0, 1000),
        per_tick=TURN / 1500.0,
        baud=115_200,
        fastest=1700.0,
        codec=f"{SERVO}.lx16a",
        bus=f"{SERVO}.lx16a_bus:Lx16aBus",
        arm=f"{ARM}.lx16a:Lx16aArm",
        emulator=f"{SERVO}.emulated.lx16a:Lx16aEmulator",
        by_hand=f"{SERVO}.lx16a_by_hand:Lx16aByHand",
        bauds=(115_200,),
    ),
    "ssc32": SSC32,
    "maestro": replace(
        SSC32, codec=f"{SERVO}.maestro", emulator=f"{SERVO}.emulated.pulse_boards:MaestroEmulator", bauds=(115_200,)
    ),
}
