"""A goal as functions of the configuration with their derivatives, by pinocchio's forward kinematics and Jacobian.

Angles are asked for as squares of chords, which are smooth where an angle has a corner: at 0 and at pi.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from benchmarks.nearest.arm import Arm, Array, load
from benchmarks.nearest.judge import REACHED, Goal, cross
from benchmarks.nearest.pinned import Pinned

ROOM = 2e-8  # [rad] by which the approach may be worse than its least while the roll is sought
FLAT = 1e-7  # of the greatest bend of the distance: less is none, as a radian is some 1e-7 m then


@dataclass
class State:
    """The tip at one configuration."""

    off: Array  # (3,) from the goal's position to the tip's [m]
    points: Array  # (3,) where the tool points
    side: Array  # (3,) where its side points
    linear: Array  # (3, n) of the Jacobian
    angular: Array  # (3, n)


def turning(state: State, vector: Array) -> Array:
    """The derivative (3, n) of a unit vector (3,) that is fixed to the tip."""
    x, y, z = vector.tolist()
    return np.array([[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]]) @ state.angular


def cross_all(vector: Array, rows: Array) -> Array:
    """Cross products (3, n) of a vector (3,) with the columns of (3, n)."""
    x, y, z = vector.tolist()
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]) @ rows


@cache
def pinned(name: str) -> Pinned:
    return Pinned(load(name))


@cache
def reach(name: str) -> float:
    """[m] How far the tip comes from the first joint's frame at zero, of 3000 random configurations."""
    arm, model = load(name), pinned(name)
    foot = arm.steps[0][0][:3, 3]
    return max(float(np.linalg.norm(model.forward(q)[0] - foot)) for q in arm.sample(np.random.default_rng(5), 3000))


class Task:
    """One goal. Lengths are in units of the arm's reach."""

    def __init__(self, goal: Goal) -> None:
        self.goal = goal
        self.arm: Arm = goal.arm
        self.model = pinned(self.arm.name)
        self.scale = reach(self.arm.name)
        self.axis, self.side = goal.wanted()
        self.bounds = list(zip(self.arm.lower, self.arm.upper))
        self._key, self._state = b"", None

    def at(self, q: Array) -> State:
        """The tip at q (n,); the last one is kept, as value and gradient are asked for one after the other."""
        key = q.tobytes()
        if key != self._key or self._state is None:
            p, matrix, jacobian = self.model.derivative(q)
            off = p - self.goal.point
            self._state = State(off, matrix @ self.arm.tool, matrix @ self.arm.side, jacobian[:3], jacobian[3:])
            self._key = key
        return self._state

    def residual(self, q: Array, depth: int) -> tuple[Array, Array]:
        """Chords to the goal and their derivative: of the position (depth 1), and direction (2), and side (3)."""
        state = self.at(q)
        values, slopes = [state.off / self.scale], [state.linear / self.scale]
        for now, wanted in ((state.points, self.axis), (state.side, self.side))[: depth - 1]:
            values.append(now - wanted)
            slopes.append(turning(state, now))
        return np.concatenate(values), np.vstack(slopes)

    def distance(self, q: Array) -> tuple[float, Array]:
        """Half the squared distance, and its gradient (n,)."""
        state = self.at(q)
        off = state.off / self.scale
        return 0.5 * float(off @ off), state.linear.T @ off / self.scale

    def tilt(self, q: Array) -> tuple[float, Array]:
        """Half the squared chord of the approach, and its gradient (n,)."""
        state = self.at(q)
        return 1.0 - float(state.points @ self.axis), -state.angular.T @ cross(state.points, self.axis)

    def twist(self, q: Array) -> tuple[float, Array]:
        """Half the squared chord of the roll, and its gradient (n,)."""
        state = self.at(q)
        d, s, w, v = state.points, state.side, self.axis, self.side
        share = max(1.0 + float(d @ w), 1e-9)
        sw, dv = float(s @ w), float(d @ v)
        slope = cross(s, v) - (cross(s, w) * dv + sw * cross(d, v)) / share
        slope += sw * dv / share**2 * cross(d, w)
        return 1.0 - (float(s @ v) - sw * dv / share), -state.angular.T @ slope

    def bend(self, q: Array) -> Array:
        """The Hessian (n, n) of `distance`."""
        state = self.at(q)
        lean = cross_all(state.off, state.angular).T @ state.linear  # [i, j]: a turn about i moves what j moves
        upper = np.triu(lean)
        return (state.linear.T @ state.linear + upper + np.triu(upper, 1).T) / self.scale**2

    def pressed(self, q: Array) -> Array:
        """Which joints (n,) are at a limit that keeps the tip from coming nearer."""
        slope = self.distance(q)[1]
        return ((q <= self.arm.lower + 1e-9) & (slope > 1e-9)) | ((q >= self.arm.upper - 1e-9) & (slope < -1e-9))

    def in_place(self, q: Array, floor: float) -> tuple[list[dict[str, Any]], list[tuple[float, float]]]:
        """Constraints and bounds that keep the tip where it is nearest, at `floor` [m] from the goal, as at q (n,).

        Where the goal's position is reached, it is the three numbers of the position. Elsewhere the distance has its
        least value and no slope, so that it is no constraint to work with: kept are the limits that press, and the
        slope where the distance bends; along what does not bend it the arm is free.
        """
        if floor < REACHED:
            slope = {"jac": lambda q: self.at(q).linear / self.scale}
            return [{"type": "eq", "fun": lambda q: self.at(q).off / self.scale, **slope}], self.bounds
        fixed = self.pressed(q)
        bounds = [(value, value) if still else both for value, still, both in zip(q, fixed, self.bounds)]
        sizes, along = np.linalg.eigh(self.bend(q)[np.ix_(~fixed, ~fixed)])
        stiff = np.zeros((len(q), int((abs(sizes) > FLAT * abs(sizes).max(initial=0.0)).sum())))
        if not stiff.size:
            return [], bounds
        stiff[~fixed] = along[:, abs(sizes) > FLAT * abs(sizes).max()]
        slope = {"jac": lambda q: stiff.T @ self.bend(q)}
        return [{"type": "eq", "fun": lambda q: stiff.T @ self.distance(q)[1], **slope}], bounds

    def settled(self, q: Array) -> Array:
        """From q (n,), near a least distance, on to it, to the last digit: Newton's steps where the distance bends."""
        for _ in range(40):
            step = self._newton_step(q)
            moved = abs(step) > 1e-13
            if not moved.any():
                break
            room = np.where(step > 0.0, self.arm.upper - q, q - self.arm.lower)
            share = min(1.0, 0.1 / abs(step).max(), np.min(room[moved] / abs(step[moved])))
            trial = self.arm.inside(q + share * step)
            if self.distance(trial)[0] > self.distance(q)[0] + 1e-17:
                break
            q = trial
        return q

    def _newton_step(self, q: Array) -> Array:
        """The step (n,) to where the distance has no slope; a joint at a limit takes none beyond it."""
        slope, bend, free = self.distance(q)[1], self.bend(q), ~self.pressed(q)
        while True:
            step = np.zeros(len(q))
            sizes, along = np.linalg.eigh(bend[np.ix_(free, free)])
            stiff = abs(sizes) > FLAT * abs(sizes).max(initial=0.0)
            step[free] = -along[:, stiff] @ (along[:, stiff].T @ slope[free] / abs(sizes[stiff]))
            above = (q >= self.arm.upper - 1e-12) & (step > 0.0)
            below = (q <= self.arm.lower + 1e-12) & (step < 0.0)
            if not (above | below).any():
                return step
            free &= ~(above | below)

    def in_line(self, floor: float) -> dict[str, Any]:
        """The constraint that the tool points where it is nearest, at `floor` [rad] from the goal's direction."""
        if floor < 1e-6:
            across = np.linalg.svd(self.axis[None])[2][1:]  # (2, 3)
            return {
                "type": "eq",
                "fun": lambda q: across @ self.at(q).points,
                "jac": lambda q: across @ turning(self.at(q), self.at(q).points),
            }
        by = max(float(np.sin(floor)), 1e-3)
        return {
            "type": "ineq",
            "fun": lambda q: (self.at(q).points @ self.axis - np.cos(floor + ROOM)) / by,
            "jac": lambda q: self.at(q).angular.T @ cross(self.at(q).points, self.axis) / by,
        }
