"""All postures of a WaistArm that serve a goal exactly."""

from __future__ import annotations

import numpy as np

from ik_solver_ros.jit import njit
from ik_solver_ros.kinematics.waist_arm import JOINTS
from ik_solver_ros.solvers.ccdik.three_parallel.planar_group import (
    ANGLES,
    ANY_APPROACH,
    ELBOW,
    ERROR,
    EXACT,
    arm_problem,
    best_pitch,
    no_posture,
)
from ik_solver_ros.solvers.ccdik.three_parallel.roll import roll_in_place
from ik_solver_ros.solvers.ccdik.three_parallel.sinusoids import evaluate, exact_pairs, tip_on_axis


@njit
def exact_postures(arm, goal, start, tolerance, out):
    """Fill `out` (16, 5) with all postures whose approach, and roll, are within `tolerance` [rad]; returns how many."""
    pairs = np.empty((8, 2))
    count = 0
    for elbow in (1.0, -1.0):
        problem = arm_problem(arm, goal, start, elbow)
        on_axis = tip_on_axis(arm)
        for k in range(4 if on_axis else 2 + exact_pairs(problem, pairs)):
            best = no_posture()
            if k < 2 and goal.targets == 1:
                evaluate(problem, problem.now[4], 1.0 - 2.0 * k, ANY_APPROACH, best)
            elif k < 2 and on_axis:
                side = no_posture()
                evaluate(problem, problem.now[4], 1.0 - 2.0 * k, ANY_APPROACH, side)
                roll_in_place(problem, side, tolerance, best)
            elif k >= 2 and not on_axis:
                floor = ANY_APPROACH if goal.targets == 1 else max(tolerance, EXACT)
                best_pitch(problem, pairs[k - 2, 0], pairs[k - 2, 1], floor, best)
            if best[ERROR] <= tolerance and best[ELBOW] == 0.0 and count < out.shape[0]:
                for i in range(JOINTS):
                    out[count, i] = arm.sign[i] * best[ANGLES + i]
                count += 1
    return count
