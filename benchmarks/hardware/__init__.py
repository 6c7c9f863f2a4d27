"""Servos as unkind as hardware is reported to be, and what becomes of an arm: judged by the emulators' own log."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from functools import partial

import numpy as np

from benchmarks.hardware import rows
from benchmarks.hardware.rig import Rig
from ik_solver_ros.servo.emulated.traits import UNKIND

SLOW = {"latency": 0.016, "pause_every": 3.0}
# What is done, how often, to which servos, and what differs from the traits of hardware
TABLE = (
    ("brown-outs", rows.brown_outs, 200, "feetech", {}),
    ("brown-outs", rows.brown_outs, 50, "dynamixel", {}),
    ("brown-outs", rows.brown_outs, 50, "lx16a", {}),
    ("a joint is blocked", rows.blocked, 100, "feetech", {}),
    ("a joint is blocked", rows.blocked, 50, "dynamixel", {}),
    ("reconnects, stops, silences", rows.sinks, 100, "feetech", {}),
    ("servo_node starts anew", rows.restarts, 50, "feetech", {}),
    ("adapters of 1 ms", rows.adapters, 10, "feetech", {"pause_every": 3.0}),
    ("adapters of 10 ms", rows.adapters, 10, "feetech", SLOW | {"latency": 0.01}),
    ("adapters of 16 ms", rows.adapters, 10, "feetech", SLOW),
    ("adapters of 16 ms", rows.adapters, 10, "dynamixel", SLOW),
    ("adapters of 16 ms that echo", rows.adapters, 10, "feetech", SLOW | {"echo": True}),
    ("other programs' settings", rows.settings, 1000, "feetech", {}),
    ("rest, as the servos leave it", partial(rows.settles, first_seconds=10.0), 5, "feetech", {}),
    ("rest with settle, for a minute", partial(rows.settles, first_seconds=10.0), 60, "feetech", {"settle": 3.0}),
    ("the process stands still", rows.stalls, 100, "feetech", {}),
    ("30 busy processes", rows.busy_machine, 20, "feetech", {}),
    ("old and damaged replies", rows.wrong_replies, 1000, "feetech", {}),
)


def measure(only: str = "") -> None:
    """All rows, or those whose name has `only` in it."""
    for name, row, trials, protocol, traits in TABLE:
        if only not in name:
            continue
        traits = dict(traits)
        settle = np.radians(traits.pop("settle", 0.0))
        with (
            tempfile.TemporaryDirectory() as scratch,
            Rig(f"{scratch}/port", protocol, replace(UNKIND, **traits), settle=settle) as rig,
        ):
            print(f"{name} ({protocol}): {row(rig, trials)}", flush=True)
