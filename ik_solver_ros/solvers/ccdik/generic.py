"""CCDIK for any chain: a search for an exact answer, then descents to the nearest one.

1. From q0, then from sample postures near the goal and from random ones, a descent, every other time after a sweep.
   A goal that is out of reach is recognised by descents to its position alone.
2. Where nothing is exact: descents from many starts to a nearest answer each (nearest.py), until the best of them has
   been found often enough.
"""

from __future__ import annotations

from ik_solver_ros.kinematics.kernels import copy
from ik_solver_ros.kinematics.quaternion import dot, sub
from ik_solver_ros.solvers.ccdik.constants import FINEST, ONLY_EXACT, W1, W2
from ik_solver_ros.solvers.ccdik.descent import descend, sweep
from ik_solver_ros.solvers.ccdik.nearest import Search, consider, draw, forget, is_exact, to_position
from ik_solver_ros.solvers.ccdik.starts import begin, prepare_starts
from ik_solver_ros.solvers.problem import chord_errors

QUICK_STARTS = 3  # from which an exact answer is looked for, before anything else
FAR_STARTS = 16  # from which the nearest position is looked for...
POSITION_STARTS = 34  # ...or from so many, where these do not agree
LEAST_STARTS = 12  # from which a nearest answer is looked for...
AGREED = 6  # ...and more, until the best has been found again so often


def solve_generic(search: Search) -> tuple[int, int]:
    """(iterations, restarts): an exact answer, else the nearest one found, in `search.answer`."""
    beyond = sub(search.problem.position, search.problem.body.origin_p[0])
    starts = search.problem.max_restarts + 1
    quick = min(QUICK_STARTS, starts)
    total = 0
    restart = 0
    if dot(beyond, beyond) <= search.problem.body.reach * search.problem.body.reach:
        total, restart = search_exact(search, 0, quick)
        if restart < quick:
            return total, restart
    iterations, reached = _nearest_position(search)
    total += iterations
    if not reached:
        return total, restart
    iterations, restart = search_exact(search, quick, starts)
    total += iterations
    if restart < starts:
        return total, restart
    return _nearest(search, total)


def search_exact(search: Search, first: int, last: int) -> tuple[int, int]:
    """(iterations, restarts): an exact answer from the starts from `first` up to `last`, in `search.answer`; where
    there is none that stays as it is, and restarts are `last`.
    """
    targets = search.problem.targets
    weights = (search.problem.scale, W1, W2)
    prepare_starts(search.problem, search.starts, targets, search.problem.seed)
    total = 0
    for restart in range(first, last):
        begin(search.problem, search.starts, restart, search.q)
        if search.sweep_every > 0 and restart % search.sweep_every == search.sweep_every - 1:
            sweep(search.problem, search, search.q, weights)
        elif restart == 1:
            continue  # without a sweep the second descent from q0 is the first one again
        iterations, reached = descend(search.problem, search, targets, search.q, weights, ONLY_EXACT)
        total += iterations
        if reached:
            copy(search.q, search.answer, search.problem.body.n)
            return total, restart
    return total, last


def _nearest_position(search: Search) -> tuple[int, bool]:
    """(iterations, whether the position is reached); the posture that does, else the nearest answer, is in
    `search.answer`.
    """
    forget(search)
    prepare_starts(search.problem, search.position_starts, 0, search.problem.seed)
    total = 0
    for k in range(1, min(POSITION_STARTS, search.problem.max_restarts + 2)):
        begin(search.problem, search.position_starts, k, search.q)
        total += to_position(search, search.q)
        if chord_errors(search.problem, 0, search.q)[0] <= search.problem.position_tolerance:
            copy(search.q, search.answer, search.problem.body.n)
            return total, True
        total += consider(search)
        if k >= FAR_STARTS and search.agreed >= AGREED:
            break
    return total, False


def _nearest(search: Search, total: int) -> tuple[int, int]:
    """(iterations, restarts) after `total` iterations, where `search.answer` reaches the position: the nearest answer
    found, there.
    """
    restarts = search.problem.max_restarts
    copy(search.answer, search.q, search.problem.body.n)
    forget(search)
    total += consider(search)
    prepare_starts(search.problem, search.starts, search.problem.targets, search.problem.seed)
    for restart in range(search.problem.max_restarts + 1):
        begin(search.problem, search.starts, restart, search.q)
        if restart % 2 == 0:  # every other one goes by the position alone, lest a far direction draw all away from it
            total += draw(search, search.q)
        total += to_position(search, search.q)
        total += consider(search)
        if is_exact(search):
            return total, restart
        if restart >= LEAST_STARTS and search.agreed >= AGREED:
            restarts = restart
            break
    # Near a singular posture an exact answer can look like a near miss; with all weights back, a descent tells.
    copy(search.answer, search.q, search.problem.body.n)
    weights = (search.problem.scale, W1, W2)
    iterations, reached = descend(search.problem, search, search.problem.targets, search.q, weights, FINEST)
    if reached:
        copy(search.q, search.answer, search.problem.body.n)
    return total + iterations, restarts
