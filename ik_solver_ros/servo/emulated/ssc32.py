"""An emulated SSC-32U, or an Arduino with the sketch in arduino/: it is the sketch where traits.arduino says so."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from ik_solver_ros.servo.emulated.hobby import PulseBoardEmulator
from ik_solver_ros.servo.emulated.traits import UNKIND, Traits

FACTORY_BAUD, SKETCH_BAUD = 9600, 115_200
SHORTEST, LONGEST = 500, 2500  # [us]
LINE = 120  # characters of the sketch's buffer
FRAME = 0.02  # [s] of the sketch, from pulse to pulse
FASTEST = 2500.0  # [us/s] of the sketch
GROUP = 8  # channels that the sketch pulses at the same time...
APART = 40.0  # [us] ...each from so much after the one before
PATIENCE = 1.0  # [s] after which the sketch stays where it is
ITEM = re.compile(rb" *([#PST]) *(\d+)")


class Ssc32Emulator(PulseBoardEmulator):
    """An SSC-32U, or the sketch."""

    def __init__(self, positions: Mapping[int, float], traits: Traits = UNKIND) -> None:
        """Servos at `positions` [us] by channel."""
        super().__init__(positions, traits)
        self.baud = SKETCH_BAUD if traits.arduino or not traits.board_factory_baud else FACTORY_BAUD
        self._heard = -math.inf  # [s]
        self._refused = self._greeted = False  # the sketch: a line, since the last question; since it started

    def opened(self, now: float) -> None:
        """An Arduino restarts then: it loads its program anew, and until then there are no pulses."""
        if self.traits.arduino:
            self.deaf_until = now + self.traits.arduino_boot
            self.restart()

    def restart(self, seconds: float = 0.0) -> None:
        """As after a loss of power."""
        super().restart(seconds)
        self._refused = self._greeted = False

    def advance(self, now: float) -> None:
        """Let time go on until `now` [s]."""
        forsaken = self._heard + PATIENCE
        if self.traits.arduino and self._time is not None and self._time < forsaken < now:
            super().advance(forsaken)
            for servo in self.servos.values():
                servo.wanted = servo.width
        super().advance(now)

    def obey(self, now: float) -> list[bytes]:
        """Line by line."""
        if not self.listening(now):
            return []
        *lines, self.received = re.split(rb"[\r\n]" if self.traits.arduino else rb"\r", self.received)
        return [reply for line in lines for reply in self._obey(line, now)]

    def _obey(self, line: bytes, now: float) -> list[bytes]:
        if not line:
            return []
        if self.traits.arduino:
            if len(line) > LINE:
                self._refused = True
                return []
            if line == b"VER":
                self._greeted, self._refused = True, False
            elif line == b"Q" and self._refused:
                self._heard, self._refused = now, False
                return [b"!"]
        self._heard = now
        if line.startswith(b"#"):
            self._move(line, now)
        elif line == b"Q":
            moving = any(abs(servo.wanted - servo.width) > 0.5 for servo in self.servos.values() if servo.width)
            return [b"+" if moving else b"."]
        elif line == b"VER":
            return [b"SSC32-ARDUINO-1.1\r" if self.traits.arduino else b"SSC32-V2.50USB\r"]
        elif line.startswith(b"QU") and self.traits.arduino:
            width = f"{self.width(int(line[2:])):.0f}".encode() if line[2:].strip().isdigit() else b"0"
            return [(width if self._greeted else b"*") + b"\r"]
        elif line.startswith(b"QP"):
            channels = re.findall(rb"\d+", line)
            return [bytes([round(self.width(int(channel)) / 10.0) for channel in channels])] if channels else []
        elif line.startswith(b"STOP") and line[4:].strip().isdigit():
            self._stop(int(line[4:]))
        else:
            self._refused = True
        return []

    def _stop(self, channel: int) -> None:
        self._refused |= channel not in self.servos
        if channel in self.servos:
            self.enter(channel, "STOP", 0.0)
            self.servos[channel].wanted = self.servos[channel].width

    def _move(self, line: bytes, now: float) -> None:
        """All moves of a line. The sketch takes none where anything is amiss; the SSC-32U what it understands."""
        at, moves, speeds, time, channel, amiss = 0, {}, {}, 0, -1, False
        while (item := ITEM.match(line, at)) is not None:
            at, what, value = item.end(), item[1], int(item[2])
            if what == b"#":
                channel = value
            elif what == b"P":
                amiss |= channel < 0 or bool(value and not SHORTEST <= value <= LONGEST)
                moves[channel] = value
            elif what == b"S":
                speeds[channel] = value
            else:
                time = value
        amiss |= bool(line[at:].strip()) or (self.traits.arduino and bool(set(moves) - set(self.servos)))
        self._refused |= amiss
        for one, width in moves.items():
            if one not in self.servos:
                continue
            if amiss and (self.traits.arduino or not (width == 0 or SHORTEST <= width <= LONGEST)):
                self.enter(one, "pulse", width, "ignored")
            else:
                self.pulse(one, width, now, self._rate(one, width, speeds.get(one, 0), time))

    def _rate(self, channel: int, width: float, speed: int, time: int) -> float:
        """[us/s] of a pulse on its way."""
        rate = float(speed) if speed else math.inf
        if time:
            rate = min(rate, 1000.0 * abs(width - self.width(channel)) / time)
        if not self.traits.arduino:
            return rate
        on = [servo.width for servo in self.servos.values() if servo.width]
        groups = [on[i : i + GROUP] for i in range(0, len(on), GROUP)]  # one after the other
        pulses = 1e-6 * sum(max(group) + APART * (len(group) - 1) for group in groups)  # [s]
        return min(rate, FASTEST) * FRAME / max(FRAME, pulses)
