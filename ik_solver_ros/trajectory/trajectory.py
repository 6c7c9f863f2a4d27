"""Trajectory: joint positions over time, and how to read between its points.

The rules are joint_trajectory_controller's: points with positions only are joined by straight lines, with velocities
by cubics, with accelerations too by quintics.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ik_solver_ros.kinematics.arrays import Array


class State(NamedTuple):
    """A moment of n joints; or m moments, as arrays (m, n)."""

    position: Array  # (n,) [rad or m]
    velocity: Array  # (n,) per s
    acceleration: Array  # (n,) per s^2

    @staticmethod
    def at_rest(position: Array) -> State:
        """Standing still at `position` (n,)."""
        return State(np.array(position, dtype=float), np.zeros(len(position)), np.zeros(len(position)))


def quintic(before: State, after: State, duration: float | Array) -> tuple[Array, ...]:
    """The coefficients c of the quintic between two states: the position is the sum of c[k] (t / duration)^k."""
    d = after.position - before.position
    v0, v1 = before.velocity * duration, after.velocity * duration
    a0, a1 = before.acceleration * duration**2, after.acceleration * duration**2
    return (
        before.position,
        v0,
        0.5 * a0,
        10.0 * d - 6.0 * v0 - 4.0 * v1 - 1.5 * a0 + 0.5 * a1,
        -15.0 * d + 8.0 * v0 + 7.0 * v1 + 1.5 * a0 - a1,
        6.0 * d - 3.0 * (v0 + v1) - 0.5 * (a0 - a1),
    )


@dataclass(frozen=True, eq=False)
class Trajectory:
    """k points of n joints. Nothing is checked here; the follower checks what it accepts."""

    joint_names: tuple[str, ...]
    times: Array  # (k,) [s] from the start
    positions: Array  # (k, n) [rad or m]
    velocities: Array | None = None  # (k, n) per s
    accelerations: Array | None = None  # (k, n) per s^2

    @property
    def duration(self) -> float:
        """Time of the last point [s]; 0 for an empty trajectory."""
        return float(self.times[-1]) if len(self.times) else 0.0

    def point(self, i: int) -> State:
        """Point i; what the trajectory does not carry is zero."""
        zero = np.zeros(self.positions.shape[1])
        return State(
            self.positions[i],
            zero if self.velocities is None else self.velocities[i],
            zero if self.accelerations is None else self.accelerations[i],
        )

    def from_time(self, t: float) -> Trajectory:
        """The points after `t` [s], timed from there; none where all are over."""
        first = int(np.searchsorted(self.times, t, side="right"))
        velocities = None if self.velocities is None else self.velocities[first:]
        accelerations = None if self.accelerations is None else self.accelerations[first:]
        return Trajectory(self.joint_names, self.times[first:] - t, self.positions[first:], velocities, accelerations)

    def state(self, t: float, start: State) -> State:
        """The state at time t [s], for a motion that was in `start` at t = 0; at rest at the last point after it."""
        i = int(np.searchsorted(self.times, t, side="right"))
        if i == len(self.times):
            return State.at_rest(self.positions[-1]) if i else start
        t0 = float(self.times[i - 1]) if i else 0.0
        before = self.point(i - 1) if i else start
        return self.between(before, self.point(i), float(self.times[i]) - t0, t - t0)

    def states(self, times: Array, start: State) -> State:
        """The states at times (m,) [s], all at once, (m, n) each: see `state`."""
        k = len(self.times)
        if k == 0:
            return State(*(np.tile(part, (len(times), 1)) for part in start))
        zero = np.zeros_like(self.positions)
        after = State(
            self.positions,
            zero if self.velocities is None else self.velocities,
            zero if self.accelerations is None else self.accelerations,
        )
        before = State(*(np.concatenate([first[np.newaxis], rest[:-1]]) for first, rest in zip(start, after)))
        i = np.searchsorted(self.times, times, side="right")
        done = i == k
        i = np.minimum(i, k - 1)
        begins, durations = np.concatenate([[0.0], self.times[:-1]]), np.diff(self.times, prepend=0.0)
        out = self.between(
            State(*(part[i] for part in before)),
            State(*(part[i] for part in after)),
            durations[i][:, np.newaxis],
            (times - begins[i])[:, np.newaxis],
        )
        rest = State.at_rest(self.positions[-1])
        for part, last in zip(out, rest):
            part[done] = last
        return out

    def between(self, before: State, after: State, duration: float | Array, t: float | Array) -> State:
        """The state at t [s] into a segment of `duration` [s], by what the points carry; broadcasts over arrays."""
        d = after.position - before.position
        if self.velocities is None:
            velocity = d / duration
            return State(before.position + velocity * t, velocity + 0.0 * t, 0.0 * velocity * t)
        v0, v1 = before.velocity * duration, after.velocity * duration
        if self.accelerations is None:
            zero = np.zeros_like(d)
            c: tuple[Array, ...] = (before.position, v0, 3.0 * d - 2.0 * v0 - v1, v0 + v1 - 2.0 * d, zero, zero)
        else:
            c = quintic(before, after, duration)
        s = t / duration
        return State(
            c[0] + s * (c[1] + s * (c[2] + s * (c[3] + s * (c[4] + s * c[5])))),
            (c[1] + s * (2.0 * c[2] + s * (3.0 * c[3] + s * (4.0 * c[4] + s * 5.0 * c[5])))) / duration,
            (2.0 * c[2] + s * (6.0 * c[3] + s * (12.0 * c[4] + s * 20.0 * c[5]))) / duration**2,
        )
