"""Questions to a board while it is led: one at a time, whose answer is fetched later, so that no cycle waits for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ik_solver_ros.servo.pulse_bus import ANSWER_WITHIN, PulseBus, lost
from ik_solver_ros.servo.pulse_codec import Status

AGAIN_AFTER = 0.06  # [s] a question is asked again: a reply may be lost, or wait 16 ms in the adapter
LOST_AFTER, TRIES = 0.6, 5  # [s] without an answer the board is taken for gone, if it was asked so often meanwhile


class Pulsed(NamedTuple):
    """What a channel said that it pulses."""

    channel: int
    width: float  # [us]; 0: nothing
    asked: float  # [s, time.monotonic]


class Question(NamedTuple):
    """One that is under way."""

    data: bytes
    read: Callable[[bytes], Status | Pulsed | None]


class BoardQuestions:
    """Asks how the board is and what it pulses, channel by channel in turns. Raises BusError where the port is gone."""

    def __init__(self, bus: PulseBus, channels: Sequence[int]) -> None:
        self._bus, self._channels = bus, list(channels)
        self.begin(True)

    def begin(self, tells: bool) -> None:
        """Begin anew. tells: whether the board says what it pulses."""
        self._tells, self._turn = tells, 0
        self._question: Question | None = None
        self._kept: Status | Pulsed | None = None  # an answer that nobody has fetched
        self._reply = b""
        self._tries = 0
        self._since = self._asked = self._quiet_until = 0.0  # [s] when it was asked first, and last

    @property
    def overdue(self) -> float:
        """How long the answer has been waited for [s]."""
        return 0.0 if self._question is None else time.monotonic() - self._since

    def answer(self) -> Status | Pulsed | None:
        """What has been answered meanwhile, if anything. Raises BusError where the board does not any more."""
        found, self._kept = self._kept, None
        if self._question is not None:
            now = time.monotonic()
            self._reply += self._bus.port.read(now)
            found = self._question.read(self._reply)
            if found is not None:
                self._question = None
                if self._tries > 1:  # the other answer may be late, and would be the next question's
                    self._quiet_until = now + AGAIN_AFTER
            elif now - self._since > LOST_AFTER and self._tries >= TRIES:
                raise lost(self._bus)
            elif now - self._asked > AGAIN_AFTER:
                self._ask(self._question)
        if self._question is None and self._bus.free and time.monotonic() >= self._quiet_until:
            self._tries = 0
            self._ask(self._next())
            self._since = self._asked
        return found

    def settle(self) -> None:
        """Wait for what is under way: nothing may come any more when something else is asked. It is kept."""
        kept = None
        while kept is None and self._question is not None:
            received = self._bus.port.read(self._asked + ANSWER_WITHIN)
            if not received:
                break
            self._reply += received
            kept = self._question.read(self._reply)
        while self._tries > 1 and self._bus.port.read(time.monotonic() + AGAIN_AFTER):
            pass
        self.begin(self._tells)
        self._kept = kept

    def _ask(self, question: Question) -> None:
        self._bus.port.flush()
        self._question, self._reply = question, b""
        self._tries += 1
        self._asked = self._bus.send(question.data)

    def _next(self) -> Question:
        """The board's state and a channel, by turns."""
        codec, fine = self._bus.codec, self._bus.fine
        self._turn += 1
        if self._turn % 2 or not self._tells:
            return Question(codec.question, codec.status)
        channel = self._channels[self._turn // 2 % len(self._channels)]
        asked = time.monotonic()

        def read(reply: bytes) -> Pulsed | None:
            width = codec.width(reply, fine)
            return None if width is None else Pulsed(channel, width, asked)

        return Question(codec.width_question(channel, fine), read)
