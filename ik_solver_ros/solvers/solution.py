"""What a solver is asked for beyond the goal, and what it answers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from ik_solver_ros.errors import GoalError, listed
from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.kinematics.chain import Chain, Wrist
from ik_solver_ros.solvers.goal import Goal


class Status(Enum):
    """Which part of a goal an answer holds. Not reaching is a result, never an exception."""

    REACHED = "reached"
    NEAREST_ORIENTATION = "nearest orientation"  # the position is reached, the orientation is the nearest possible
    NEAREST_POSITION = "nearest position"  # out of reach: the nearest position
    INVALID_GOAL = "invalid goal"  # only in batches; a single bad goal raises GoalError


# As compiled code counts them, see codes.py
STATUSES = (Status.REACHED, Status.NEAREST_ORIENTATION, Status.NEAREST_POSITION, Status.INVALID_GOAL)
LARGEST = 2**63
ELBOW = {"nearest": 0.0, "up": 1.0, "down": -1.0}


@dataclass(frozen=True)
class SolverOptions:
    """Tolerances, budgets and preferences of a solver. Raises GoalError for values that make no sense."""

    position_tolerance: float = 1e-6  # [m]
    orientation_tolerance: float = 1e-6  # [rad]
    max_iterations: int = 100  # of one descent from one start
    max_restarts: int = 64
    seed: int = 0  # of the random number generator of the restarts
    roll_slack: float = math.radians(0.1)  # [rad] by which the approach may miss the nearest, for the roll's sake
    elbow: str = "nearest"  # to q0; or "up" or "down", where answers are equal but for that (of a WaistArm only)
    track: bool = False  # stay on q0's branch of the answers, also where another branch has a nearer one...
    hysteresis: float = math.radians(20.0)  # ...as long as it is nearer by no more than this [rad]
    ball_cone: float = math.pi  # [rad] that fabrik may bend a ball joint, of three coincident hinges, from its rest

    def __post_init__(self) -> None:
        for name in ("position_tolerance", "orientation_tolerance"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0.0):
                raise GoalError(name, value, "a positive number is wanted")
        for name in ("roll_slack", "hysteresis", "ball_cone"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0.0):
                raise GoalError(name, value, "a number of at least 0 is wanted")
        for name, least in (("max_iterations", 1), ("max_restarts", 0), ("seed", 0)):
            value = getattr(self, name)
            if int(value) != value or not least <= value < LARGEST:
                raise GoalError(name, value, f"a whole number of at least {least}, and below 2^63, is wanted")
        if self.elbow not in ELBOW:
            raise GoalError("elbow", self.elbow, f"one of {listed(ELBOW)} is wanted")

    @property
    def elbow_sign(self) -> float:
        """1 prefers the elbow up, -1 down, 0 does not care."""
        return ELBOW[self.elbow]


class Attempt(NamedTuple):
    """What a solver returns: a configuration, and how much work it took. It makes no claim; `solve` judges."""

    q: Array  # (n,) [rad or m]
    iterations: int
    restarts: int
    off_hinges: float = 0.0  # [m] by which its own points lay off what the hinges allow, before it enforced them


@dataclass(frozen=True, eq=False)
class Solution:
    """An answer, judged by `solve`: all errors come from its own forward kinematics."""

    q: Array  # (n,) [rad or m], inside the limits
    status: Status
    position_error: float  # [m]
    approach_error: float  # [rad] between the tool axis and the wanted direction; 0 for a point goal
    roll_error: float  # [rad] about the tool axis, beyond the approach error; 0 for point and approach goals
    iterations: int
    restarts: int
    chain: Chain
    goal: Goal
    solver: str = "ccdik"  # whose answer it is

    @property
    def reason(self) -> str:
        """Why no more was possible, a phrase for people; empty where the goal is reached."""
        return reason(self)

    def sentence(self) -> str:
        """The outcome for people."""
        if self.status is Status.REACHED:
            return "goal reached"
        parts = ["position reached"]
        if self.status is Status.NEAREST_POSITION:
            missed = "out of reach" if self.solver == "ccdik" else "missed"
            parts = [f"position {missed} by {_length(self.position_error)}"]
        if self.approach_error > 1e-6:
            parts.append(f"the tool points {math.degrees(self.approach_error):.3g} deg away from the goal's direction")
        if self.roll_error > 1e-6:
            parts.append(f"the tool is rolled by {math.degrees(self.roll_error):.3g} deg")
        nearest = ""
        if self.solver == "ccdik":
            nearest = f"the nearest {'this arm can do' if self.established else 'found'}: "
        return f"{'; '.join(parts)} ({nearest}{self.reason})"

    @property
    def established(self) -> bool:
        """Whether more is known not to be possible, not only not found: from the structure of a WaistArm.

        Of positions out of reach it is not: samples of waist and last hinge, and descents from them, find these.
        """
        if self.status is Status.NEAREST_ORIENTATION:
            return self.solver == "ccdik" and self.chain.waist_arm is not None
        return self.status is Status.REACHED


AT_LIMIT = 1e-4  # [rad or m] a joint this near to its limit is said to be at it


def reason(solution: Solution) -> str:
    """Why the arm can do no more: its wrist, its limits, its length, or its number of joints."""
    chain, q, status = solution.chain, solution.q, solution.status
    if status is Status.REACHED:
        return ""
    if solution.solver != "ccdik":
        return f"{solution.solver} came no nearer, which may be its own fault"
    n = chain.n
    if status is Status.NEAREST_ORIENTATION and chain.wrist is Wrist.ROLL and n > 1 and solution.goal.targets:
        # The hinge before the roll is perpendicular to the plane in which such an arm can point.
        hinge, wanted = chain.joint_frames(q)[2][-2], solution.goal.directions(chain)[1][0]
        out_of_plane = math.asin(min(1.0, abs(float(hinge @ wanted))))
        if 0.5 * solution.approach_error < out_of_plane and solution.approach_error > 1e-6:
            return "its wrist rolls the tool, so the tool can only point within the arm's vertical plane"
    at_limit = (q < chain.lower + AT_LIMIT) | (q > chain.upper - AT_LIMIT)
    if at_limit.any():
        names = [name for name, is_at_limit in zip(chain.joint_names, at_limit) if is_at_limit]
        return f"{' and '.join(names)} {'is at its limit' if len(names) == 1 else 'are at their limits'}"
    if status is Status.NEAREST_POSITION:
        return "it is stretched, or folded, as far as it goes"
    return f"{n} joints cannot set everything at once"


def _length(metres: float) -> str:
    return f"{metres:.3g} m" if metres >= 0.1 else f"{1e3 * metres:.3g} mm"
