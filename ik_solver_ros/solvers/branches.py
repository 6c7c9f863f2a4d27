"""solve_all: every distinct answer that an arm has for a goal."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ik_solver_ros.jit import njit
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.kernels import Array, tool_of, unpacked
from ik_solver_ros.kinematics.waist_arm import JOINTS, unpacked_waist
from ik_solver_ros.solvers.ccdik.descent import descend
from ik_solver_ros.solvers.ccdik.generic import EXACT_WEIGHTS, nearest_postures, problem_of, start_configuration
from ik_solver_ros.solvers.ccdik.three_parallel.branches import exact_postures
from ik_solver_ros.solvers.ccdik.three_parallel.planar_group import EXACT
from ik_solver_ros.solvers.goal import Goal, unpacked_goal
from ik_solver_ros.solvers.random import seeded
from ik_solver_ros.solvers.solution import Attempt, Solution, SolverOptions, Status, unpacked_options
from ik_solver_ros.solvers.solve import DEFAULT_OPTIONS, judge, solve
from ik_solver_ros.solvers.track import CONSTRAINTS, idle_motions

DISTINCT = 0.02  # [rad or m] answers that differ by less in every joint are one...
DISTINCT_IDLE = 0.5  # ...of a redundant arm, whose answers lie on curves that are followed only so far
STARTS = 4  # times as many starts as a single answer gets
SLIDES = 40  # steps of a redundant arm towards q0


def solve_all(
    chain: Chain, goal: Goal, q0: npt.ArrayLike | None = None, *, options: SolverOptions = DEFAULT_OPTIONS
) -> list[Solution]:
    """The distinct answers that reach the goal: elbow up and down, front and back, wrist flipped; nearest to q0 first.

    A redundant arm has as many as it has branches, each as near to q0 as it comes. Where nothing reaches the goal
    the list holds the one answer of `solve`. Joints that can turn more than once are counted in the turn nearest to
    q0. For a WaistArm (see waist_arm.py) the list is complete; for any other chain it is what a search from
    STARTS * max_restarts starts finds. Raises as `solve` does.
    """
    start = chain.clamped(chain.mid.copy() if q0 is None else chain.checked(q0, "q0"))  # type: ignore[arg-type]
    if chain.waist_arm is not None and goal.targets:
        rows = np.empty((16, JOINTS))
        count = waist_branches(chain.waist_arm, goal.packed, goal.targets, chain.tool, start, options.packed, rows)
        found = [solve(chain, goal, row, options=options) for row in rows[:count]]
    else:
        rows = np.empty((STARTS * (options.max_restarts + 1), chain.n))
        count = exact_answers(chain.arrays.kind, chain.packed, goal.packed, goal.targets, start, options.packed, rows)
        found = [
            judge(chain, goal, start, Attempt(_slid(chain, goal, row, start, options), 0, 0), options)
            for row in rows[:count]
        ]
    apart = DISTINCT if chain.n <= CONSTRAINTS[goal.targets] or chain.waist_arm is not None else DISTINCT_IDLE
    distinct: list[Solution] = []
    for solution in found:
        if solution.status is not Status.REACHED:
            continue
        if all(np.max(np.abs(solution.q - other.q)) > apart for other in distinct):
            distinct.append(solution)
    if not distinct:
        return [solve(chain, goal, start, options=options)]
    return sorted(distinct, key=lambda solution: float(np.max(np.abs(solution.q - start))))


@njit
def waist_branches(
    waist_arm: Array, packed_goal: Array, targets: int, tool: Array, q0: Array, packed_options: Array, out: Array
) -> int:
    """Fill `out` (16, 5) with all postures of a WaistArm that reach the goal, or nearly; returns how many."""
    goal = unpacked_goal(packed_goal, targets, tool, np.zeros((2, 3)))
    tolerance = max(unpacked_options(packed_options).orientation_tolerance, EXACT)
    return exact_postures(  # type: ignore[no-any-return]
        unpacked_waist(waist_arm), goal, q0, tolerance, out
    )


@njit
def exact_answers(
    kind: Any, packed: Array, packed_goal: Array, targets: int, q0: Array, packed_options: Array, out: Array
) -> int:
    """Fill `out` (m, n) with the exact answers found from m starts; returns how many."""
    body = unpacked(kind, packed)
    goal = unpacked_goal(packed_goal, targets, tool_of(kind.shape[0], packed), np.zeros((2, 3)))
    options = unpacked_options(packed_options)
    problem = problem_of(body, goal, q0, options)
    near = nearest_postures(body, goal, problem.scale)
    state = seeded(options.seed)
    count = 0
    for k in range(out.shape[0]):
        q = start_configuration(problem, near, k, state)
        weights = (problem.scale, EXACT_WEIGHTS[0], EXACT_WEIGHTS[1])
        _, reached = descend(body.chain, goal, q, weights, problem.exact)
        if reached:
            out[count] = q
            count += 1
    return count


def _slid(chain: Chain, goal: Goal, q: Array, start: Array, options: SolverOptions) -> Array:
    """Of a redundant arm the answer on the branch of q that is nearest to `start`; of any other q itself."""
    if chain.n <= CONSTRAINTS[goal.targets]:
        return q
    for _ in range(SLIDES):
        idle = idle_motions(chain, goal, q)
        step = idle.T @ (idle @ (start - q))
        size = np.max(np.abs(step), initial=0.0)
        if size < 1e-4:
            break
        moved = solve(chain, goal, q + step * min(1.0, 0.2 / size), options=options)
        if moved.status is not Status.REACHED or np.max(np.abs(moved.q - q)) > 0.5:
            break
        q = moved.q
    return q
