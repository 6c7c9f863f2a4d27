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
from ik_solver_ros.servo.families import load

READ_SIZE = 65536


class EmulatedPort:
    """A pseudo-terminal with servos on it, behind a symbolic link: `url`, which can be pulled and plugged in again."""

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

    def __enter__(self) -> EmulatedPort:
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


def emulate(calibration: Calibration, positions: Mapping[str, float], url: str) -> EmulatedPort:
    """Emulated servos of a calibration on a port that is not plugged in yet.

    positions: of the joints, by name [rad or m]; 0 where they are not named. The servos' homing offsets are the
    calibration's.
    """
    ticks = {joint.id: joint.ticks(positions.get(joint.name, 0.0)) for joint in calibration.joints}
    emulator: Emulator = load(calibration.family.emulator)(ticks)
    for joint in calibration.joints:
        if joint.homing_offset is not None:
            emulator.servos[joint.id].homing_offset = joint.homing_offset
    return EmulatedPort(emulator, url, baud=calibration.baud)
