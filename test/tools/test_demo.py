"""The demonstration as a user starts it, and as one interrupts it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest


def start(tmp_path, *arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "ik_solver_ros", "demo", "--out", str(tmp_path), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def nodes_of(pid: int) -> list[int]:
    """The node processes that a demonstration has started."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                status = (entry / "stat").read_text().rsplit(")", 1)[1].split()
                if int(status[1]) == pid and status[0] != "Z":
                    found.append(int(entry.name))
            except (FileNotFoundError, ProcessLookupError, IndexError):
                continue
    return found


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("arm", ["sim", "mock", "servo"])
def test_three_goals(tmp_path, arm):
    process = start(tmp_path, "--goals", "3", "--seed", "3", "--arm", arm)
    output, _ = process.communicate(timeout=180)
    assert process.returncode == 0, output
    assert output.strip().splitlines()[-1].startswith("demo: 3/3 goals reached, worst ")
    if find_spec("pybullet") and arm != "mock":
        from PIL import Image

        with Image.open(tmp_path / "demo.gif") as film:
            assert film.n_frames > 10


@pytest.mark.parametrize("name", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_behind(tmp_path, name):
    process = start(tmp_path)
    deadline = time.monotonic() + 60
    while len(nodes := nodes_of(process.pid)) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(nodes) == 2
    time.sleep(0.5)
    os.kill(process.pid, name)
    process.communicate(timeout=30)
    assert process.returncode == (-9 if name is signal.SIGKILL else 130)
    deadline = time.monotonic() + 15
    while any(alive(pid) for pid in nodes) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(alive(pid) for pid in nodes)
