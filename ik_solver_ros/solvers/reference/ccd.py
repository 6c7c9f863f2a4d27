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

import numpy as np

from ik_solver_ros.jit import njit
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.kernels import PRISMATIC, Array, joint_frames, tip_frame
from ik_solver_ros.kinematics.quaternion import cross, dot, scaled, sub
from ik_solver_ros.solvers.goal import Goal
from ik_solver_ros.solvers.random import seeded
from ik_solver_ros.solvers.reference.restarts import randomise, update_best
from ik_solver_ros.solvers.solution import Attempt, SolverOptions

SHORTEST = 1e-12  # [m] a lever shorter than this has no direction


def ccd(chain: Chain, goal: Goal, q0: Array, options: SolverOptions) -> Attempt:
    """From the tip to the base."""
    return _attempt(chain, goal, q0, options, False)


def ccd_alternative(chain: Chain, goal: Goal, q0: Array, options: SolverOptions) -> Attempt:
    """From the base to the tip: the large joints do most of it."""
    return _attempt(chain, goal, q0, options, True)


def _attempt(chain: Chain, goal: Goal, q0: Array, options: SolverOptions, from_base: bool) -> Attempt:
    return Attempt(*_descend(chain.arrays, goal.position, chain.clamped(q0), from_base, options.settings))


@njit
def _descend(chain, position, q0, from_base, settings):
    goal = (position[0], position[1], position[2])
    state, q, best, least, iterations = seeded(settings.seed), q0.copy(), q0.copy(), math.inf, 0
    for restart in range(settings.max_restarts + 1):
        if restart > 0:
            randomise(chain, state, q)
        for sweeps in range(settings.max_iterations + 1):
            offset = sub(goal, tip_frame(chain, q)[0])
            least = update_best(q, math.sqrt(dot(offset, offset)), best, least)
            if least <= settings.position_tolerance:
                return best, iterations, restart
            if sweeps < settings.max_iterations:
                _sweep(chain, goal, q, from_base)
                iterations += 1
    return best, iterations, settings.max_restarts


@njit
def _sweep(chain, goal, q, from_base):
    n = q.shape[0]
    parents, origins, axes = np.empty((n, 4)), np.empty((n, 3)), np.empty((n, 3))
    for k in range(n):
        i = k if from_base else n - 1 - k
        tip, _ = joint_frames(chain, q, parents, origins, axes)
        z = (axes[i, 0], axes[i, 1], axes[i, 2])
        if chain.kind[i] == PRISMATIC:
            step = dot(sub(goal, tip), z)
        else:
            step = _angle(sub(tip, origins[i]), sub(goal, origins[i]), z)
        q[i] = min(max(q[i] + step, chain.lower[i]), chain.upper[i])


@njit
def _angle(a, b, z):
    """From a to b about z, both seen in the plane across it."""
    a, b = sub(a, scaled(dot(a, z), z)), sub(b, scaled(dot(b, z), z))
    if min(dot(a, a), dot(b, b)) < SHORTEST * SHORTEST:
        return 0.0
    angle = math.acos(min(max(dot(a, b) / math.sqrt(dot(a, a) * dot(b, b)), -1.0), 1.0))
    return angle if dot(z, cross(a, b)) >= 0.0 else -angle
