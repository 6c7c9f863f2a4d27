"""Hiwonder's LX-16A bus servos: frames, a bus that asks them one by one, and emulated ones.

    55 55 | id | length | command | data ... | ~(id + length + command + data)

By Hiwonder's "Lewansoul Bus Servo Communication Protocol". Writes are not answered, and a move brings the torque on.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from ik_solver_ros.servo.bus import Port

HEADER = b"\x55\x55"
MOVE, TEMPERATURE_READ, VOLTAGE_READ, POSITION_READ = 1, 26, 27, 28
TORQUE_WRITE, TORQUE_READ, FAULT_READ = 31, 32, 36
SIZES = {TEMPERATURE_READ: 1, VOLTAGE_READ: 2, POSITION_READ: 2, TORQUE_READ: 1, FAULT_READ: 1}  # of the replies
FAULTS = {0: "overheated", 1: "voltage", 2: "locked rotor"}
REPLY_TIMEOUT = 0.01  # [s] beyond what the bytes take
QUIET = 0.02  # [s] after a time-out


def frame(servo_id: int, command: int, data: bytes = b"") -> bytes:
    """A command, or the reply to one."""
    body = bytes([servo_id, len(data) + 3, command]) + data
    return HEADER + body + bytes([~sum(body) & 0xFF])


def move(servo_id: int, ticks: int, milliseconds: int) -> bytes:
    """To a position of 0 to 1000, which is 240 degrees."""
    return frame(servo_id, MOVE, ticks.to_bytes(2, "little") + milliseconds.to_bytes(2, "little"))


def parse(buffer: bytes) -> tuple[list[tuple[int, int, bytes]], bytes]:
    """Id, command and data of all whole, undamaged frames, and what may be the beginning of another."""
    found: list[tuple[int, int, bytes]] = []
    at = 0
    while True:
        at = buffer.find(HEADER, at)
        if at < 0:
            return found, buffer[-1:] if buffer.endswith(b"\x55") else b""
        if len(buffer) < at + 4:
            return found, buffer[at:]
        length = buffer[at + 3]
        end = at + 3 + length
        if not 3 <= length <= 10:
            at += 1
        elif len(buffer) < end:
            later, rest = parse(buffer[at + 1 :])
            return (found + later, rest) if later else (found, buffer[at:])
        elif ~sum(buffer[at + 2 : end - 1]) & 0xFF != buffer[end - 1]:
            at += 1
        else:
            found.append((buffer[at + 2], buffer[at + 4], buffer[at + 5 : end - 1]))
            at = end


class LxBus:
    """Requests to LX-16A servos on a port. Raises BusError where the port is gone."""

    def __init__(self, port: Port) -> None:
        self.port = port
        self.time_outs: dict[int, int] = {}
        self.latency = 0.0  # [s] from a request to its reply, averaged over some twenty
        self._quiet_until = 0.0

    def read(self, servo_id: int, command: int) -> int | None:
        """What a servo answers; None where it does not. Positions may be negative."""
        while (wait := self._quiet_until - time.monotonic()) > 0.0:
            self.port.read(time.monotonic() + wait)
        self.port.flush()
        began = time.monotonic()
        self.port.write(frame(servo_id, command))
        deadline = began + REPLY_TIMEOUT + 200.0 / self.port.baud
        buffer = b""
        while received := self.port.read(deadline):
            found, buffer = parse(buffer + received)
            for who, what, data in found:
                if (who, what, len(data)) == (servo_id, command, SIZES[command]):
                    self.latency += 0.05 * (time.monotonic() - began - self.latency)
                    return int.from_bytes(data, "little", signed=command == POSITION_READ)
        self._quiet_until = time.monotonic() + QUIET
        self.time_outs[servo_id] = self.time_outs.get(servo_id, 0) + 1
        return None

    def move(self, goals: Mapping[int, int], milliseconds: int) -> None:
        """All of them, one frame after another."""
        self.port.write(b"".join(move(servo_id, ticks, milliseconds) for servo_id, ticks in goals.items()))

    def torque(self, servo_id: int, on: bool) -> None:
        """Bring it on, or take it off."""
        self.port.write(frame(servo_id, TORQUE_WRITE, bytes([on])))


class EmulatedLx:
    """LX-16A servos that share a wire. For EmulatedPort."""

    def __init__(self, positions: Mapping[int, float]) -> None:
        """Servos at `positions` [ticks] by id."""
        self.positions, self.goals = dict(positions), dict(positions)
        self.torque = dict.fromkeys(positions, False)
        self.speed = dict.fromkeys(positions, 0.0)  # [ticks/s]
        self.silent: set[int] = set()
        self.writes: list[tuple[float, int, int, float]] = []  # time, id, goal, where the servo was
        self._buffer = b""
        self._time: float | None = None

    def restart(self, servo_id: int) -> None:
        """As after a loss of power."""
        self.torque[servo_id] = False

    def feed(self, data: bytes, now: float) -> list[bytes]:
        """The replies to what came in."""
        self.advance(now)
        found, self._buffer = parse(self._buffer + data)
        replies = []
        for servo_id, command, payload in found:
            if servo_id not in self.positions or servo_id in self.silent:
                continue
            if command == MOVE:
                goal, milliseconds = (int.from_bytes(payload[k : k + 2], "little") for k in (0, 2))
                self.writes.append((now, servo_id, goal, self.positions[servo_id]))
                self.goals[servo_id], self.torque[servo_id] = goal, True
                way = abs(goal - self.positions[servo_id])
                self.speed[servo_id] = way / max(milliseconds / 1000.0, way / 1200.0, 1e-3)
            elif command == TORQUE_WRITE:
                self.torque[servo_id] = bool(payload[0])
                self.goals[servo_id] = self.positions[servo_id]
            elif command in SIZES:
                answers = {POSITION_READ: round(self.positions[servo_id]), TORQUE_READ: self.torque[servo_id]}
                value = answers.get(command, {TEMPERATURE_READ: 30, VOLTAGE_READ: 7400}.get(command, 0))
                replies.append(
                    frame(servo_id, command, int(value).to_bytes(SIZES[command], "little", signed=value < 0))
                )
        return replies

    def advance(self, now: float) -> None:
        """Let time go on until `now` [s]."""
        passed = max(now - (self._time if self._time is not None else now), 0.0)
        self._time = now
        for servo_id in self.positions:
            if self.torque[servo_id]:
                way, most = self.goals[servo_id] - self.positions[servo_id], self.speed[servo_id] * passed
                self.positions[servo_id] += min(max(way, -most), most)
