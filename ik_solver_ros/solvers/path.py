"""solve_path: joint positions along a path of the tip, on one branch."""

from __future__ import annotations

import dataclasses
import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.spatial.transform import Rotation

from ik_solver_ros.errors import GoalError
from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.kernels import Row
from ik_solver_ros.kinematics.quaternion import rotate
from ik_solver_ros.solvers.codes import NO_FAULT
from ik_solver_ros.solvers.goal import WIDTH, Goal
from ik_solver_ros.solvers.goal_numbers import check_goal
from ik_solver_ros.solvers.solution import SolverOptions
from ik_solver_ros.solvers.solve import DEFAULT_OPTIONS, solve_from
from ik_solver_ros.solvers.track import extrapolated_start

NEWTON_STEPS = 8  # at most, from one sample to the next
SETTLED = 1e-9  # [rad or m] a step that moves every joint by less is the last one
RCOND = 1e-3  # fraction of the largest singular value: motions that are harder to do are left out of a step
NEAR = (1e-6, 1e-4)  # [m], [rad] an end of Newton's method within this of a goal is an answer to it
NOISE = 1e-6  # [m and rad] that answers may be off by: what is more makes joints tremble along a path
LARGEST_STEP = 0.2  # [rad or m] of a joint from one sample to the next: more is another branch, not the path


class PathTolerances(NamedTuple):
    """How far the tip may stray from a path."""

    position: float = 1e-3  # [m]
    angle: float = math.radians(0.5)  # [rad] of the tool's direction


class PathSolution(NamedTuple):
    """How far along a path the arm can go, and how."""

    q: Array  # (m, n) [rad or m]: the first m of the path's samples
    total: int  # samples of the whole path
    reason: str  # why it ends where it does; empty where all of it can be done

    @property
    def complete(self) -> bool:
        """Whether all of the path can be done."""
        return len(self.q) == self.total

    @property
    def fraction(self) -> float:
        """The fraction of the path that can be done, 0 to 1."""
        return 1.0 if self.complete else max(len(self.q) - 1, 0) / max(self.total - 1, 1)


def solve_path(
    chain: Chain,
    positions: npt.ArrayLike,
    directions: npt.ArrayLike | None = None,
    quats_xyzw: npt.ArrayLike | None = None,
    q0: npt.ArrayLike | None = None,
    *,
    tolerances: PathTolerances = PathTolerances(),  # noqa: B008 (it cannot be changed)
    options: SolverOptions = DEFAULT_OPTIONS,
) -> PathSolution:
    """Answers to closely spaced goals along a path: positions (m, 3) [m] with directions (m, 3), quats_xyzw (m, 4) or
    neither, each answer the next one on the branch of the one before, beginning at q0 (n,).

    The tip must keep to the positions, and the tool to where it shall point, within `tolerances`; the roll comes last,
    and is no reason to stop. The path ends where that cannot be had, or where only a jump to another branch would have
    it. Raises GoalError as `solve` does.
    """
    p = np.asarray(positions, dtype=float)
    if p.ndim != 2 or p.shape[1] != 3:
        raise GoalError("positions", p.shape, "shape (m, 3) is wanted")
    targets, rest = 0, np.zeros((len(p), 0))
    if quats_xyzw is not None:
        targets, rest = 2, np.asarray(quats_xyzw, dtype=float)
    elif directions is not None:
        targets, rest = 1, np.asarray(directions, dtype=float)
    if rest.shape != (len(p), WIDTH[targets]):
        raise GoalError("quats_xyzw" if targets == 2 else "directions", rest.shape, f"({len(p)}, {WIDTH[targets]})")
    goals = np.zeros((len(p), 7))
    goals[:, :3], goals[:, 3 : 3 + WIDTH[targets]] = p, rest

    options = dataclasses.replace(
        options,
        track=True,
        position_tolerance=min(options.position_tolerance, NOISE),
        orientation_tolerance=min(options.orientation_tolerance, NOISE),
    )
    q = before = chain.mid if q0 is None else chain.checked(q0, "q0")
    rows: list[Array] = []
    for i, numbers in enumerate(goals.tolist()):
        row = Row(numbers)
        if check_goal(targets, row) != NO_FAULT:
            raise GoalError(f"pose {i} of the path", numbers, "finite numbers and a direction are wanted")
        goal, reason = Goal(targets, tuple(row.values(7))), ""
        continued = _continued(chain, goal, q) if rows else None
        if continued is not None:
            before, q = q, continued
            rows.append(q)
            continue
        start = extrapolated_start(chain, goal, q, before) if i > 1 else q
        solution = solve_from(chain, goal, start.tolist(), options=options)
        step = np.abs(solution.q - q)
        if solution.position_error > tolerances.position or solution.approach_error > tolerances.angle:
            reason = solution.sentence()
        elif step.max() > LARGEST_STEP:
            worst = int(np.argmax(step))
            way = 1e3 * np.linalg.norm(p[i] - chain.forward(q)[0])
            reason = (
                f"{chain.joint_names[worst]} would have to jump by {step[worst]:.3g} within {way:.2g} mm: "
                "the arm comes to a singular posture, or would need another one"
            )
        if reason:
            return PathSolution(np.array(rows).reshape(-1, chain.n), len(goals), reason)
        before, q = q, solution.q
        rows.append(q)
    return PathSolution(np.array(rows), len(goals), "")


def _continued(chain: Chain, goal: Goal, q: Array) -> Array | None:
    """The answer to a goal that is a small step on from q (n,): of all answers the one with the least motion.

    By Newton's method with the pseudo-inverse, joints at their limits held there. None where the goal cannot be had,
    or only by more than a small step: that is for `solve` to say.
    """
    x, free = np.array(q), np.ones(chain.n, dtype=bool)
    for _ in range(NEWTON_STEPS):
        position, quat = chain.forward(x)
        jacobian = chain.jacobian(x)
        error, rows = goal.position - position, jacobian[:3]
        if goal.quat_xyzw is not None:
            turn = Rotation.from_quat(goal.quat_xyzw) * Rotation.from_quat(quat).inv()
            error, rows = np.concatenate([error, turn.as_rotvec()]), jacobian
        elif goal.direction is not None:
            pointing = rotate(quat, chain.tool_axis)
            if pointing @ goal.direction < 0.0:
                return None
            error = np.concatenate([error, np.cross(pointing, goal.direction)])
            rows = np.vstack([rows, jacobian[3:] - np.outer(pointing, pointing @ jacobian[3:])])
        step = np.zeros(chain.n)
        step[free] = np.linalg.lstsq(rows[:, free], error, rcond=RCOND)[0]
        if np.abs(step).max() < SETTLED:
            near = np.linalg.norm(error[:3]) < NEAR[0] and np.linalg.norm(error[3:]) < NEAR[1]
            return chain.clamped(x + step) if near else None
        beyond = (x + step < chain.lower) | (x + step > chain.upper)
        free &= ~beyond
        x = chain.clamped(x + step)
        if np.abs(x - q).max() > LARGEST_STEP:
            return None
    return None
