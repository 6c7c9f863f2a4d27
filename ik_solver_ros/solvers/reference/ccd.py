"""Conventional cyclic coordinate descent: each joint by one angle, the arc cosine of a dot product.

Source: L.-C. T. Wang and C. C. Chen, "A combined optimization method for solving the inverse kinematics problem of
mechanical manipulators" (1991), in the form in which game programmers know it. From tip to base (`ccd`), or from base
to tip (`ccd_alternative`), each hinge turns the tip, seen in the plane across its axis, towards the goal:

    cos t = a . b,   the sign of t = axis . (a x b)

It serves the position alone: of approach and pose goals the direction comes as it comes, and the status says so. The
arc cosine loses half of the digits of small angles, and with them the last of the convergence.
"""

from __future__ import annotations

import math

from ik_solver_ros.kinematics.arrays import Array, Vec
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.kernels import Frames, Row, joint_frames
from ik_solver_ros.kinematics.quaternion import cross, dot, scaled, sub
from ik_solver_ros.solvers.goal import Goal
from ik_solver_ros.solvers.problem import Problem, chord_errors, prepare
from ik_solver_ros.solvers.reference.restarts import Restarts, keep_best, randomise
from ik_solver_ros.solvers.solution import Attempt, SolverOptions

try:
    import cython
except ImportError:
    from ik_solver_ros import uncompiled as cython  # type: ignore[no-redef]

SHORTEST = 1e-12  # [m] a lever shorter than this has no direction


def ccd(chain: Chain, goal: Goal, q0: Array, options: SolverOptions) -> Attempt:
    """From the tip to the base."""
    return _attempt(chain, goal, q0, options, False)


def ccd_alternative(chain: Chain, goal: Goal, q0: Array, options: SolverOptions) -> Attempt:
    """From the base to the tip: the large joints do most of it."""
    return _attempt(chain, goal, q0, options, True)


def _attempt(chain: Chain, goal: Goal, q0: Array, options: SolverOptions, from_base: bool) -> Attempt:
    search = Restarts(prepare(Problem(), chain.body, goal, q0.tolist(), options))
    frames = Frames()
    with cython.nogil:
        restarts = _descend(search, frames, from_base)
    return search.attempt(restarts)


def _descend(search: Restarts, frames: Frames, from_base: bool) -> int:
    """Fill in `search.best`; returns the number of restarts."""
    for restart in range(search.problem.max_restarts + 1):
        if restart > 0:
            randomise(search)
        for sweeps in range(search.problem.max_iterations + 1):
            keep_best(search, chord_errors(search.problem, 0, search.q)[0])
            if search.least <= search.problem.position_tolerance:
                return restart
            if sweeps < search.problem.max_iterations:
                sweep(search.problem, frames, search.q, from_base)
                search.iterations += 1
    return search.problem.max_restarts


def sweep(problem: Problem, frames: Frames, q: Row, from_base: bool) -> None:
    """Once over all joints; q is changed in place."""
    n = problem.body.n
    for k in range(n):
        i = k if from_base else n - 1 - k
        tip, _ = joint_frames(problem.body, q, frames)
        if problem.body.slides[i]:
            step = dot(sub(problem.position, tip), frames.axes[i])
        else:
            step = _angle(sub(tip, frames.origins[i]), sub(problem.position, frames.origins[i]), frames.axes[i])
        q.at[i] = min(max(q.at[i] + step, problem.body.lower[i]), problem.body.upper[i])


def _angle(a: Vec, b: Vec, z: Vec) -> float:
    """From a to b about z, both seen in the plane across it."""
    a = sub(a, scaled(dot(a, z), z))
    b = sub(b, scaled(dot(b, z), z))
    if min(dot(a, a), dot(b, b)) < SHORTEST * SHORTEST:
        return 0.0
    angle = math.acos(min(max(dot(a, b) / math.sqrt(dot(a, a) * dot(b, b)), -1.0), 1.0))
    return angle if dot(z, cross(a, b)) >= 0.0 else -angle
