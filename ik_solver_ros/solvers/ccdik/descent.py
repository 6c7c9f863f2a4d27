"""The two ways down of CCDIK: a sweep over the joints, and a Newton descent that finishes what sweeps begin.

One cost measures a configuration (lengths in units of the arm's reach L, `weights` = (1/L, w1, w2)):

    C(q) = 1/2 |r|^2,   r = [ (p - p*)/L,  w1 (d1 - d1*),  w2 (d2 - d2*) ]                                   (1)

with the tip p, the tool's directions d1 (approach), d2 (roll) and the wanted p*, d1*, d2*.

- a CCDIK sweep turns each joint, tip to base, to where C is least. About the axis z through o every term of C
  is A cos t + B sin t in the turn t, so that the least lies at t = atan2(B, A): the rotate-from-to of quaternion
  CCDIK with the hinge already enforced, for position and directions at once                                    (2)
- a Newton descent with the joint limits as a box: joints at a limit that C pushes against are left out, the others
  step by (H + mu I) s = -g. H = J^T J while an exact answer is sought; for the nearest answer, where r
  stays large, plus sum_k r_k d2r_k, with d2p/dqi dqj = zi x (zj x (p - oj)) for i <= j                         (3)
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ik_solver_ros.jit import njit
from ik_solver_ros.kinematics.kernels import PRISMATIC, Array, joint_frames, tip_frame
from ik_solver_ros.kinematics.quaternion import (
    add,
    angle_between,
    cross,
    dot,
    from_two_vectors,
    rotate,
    scaled,
    sub,
    turn,
)

SLOW = 0.9  # a descent to an exact answer is given up where a step leaves more than this fraction of the cost...
PATIENCE = 3  # ...this often


class Budget(NamedTuple):
    """When a descent is done."""

    position_tolerance: float  # [m]
    orientation_tolerance: float  # [rad]
    max_iterations: int
    only_exact: bool  # give up where an exact answer is unlikely; else on to the minimum, with full second derivatives


class JointFrames(NamedTuple):
    """Room for what `joint_frames` fills in."""

    parents: Array  # (n, 4)
    origins: Array  # (n, 3) [m]
    axes: Array  # (n, 3)


@njit
def chord_errors(chain, goal, q):
    """(position [m], chord of the approach, chord of the roll): |p - p*|, |d1 - d1*|, |d2 - d2*|."""
    p, rotation = tip_frame(chain, q)
    offset = sub(p, goal.position)
    first, second = 0.0, 0.0
    if goal.targets > 0:
        c = sub(rotate(rotation, goal.tool[0]), goal.wanted[0])
        first = math.sqrt(dot(c, c))
    if goal.targets > 1:
        c = sub(rotate(rotation, goal.tool[1]), goal.wanted[1])
        second = math.sqrt(dot(c, c))
    return math.sqrt(dot(offset, offset)), first, second


@njit
def pose_errors(chain, goal, q):
    """(position [m], approach [rad], roll [rad]) by which the tip misses the goal at q.

    The roll is what remains about the tool axis after the shortest rotation that would mend the approach.
    """
    p, quat = tip_frame(chain, q)
    offset = sub(p, goal.position)
    approach_error, roll_error = 0.0, 0.0
    if goal.targets > 0:
        approach_error = angle_between(rotate(quat, goal.tool[0]), goal.wanted[0])
    if goal.targets > 1:
        roll_error = _roll_error(quat, goal.tool, goal.wanted)
    return math.sqrt(dot(offset, offset)), approach_error, roll_error


@njit
def _roll_error(quat, tool, wanted):
    mended = from_two_vectors(rotate(quat, tool[0]), wanted[0])
    return angle_between(rotate(mended, rotate(quat, tool[1])), wanted[1])


@njit
def sweep(chain, goal, q, weights):
    """One CCDIK sweep, tip to base, equation (2); q (n,) is changed in place and stays inside the limits."""
    n = q.shape[0]
    parents, origins, axes = np.empty((n, 4)), np.empty((n, 3)), np.empty((n, 3))
    p, rotation = joint_frames(chain, q, parents, origins, axes)
    directions = np.empty((2, 3))
    for k in range(goal.targets):
        directions[k, 0], directions[k, 1], directions[k, 2] = rotate(rotation, goal.tool[k])

    for i in range(n - 1, -1, -1):
        z = axes[i]
        if chain.kind[i] == PRISMATIC:
            old = q[i]
            q[i] = min(max(old + dot(sub(goal.position, p), z), chain.lower[i]), chain.upper[i])
            p = add(p, scaled(q[i] - old, z))
            continue
        a, b = sub(p, origins[i]), sub(goal.position, origins[i])
        w = weights[0] * weights[0]
        cosine = w * (dot(a, b) - dot(z, a) * dot(z, b))
        sine = w * dot(z, cross(a, b))
        for k in range(goal.targets):
            w = weights[k + 1] * weights[k + 1]
            d, wanted = directions[k], goal.wanted[k]
            cosine += w * (dot(d, wanted) - dot(z, d) * dot(z, wanted))
            sine += w * dot(z, cross(d, wanted))
        angle = best_angle(q[i], cosine, sine, chain.lower[i], chain.upper[i])
        p = add(origins[i], turn(a, z, angle - q[i]))
        for k in range(goal.targets):
            directions[k, 0], directions[k, 1], directions[k, 2] = turn(directions[k], z, angle - q[i])
        q[i] = angle


@njit
def best_angle(angle, cosine, sine, lower, upper):
    """Where in [lower, upper] cosine cos t + sine sin t, t the turn from `angle`, is greatest."""
    best = angle + math.atan2(sine, cosine)
    if lower <= best <= upper:
        return best
    for turned in (best - 2.0 * math.pi, best + 2.0 * math.pi):
        if lower <= turned <= upper:
            return turned
    at_lower = cosine * math.cos(lower - angle) + sine * math.sin(lower - angle)
    at_upper = cosine * math.cos(upper - angle) + sine * math.sin(upper - angle)
    return lower if at_lower > at_upper else upper


@njit
def descend(chain, goal, q, weights, budget):
    """Newton steps inside the limits; q is changed in place. Returns (iterations, whether the goal is reached)."""
    only_exact = budget.only_exact
    tolerances = (budget.position_tolerance, budget.orientation_tolerance)
    n = q.shape[0]
    rows = 3 + 3 * goal.targets
    frames = JointFrames(np.empty((n, 4)), np.empty((n, 3)), np.empty((n, 3)))
    residual, trial_residual = np.empty(rows), np.empty(rows)
    jacobian = np.empty((rows, n))
    hessian, factor = np.empty((n, n)), np.empty((n, n))
    gradient, step, trial = np.empty(n), np.empty(n), np.empty(n)
    free = np.empty(n, dtype=np.int64)

    cost = residual_at(chain, goal, q, weights, frames, residual)
    damping = 1e-4 if only_exact else 1e-8
    slow = 0
    for iteration in range(budget.max_iterations):
        if _within(residual, goal.targets, weights, tolerances):
            return iteration, True
        fill_jacobian(chain, goal, weights, residual, frames, jacobian)
        fill_hessian(chain, frames, residual, jacobian, hessian, not only_exact)
        m = 0
        steepest = 0.0
        for i in range(n):
            g = 0.0
            for k in range(rows):
                g += jacobian[k, i] * residual[k]
            gradient[i] = g
            if not ((q[i] <= chain.lower[i] and g > 0.0) or (q[i] >= chain.upper[i] and g < 0.0)):
                free[m] = i
                m += 1
                steepest = max(steepest, abs(g))
        if m == 0 or steepest < 1e-15:
            return iteration, False

        accepted = False
        for _ in range(20):
            if _solve_free(hessian, gradient, free, m, damping, factor, step):
                trial[:] = q
                for a in range(m):
                    i = free[a]
                    trial[i] = min(max(q[i] + step[a], chain.lower[i]), chain.upper[i])
                trial_cost = residual_at(chain, goal, trial, weights, frames, trial_residual)
                if trial_cost < cost:
                    accepted = True
                    break
            damping = max(10.0 * damping, 1e-6)
        if not accepted:
            return iteration, False  # no step leads down: a minimum, as far as the numbers tell
        gain = cost - trial_cost
        if only_exact and trial_cost > SLOW * cost:
            slow += 1
            if slow >= PATIENCE:
                return iteration + 1, False
        q[:] = trial
        residual[:] = trial_residual
        done = gain < 1e-12 * cost
        cost = trial_cost
        damping *= 0.1
        if done and not only_exact:
            return iteration + 1, _within(residual, goal.targets, weights, tolerances)
    return budget.max_iterations, _within(residual, goal.targets, weights, tolerances)


@njit
def residual_at(chain, goal, q, weights, frames, out):
    """Fill the frames at q and r of equation (1); returns C(q)."""
    p, rotation = joint_frames(chain, q, frames.parents, frames.origins, frames.axes)
    cost = 0.0
    for k in range(3):
        out[k] = weights[0] * (p[k] - goal.position[k])
        cost += out[k] * out[k]
    for t in range(goal.targets):
        d = rotate(rotation, goal.tool[t])
        for k in range(3):
            value = weights[t + 1] * (d[k] - goal.wanted[t, k])
            out[3 + 3 * t + k] = value
            cost += value * value
    return 0.5 * cost


@njit
def _within(residual, targets, weights, tolerances):
    """Whether r is within the tolerances (a quarter below, so that another forward kinematics agrees)."""
    limit = 0.75 * tolerances[0] * weights[0]
    if residual[0] ** 2 + residual[1] ** 2 + residual[2] ** 2 > limit * limit:
        return False
    for t in range(targets):
        k = 3 + 3 * t
        limit = 0.5 * tolerances[1] * weights[t + 1]
        if residual[k] ** 2 + residual[k + 1] ** 2 + residual[k + 2] ** 2 > limit * limit:
            return False
    return True


@njit
def fill_jacobian(chain, goal, weights, residual, frames, jacobian):
    """Fill J (rows, n), dr/dq, from the frames that `residual_at` left at the same q."""
    origins, axes = frames.origins, frames.axes
    # The vectors that the joints turn: p - oj for the position, the tool's directions for the targets.
    p = add(goal.position, scaled(1.0 / weights[0], residual))
    for j in range(axes.shape[0]):
        z = axes[j]
        sliding = chain.kind[j] == PRISMATIC
        v = (z[0], z[1], z[2]) if sliding else cross(z, sub(p, origins[j]))
        jacobian[0, j], jacobian[1, j], jacobian[2, j] = scaled(weights[0], v)
        for t in range(goal.targets):
            k = 3 + 3 * t
            v = (0.0, 0.0, 0.0)
            if not sliding:
                v = cross(z, add(residual[k : k + 3], scaled(weights[t + 1], goal.wanted[t])))
            jacobian[k, j], jacobian[k + 1, j], jacobian[k + 2, j] = v


@njit
def fill_hessian(chain, frames, residual, jacobian, hessian, second_order):
    """Fill H (n, n) of equation (3)."""
    axes = frames.axes
    rows = residual.shape[0]
    for j in range(axes.shape[0]):
        for i in range(j + 1):
            h = 0.0
            for k in range(rows):
                h += jacobian[k, i] * jacobian[k, j]
            if second_order and chain.kind[i] != PRISMATIC:
                # d(dr/dqj)/dqi = zi x (dr/dqj): joint i carries the whole of what joint j moves
                for at in range(0, rows, 3):
                    h += dot(residual[at : at + 3], cross(axes[i], jacobian[at : at + 3, j]))
            hessian[i, j] = h
            hessian[j, i] = h


@njit
def _solve_free(hessian, gradient, free, m, damping, factor, step):
    """Solve (H + damping I) s = -g over the free joints by Cholesky; False where that is not positive definite."""
    for a in range(m):
        for b in range(a + 1):
            total = hessian[free[a], free[b]]
            if a == b:
                total += damping
            for k in range(b):
                total -= factor[a, k] * factor[b, k]
            if a == b:
                if total <= 1e-300:
                    return False
                factor[a, a] = math.sqrt(total)
            else:
                factor[a, b] = total / factor[b, b]
    for a in range(m):
        total = -gradient[free[a]]
        for k in range(a):
            total -= factor[a, k] * step[k]
        step[a] = total / factor[a, a]
    for a in range(m - 1, -1, -1):
        total = step[a]
        for k in range(a + 1, m):
            total -= factor[k, a] * step[k]
        step[a] = total / factor[a, a]
    return True
