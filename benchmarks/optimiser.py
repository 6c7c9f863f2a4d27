"""What the answers are measured against: descents from many starts, and scipy's constrained optimiser beside them.

Neither knows of an arm's structure. The descents are the package's own (its derivatives are tested against
differences), from far more starts than a solver takes; SLSQP shares nothing with it but forward kinematics.
"""

from __future__ import annotations

import numba
import numpy as np
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

from ik_solver_ros.kinematics.kernels import unpacked
from ik_solver_ros.solvers.ccdik.descent import Budget, chord_errors, descend, pose_errors
from ik_solver_ros.solvers.ccdik.generic import descend_to_nearest, problem_of
from ik_solver_ros.solvers.goal import unpacked_goal
from ik_solver_ros.solvers.solution import SolverOptions

TOLERANCES = SolverOptions(1e-7, 1e-9)


def nearest_positions(chain, positions, rng, starts):
    """(q (m, n), distance (m,)): the nearest that the tip comes to each position."""
    q0 = rng.uniform(chain.lower, chain.upper, size=(len(positions), starts, chain.n))
    q, distance = np.empty((len(positions), chain.n)), np.empty(len(positions))
    _nearest_positions(chain.arrays.kind, chain.packed, np.ascontiguousarray(positions), q0, q, distance)
    return q, distance


@numba.njit(nogil=True)
def _nearest_positions(kind, packed, positions, q0, q, distance):
    body = unpacked(kind, packed)
    for i in range(len(positions)):
        goal = unpacked_goal(np.append(positions[i], np.zeros(4)), 0, body.tool, np.zeros((2, 3)))
        distance[i] = np.inf
        for k in range(q0.shape[1]):
            trial = q0[i, k].copy()
            descend(body.chain, goal, trial, (1.0 / body.reach, 0.0, 0.0), Budget(1e-9, 1e-9, 100, False))
            error = chord_errors(body.chain, goal, trial)[0]
            if error < distance[i]:
                distance[i] = error
                q[i] = trial


def nearest_approaches(chain, goals, rng, starts):
    """(q (m, n), angle (m,) [rad]): the nearest approach that keeps the tip in place to 1e-6 m, inf where none does."""
    q0 = rng.uniform(chain.lower, chain.upper, size=(len(goals), starts, chain.n))
    q, angle = np.empty((len(goals), chain.n)), np.empty(len(goals))
    _nearest_approaches(
        chain.arrays.kind, chain.packed, np.array([goal.packed for goal in goals]), q0, TOLERANCES.settings, q, angle
    )
    return q, angle


@numba.njit(nogil=True)
def _nearest_approaches(kind, packed, goals, q0, settings, q, angle):
    body = unpacked(kind, packed)
    for i in range(len(goals)):
        goal = unpacked_goal(goals[i], 1, body.tool, np.zeros((2, 3)))
        angle[i] = np.inf
        for k in range(q0.shape[1]):
            trial = q0[i, k].copy()
            problem = problem_of(body, goal, trial, settings)
            if k % 2 == 1:
                descend(body.chain, problem.point, trial, (problem.scale, 0.0, 0.0), problem.exact)
            descend_to_nearest(problem, trial, k % 2)
            p, approach, _ = pose_errors(body.chain, goal, trial)
            if p < 1e-6 and approach < angle[i]:
                angle[i] = approach
                q[i] = trial


def slsqp_approach(chain, goal, rng, starts):
    """The least approach error [rad] by scipy's SLSQP with the position as a constraint."""
    best = np.inf
    for _ in range(starts):
        found = minimize(
            lambda q: 1.0 - _axes(chain, q)[0] @ goal.direction,
            rng.uniform(chain.lower, chain.upper),
            jac=lambda q: -_turning(chain, q, _axes(chain, q)[0], goal.direction),
            bounds=list(zip(chain.lower, chain.upper)),
            constraints=[_in_place(chain, goal.position)],
            method="SLSQP",
            options={"maxiter": 100, "ftol": 1e-12},
        )
        p, approach, _ = pose_errors(chain.arrays, goal.arrays(chain), np.clip(found.x, chain.lower, chain.upper))
        if p < 1e-6:
            best = min(best, approach)
    return best


def slsqp_roll(chain, goal, floor, rng, starts, seeds=()):
    """The least roll error [rad] with the position in place and the approach error at most `floor` [rad]."""
    arrays = goal.arrays(chain)
    w, v = arrays.wanted
    g = np.cross(w, v)
    best = np.inf
    begin = [*seeds, *(rng.uniform(chain.lower, chain.upper) for _ in range(starts))]
    within = {
        "type": "ineq",
        "fun": lambda q: _axes(chain, q)[0] @ w - np.cos(floor),
        "jac": lambda q: _turning(chain, q, _axes(chain, q)[0], w),
    }

    def cosine(q):
        d, e, f = _axes(chain, q)
        return (e @ v + f @ g) / (1.0 + d @ w)  # of the roll: see planar_group.py

    for q0 in begin:
        found = minimize(
            lambda q: 1.0 - cosine(q),
            q0,
            bounds=list(zip(chain.lower, chain.upper)),
            constraints=[_in_place(chain, goal.position), within],
            method="SLSQP",
            options={"maxiter": 100, "ftol": 1e-10},
        )
        p, approach, roll = pose_errors(chain.arrays, arrays, np.clip(found.x, chain.lower, chain.upper))
        if p < 1e-6 and approach < floor + 1e-6:
            best = min(best, roll)
    return best


def _axes(chain, q):
    matrix = Rotation.from_quat(chain.forward(q)[1]).as_matrix()
    d, e = matrix @ chain.tool[0], matrix @ chain.tool[1]
    return d, e, np.cross(d, e)


def _turning(chain, q, axis, along):
    """d(axis . along)/dq of an axis of the tip."""
    return np.cross(chain.jacobian(q)[3:].T, axis) @ along


def _in_place(chain, position):
    return {
        "type": "eq",
        "fun": lambda q: (chain.forward(q)[0] - position) / chain.reach,
        "jac": lambda q: chain.jacobian(q)[:3] / chain.reach,
    }
