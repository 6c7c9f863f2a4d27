"""What the measurements ran on, and a way to keep talkative libraries out of their tables."""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager


def here() -> str:
    """Python, the processor and today, for the head of a table."""
    return f"Python {platform.python_version()}, {cpu()}, {time.strftime('%Y-%m-%d')}"


def cpu() -> str:
    try:
        with open("/proc/cpuinfo") as file:
            return next(line.split(":")[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


@contextmanager
def silenced() -> Iterator[None]:
    """Nothing written to the descriptors of standard output and error meanwhile: C++ parsers talk."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept, nowhere = [os.dup(k) for k in (1, 2)], os.open(os.devnull, os.O_WRONLY)
    for k in (1, 2):
        os.dup2(nowhere, k)
    try:
        yield
    finally:
        for k, descriptor in zip((1, 2), kept):
            os.dup2(descriptor, k)
            os.close(descriptor)
        os.close(nowhere)
