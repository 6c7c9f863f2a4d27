"""solve_all: every distinct answer that an arm has for a goal."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.waist_arm import fitted
from ik_solver_ros.solvers.ccdik.all_answers import branches, reached_from
from ik_solver_ros.solvers.ccdik.answers import give_back, new_search
from ik_solver_ros.solvers.goal import Goal
from ik_solver_ros.solvers.problem import prepare
from ik_solver_ros.solvers.solution import Attempt, Solution, SolverOptions, Status
from ik_solver_ros.solvers.solve import DEFAULT_OPTIONS, judge, solve
from ik_solver_ros.solvers.track import CONSTRAINTS, idle_motions

DISTINCT = 2e-3  # [rad or m] answers that differ by less in every joint are one...
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
    search = new_search(chain.body, chain.waist_arm, options)
    prepare(search.problem, chain.body, goal, start.tolist(), options)
    redundant = chain.n > CONSTRAINTS[goal.targets] and (chain.waist_arm is None or goal.targets == 0)
    apart = DISTINCT_IDLE if redundant else DISTINCT
    if chain.waist_arm is not None and goal.targets:
        found = [solve(chain, goal, row, options=options) for row in branches(search)]
    else:
        rows = [_nearest_turn(chain, row, start) for row in reached_from(search, STARTS * (options.max_restarts + 1))]
        rows = [_slid(chain, goal, row, start, options) for row in _distinct(chain, rows, apart)]
        found = [judge(chain, goal, start.tolist(), Attempt(q, 0, 0), options) for q in rows]
    give_back(search)
    reached = {solution.q.tobytes(): solution for solution in found if solution.status is Status.REACHED}
    distinct = _distinct(chain, [solution.q for solution in reached.values()], apart)
    if not distinct:
        return [solve(chain, goal, start, options=options)]
    solutions = [reached[q.tobytes()] for q in distinct]
    return sorted(solutions, key=lambda solution: float(np.max(np.abs(solution.q - start))))


def _nearest_turn(chain: Chain, q: list[float], start: Array) -> Array:
    """An answer (n,) with each hinge in the turn that is nearest to `start`, inside the limits."""
    hinges = ~(chain.arrays.slides | chain.arrays.endless)
    turned = [fitted(*numbers) for numbers in zip(q, chain.lower.tolist(), chain.upper.tolist(), start.tolist())]
    return np.where(hinges & np.isfinite(turned), turned, q)


def _distinct(chain: Chain, rows: list[Array], apart: float) -> list[Array]:
    """Of configurations those that differ from all before by more than `apart` in a joint; whole turns do not count."""
    turns = ~chain.arrays.slides
    kept: list[Array] = []
    for row in rows:
        if kept:
            away = np.abs(np.array(kept) - row)
            away = np.where(turns, np.abs(np.remainder(away + np.pi, 2.0 * np.pi) - np.pi), away)
            if (away.max(axis=1) <= apart).any():
                continue
        kept.append(row)
    return kept


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
