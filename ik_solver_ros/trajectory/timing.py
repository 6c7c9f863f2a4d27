"""A joint path gone along in time: the path coordinate is profiled within the limits of all joints (ruckig).

With q(s) along the path and s(t) in time,

    dq/dt = q' s.    d2q/dt2 = q'' s.^2 + q' s..    d3q/dt3 = q''' s.^3 + 3 q'' s. s.. + q' s...                (1)

so limits of the joints become limits of s., s.. and s..., different ones in each block of the path. They are
set by a rough split of (1) at first, and then scaled until (1) touches the limits.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ik_solver_ros.errors import TrajectoryError
from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.trajectory.limits import MotionLimits
from ik_solver_ros.trajectory.plan import DIGITS, plan
from ik_solver_ros.trajectory.trajectory import State, Trajectory

DEGREE = 5  # of the spline through the joint path: its third derivative is smooth
BLOCKS = (1, 3, 8, 20)  # that are tried: stretches of a path with limits of their own
PER_BLOCK = 16  # samples of a path's derivatives in each
POINT_EVERY = 0.02  # [s] between points of the trajectory
SPARE = 0.995  # of the limits; the rest is for what quintics between points make of it
ROUNDS = 6  # of scaling
SHORTEST = 5e-4  # [s] a shorter stretch goes with the next one


class _Piece(NamedTuple):
    """One block's motion of the path coordinate."""

    motion: Trajectory  # of one "joint", s
    start: State
    begins: float  # [s] after the whole path's start


def time_path(s: Array, q: Array, limits: MotionLimits, speed: float = np.inf) -> Trajectory:
    """From rest to rest along the joint path q (m, n) at the path coordinates s (m,) [m].

    speed [m/s]: the fastest that s may change. Raises TrajectoryError where the limits allow no motion.
    """
    if not speed > 0.0:
        raise TrajectoryError(f"speed = {speed}: a positive number of m/s is wanted")
    curve = joint_curve(s, q, limits)
    derivatives = [curve.derivative(k) for k in (1, 2, 3)]
    # Many blocks go by narrow places only where these are, few accelerate longer; which is better is found by trying.
    most = max(1, (len(s) - 1) // 4)
    tries = [_timed(derivatives, np.linspace(s[0], s[-1], k + 1), limits, speed) for k in BLOCKS if k <= most]
    pieces = min(tries, key=_duration)
    return _sampled(curve, derivatives, pieces, limits.joint_names)


def joint_curve(s: Array, q: Array, limits: MotionLimits) -> Any:
    """The smooth curve through q (m, n) at s (m,): a function of s that gives (n,), and has `derivative(k)`.

    Where a joint comes to rest at its limit, a curve through the samples would swing beyond it. A curve of B-splines
    stays within what its coefficients stay within (de Boor, A Practical Guide to Splines), so these are clipped.
    """
    if len(s) <= DEGREE:
        more = np.linspace(s[0], s[-1], DEGREE + 1)
        s, q = more, np.column_stack([np.interp(more, s, column) for column in np.transpose(q)])
    from scipy.interpolate import make_interp_spline  # 13 MB, and here only: a node that is given no path needs none

    curve = make_interp_spline(s, q, k=DEGREE)
    curve.c = np.clip(curve.c, np.minimum(limits.lower, q.min(axis=0)), np.maximum(limits.upper, q.max(axis=0)))
    return curve


def _timed(derivatives: list[Any], ends: Array, limits: MotionLimits, speed: float) -> list[_Piece]:
    """The motion of s whose blocks end at `ends` (k + 1,), scaled until (1) keeps the limits."""
    blocks = np.array([_own_limits(derivatives, low, high, limits, speed) for low, high in pairwise(ends)])
    for _ in range(ROUNDS):
        pieces = _pieces(ends, blocks)
        excess = np.array([_excess(derivatives, piece, limits) for piece in pieces])
        if excess.max() <= 1.0:
            break
        blocks = _slower(blocks, np.maximum(excess, 1.0))
    # Now all alike, which is the same motion gone through slower, or faster where there is room.
    factor = max(excess.max(), blocks[:, 0].max() / speed)
    return _pieces(ends, _slower(blocks, np.full(len(blocks), factor)))


def _duration(pieces: list[_Piece]) -> float:
    return pieces[-1].begins + pieces[-1].motion.duration


def _own_limits(derivatives: list[Any], low: float, high: float, limits: MotionLimits, speed: float) -> Array:
    """(3,) the limits of s., s.. and s... in a block: (1) split among its terms."""
    at = np.linspace(low, high, PER_BLOCK)
    d1, d2, d3 = (np.abs(d(at)).max(axis=0) + 1e-9 for d in derivatives)
    v, a, j = SPARE * limits.velocity, SPARE * limits.acceleration, SPARE * limits.jerk
    velocity = min(speed, np.min(v / d1), np.min(np.sqrt(0.7 * a / d2)), np.min(np.cbrt(0.5 * j / d3)))
    return np.array([velocity, np.min(0.7 * a / d1), np.min(0.5 * j / d1)])


def _slower(blocks: Array, factors: Array) -> Array:
    """The limits (k, 3) of blocks where everything takes `factors` (k,) times as long."""
    return np.asarray(blocks / factors[:, np.newaxis] ** np.array([1.0, 2.0, 3.0]))


def _pieces(ends: Array, blocks: Array) -> list[_Piece]:
    """The motion of s from rest to rest, within the limits of each block."""
    lengths = np.diff(ends)
    speeds = np.concatenate([[0.0], np.minimum(blocks[:-1, 0], blocks[1:, 0]), [0.0]])
    for i in range(len(lengths)):  # forth: no faster than what comes before allows
        speeds[i + 1] = _attainable(speeds[i], speeds[i + 1], lengths[i], blocks[i])
    for i in reversed(range(len(lengths))):  # and back: no faster than can be braked
        speeds[i] = _attainable(speeds[i + 1], speeds[i], lengths[i], blocks[i])
    pieces, begins = [], 0.0
    for i, (velocity, acceleration, jerk) in enumerate(blocks[:, :, np.newaxis]):
        one = MotionLimits(("s",), ends[i : i + 1], ends[i + 1 : i + 2], velocity, acceleration, jerk)
        start, end = (State(ends[k : k + 1], speeds[k : k + 1], np.zeros(1)) for k in (i, i + 1))
        motion = plan(start, end, one)
        pieces.append(_Piece(motion, start, begins))
        begins += motion.duration
    return pieces


def _attainable(slow: float, fast: float, length: float, block: Array) -> float:
    """The greatest speed up to `fast` that can be come to from `slow`, without acceleration at either end."""
    from scipy.optimize import brentq

    _, acceleration, jerk = block

    def way(speed: float) -> float:
        change = speed - slow
        time = 2.0 * np.sqrt(change / jerk)
        if change > acceleration**2 / jerk:
            time = change / acceleration + acceleration / jerk
        return float(0.5 * (slow + speed) * time)

    if fast <= slow or way(fast) <= length:
        return fast
    return float(brentq(lambda speed: way(speed) - 0.999 * length, slow, fast, xtol=1e-9))


def _along(piece: _Piece, every: float, least: int) -> tuple[Array, Array, Array, Array, Array]:
    """A piece sampled at least `least` times in each stretch of constant jerk: t, s, and its three derivatives (k,).

    The first sample of each stretch is left out: it is the last one of the stretch before.
    """
    motion, before, began = piece.motion, piece.start, 0.0
    rows: list[list[Array]] = []
    for i, ends in enumerate(motion.times):
        after, duration = motion.point(i), float(ends) - began
        if duration <= SHORTEST and rows:
            for column, value in zip(rows[-1], (float(ends), *(part[0] for part in after))):
                column[-1] = value
        else:
            t = np.linspace(0.0, duration, max(least, int(np.ceil(duration / every))) + 1)[1:]
            t = (t + began + piece.begins).round(DIGITS) - began - piece.begins
            s, v, a = (part[:, 0] for part in motion.between(before, after, duration, t[:, np.newaxis]))
            rows.append([t + began, s, v, a, np.full(len(t), (after.acceleration - before.acceleration)[0] / duration)])
        before, began = after, float(ends)
    t, s, v, a, j = (np.concatenate(column) for column in zip(*rows))
    return t, s, v, a, j


def _rates(derivatives: list[Any], s: Array, v: Array, a: Array, j: Array) -> tuple[Array, Array, Array]:
    """Equation (1): velocities, accelerations and jerks of the joints, (k, n)."""
    d1, d2, d3 = (d(s) for d in derivatives)
    v, a, j = v[:, np.newaxis], a[:, np.newaxis], j[:, np.newaxis]
    return d1 * v, d2 * v**2 + d1 * a, d3 * v**3 + 3.0 * d2 * v * a + d1 * j


def _excess(derivatives: list[Any], piece: _Piece, limits: MotionLimits) -> float:
    """By how much slower a piece must be: the greatest fraction of a limit that it uses, as a factor in time."""
    _, s, v, a, j = _along(piece, 0.5 * POINT_EVERY, 6)
    velocity, acceleration, jerk = _rates(derivatives, s, v, a, j)
    return float(
        max(
            (np.abs(velocity) / limits.velocity).max() / SPARE,
            np.sqrt((np.abs(acceleration) / limits.acceleration).max() / SPARE),
            np.cbrt((np.abs(jerk) / limits.jerk).max() / SPARE),
        )
    )


def _sampled(curve: Any, derivatives: list[Any], pieces: list[_Piece], joint_names: tuple[str, ...]) -> Trajectory:
    """Points at every change of jerk, and so many between that quintics follow the curve."""
    columns: list[tuple[Array, Array, Array, Array]] = []
    for piece in pieces:
        t, s, v, a, j = _along(piece, POINT_EVERY, 1)
        velocity, acceleration, _ = _rates(derivatives, s, v, a, j)
        columns.append((t + piece.begins, curve(s), velocity, acceleration))
    times, positions, velocities, accelerations = (np.concatenate(part) for part in zip(*columns))
    velocities[-1] = accelerations[-1] = 0.0
    return Trajectory(joint_names, times, positions, velocities, accelerations)
