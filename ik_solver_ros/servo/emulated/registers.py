"""A servo with a table of registers: what Feetech's and Dynamixel's have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ik_solver_ros.servo.emulated.mechanics import EmulatedServo
from ik_solver_ros.servo.emulated.traits import Traits
from ik_solver_ros.servo.registers import Register, RegisterCodec

MEMORY = 1024  # bytes of the table
MEASURED = {"position", "velocity", "load", "current", "voltage", "temperature", "moving"}
MOVING = 2.0  # [ticks/s] from which on it is


class RegisterServo(EmulatedServo):
    """One servo's registers. Subclasses say what they do.

    `supply` [V] and `temperature` [deg C] are what it measures.
    """

    codec: RegisterCodec
    bauds: Sequence[int]  # [bit/s] by the number in baud_rate
    ram: int  # the first address that does not survive a restart
    fixed: frozenset[str]  # registers that cannot be written, beside MEASURED

    def __init__(self, servo_id: int, position: float, traits: Traits) -> None:
        self.memory, self.eeprom = bytearray(MEMORY), bytearray(MEMORY)
        self.registers: Mapping[str, Register] = self.codec.registers
        self.supply, self.temperature = 0.0, 30.0
        self.waiting: tuple[int, bytes] | None = None  # address and data of a REG_WRITE
        self._measurements = 0
        super().__init__(servo_id, position, traits)
        self.reset(servo_id)
        self.boot()

    @property
    def number(self) -> int:
        """The id that it listens to."""
        return self._number

    @property
    def baud(self) -> int:
        """[bit/s]."""
        index = self.get("baud_rate")
        return self.bauds[index] if index < len(self.bauds) else 0

    @property
    def reply_delay(self) -> float:
        """[s]."""
        return 2e-6 * self.get("return_delay")

    @property
    def homing_offset(self) -> int:
        """What shifts its positions [ticks]."""
        return self.get("homing_offset")

    @homing_offset.setter
    def homing_offset(self, value: int) -> None:
        self.set("homing_offset", value)

    @property
    def energized(self) -> bool:
        """Whether its torque really is on."""
        return bool(self._torque) and self.away <= 0.0 and not self.unloaded()

    def get(self, name: str) -> int:
        """A register."""
        return self.registers[name].decode(self.bytes_of(name))

    def bytes_of(self, name: str) -> bytes:
        """A register as it stands in the table."""
        if name in MEASURED:
            self.measure()
        register = self.registers[name]
        return bytes(self.memory[register.address : register.address + register.size])

    def set(self, name: str, value: int) -> None:
        """Set a register for good, as the servo itself or its maker does."""
        register = self.registers[name]
        data = register.encode(value)
        for table in (self.memory, self.eeprom) if register.address < self.ram else (self.memory,):
            table[register.address : register.address + register.size] = data
        self.refresh()

    def read(self, address: int, size: int) -> bytes:
        """A piece of the table."""
        self.measure()
        return bytes(self.memory[address : address + size])

    def write(self, address: int, data: bytes) -> tuple[int, list[tuple[str, int, str]]]:
        """Write a piece of the table: the error of the reply, and name, value and outcome of all registers in it."""
        end = address + len(data)
        values = {
            name: register.decode(data[register.address - address :])
            for name, register in self.registers.items()
            if address <= register.address and register.address + register.size <= end
        }
        error = next((code for name, value in values.items() if (code := self.refusal(name, value))), 0)
        if error:
            return error, [(name, value, "refused") for name, value in values.items()]
        before = {name: self.get(name) for name in values}
        kept = {name: self.bytes_of(name) for name in self.fixed}
        self.memory[address:end] = data
        for name, old in kept.items():
            register = self.registers[name]
            self.memory[register.address : register.address + register.size] = old
        saved = self.saves()
        if saved:
            last = min(end, self.ram)
            self.eeprom[address:last] = self.memory[address:last]
        self.refresh()
        out = []
        for name, value in values.items():
            outcome = "ignored"
            if name not in self.fixed and name not in MEASURED:
                outcome = self.wrote(name, before[name], value)
                if outcome == "taken" and self.registers[name].address < self.ram and not saved:
                    outcome = "unsaved"
            out.append((name, value, outcome))
        named = {at for name in values for at in self._addresses(name)}
        out += [(f"address {at}", data[at - address], "taken") for at in range(address, end) if at not in named]
        self.refresh()
        self.notice()
        return 0, out

    def _addresses(self, name: str) -> range:
        register = self.registers[name]
        return range(register.address, register.address + register.size)

    def restart(self, seconds: float = 0.0) -> None:
        """As after a loss of power of so long: only the EEPROM remains; it is where it was."""
        self._torque, self.why, self.waiting = 0, "restart", None
        self.notice()
        super().restart(seconds)
        self.boot()
        self.why = "power up"
        self.notice()

    def reset(self, servo_id: int, kept: Sequence[str] = ()) -> None:
        """Set the EEPROM as it leaves the factory, but for its id, and the registers to be kept."""
        values = {name: self.get(name) for name in kept}
        self.eeprom[:] = bytes(MEMORY)
        for name, value in (self.factory() | {"id": servo_id} | values).items():
            self.set(name, value)

    def boot(self) -> None:
        """Take what was saved, and set all else as it is at the start."""
        self.memory[self.ram :] = bytes(MEMORY - self.ram)
        self.memory[: self.ram] = self.eeprom[: self.ram]
        self.refresh()
        for name, value in self.defaults().items():
            self.set(name, value)
        self.refresh()

    def refresh(self) -> None:
        """After registers changed: look at those that matter in each step."""
        self._torque = self.memory[self.registers["torque_enable"].address]
        self._number = self.memory[self.registers["id"].address]

    def fault(self, bit: int, present: bool) -> None:
        """Set or clear a bit of hardware_error."""
        bits = self.get("hardware_error")
        self.set("hardware_error", bits | 1 << bit if present else bits & ~(1 << bit))

    def last_digit(self) -> int:
        """How far a measurement is off [ticks]: the same for the same questions."""
        self._measurements += 1
        return (self._measurements * 7919 // 13 % 5 - 2) // 2 * self.traits.noise if self.traits.noise else 0

    def heard(self) -> None:
        """An instruction came, to whomever."""

    def unloaded(self) -> bool:
        """Whether its protection has cut the output altogether."""
        return False

    def saves(self) -> bool:
        """Whether what is written to the EEPROM survives a restart."""
        return True

    def refusal(self, name: str, value: int) -> int:
        """The error of a write that is not taken, else 0."""
        return 0

    def wrote(self, name: str, before: int, value: int) -> str:
        """Do what a write means, which is in the table by now: its outcome."""
        return "taken"

    def answers(self, code: int) -> bool:
        """Whether it replies to such an instruction."""
        return True

    def error(self) -> int:
        """The error of its replies."""
        return self.get("hardware_error")

    def target(self) -> float:
        """The goal in its register, in the coordinates of `position` [ticks]."""
        raise NotImplementedError

    def measure(self) -> None:
        """Write what it measures into its table."""
        raise NotImplementedError

    def factory(self) -> dict[str, int]:
        """The EEPROM's values at the factory, where they are not 0."""
        raise NotImplementedError

    def defaults(self) -> dict[str, int]:
        """The other registers' values at the start, where they are not 0."""
        raise NotImplementedError

    def set_up(self, joint: Any, baud: int) -> None:
        """Be as in an arm that is ready: its EEPROM, and where it stands."""
        raise NotImplementedError
