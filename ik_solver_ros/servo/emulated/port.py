"""A serial port with emulated servos on it: for all that needs an arm, without one, and with faults on the wire."""

from __future__ import annotations

import contextlib
import os
import select
import threading
import time
import tty
from collections.abc import Callable, Mapping

from ik_solver_ros.servo.calibration import Calibration
from ik_solver_ros.servo.emulated.emulator import Emulator
from ik_solver_ros.servo.emulated.line import Openings, rate_of
from ik_solver_ros.servo.emulated.traits import UNKIND, Traits
from ik_solver_ros.servo.families import load

READ_SIZE = 65536
WAKE = 0.02  # [s] between two looks at the servos where nothing comes


class EmulatedPort:
    """A pseudo-terminal with servos on it, behind a symbolic link: `url`, which can be pulled and plugged in again.

    The adapter is as the traits of its bus say: it may echo, hand over late, or pause.
    """

    def __init__(
        self,
        bus: Emulator,
        url: str,
        *,
        faults: Callable[[bytes], list[tuple[float, bytes]]] | None = None,
        baud: int | None = None,
    ) -> None:
        """faults: what happens to each reply. baud: take as long for each byte as at this rate; None: no time."""
        self.bus, self.url, self.faults, self.baud = bus, url, faults, baud
        self.lock = threading.Lock()  # held while the servos are fed: for whoever looks at them meanwhile
        self._master = self._slave = -1
        self._openings: Openings | None = None
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._plugged = 0.0  # [s]

    def plug(self) -> None:
        """Make the port appear."""
        self.unplug()
        self._master, self._slave = os.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        self._openings = Openings(os.ttyname(self._slave))
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.url)
        os.symlink(os.ttyname(self._slave), self.url)
        self._stop.clear()
        self._plugged = time.monotonic()
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
        if self._openings is not None:
            self._openings.close()
            self._openings = None

    def __enter__(self) -> EmulatedPort:
        self.plug()
        return self

    def __exit__(self, *_: object) -> None:
        self.unplug()

    def handed_over(self, ready: float) -> float:
        """When the other side gets what the adapter has received by then [s, time.monotonic]."""
        traits = self.bus.traits
        since = ready - self._plugged
        if traits.latency > 0.0:
            since = -(-since // traits.latency) * traits.latency
        if traits.pause_every > 0.0 and since >= traits.pause_every:
            since = max(since, since // traits.pause_every * traits.pause_every + traits.pause)
        return self._plugged + since

    def _serve(self) -> None:
        due: list[tuple[float, bytes]] = []  # replies that are still on their way
        free_at = 0.0  # when the wire is free again
        openings = self._openings
        assert openings is not None
        while not self._stop.is_set():
            now = time.monotonic()
            wait = min([WAKE, *(max(when - now, 0.0) for when, _ in due)])
            readable, _, _ = select.select([self._master, *openings.descriptors], [], [], wait)
            now = time.monotonic()
            with self.lock:
                if openings.any():
                    self.bus.advance(now)
                    self.bus.opened(now)
                if self._master not in readable:
                    self.bus.advance(now)
            if self._master in readable:
                with contextlib.suppress(BlockingIOError, OSError):
                    free_at = self._exchange(max(free_at, now), now, due)
            for item in [item for item in due if item[0] <= time.monotonic()]:
                due.remove(item)
                with contextlib.suppress(BlockingIOError, OSError):
                    os.write(self._master, item[1])

    def _exchange(self, free_at: float, now: float, due: list[tuple[float, bytes]]) -> float:
        """Hand what has come to the servos, and line up their replies: when the wire is free [s]."""
        data = os.read(self._master, READ_SIZE)
        free_at += self._takes(data)
        if self.bus.traits.echo:
            due.append((self.handed_over(free_at), data))
        with self.lock:
            self.bus.rate = rate_of(self._master)
            replies = self.bus.feed(data, now)
        for reply in replies:
            free_at += getattr(reply, "delay", 0.0) + self._takes(reply)
            arriving = [(0.0, reply)] if self.faults is None else self.faults(reply)
            due.extend((self.handed_over(free_at + delay), frame) for delay, frame in arriving)
        return free_at

    def _takes(self, data: bytes) -> float:
        return 0.0 if self.baud is None else 10.0 * len(data) / self.baud


def emulate(
    calibration: Calibration, positions: Mapping[str, float], url: str, traits: Traits = UNKIND
) -> EmulatedPort:
    """Emulated servos of a calibration on a port that is not plugged in yet.

    They are set up as in an arm that works: ids, rate, limits and homing offsets are the calibration's.
    positions: of the joints, by name [rad or m], which the servos report; 0 where they are not named.
    """
    ticks = {joint.id: joint.ticks(positions.get(joint.name, 0.0)) for joint in calibration.joints}
    emulator: Emulator = load(calibration.family.emulator)(ticks, traits)
    emulator.set_up(calibration)
    return EmulatedPort(emulator, url, baud=calibration.baud)
