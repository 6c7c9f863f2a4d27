"""Emulated servos on a pseudo-terminal: the whole stack without an arm, and tests with faults that can be chosen.

An emulated servo has a table of registers as the real one, and moves to its goal at its speed while its torque is on.
"""

from __future__ import annotations

import contextlib
import os
import select
import threading
import time
import tty
from collections.abc import Callable, Mapping, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from ik_solver_ros.servo.table import BROADCAST, PING, READ, WRITE, Packet, Register, TableCodec

FASTEST = 4000.0  # [ticks/s] of a servo without a limit of its own: some 6 rad/s
TICKS = 4096  # of a turn
READ_SIZE = 65536


class EmulatedServo:
    """One servo's registers and motion."""

    def __init__(self, codec: TableCodec, servo_id: int, position: float = 2048.0, model: int = 777) -> None:
        self.codec, self.servo_id = codec, servo_id
        self.position = float(position)  # [ticks]
        self.silent = False
        self.blocked = False
        self.memory = bytearray(1024)
        self.model = model
        self.restart()

    def restart(self) -> None:
        """As after a loss of power: torque off, registers as at the start; it is where it was."""
        self.memory[:] = bytes(len(self.memory))
        for name, value in (("model", self.model), ("voltage", 120), ("temperature", 30), ("max_position", TICKS - 1)):
            self.set(name, value)
        self._measure(0.0)

    def get(self, name: str) -> int:
        """A register."""
        register = self.codec.registers[name]
        return register.decode(bytes(self.memory[register.address : register.address + register.size]))

    def set(self, name: str, value: int) -> None:
        """Set a register, as the servo itself does."""
        register: Register = self.codec.registers[name]
        self.memory[register.address : register.address + register.size] = register.encode(value)

    def advance(self, seconds: float) -> None:
        """Move for a while."""
        before = self.position
        if self.get("torque_enable") and not self.blocked:
            limit = self.get("goal_velocity") if self.codec.name == "feetech" else 0
            most = seconds * (limit or FASTEST)
            self.position += min(max(self.get("goal_position") - self.position, -most), most)
        self._measure((self.position - before) / seconds if seconds > 0.0 else 0.0)

    def _measure(self, velocity: float) -> None:
        self.set("position", round(self.position))
        self.set(
            "velocity", round(velocity) if self.codec.name == "feetech" else round(velocity / TICKS * 60.0 / 0.229)
        )


class GoalWrite(NamedTuple):
    """What the monitor on the wire noted."""

    time: float  # [s, time.monotonic]
    servo_id: int
    goal: int  # [ticks]
    position: float  # [ticks] where the servo really was
    torque: bool


class EmulatedBus:
    """Servos that share a wire: bytes in, replies out. Pure; time is passed in."""

    def __init__(self, codec: TableCodec, servos: Sequence[EmulatedServo]) -> None:
        self.codec = codec
        self.servos = {servo.servo_id: servo for servo in servos}
        self.writes: list[GoalWrite] = []
        self._buffer = b""
        self._time: float | None = None

    def feed(self, data: bytes, now: float) -> list[bytes]:
        """The replies to what came in, one frame each."""
        self.advance(now)
        packets, self._buffer = self.codec.parse_instructions(self._buffer + data)
        replies: list[bytes] = []
        for packet in packets:
            replies.extend(self._obey(packet, now))
        return replies

    def advance(self, now: float) -> None:
        """Let time go on until `now` [s]."""
        if self._time is not None:
            for servo in self.servos.values():
                servo.advance(max(now - self._time, 0.0))
        self._time = now

    def _obey(self, packet: Packet, now: float) -> list[bytes]:
        codec = self.codec
        if packet.code in (codec.sync_read_code, codec.sync_write_code):
            wide = 2 if codec.name == "dynamixel" else 1
            address = int.from_bytes(packet.data[:wide], "little")
            size = int.from_bytes(packet.data[wide : 2 * wide], "little")
            rest = packet.data[2 * wide :]
            if packet.code == codec.sync_read_code:
                return [self._read(self.servos[i], address, size) for i in rest if self._hears(i)]
            for at in range(0, len(rest), size + 1):
                if self._hears(rest[at]):
                    self._write(self.servos[rest[at]], address, rest[at + 1 : at + 1 + size], now)
            return []
        out: list[bytes] = []
        for servo_id in sorted(self.servos) if packet.servo_id == BROADCAST else [packet.servo_id]:
            if not self._hears(servo_id):
                continue
            servo = self.servos[servo_id]
            wide = 2 if codec.name == "dynamixel" else 1
            if packet.code == PING:
                data = servo.get("model").to_bytes(2, "little") + b"\x30" if codec.name == "dynamixel" else b""
                out.append(codec.status(servo_id, self._error(servo), data))
            elif packet.code == READ:
                first, count = packet.data[:wide], packet.data[wide : 2 * wide]
                out.append(self._read(servo, int.from_bytes(first, "little"), int.from_bytes(count, "little")))
            elif packet.code == WRITE:
                self._write(servo, int.from_bytes(packet.data[:wide], "little"), packet.data[wide:], now)
                if packet.servo_id != BROADCAST:
                    out.append(codec.status(servo_id, self._error(servo)))
        return out

    def _hears(self, servo_id: int) -> bool:
        return servo_id in self.servos and not self.servos[servo_id].silent

    def _error(self, servo: EmulatedServo) -> int:
        error = servo.get("hardware_error")
        return error if self.codec.name == "feetech" else 0x80 * bool(error)

    def _read(self, servo: EmulatedServo, address: int, size: int) -> bytes:
        return self.codec.status(servo.servo_id, self._error(servo), bytes(servo.memory[address : address + size]))

    def _write(self, servo: EmulatedServo, address: int, data: bytes, now: float) -> None:
        servo.memory[address : address + len(data)] = data
        goal, torque = self.codec.registers["goal_position"], self.codec.registers["torque_enable"]
        if address <= goal.address < address + len(data):
            self.writes.append(
                GoalWrite(
                    now, servo.servo_id, servo.get("goal_position"), servo.position, bool(servo.get("torque_enable"))
                )
            )
        if address <= torque.address < address + len(data) and servo.get("torque_enable") == 0:
            servo.set("goal_position", round(servo.position))


class Faults:
    """What a bad cable does to replies: shares of them that are damaged, cut short, repeated, late or lost."""

    def __init__(self, seed: int, share: float = 0.05, late: float = 0.03) -> None:
        self.share, self.late = share, late
        self._rng = np.random.default_rng(seed)

    def __call__(self, reply: bytes) -> list[tuple[float, bytes]]:
        """What arrives of a reply, and how much later [s]."""
        if self._rng.random() >= self.share:
            return [(0.0, reply)]
        kind = self._rng.integers(5)
        at = int(self._rng.integers(len(reply)))
        if kind == 0:
            damaged = bytearray(reply)
            damaged[at] ^= 1 << int(self._rng.integers(8))
            return [(0.0, bytes(damaged))]
        return [[(0.0, reply[:at])], [(0.0, reply), (0.0, reply)], [(self.late, reply)], []][kind - 1]


class Wired(Protocol):
    """What can be on an emulated port."""

    def feed(self, data: bytes, now: float) -> list[bytes]:
        """The replies to what came in."""

    def advance(self, now: float) -> None:
        """Let time go on until `now` [s]."""


W = TypeVar("W", bound=Wired)


class EmulatedPort(Generic[W]):
    """A pseudo-terminal with servos on it, behind a symbolic link: `url`, which can be pulled and plugged in again."""

    def __init__(
        self,
        bus: W,
        url: str,
        *,
        faults: Callable[[bytes], list[tuple[float, bytes]]] | None = None,
        baud: int | None = None,
    ) -> None:
        """faults: what happens to each reply. baud: take as long for each byte as at this rate; None: no time."""
        self.bus, self.url, self.faults, self.baud = bus, url, faults, baud
        self.lock = threading.Lock()  # held while the servos are fed: for whoever looks at them meanwhile
        self._master = self._slave = -1
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def plug(self) -> None:
        """Make the port appear."""
        self.unplug()
        self._master, self._slave = os.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.url)
        os.symlink(os.ttyname(self._slave), self.url)
        self._stop.clear()
        self._thread = threading.Thread(target=self._serve, name="emulated servos", daemon=True)
        self._thread.start()

    def unplug(self) -> None:
        """Make the port vanish, as when its cable is pulled."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.url)
        for descriptor in (self._slave, self._master):
            if descriptor >= 0:
                os.close(descriptor)
        self._master = self._slave = -1

    def __enter__(self) -> EmulatedPort[W]:
        self.plug()
        return self

    def __exit__(self, *_: object) -> None:
        self.unplug()

    def _serve(self) -> None:
        due: list[tuple[float, bytes]] = []  # replies that are still on their way
        free_at = 0.0  # when the wire is free again
        while not self._stop.is_set():
            now = time.monotonic()
            wait = min([0.02, *(max(when - now, 0.0) for when, _ in due)])
            readable, _, _ = select.select([self._master], [], [], wait)
            now = time.monotonic()
            if readable:
                with contextlib.suppress(BlockingIOError, OSError):
                    data = os.read(self._master, READ_SIZE)
                    free_at = max(free_at, now) + self._takes(data)
                    with self.lock:
                        replies = self.bus.feed(data, now)
                    for reply in replies:
                        free_at += self._takes(reply)
                        arriving = [(0.0, reply)] if self.faults is None else self.faults(reply)
                        due.extend((free_at + delay, frame) for delay, frame in arriving)
            else:
                with self.lock:
                    self.bus.advance(now)
            for item in [item for item in due if item[0] <= time.monotonic()]:
                due.remove(item)
                with contextlib.suppress(BlockingIOError, OSError):
                    os.write(self._master, item[1])

    def _takes(self, data: bytes) -> float:
        return 0.0 if self.baud is None else 10.0 * len(data) / self.baud


def positions(bus: EmulatedBus) -> Mapping[int, float]:
    """Where all servos really are [ticks]."""
    return {servo_id: servo.position for servo_id, servo in bus.servos.items()}
