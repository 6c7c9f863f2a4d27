"""PyBullet connects without a word."""

from __future__ import annotations

import subprocess
import sys

import pytest


def test_nothing_is_said_that_nobody_asked_for():
    """Into a pipe, where C writes late."""
    pytest.importorskip("pybullet")
    code = "from ik_solver_ros.pybullet_client import connect_pybullet; connect_pybullet(False); print('mine')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60.0)
    assert (done.stdout, done.stderr) == ("mine\n", "")
