"""Who is there: questions to one servo or none, by the bare port, whose answers may be echoes or collisions."""

from __future__ import annotations

import time
from collections.abc import Callable

from ik_solver_ros.servo.bus import Port
from ik_solver_ros.servo.registers import Packet

ANSWERS_WITHIN = 0.025  # [s] beyond what the bytes take: adapters may keep them for 16 ms


def heard(port: Port, frame: bytes, whole: Callable[[bytes], bool]) -> bytes:
    """What comes back after a frame, until it is whole or nothing more comes; without its echo. Raises BusError."""
    port.flush()
    port.write(frame)
    deadline = time.monotonic() + ANSWERS_WITHIN + 10.0 * 4 * len(frame) / port.baud
    received = b""
    while not whole(received):
        more = port.read(deadline)
        if not more:
            break
        received = (received + more).replace(frame, b"", 1)
    return received


def replies(
    port: Port, frame: bytes, parse: Callable[[bytes], tuple[list[Packet], bytes]], right: Callable[[Packet], bool]
) -> tuple[bool, bytes]:
    """Whether a reply came that is right, and all that came."""

    def whole(received: bytes) -> bool:
        return any(right(packet) for packet in parse(received)[0])

    received = heard(port, frame, whole)
    return whole(received), received
