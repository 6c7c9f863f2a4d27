"""What can be found out about the other side of a pseudo-terminal: its rate, and when somebody opens it. Linux only."""

from __future__ import annotations

import ctypes
import fcntl
import os
import select
import struct
import sys

TCGETS2 = 0x802C542A  # the request that knows any rate; asm-generic/ioctls.h
SIZE, SPEED_AT = 44, 40  # bytes of struct termios2, and where its output speed is
IN_OPEN = 0x20  # linux/inotify.h


def rate_of(descriptor: int) -> int | None:
    """The rate that was set on a terminal [bit/s]; None where that cannot be told."""
    settings = bytearray(SIZE)
    try:
        fcntl.ioctl(descriptor, TCGETS2, settings)
    except OSError:
        return None
    return int(struct.unpack_from("I", settings, SPEED_AT)[0])


class Openings:
    """Who opens a file is noticed. Where the system has no inotify, nobody is."""

    def __init__(self, path: str) -> None:
        self.descriptors: list[int] = []  # that become readable then
        if not sys.platform.startswith("linux"):
            return
        libc = ctypes.CDLL(None, use_errno=True)
        descriptor = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if descriptor >= 0:
            libc.inotify_add_watch(descriptor, os.fsencode(path), IN_OPEN)
            self.descriptors.append(descriptor)

    def any(self) -> bool:
        """Whether somebody opened it since the last question."""
        seen = False
        for descriptor in self.descriptors:
            while select.select([descriptor], [], [], 0.0)[0]:
                os.read(descriptor, 4096)
                seen = True
        return seen

    def close(self) -> None:
        """Look no longer."""
        for descriptor in self.descriptors:
            os.close(descriptor)
        self.descriptors.clear()
