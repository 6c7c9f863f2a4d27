"""What a run did to the servos, by the logs of an emulator: what driver and tests are judged by.

Lengths are in the servo's own ticks and of its true position, not of what it reports; times in s.
All may be asked while the servos run.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ik_solver_ros.servo.emulated.emulator import Emulator, LogEntry
from ik_solver_ros.servo.emulated.mechanics import Sample

WINDOW = 0.05  # [s]
ASKED = {"torque_enable", "TORQUE"}  # what says outright that torque shall be on


class Extreme(NamedTuple):
    """The most of something, and when and at whom."""

    value: float
    time: float
    servo_id: int


class TorqueOn(NamedTuple):
    """Torque came on."""

    time: float
    servo_id: int
    why: str  # the register or command that did it, or "power up"
    asked: bool  # whether it was asked for outright
    moved: float  # [ticks] how far it went within half a second


NOTHING = Extreme(0.0, math.nan, -1)
AFTERMATH = 0.5  # [s]


def fastest_motion(
    emulator: Emulator, window: float = WINDOW, begin: float = -math.inf, end: float = math.inf, driven: bool = True
) -> Extreme:
    """The greatest true speed [ticks/s] of any servo, over windows of so long; driven: under torque only."""
    found = []
    for servo_id, trace in emulator.trace.items():
        samples = _between(trace, begin, end)
        if samples:
            times, positions = np.array([(sample.time, sample.position) for sample in samples]).T
            counts = np.array([sample.torque or not driven for sample in samples])
            found.append(_fastest(servo_id, times, positions, counts, window))
    return _most(found)


def fastest_command(
    emulator: Emulator, window: float = WINDOW, begin: float = -math.inf, end: float = math.inf
) -> Extreme:
    """The greatest speed [ticks/s] of the goals on the wire, over windows of so long, and where torque was on.

    From goal to goal it is even; after a pause a goal is a jump, which counts as a window's motion. The first goal of
    all is compared with nothing: see greatest_written_lead.
    """
    found = []
    for servo_id in emulator.servos:
        writes = [write for write in emulator.writes if write.servo_id == servo_id and begin <= write.time <= end]
        points = [(write.time, write.target, write.torque) for write in writes[:1]]
        for before, write in itertools.pairwise(writes):
            if write.time - before.time > window:
                points.append((write.time - window, before.target, write.torque))
            points.append((write.time, write.target, write.torque))
        if points:
            times, goals, torque = np.array(points).T
            found.append(_fastest(servo_id, times, goals, torque > 0.0, window))
    return _most(found)


def torque_on(emulator: Emulator, begin: float = -math.inf, end: float = math.inf) -> list[TorqueOn]:
    """Each time that a servo's torque came on, and who asked for it."""
    out = []
    for change in emulator.changes:
        if change.torque and begin <= change.time <= end:
            after = _between(emulator.trace[change.servo_id], change.time, change.time + AFTERMATH)
            moved = max((abs(sample.position - after[0].position) for sample in after), default=0.0)
            asked = change.why in ASKED
            out.append(TorqueOn(change.time, change.servo_id, change.why, asked, moved))
    return out


def unasked_torque(emulator: Emulator, begin: float = -math.inf, end: float = math.inf) -> list[TorqueOn]:
    """Torque that came on without having been asked for outright. An LX-16A's and a pulse's never are: look at all."""
    return [one for one in torque_on(emulator, begin, end) if not one.asked]


def greatest_lead(emulator: Emulator, begin: float = -math.inf, end: float = math.inf) -> Extreme:
    """How far [ticks] the goal that a servo pursues was ahead of it at most, while its torque was on."""
    return _most(
        Extreme(abs(sample.goal - sample.position), sample.time, servo_id)
        for servo_id, trace in emulator.trace.items()
        for sample in _between(trace, begin, end)
        if sample.torque
    )


def greatest_written_lead(emulator: Emulator, begin: float = -math.inf, end: float = math.inf) -> Extreme:
    """How far [ticks] a goal was from the servo at most at the moment that it was written, with or without torque."""
    return _most(
        Extreme(abs(write.target - write.position), write.time, write.servo_id)
        for write in emulator.writes
        if begin <= write.time <= end
    )


def drop(emulator: Emulator, servo_id: int, begin: float = -math.inf, end: float = math.inf) -> float:
    """How far [ticks] gravity has taken a servo at most, from where it was at the beginning; 0 for one it lifts."""
    samples = _between(emulator.trace[servo_id], begin, end)
    down = math.copysign(1.0, emulator.servos[servo_id].pull)
    return max((down * (sample.position - samples[0].position) for sample in samples), default=0.0)


def orders(
    emulator: Emulator, servo_id: int | None = None, what: str | None = None, outcome: str | None = None
) -> list[LogEntry]:
    """The entries of the log that fit."""
    return [
        entry
        for entry in list(emulator.log)
        if servo_id in (None, entry.servo_id) and what in (None, entry.what) and outcome in (None, entry.outcome)
    ]


def torque_at(emulator: Emulator, servo_id: int, time: float) -> bool:
    """Whether a servo's torque really was on."""
    state = False
    for change in emulator.servos[servo_id].changes:
        if change.time > time:
            break
        state = change.torque
    return state


def _between(trace: Iterable[Sample], begin: float, end: float) -> list[Sample]:
    """The samples of a time, and the last one before it."""
    samples = [sample for sample in list(trace) if sample.time <= end]
    first = next((i for i, sample in enumerate(samples) if sample.time >= begin), len(samples))
    return samples[max(first - 1, 0) if begin > -math.inf else 0 :]


def _fastest(servo_id: int, times: np.ndarray, places: np.ndarray, counts: np.ndarray, window: float) -> Extreme:
    """Of what was at some places (n,) [ticks] at some times (n,), straight between, where both ends of it count."""
    best = NOTHING
    for shift in (window, -window):  # windows that begin with a point, and that end with one
        others = times + shift
        within = (others >= times[0] - 1e-9) & (others <= times[-1] + 1e-9)
        within &= counts & counts[np.clip(np.searchsorted(times, others, "right") - 1, 0, len(times) - 1)]
        speeds = np.where(within, np.abs(np.interp(others, times, places) - places) / window, 0.0)
        at = int(np.argmax(speeds))
        best = max(best, Extreme(float(speeds[at]), float(max(times[at], others[at])), servo_id), key=lambda e: e.value)
    return best


def _most(found: Iterable[Extreme]) -> Extreme:
    return max(found, key=lambda extreme: extreme.value, default=NOTHING)
