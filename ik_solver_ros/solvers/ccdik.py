"""CCDIK with a second-order finish: the default solver.

One cost measures a configuration (lengths in units of the arm's reach L, `weights` = (1/L, w1, w2)):

    C(q) = 1/2 |r|^2,   r = [ (p - p*)/L,  w1 (d1 - d1*),  w2 (d2 - d2*) ]                                   (1)

with the tip p, the tool's directions d1 (approach), d2 (roll) and the wanted p*, d1*, d2*. Two ways lead down:

- a CCDIK sweep turns each joint, tip to base, to where C is least. About the axis z through o every term of C
  is A cos t + B sin t in the turn t, so that the least lies at t = atan2(B, A): the rotate-from-to of quaternion
  CCDIK with the hinge already enforced, for position and directions at once                                    (2)
- a Newton descent with the joint limits as a box: joints at a limit that C pushes against are left out, the others
  step by (H + mu I) s = -g. H = J^T J while hunting for an exact answer; for the nearest answer, where r
  stays large, plus sum_k r_k d2r_k, with d2p/dqi dqj = zi x (zj x (p - oj)) for i <= j                          (3)

The search: descend from q0; then sweep and descend from q0 and from random configurations until the goal is
reached. Where it never is, descend to the nearest answer from each start with w1, w2 sinking by stages, which makes
position, approach and roll strictly prior to one another, mend what w1 leaves of the position, and keep the best.
"""

from __future__ import annotations

import math

import numpy as np

from ik_solver_ros.jit import njit
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.kernels import CONTINUOUS, PRISMATIC, Array, joint_frames, tip_frame
from ik_solver_ros.kinematics.quaternion import add, cross, dot, rotate, scaled, sub, turn
from ik_solver_ros.solvers.goal import GoalArrays
from ik_solver_ros.solvers.random import seeded, uniform
from ik_solver_ros.solvers.solution import Attempt, SolverOptions

SWEEPS = 1  # CCDIK sweeps before a descent
SWEEP_EVERY = (
    2  # sweeps find basins faster, but near singular postures often the wrong one: every other start goes without
)
HUNT = (0.5, 0.5)  # (w1, w2) while an exact answer is sought
STAGES = ((0.3, 0.1), (0.03, 1e-3), (3e-3, 1e-5), (1e-3, 1e-6))  # (w1, w2) on the way to the nearest answer
GIVE_UP = 0.9  # a hunt ends when a step leaves more than this share of the cost...
PATIENCE = 3  # ...this often
SAME_POSITION, SAME_ANGLE = 1e-7, 1e-4  # [m], [rad] answers nearer than this are equal; then the nearer to q0 wins


def ccdik(chain: Chain, goal: GoalArrays, q0: Array, options: SolverOptions) -> Attempt:
    """The goal exactly, or the nearest answer found: position first, then approach, then roll."""
    return Attempt(
        *_search(
            chain.arrays,
            goal,
            q0,
            1.0 / max(chain.reach, 1e-6),
            options.position_tolerance,
            options.orientation_tolerance,
            options.max_iterations,
            options.max_restarts,
            options.seed,
        )
    )


@njit
def _search(chain, goal, q0, scale, position_tolerance, orientation_tolerance, max_iterations, max_restarts, seed):
    n = q0.shape[0]
    tolerances = (position_tolerance, orientation_tolerance)
    iterations = 0
    state = seeded(seed)
    for restart in range(max_restarts + 1):
        q = _start(chain, q0, restart, state)
        if restart % SWEEP_EVERY == 1:
            for _ in range(SWEEPS):
                sweep(chain, goal, q, (scale, HUNT[0], HUNT[1]))
        spent, reached = _descend(chain, goal, q, (scale, HUNT[0], HUNT[1]), tolerances, max_iterations, True)
        iterations += spent
        if reached:
            return q, iterations, restart

    # No exact answer: the same starts again, down to the nearest one.
    point = GoalArrays(goal.position, 0 * goal.targets, goal.tool, goal.wanted)  # a literal 0 is a type of its own
    best = q0.copy()
    best_miss = (math.inf, math.inf, math.inf)
    best_step = math.inf
    state = seeded(seed)
    for restart in range(max_restarts + 1):
        q = _start(chain, q0, restart, state)
        # Half of them go by the position alone at first, lest a far direction draw all away from it.
        if restart % 2 == 1:
            spent, _ = _descend(chain, point, q, (scale, 0.0, 0.0), tolerances, max_iterations, True)
            iterations += spent
        for stage in range(restart % 2, len(STAGES) if goal.targets > 0 else 1):
            w1, w2 = STAGES[stage]
            spent, _ = _descend(chain, goal, q, (scale, w1, w2), tolerances, max_iterations, False)
            iterations += spent
        # However small w1 is, it holds the tip off the position a little; this takes the little back.
        spent, _ = _descend(chain, point, q, (scale, 0.0, 0.0), tolerances, max_iterations, True)
        iterations += spent
        miss = misses(chain, goal, q)
        step = 0.0
        for i in range(n):
            step = max(step, abs(q[i] - q0[i]))
        if _better(miss, step, best_miss, best_step, position_tolerance):
            best[:] = q
            best_miss, best_step = miss, step
    # Near a singular posture an exact answer can look like a near miss; with all weights back, a descent tells.
    q = best.copy()
    spent, reached = _descend(chain, goal, q, (scale, HUNT[0], HUNT[1]), tolerances, max_iterations, False)
    return (q if reached else best), iterations + spent, max_restarts


@njit
def _start(chain, q0, restart, state):
    """Where descent number `restart` begins: twice at q0, then anywhere inside the limits."""
    q = q0.copy()
    if restart > 1:
        for i in range(q.shape[0]):
            u = uniform(state)
            if chain.kind[i] == CONTINUOUS:
                q[i] = q0[i] + math.pi * (2.0 * u - 1.0)
            else:
                q[i] = chain.lower[i] + u * (chain.upper[i] - chain.lower[i])
    return q


@njit
def _better(miss, step, best_miss, best_step, position_tolerance):
    """Position first, then approach, then roll, then the smaller largest joint step."""
    reached = miss[0] <= position_tolerance and best_miss[0] <= position_tolerance
    if not reached and abs(miss[0] - best_miss[0]) > SAME_POSITION:
        return miss[0] < best_miss[0]
    if abs(miss[1] - best_miss[1]) > SAME_ANGLE:
        return miss[1] < best_miss[1]
    if abs(miss[2] - best_miss[2]) > SAME_ANGLE:
        return miss[2] < best_miss[2]
    return step < best_step


@njit
def misses(chain, goal, q):
    """(position [m], chord of the approach, chord of the roll): |p - p*|, |d1 - d1*|, |d2 - d2*|."""
    p, rotation = tip_frame(chain, q)
    off = sub(p, goal.position)
    first, second = 0.0, 0.0
    if goal.targets > 0:
        c = sub(rotate(rotation, goal.tool[0]), goal.wanted[0])
        first = math.sqrt(dot(c, c))
    if goal.targets > 1:
        c = sub(rotate(rotation, goal.tool[1]), goal.wanted[1])
        second = math.sqrt(dot(c, c))
    return math.sqrt(dot(off, off)), first, second


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
        angle = _best_angle(q[i], cosine, sine, chain.lower[i], chain.upper[i])
        p = add(origins[i], turn(a, z, angle - q[i]))
        for k in range(goal.targets):
            directions[k, 0], directions[k, 1], directions[k, 2] = turn(directions[k], z, angle - q[i])
        q[i] = angle


@njit
def _best_angle(angle, cosine, sine, lower, upper):
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
def _descend(chain, goal, q, weights, tolerances, max_iterations, hunting):
    """Newton steps inside the limits; q is changed in place. Returns (iterations, whether the goal is reached).

    hunting: give up where an exact answer is unlikely; else go on to the minimum, with full second derivatives.
    """
    n = q.shape[0]
    rows = 3 + 3 * goal.targets
    parents, origins, axes = np.empty((n, 4)), np.empty((n, 3)), np.empty((n, 3))
    residual, trial_residual = np.empty(rows), np.empty(rows)
    jacobian = np.empty((rows, n))
    hessian, factor = np.empty((n, n)), np.empty((n, n))
    gradient, step, trial = np.empty(n), np.empty(n), np.empty(n)
    free = np.empty(n, dtype=np.int64)

    cost = _residual(chain, goal, q, weights, parents, origins, axes, residual)
    damping = 1e-4 if hunting else 1e-8
    slow = 0
    for iteration in range(max_iterations):
        if _within(residual, goal.targets, weights, tolerances):
            return iteration, True
        _derivatives(chain, goal, weights, residual, origins, axes, jacobian, hessian, not hunting)
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
                trial_cost = _residual(chain, goal, trial, weights, parents, origins, axes, trial_residual)
                if trial_cost < cost:
                    accepted = True
                    break
            damping = max(10.0 * damping, 1e-6)
        if not accepted:
            return iteration, False  # no step leads down: a minimum, as far as the numbers tell
        gain = cost - trial_cost
        if hunting and trial_cost > GIVE_UP * cost:
            slow += 1
            if slow >= PATIENCE:
                return iteration + 1, False
        q[:] = trial
        residual[:] = trial_residual
        done = gain < 1e-12 * cost
        cost = trial_cost
        damping *= 0.1
        if done and not hunting:
            return iteration + 1, _within(residual, goal.targets, weights, tolerances)
    return max_iterations, _within(residual, goal.targets, weights, tolerances)


@njit
def _residual(chain, goal, q, weights, parents, origins, axes, out):
    """Fill the frames at q and r of equation (1); returns C(q)."""
    p, rotation = joint_frames(chain, q, parents, origins, axes)
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
def _derivatives(chain, goal, weights, residual, origins, axes, jacobian, hessian, second_order):
    """Fill J (rows, n) and H (n, n) of equation (3) from the frames of the last `_residual` at the same q."""
    n = axes.shape[0]
    rows = residual.shape[0]
    # The vectors that the joints turn: p - oj for the position, the tool's directions for the targets.
    p = add(goal.position, scaled(1.0 / weights[0], residual))
    for j in range(n):
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
    for j in range(n):
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
