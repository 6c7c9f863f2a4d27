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

from ik_solver_ros.jit import njit
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.kernels import CONTINUOUS, PRISMATIC, Array, joint_frames, tip_frame
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
from ik_solver_ros.solvers.random import seeded, uniform
from ik_solver_ros.solvers.reference.restarts import update_best
from ik_solver_ros.solvers.solution import Attempt, SolverOptions


def ccdik_published(chain: Chain, goal: Goal, q0: Array, options: SolverOptions) -> Attempt:
    """Sweeps from q0 until the goal is reached, then from random offsets; the best configuration seen."""
    return Attempt(*_annealed(chain.arrays, goal.arrays(chain), chain.clamped(q0), options.settings))


def ccdik_step(chain: Chain, goal: Goal, q: Array) -> Array:
    """One sweep from q (n,), tip to base: the live form, one call a frame. Raises GoalError for a bad q."""
    out = chain.clamped(chain.checked(q))
    sweep(chain.arrays, goal.arrays(chain), out)
    return out


@njit
def serves(i, n, targets):
    """Which target joint i of n works for: 0 the position, 1 the approach direction, 2 the roll.

    The last two joints take the direction, as on the source's arm of five; a pose needs the very last for the
    roll. Three joints are always left for the position.
    """
    if targets == 0 or i < 3:
        return 0
    if targets == 2 and i == n - 1:
        return 2
    return 1 if i >= n - targets - 1 else 0


@njit
def sweep(chain, goal, q):
    """One pass over all joints, tip to base; q (n,) is changed in place."""
    n = q.shape[0]
    parents, origins, axes = np.empty((n, 4)), np.empty((n, 3)), np.empty((n, 3))
    effector, tip_rotation = joint_frames(chain, q, parents, origins, axes)
    directions = np.empty((2, 3))
    for k in range(goal.targets):
        directions[k, 0], directions[k, 1], directions[k, 2] = rotate(tip_rotation, goal.tool[k])

    for i in range(n - 1, -1, -1):
        # What lies between the base and joint i is not moved by the joints from i on: its frames stay valid.
        if chain.kind[i] == PRISMATIC:
            old = q[i]
            q[i] = min(max(old + dot(sub(goal.position, effector), axes[i]), chain.lower[i]), chain.upper[i])
            effector = add(effector, scaled(q[i] - old, axes[i]))
            continue

        # Point the effector at the goal, or along the wanted direction.
        target = serves(i, n, goal.targets)
        if target == 0:
            towards = from_two_vectors(sub(effector, origins[i]), sub(goal.position, origins[i]))
        else:
            towards = from_two_vectors(directions[target - 1], goal.wanted[target - 1])
        before = multiply(parents[i], from_axis_angle(chain.axis[i], q[i]))
        rotation = multiply(towards, before)

        # Enforce the hinge: the joint's axis, as carried along, goes back onto the parent's.
        rotation = multiply(from_two_vectors(rotate(rotation, chain.axis[i]), axes[i]), rotation)

        # Clamp to the limits in the joint's own angle, on the turn nearest to where the joint was.
        angle = angle_about(multiply(conjugate(parents[i]), rotation), chain.axis[i])
        angle += 2.0 * math.pi * np.round((q[i] - angle) / (2.0 * math.pi))
        if chain.kind[i] != CONTINUOUS:
            angle = min(max(angle, chain.lower[i]), chain.upper[i])

        moved = from_axis_angle(axes[i], angle - q[i])
        effector = add(origins[i], rotate(moved, sub(effector, origins[i])))
        for k in range(goal.targets):
            directions[k, 0], directions[k, 1], directions[k, 2] = rotate(moved, directions[k])
        q[i] = angle


@njit
def _largest_errors(chain, goal, q):
    """(position [m], angle [rad] of the worse of two directions)."""
    p, rotation = tip_frame(chain, q)
    offset = sub(goal.position, p)
    angle = 0.0
    for k in range(goal.targets):
        angle = max(angle, angle_between(rotate(rotation, goal.tool[k]), goal.wanted[k]))
    return math.sqrt(dot(offset, offset)), angle


@njit
def _annealed(chain, goal, q0, settings):
    n = q0.shape[0]
    state = seeded(settings.seed)
    best = q0.copy()
    least = math.inf
    iterations = 0
    for restart in range(settings.max_restarts + 1):
        q = best.copy()
        if restart > 0:
            heat = 1.0 - (restart - 1.0) / settings.max_restarts  # from the whole range down to a part of it
            for i in range(n):
                span = 2.0 * math.pi if chain.kind[i] == CONTINUOUS else chain.upper[i] - chain.lower[i]
                q[i] = min(max(q[i] + heat * span * (2.0 * uniform(state) - 1.0), chain.lower[i]), chain.upper[i])
        for sweeps in range(settings.max_iterations + 1):
            distance, angle = _largest_errors(chain, goal, q)
            # in tolerances, so that metres and radians compare
            error = max(distance / settings.position_tolerance, angle / settings.orientation_tolerance)
            least = update_best(q, error, best, least)
            if error <= 1.0:
                return q, iterations, restart
            if sweeps < settings.max_iterations:
                sweep(chain, goal, q)
                iterations += 1
    return best, iterations, settings.max_restarts
