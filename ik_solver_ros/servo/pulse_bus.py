"""Boards that pulse hobby servos and cannot measure, on a port."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Protocol

from ik_solver_ros.errors import ArmError
from ik_solver_ros.servo.bus import Port

ANSWER_WITHIN = 0.1  # [s]
ROUNDS = 3  # in which it is asked: a pause of this computer, or of the board, may take all the time of one


class PulseCodec(Protocol):
    """A board's protocol. Pure: bytes in, bytes out."""

    name: str
    question: bytes  # that every board answers
    restarts: bool  # whether there are boards that start anew when their port is opened

    def pulses(self, widths: Mapping[int, float]) -> bytes:
        """Set pulses by channel [us]; 0 for none."""

    def answered(self, reply: bytes) -> bool:
        """Whether that is an answer to the question."""


class PulseBus:
    """A board on a port. Raises BusError where the port is gone."""

    def __init__(self, port: Port, codec: PulseCodec) -> None:
        self.port, self.codec = port, codec

    def wait_for_restart(self, reset_time: float) -> None:
        """Wait for a board that starts anew since its port was opened, which takes it so long [s]."""
        if self.codec.restarts:
            time.sleep(reset_time)

    def pulse(self, widths: Mapping[int, float]) -> None:
        """Set pulses by channel [us]; 0 for none."""
        self.port.write(self.codec.pulses(widths))

    def ask(self) -> None:
        """Make sure that the board is there. Raises ArmError where it does not answer."""
        self.port.flush()
        reply = b""
        for _ in range(ROUNDS):
            self.port.write(self.codec.question)
            deadline = time.monotonic() + ANSWER_WITHIN
            while received := self.port.read(deadline):
                reply += received
                if self.codec.answered(reply):
                    return
        raise ArmError(f"no answer from the {self.codec.name} board on {self.port.url}; is it powered?")
