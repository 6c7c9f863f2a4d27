"""Boards that pulse hobby servos and cannot measure, on a port."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TypeVar

from ik_solver_ros.errors import ArmError, BusError
from ik_solver_ros.servo.bus import Port
from ik_solver_ros.servo.pulse_codec import PulseCodec

ANSWER_WITHIN = 0.2  # [s]
ROUNDS = 3  # in which it is asked: a pause of this computer, or of the board, may take all the time of one
ROUNDS_ELSEWHERE = 2  # at another rate: the first may end what the board takes for half a line...
ELSEWHERE_WITHIN = 0.1  # [s] ...and a board answers within 5 ms
BEHIND = 0.01  # [s] that a command may wait for the wire; more would be motion that nobody can call back

T = TypeVar("T")


class PulseBus:
    """A board on a port. Raises BusError where the port is gone."""

    def __init__(self, port: Port, codec: PulseCodec) -> None:
        self.port, self.codec = port, codec
        self.fine = False  # whether the board tells its pulses as finely as they are told to it
        self._known = False  # whether it has ever answered
        self._through = 0.0  # [s] when the wire will have taken what was sent

    def begin(self, reset_time: float) -> None:
        """Get to know the board behind a port that was just opened. Raises ArmError that says what may be wrong.

        reset_time: [s] that a board takes to start anew, where it does since its port was opened.
        """
        self.port.keep_lines()
        if self.codec.restarts:
            time.sleep(reset_time)
        self._through = 0.0
        greeted = self.ask(self.codec.greeting, self.codec.greeted)
        # A clone may not know the greeting.
        if greeted is None and self.ask(self.codec.question, self.codec.status, 1) is None:
            raise ArmError(self._why_silent())
        self.fine, self._known = self.codec.fine(greeted or b""), True

    @property
    def free(self) -> bool:
        """Whether the wire is through with what was sent, or nearly so."""
        return self._through - time.monotonic() <= BEHIND

    def line_time(self, channels: int) -> float:
        """[s] that the wire takes for pulses of so many channels, and a question."""
        size = len(self.codec.pulses(dict.fromkeys(range(channels), 1500.0)))
        return self._takes(size + len(self.codec.width_question(channels, self.fine)))

    def pulse(self, widths: Mapping[int, float]) -> float:
        """Set pulses by channel [us]; 0 for none. When they will be through [s, time.monotonic]."""
        return self.send(self.codec.pulses(widths))

    def send(self, data: bytes) -> float:
        """Send without an answer. When it will be through [s, time.monotonic]."""
        self.port.write(data)
        self._through = max(self._through, time.monotonic()) + self._takes(len(data))
        return self._through

    def ask(
        self,
        question: bytes,
        read: Callable[[bytes], T | None],
        rounds: int = ROUNDS,
        within: float = ANSWER_WITHIN,
    ) -> T | None:
        """The answer to a question, read from the bytes that come within so many s; None where none does."""
        self.port.flush()
        reply = b""
        for i in range(rounds):
            deadline = self.send(question) + within
            while received := self.port.read(deadline):
                reply += received
                if (answer := read(reply)) is not None:
                    if i > 0:  # the other answer may be late, and would be the next question's
                        while self.port.read(time.monotonic() + within):
                            pass
                    return answer
        return None

    def width(self, channel: int) -> float | None:
        """The pulse of a channel [us], 0: none; None where the board does not tell."""
        codec, fine = self.codec, self.fine
        return self.ask(codec.width_question(channel, fine), lambda reply: codec.width(reply, fine))

    def silence(self) -> str:
        """That it does not answer, and what to look at."""
        return f"no answer from the {self.codec.name} board on {self.port.url}: {self.codec.silence}"

    def _why_silent(self) -> str:
        """What is wrong with a board that does not answer; at the other usual rates it is asked, too."""
        name, url, asked = self.codec.name, self.port.url, self.port.baud
        for baud in () if self._known else self.codec.bauds:
            if baud == asked:
                continue
            self.port.talk_at(baud)
            if self.ask(self.codec.question, self.codec.status, ROUNDS_ELSEWHERE, ELSEWHERE_WITHIN) is not None:
                self.port.talk_at(asked)
                return (
                    f"the {name} board on {url} answers at {baud} baud, and not at {asked}: set baud: {baud} in the "
                    f"calibration (or servo_node's parameter, or calibrate's --baud), {self.codec.other_baud}"
                )
        self.port.talk_at(asked)
        rates = f" Nor is it at {', '.join(map(str, self.codec.bauds))} baud." if self.codec.bauds else ""
        return self.silence() + ("" if self._known else rates)

    def _takes(self, size: int) -> float:
        return 10.0 * size / self.port.baud


def lost(bus: PulseBus) -> BusError:
    """That a board which did answer does not any more."""
    return BusError(bus.silence(), port=bus.port.url)
