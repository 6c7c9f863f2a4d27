"""A goal as functions of the configuration with their derivatives, by pinocchio's forward kinematics and Jacobian.

Angles are asked for as squares of chords, which are smooth where an angle has a corner: at 0 and at pi.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from benchmarks.nearest.arm import Arm, Array, load
from benchmarks.nearest.judge import Goal, cross
from benchmarks.nearest.pinned import Pinned

ROOM = (1e-8, 2e-8)  # [m], [rad] by which position and approach may be worse than their least while the next is sought


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

    def in_place(self, floor: float) -> dict[str, Any]:
        """The constraint that the tip stays where it is nearest, at `floor` [m] from the goal."""
        if floor < ROOM[0]:
            return {
                "type": "eq",
                "fun": lambda q: self.at(q).off / self.scale,
                "jac": lambda q: self.at(q).linear / self.scale,
            }
        by = 2.0 * floor * self.scale
        return {
            "type": "ineq",
            "fun": lambda q: ((floor + ROOM[0]) ** 2 - self.at(q).off @ self.at(q).off) / by,
            "jac": lambda q: -2.0 * self.at(q).linear.T @ self.at(q).off / by,
        }

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
            "fun": lambda q: (self.at(q).points @ self.axis - np.cos(floor + ROOM[1])) / by,
            "jac": lambda q: self.at(q).angular.T @ cross(self.at(q).points, self.axis) / by,
        }
