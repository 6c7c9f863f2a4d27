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

from ik_solver_ros.kinematics.arrays import Vec
from ik_solver_ros.kinematics.constants import MOST_JOINTS, TWO_PI
from ik_solver_ros.kinematics.kernels import Frames, Row, copy, joint_frames, room
from ik_solver_ros.kinematics.quaternion import add, cross, dot, rotate, scaled, sub, turn
from ik_solver_ros.solvers.ccdik.constants import ONLY_EXACT
from ik_solver_ros.solvers.problem import Problem

SLOW = 0.9  # a descent to an exact answer is given up where a step leaves more than this fraction of the cost...
PATIENCE = 3  # ...this often
NOWHERE = (0.0, 0.0, 0.0)


class Descent(Frames):
    """Room for a descent: the residual and its derivatives at a configuration, and the next one that is tried."""

    def __init__(self) -> None:
        super().__init__()
        self.residual = [NOWHERE, NOWHERE, NOWHERE]  # r of equation (1): position, approach, roll
        self.trial_residual = [NOWHERE, NOWHERE, NOWHERE]
        self.jacobian = [room(NOWHERE) for _ in range(3)]
        self.hessian = [room(0.0) for _ in range(MOST_JOINTS)]
        self.factor = [room(0.0) for _ in range(MOST_JOINTS)]
        self.gradient = room(0.0)
        self.step = room(0.0)
        self.free = room(0)
        self.trial = Row()

    def derivatives(self, n: int, targets: int) -> tuple[list[Vec], list[list[Vec]], list[list[float]]]:
        """(r, J, H) as they were filled in last: a vector for the position and for each target, n of them, (n, n)."""
        blocks, joints = range(targets + 1), range(n)
        return (
            [self.residual[k] for k in blocks],
            [[self.jacobian[k][i] for i in joints] for k in blocks],
            [[self.hessian[i][j] for j in joints] for i in joints],
        )


def sweep(problem: Problem, place: Descent, q: Row, weights: Vec) -> None:
    """One CCDIK sweep, tip to base, equation (2); q is changed in place and stays inside the limits."""
    p, rotation = joint_frames(problem.body, q, place)
    d1 = rotate(rotation, problem.tool[0])
    d2 = rotate(rotation, problem.tool[1])
    for k in range(problem.body.n):
        i = problem.body.n - 1 - k
        z = place.axes[i]
        lower = problem.body.lower[i]
        upper = problem.body.upper[i]
        old = q.at[i]
        if problem.body.slides[i]:
            q.at[i] = min(max(old + dot(sub(problem.position, p), z), lower), upper)
            p = add(p, scaled(q.at[i] - old, z))
            continue
        a = sub(p, place.origins[i])
        b = sub(problem.position, place.origins[i])
        w = weights[0] * weights[0]
        cosine = w * (dot(a, b) - dot(z, a) * dot(z, b))
        sine = w * dot(z, cross(a, b))
        if problem.targets > 0:
            w = weights[1] * weights[1]
            b = problem.wanted[0]
            cosine += w * (dot(d1, b) - dot(z, d1) * dot(z, b))
            sine += w * dot(z, cross(d1, b))
        if problem.targets > 1:
            w = weights[2] * weights[2]
            b = problem.wanted[1]
            cosine += w * (dot(d2, b) - dot(z, d2) * dot(z, b))
            sine += w * dot(z, cross(d2, b))
        angle = best_angle(old, cosine, sine, lower, upper)
        p = add(place.origins[i], turn(a, z, angle - old))
        d1 = turn(d1, z, angle - old)
        d2 = turn(d2, z, angle - old)
        q.at[i] = angle


def best_angle(angle: float, cosine: float, sine: float, lower: float, upper: float) -> float:
    """Where in [lower, upper] cosine cos t + sine sin t, t the turn from `angle`, is greatest."""
    best = angle + math.atan2(sine, cosine)
    if lower <= best <= upper:
        return best
    if lower <= best - TWO_PI <= upper:
        return best - TWO_PI
    if lower <= best + TWO_PI <= upper:
        return best + TWO_PI
    at_lower = cosine * math.cos(lower - angle) + sine * math.sin(lower - angle)
    at_upper = cosine * math.cos(upper - angle) + sine * math.sin(upper - angle)
    return lower if at_lower > at_upper else upper


def descend(problem: Problem, place: Descent, targets: int, q: Row, weights: Vec, enough: float) -> tuple[int, bool]:
    """Newton steps inside the limits; q is changed in place. Returns (iterations, whether the goal is reached).

    enough: the descent, with full second derivatives, is done where a step gains less than this fraction of the cost.
    ONLY_EXACT: it is given up where an exact answer is unlikely.
    """
    n = problem.body.n
    only_exact = enough == ONLY_EXACT
    cost = residual_at(problem, place, targets, q, weights, False)
    damping = 1e-4 if only_exact else 1e-8
    slow = 0
    for iteration in range(problem.max_iterations):
        if _within(problem, place, targets, weights):
            return iteration, True
        fill_jacobian(problem, place, targets, weights)
        fill_hessian(problem, place, targets, not only_exact)
        m = 0
        steepest = 0.0
        for i in range(n):
            g = dot(place.jacobian[0][i], place.residual[0])
            for k in range(1, targets + 1):
                g += dot(place.jacobian[k][i], place.residual[k])
            place.gradient[i] = g
            at_lower = q.at[i] <= problem.body.lower[i] and g > 0.0
            at_upper = q.at[i] >= problem.body.upper[i] and g < 0.0
            if not (at_lower or at_upper):
                place.free[m] = i
                m += 1
                steepest = max(steepest, abs(g))
        if m == 0 or steepest < 1e-15:
            return iteration, False

        accepted = False
        trial_cost = cost
        for _ in range(20):
            if _solve_free(place, m, damping):
                copy(q, place.trial, n)
                for a in range(m):
                    i = place.free[a]
                    moved = q.at[i] + place.step[a]
                    place.trial.at[i] = min(max(moved, problem.body.lower[i]), problem.body.upper[i])
                trial_cost = residual_at(problem, place, targets, place.trial, weights, True)
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
        copy(place.trial, q, n)
        for k in range(3):
            place.residual[k] = place.trial_residual[k]
        done = gain < enough * cost
        cost = trial_cost
        damping *= 0.1
        if done:
            return iteration + 1, _within(problem, place, targets, weights)
    return problem.max_iterations, _within(problem, place, targets, weights)


def residual_at(problem: Problem, place: Descent, targets: int, q: Row, weights: Vec, trial: bool) -> float:
    """Fill the frames at q and r of equation (1), of the trial or of the configuration itself; returns C(q)."""
    p, rotation = joint_frames(problem.body, q, place)
    r = scaled(weights[0], sub(p, problem.position))
    cost = dot(r, r)
    if trial:
        place.trial_residual[0] = r
    else:
        place.residual[0] = r
    for t in range(targets):
        w = weights[1] if t == 0 else weights[2]
        r = scaled(w, sub(rotate(rotation, problem.tool[t]), problem.wanted[t]))
        cost += dot(r, r)
        if trial:
            place.trial_residual[t + 1] = r
        else:
            place.residual[t + 1] = r
    return 0.5 * cost


def _within(problem: Problem, place: Descent, targets: int, weights: Vec) -> bool:
    """Whether r is within the tolerances (a quarter below, so that another forward kinematics agrees)."""
    limit = 0.75 * problem.position_tolerance * weights[0]
    if dot(place.residual[0], place.residual[0]) > limit * limit:
        return False
    for t in range(targets):
        limit = 0.5 * problem.orientation_tolerance * (weights[1] if t == 0 else weights[2])
        if dot(place.residual[t + 1], place.residual[t + 1]) > limit * limit:
            return False
    return True


def fill_jacobian(problem: Problem, place: Descent, targets: int, weights: Vec) -> None:
    """Fill J, dr/dq, from the frames that `residual_at` left at the same q."""
    # The vectors that the joints turn: p - oj for the position, the tool's directions for the targets.
    p = add(problem.position, scaled(1.0 / weights[0], place.residual[0]))
    for j in range(problem.body.n):
        z = place.axes[j]
        v = z if problem.body.slides[j] else cross(z, sub(p, place.origins[j]))
        place.jacobian[0][j] = scaled(weights[0], v)
        for t in range(targets):
            v = (0.0, 0.0, 0.0)
            if not problem.body.slides[j]:
                w = weights[1] if t == 0 else weights[2]
                v = cross(z, add(place.residual[t + 1], scaled(w, problem.wanted[t])))
            place.jacobian[t + 1][j] = v


def fill_hessian(problem: Problem, place: Descent, targets: int, second_order: bool) -> None:
    """Fill H (n, n) of equation (3)."""
    for j in range(problem.body.n):
        for i in range(j + 1):
            h = 0.0
            for k in range(targets + 1):
                h += dot(place.jacobian[k][i], place.jacobian[k][j])
            if second_order and not problem.body.slides[i]:
                # d(dr/dqj)/dqi = zi x (dr/dqj): joint i carries the whole of what joint j moves
                for k in range(targets + 1):
                    h += dot(place.residual[k], cross(place.axes[i], place.jacobian[k][j]))
            place.hessian[i][j] = h
            place.hessian[j][i] = h


def _solve_free(place: Descent, m: int, damping: float) -> bool:
    """Solve (H + damping I) s = -g over the free joints by Cholesky; False where that is not positive definite."""
    for a in range(m):
        for b in range(a + 1):
            total = place.hessian[place.free[a]][place.free[b]]
            if a == b:
                total += damping
            for k in range(b):
                total -= place.factor[a][k] * place.factor[b][k]
            if a == b:
                if total <= 1e-300:
                    return False
                place.factor[a][a] = math.sqrt(total)
            else:
                place.factor[a][b] = total / place.factor[b][b]
    for a in range(m):
        total = -place.gradient[place.free[a]]
        for k in range(a):
            total -= place.factor[a][k] * place.step[k]
        place.step[a] = total / place.factor[a][a]
    for c in range(m):
        a = m - 1 - c
        total = place.step[a]
        for k in range(a + 1, m):
            total -= place.factor[k][a] * place.step[k]
        place.step[a] = total / place.factor[a][a]
    return True
