"""Quaternion CCDIK, word for word: cyclic coordinate descent with quaternions, hinges and limits.

Source: J. Selstad, "Inverse Kinematics" (zalo.github.io, 2019), after J. Blow, "Inverse Kinematics with Quaternion
Joint Limits" (2002). For each joint from the tip to the base:

    1. point the effector at the goal: rotate from (effector - joint) to (goal - joint); the last joints, which
       serve the direction target, rotate from the effector's direction to the wanted one instead;
    2. enforce the hinge: rotate the joint's current hinge axis back onto its parent's;
    3. clamp to the limits, in the joint's own angle.

Beyond the source: a sliding joint moves along its axis as far as the goal is off; restarts from large random
offsets that shrink ("simulated annealing"), which the source leaves to the reader. It converges as CCD does:
quickly at first, then slowly, and sometimes not at all; `ccdik` is the one to use.
"""

from __future__ import annotations

import math

import numpy as np

from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.constants import TWO_PI
from ik_solver_ros.kinematics.kernels import Frames, Row, copy, joint_frames, tip_frame
from ik_solver_ros.kinematics.quaternion import (
    add,
    angle_about,
    angle_between,
    conjugate,
    dot,
    from_axis_angle,
    from_two_vectors,
    multiply,
    rotate,
    scaled,
    sub,
)
from ik_solver_ros.solvers.goal import Goal
from ik_solver_ros.solvers.problem import Problem, prepare
from ik_solver_ros.solvers.random import uniform
from ik_solver_ros.solvers.reference.constants import APPROACH, POSITION, ROLL
from ik_solver_ros.solvers.reference.restarts import Restarts, keep_best
from ik_solver_ros.solvers.solution import Attempt, SolverOptions

try:
    import cython
except ImportError:
    from ik_solver_ros import uncompiled as cython  # type: ignore[no-redef]

ANY = SolverOptions()  # a sweep alone asks for none


def ccdik_published(chain: Chain, goal: Goal, q0: Array, options: SolverOptions) -> Attempt:
    """Sweeps from q0 until the goal is reached, then from random offsets; the best configuration seen."""
    search = Restarts(prepare(Problem(), chain.body, goal, q0.tolist(), options))
    frames = Frames()
    with cython.nogil:
        restarts = _anneal(search, frames)
    return search.attempt(restarts)


def ccdik_step(chain: Chain, goal: Goal, q: Array) -> Array:
    """One sweep from q (n,), tip to base: the live form, one call a frame. Raises GoalError for a bad q."""
    problem = prepare(Problem(), chain.body, goal, chain.checked_numbers(q), ANY)
    sweep(problem, Frames(), problem.start)
    return np.array(problem.start.values(chain.n))


def serves(i: int, n: int, targets: int) -> int:
    """Which target joint i of n works for: POSITION, APPROACH or ROLL.

    The last two joints take the direction, as on the source's arm of five; a pose needs the very last for the
    roll. Three joints are always left for the position.
    """
    if targets == 0 or i < 3:
        return POSITION
    if targets == 2 and i == n - 1:
        return ROLL
    return APPROACH if i >= n - targets - 1 else POSITION


def sweep(problem: Problem, frames: Frames, q: Row) -> None:
    """One pass over all joints, tip to base; q is changed in place."""
    n = problem.body.n
    effector, tip_rotation = joint_frames(problem.body, q, frames)
    approach = rotate(tip_rotation, problem.tool[0])
    roll = rotate(tip_rotation, problem.tool[1])

    for i in range(n - 1, -1, -1):
        # What lies between the base and joint i is not moved by the joints from i on: its frames stay valid.
        origin = frames.origins[i]
        parent = frames.parents[i]
        hinge = frames.axes[i]
        axis = problem.body.axis[i]  # the same in the joint's own frame
        lower = problem.body.lower[i]
        upper = problem.body.upper[i]
        old = q.at[i]

        if problem.body.slides[i]:
            q.at[i] = min(max(old + dot(sub(problem.position, effector), hinge), lower), upper)
            effector = add(effector, scaled(q.at[i] - old, hinge))
            continue

        # Point the effector at the goal, or along the wanted direction.
        target = serves(i, n, problem.targets)
        if target == POSITION:
            towards = from_two_vectors(sub(effector, origin), sub(problem.position, origin))
        elif target == APPROACH:
            towards = from_two_vectors(approach, problem.wanted[0])
        else:
            towards = from_two_vectors(roll, problem.wanted[1])
        rotation = multiply(towards, multiply(parent, from_axis_angle(axis, old)))

        # Enforce the hinge: the joint's axis, as carried along, goes back onto the parent's.
        rotation = multiply(from_two_vectors(rotate(rotation, axis), hinge), rotation)

        # Clamp to the limits in the joint's own angle, on the turn nearest to where the joint was.
        angle = angle_about(multiply(conjugate(parent), rotation), axis)
        angle += TWO_PI * math.floor((old - angle) / TWO_PI + 0.5)
        q.at[i] = min(max(angle, lower), upper)

        moved = from_axis_angle(hinge, q.at[i] - old)
        effector = add(origin, rotate(moved, sub(effector, origin)))
        approach = rotate(moved, approach)
        roll = rotate(moved, roll)


def _tolerance_ratio(problem: Problem, q: Row) -> float:
    """How far q is from done, in tolerances, so that metres and radians compare: done at 1 and below."""
    p, rotation = tip_frame(problem.body, q)
    offset = sub(problem.position, p)
    angle = 0.0
    for k in range(problem.targets):
        angle = max(angle, angle_between(rotate(rotation, problem.tool[k]), problem.wanted[k]))
    return max(math.sqrt(dot(offset, offset)) / problem.position_tolerance, angle / problem.orientation_tolerance)


def _anneal(search: Restarts, frames: Frames) -> int:
    """Fill in `search.best`; returns the number of restarts."""
    for restart in range(search.problem.max_restarts + 1):
        copy(search.best, search.q, search.problem.body.n)
        if restart > 0:
            # From the whole range down to a part of it.
            _shake(search, 1.0 - (restart - 1.0) / search.problem.max_restarts)
        for sweeps in range(search.problem.max_iterations + 1):
            keep_best(search, _tolerance_ratio(search.problem, search.q))
            if search.least <= 1.0:
                return restart
            if sweeps < search.problem.max_iterations:
                sweep(search.problem, frames, search.q)
                search.iterations += 1
    return search.problem.max_restarts


def _shake(search: Restarts, heat: float) -> None:
    """Move every joint of `search.q` at random, by up to `heat` times its range."""
    for i in range(search.problem.body.n):
        lower = search.problem.body.lower[i]
        upper = search.problem.body.upper[i]
        span = TWO_PI if search.problem.body.endless[i] else upper - lower
        moved = search.q.at[i] + heat * span * (2.0 * uniform(search.random) - 1.0)
        search.q.at[i] = min(max(moved, lower), upper)
