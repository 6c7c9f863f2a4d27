"""What the answers are measured against: descents from many starts, and scipy's constrained optimiser beside them.

Neither knows of an arm's structure. The descents are the package's own (its derivatives are tested against
differences), from far more starts than a solver takes; SLSQP shares nothing with it but forward kinematics.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

from ik_solver_ros import Goal
from ik_solver_ros.kinematics.kernels import Row
from ik_solver_ros.solvers.ccdik.constants import FINEST, ONLY_EXACT
from ik_solver_ros.solvers.ccdik.descent import descend
from ik_solver_ros.solvers.ccdik.nearest import Search, descend_to_nearest
from ik_solver_ros.solvers.problem import Problem, chord_errors, pose_errors, prepare
from ik_solver_ros.solvers.solution import SolverOptions

TOLERANCES = SolverOptions(1e-7, 1e-9)
TIGHT = SolverOptions(1e-9, 1e-9)


def nearest_positions(chain, positions, rng, starts):
    """(q (m, n), distance (m,)): the nearest that the tip comes to each position."""
    q0 = rng.uniform(chain.lower, chain.upper, size=(len(positions), starts, chain.n))
    q, distance = np.empty((len(positions), chain.n)), np.full(len(positions), np.inf)
    search, trial, weights = Search(), Row(), (1.0 / chain.reach, 0.0, 0.0)
    for i, position in enumerate(positions):
        problem = prepare(search.problem, chain.body, Goal.point(position), chain.mid.tolist(), TIGHT)
        for start in q0[i].tolist():
            trial.fill(start)
            descend(problem, search, 0, trial, weights, FINEST)
            error = chord_errors(problem, 0, trial)[0]
            if error < distance[i]:
                distance[i], q[i] = error, trial.values(chain.n)
    return q, distance


def nearest_approaches(chain, goals, rng, starts):
    """(q (m, n), angle (m,) [rad]): the nearest approach that keeps the tip in place to 1e-6 m, inf where none does."""
    q0 = rng.uniform(chain.lower, chain.upper, size=(len(goals), starts, chain.n))
    q, angle = np.empty((len(goals), chain.n)), np.full(len(goals), np.inf)
    search, trial, weights = Search(), Row(), (1.0 / chain.reach, 0.0, 0.0)
    for i, goal in enumerate(goals):
        problem = prepare(search.problem, chain.body, goal, chain.mid.tolist(), TOLERANCES)
        for k, start in enumerate(q0[i].tolist()):
            trial.fill(start)
            if k % 2 == 1:
                descend(problem, search, 0, trial, weights, ONLY_EXACT)
            descend_to_nearest(search, trial, k % 2 == 0)
            p, approach, _ = pose_errors(problem, trial)
            if p < 1e-6 and approach < angle[i]:
                angle[i], q[i] = approach, trial.values(chain.n)
    return q, angle


def _errors(chain, goal, q):
    """(position [m], approach [rad], roll [rad]) by which q (n,), put inside the limits, misses."""
    problem = prepare(Problem(), chain.body, goal, chain.mid.tolist(), TOLERANCES)
    return pose_errors(problem, Row(np.clip(q, chain.lower, chain.upper).tolist()))


def slsqp_approach(chain, goal, rng, starts):
    """The least approach error [rad] by scipy's SLSQP with the position as a constraint."""
    wanted = goal.direction
    best = np.inf
    for _ in range(starts):
        found = minimize(
            lambda q: 1.0 - _axes(chain, q)[0] @ wanted,
            rng.uniform(chain.lower, chain.upper),
            jac=lambda q: -_turning(chain, q, _axes(chain, q)[0], wanted),
            bounds=list(zip(chain.lower, chain.upper)),
            constraints=[_in_place(chain, goal.position)],
            method="SLSQP",
            options={"maxiter": 100, "ftol": 1e-12},
        )
        p, approach, _ = _errors(chain, goal, found.x)
        if p < 1e-6:
            best = min(best, approach)
    return best


def slsqp_roll(chain, goal, floor, rng, starts, seeds=()):
    """The least roll error [rad] with the position in place and the approach error at most `floor` [rad]."""
    w, v = goal.directions(chain)[1]
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
        p, approach, roll = _errors(chain, goal, found.x)
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
