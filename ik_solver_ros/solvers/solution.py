"""What a solver is asked for beyond the goal, and what it answers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from ik_solver_ros.errors import GoalError
from ik_solver_ros.kinematics.kernels import Array


class Status(Enum):
    """Which part of a goal an answer holds. Not reaching is a result, never an exception."""

    REACHED = "reached"
    NEAREST_ORIENTATION = "nearest orientation"  # the position is reached, the orientation is the nearest possible
    NEAREST_POSITION = "nearest position"  # out of reach: the nearest position
    INVALID_GOAL = "invalid goal"  # only in batches; a single bad goal raises GoalError


@dataclass(frozen=True)
class SolverOptions:
    """Tolerances and budgets; every solver keeps to them. Raises GoalError for values that make no sense."""

    position_tolerance: float = 1e-6  # [m]
    orientation_tolerance: float = 1e-6  # [rad]
    max_iterations: int = 100  # of one descent from one start
    max_restarts: int = 64
    seed: int = 0  # of the random number generator of the restarts

    def __post_init__(self) -> None:
        for name in ("position_tolerance", "orientation_tolerance"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0.0):
                raise GoalError(name, value, "a positive number is wanted")
        for name, least in (("max_iterations", 1), ("max_restarts", 0), ("seed", 0)):
            value = getattr(self, name)
            if int(value) != value or value < least:
                raise GoalError(name, value, f"a whole number of at least {least} is wanted")


class Attempt(NamedTuple):
    """What a solver returns: a configuration and what it spent. It makes no claim; `solve` judges."""

    q: Array  # (n,) [rad or m]
    iterations: int
    restarts: int


@dataclass(frozen=True, eq=False)
class Solution:
    """An answer, judged by `solve`: all errors come from its own forward kinematics."""

    q: Array  # (n,) [rad or m], inside the limits
    status: Status
    position_error: float  # [m]
    approach_error: float  # [rad] between the tool axis and the wanted direction; 0 for a point goal
    roll_error: float  # [rad] about the tool axis, beyond the approach error; 0 for point and approach goals
    reason: str  # why no more was possible, a phrase for people; empty where the goal is reached
    iterations: int
    restarts: int

    def sentence(self) -> str:
        """The outcome for people."""
        if self.status is Status.REACHED:
            return "goal reached"
        parts = ["position reached"]
        if self.status is Status.NEAREST_POSITION:
            parts = [f"position out of reach by {_length(self.position_error)}"]
        if self.approach_error > 1e-6:
            parts.append(f"the tool points {math.degrees(self.approach_error):.3g} deg away from the goal's direction")
        if self.roll_error > 1e-6:
            parts.append(f"the tool is rolled by {math.degrees(self.roll_error):.3g} deg")
        return f"{'; '.join(parts)} (the nearest this arm can do: {self.reason})"


def _length(metres: float) -> str:
    return f"{metres:.3g} m" if metres >= 0.1 else f"{1e3 * metres:.3g} mm"
