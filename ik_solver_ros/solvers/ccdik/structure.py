"""CCDIK for a WaistArm: the closed form of its structure, and the descents that mend what rounding leaves of it."""

from __future__ import annotations

import math

import numpy as np

from ik_solver_ros.jit import njit
from ik_solver_ros.kinematics.waist_arm import JOINTS, unpacked_waist
from ik_solver_ros.solvers.ccdik.descent import chord_errors, descend
from ik_solver_ros.solvers.ccdik.generic import EXACT_WEIGHTS, SAME_POSITION, orient_in_place
from ik_solver_ros.solvers.ccdik.three_parallel.approach import nearest_approach
from ik_solver_ros.solvers.ccdik.three_parallel.branches import exact_postures
from ik_solver_ros.solvers.ccdik.three_parallel.planar_group import (
    ANGLES,
    ANY_APPROACH,
    ERROR,
    EXACT,
    SECONDARY,
    STEP,
    arm_problem,
    no_posture,
)
from ik_solver_ros.solvers.ccdik.three_parallel.roll import nearest_pose
from ik_solver_ros.solvers.ccdik.three_parallel.sinusoids import evaluate
from ik_solver_ros.solvers.ccdik.three_parallel.unreachable import KEPT, nearest_reach

STILL = 1e-5  # [rad] an arm that is so near to an answer may be at one already
MENDED = 1e-2  # [rad] what a descent from a closed form is tried for...
NEARLY = 1e-3  # [rad] ...and one from each of its branches


@njit
def closed_form(waist_arm, goal, q0, options):
    """(q, largest error of a direction, whether q can be taken as it is) of a WaistArm; inf where nothing is found."""
    arm = unpacked_waist(waist_arm)
    problem = arm_problem(arm, goal, q0, options.elbow)
    tolerance = max(options.orientation_tolerance, EXACT)
    best = no_posture()
    if goal.targets == 0:  # any approach will do, so the last hinge may stay where it is
        evaluate(problem, problem.now[4], 1.0, ANY_APPROACH, best)
        evaluate(problem, problem.now[4], -1.0, ANY_APPROACH, best)
    if goal.targets == 0 and best[ERROR] < math.inf:
        best[ERROR] = 0.0
    elif goal.targets < 2:
        nearest_approach(problem, 0.5 * options.orientation_tolerance if arm.exact else tolerance, best)
    else:
        nearest_pose(problem, tolerance, options.roll_slack, best)
    q = np.empty(JOINTS)
    for i in range(JOINTS):
        q[i] = arm.sign[i] * best[ANGLES + i]
    return q, max(best[ERROR], best[SECONDARY]), arm.exact and best[STEP] > STILL


@njit
def solve_by_structure(problem, waist_arm, answer, error):
    """(q, iterations, restarts) for a WaistArm; `answer` and its error are what `closed_form` has found, or inf."""
    chain, goal, point, options = problem.body.chain, problem.goal, problem.point, problem.options
    weights, position_only = (problem.scale, EXACT_WEIGHTS[0], EXACT_WEIGHTS[1]), (problem.scale, 0.0, 0.0)
    total = 0
    if goal.targets == 0:
        q = problem.start.copy()
        total, reached = descend(chain, point, q, position_only, problem.exact)
        if reached and options.elbow == 0.0:
            return q, total, 0
        answer, error, _ = closed_form(waist_arm, goal, problem.start, options)
    if error < math.inf:
        if error < MENDED:
            q = answer.copy()
            iterations, reached = descend(chain, goal, q, weights, problem.exact)
            total += iterations
            if reached:
                return q, total, 0
            # Where hinges are parallel only nearly, one branch may get there where another one cannot.
            rows = np.empty((16, JOINTS))
            tolerance = max(options.orientation_tolerance, NEARLY)
            best_step, best = math.inf, q
            for k in range(exact_postures(unpacked_waist(waist_arm), goal, problem.start, tolerance, rows)):
                row = rows[k]
                for i in range(JOINTS):
                    row[i] = min(max(row[i], chain.lower[i]), chain.upper[i])
                iterations, reached = descend(chain, goal, row, weights, problem.exact)
                total += iterations
                step = np.max(np.abs(row - problem.start))
                if reached and step < best_step:
                    best_step, best = step, row
            if best_step < math.inf:
                return best.copy(), total, 0
        iterations, reached = descend(chain, point, answer, position_only, problem.exact)
        if reached:
            return answer, total + iterations, 0
    return _out_of_reach(problem, waist_arm, total)


@njit
def _out_of_reach(problem, waist_arm, iterations):
    """(q, iterations, restarts) for a WaistArm and a goal whose position it cannot have."""
    chain, point, start = problem.body.chain, problem.point, problem.start
    arm = unpacked_waist(waist_arm)
    postures = np.empty((KEPT, JOINTS))
    best = start.copy()
    least = math.inf
    for k in range(nearest_reach(arm_problem(arm, point, start, 0.0), postures)):
        q = np.empty(JOINTS)
        for i in range(JOINTS):
            q[i] = min(max(arm.sign[i] * postures[k, i], chain.lower[i]), chain.upper[i])
        iterations += descend(chain, point, q, (problem.scale, 0.0, 0.0), problem.nearest)[0]
        error = chord_errors(chain, point, q)[0]
        if error < least - SAME_POSITION:
            least = error
            best = q
    return orient_in_place(problem, best, iterations)
