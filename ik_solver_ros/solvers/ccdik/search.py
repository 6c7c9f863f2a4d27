"""CCDIK: the default solver. The goal exactly, or the nearest answer: position first, then approach, then roll.

Where the arm is a waist, three parallel hinges and a last hinge, its structure gives the answer (waist.py: there the
group of parallel hinges is one joint of CCDIK, moved to its best in closed form). For any other chain:

1. hunt for an exact answer: descend from q0, then sweep and descend from sample postures near the goal and from random
   ones. A goal that is out of reach is recognised by descents to its position alone;
2. descend to the nearest answer from many starts, the weights of approach and roll sinking by stages, which makes
   position, approach and roll strictly prior to one another.

descent.py has the sweep and the descent.
"""

from __future__ import annotations

import math

import numpy as np

from ik_solver_ros.jit import njit
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.kernels import CONTINUOUS, Array, tool_of, unpacked
from ik_solver_ros.kinematics.quaternion import dot, sub
from ik_solver_ros.kinematics.waist_arm import JOINTS, unpacked_waist
from ik_solver_ros.solvers.ccdik.descent import Budget, descend, errors, misses, sweep
from ik_solver_ros.solvers.ccdik.three_parallel import approach as waist
from ik_solver_ros.solvers.ccdik.three_parallel.planar_group import (
    ANGLES,
    ANY_APPROACH,
    EXACT,
    MISS,
    SECOND,
    STEP,
    nothing,
)
from ik_solver_ros.solvers.ccdik.three_parallel.unreachable import KEPT, nearest_reach
from ik_solver_ros.solvers.goal import Goal, GoalArrays, unpacked_goal
from ik_solver_ros.solvers.random import seeded, uniform
from ik_solver_ros.solvers.solution import Attempt, SolverOptions, unpacked_options

HUNT = (0.5, 0.5)  # (w1, w2) while an exact answer is sought
STAGES = ((0.3, 0.1), (0.03, 1e-3), (3e-3, 1e-5), (1e-3, 1e-6))  # (w1, w2) on the way to the nearest answer
STILL = 1e-5  # [rad] an arm that is so near to an answer may be there already
NO_FLIP = 0.1  # [rad or m] an answer this near to q0 is on its branch
FAR = 24  # random ones beside them, where a position seems to be out of reach
NEAR = 8  # sample postures that are tried before random ones
NO_SWEEP = 2  # every other start goes without a sweep: near singular postures it often finds the wrong basin
MENDED = 1e-2  # [rad] what a descent from a closed form is tried for...
NEARLY = 1e-3  # [rad] ...and one from each of its branches
SAME_POSITION, SAME_ANGLE = 1e-7, 1e-4  # [m], [rad] answers nearer than this are equal; then the nearer to q0 wins


def ccdik(chain: Chain, goal: Goal, q0: Array, options: SolverOptions) -> Attempt:
    """The goal exactly, or the nearest answer found: position first, then approach, then roll."""
    return Attempt(
        *search(chain.arrays.kind, chain.packed, chain.waist_arm, goal.packed, goal.targets, q0, options.packed)
    )


@njit
def search(kind, packed, waist_arm, packed_goal, targets, q0, packed_options):
    """(q, iterations, restarts) of the best answer to a packed goal, see `ccdik`."""
    goal = unpacked_goal(packed_goal, targets, tool_of(kind.shape[0], packed), np.zeros((2, 3)))
    return search_for(kind, packed, waist_arm, goal, q0, unpacked_options(packed_options))


@njit
def search_for(kind, packed, waist_arm, goal, q0, options):
    """The same, with goal and options unpacked."""
    answer, miss = q0, math.inf
    if waist_arm is not None and goal.targets > 0:
        answer, miss, done = by_structure(waist_arm, goal, q0, options)
        exact = miss <= 0.5 * options.orientation_tolerance
        hopeless = MENDED <= miss < math.inf  # to mend: the position is in place, the direction cannot be had
        if done and not options.track and (exact or hopeless) and inside(packed, q0):
            return answer, 0, 0
    return search_on(unpacked(kind, packed), waist_arm, goal, q0, answer, miss, options)


@njit
def inside(packed, q):
    """Whether q is inside the limits of a packed chain."""
    n = q.shape[0]
    within = True
    for i in range(n):
        within = within and packed[10 * n + i] <= q[i] <= packed[11 * n + i]
    return within


@njit
def search_on(body, waist_arm, goal, q0, answer, miss, options):
    """The same where `by_structure` had nothing exact to say, or where a branch is to be kept to."""
    start = q0.copy()
    for i in range(start.shape[0]):
        start[i] = min(max(start[i], body.chain.lower[i]), body.chain.upper[i])
    p, first, second = misses(body.chain, goal, start)
    if p <= 0.5 * options.position_tolerance and max(first, second) <= 0.5 * options.orientation_tolerance:
        return start, 0, 0  # the arm is there already
    budget = Budget(options.position_tolerance, options.orientation_tolerance, options.max_iterations)
    point = GoalArrays(goal.position, 0 * goal.targets, goal.tool, goal.wanted)  # a literal 0 is a type of its own
    scale = 1.0 / max(body.reach, 1e-6)
    if waist_arm is not None:
        q, spent, restarts = on_waist(body.chain, waist_arm, goal, point, start, answer, miss, scale, budget, options)
        if miss < NEARLY:
            p, first, second = misses(body.chain, goal, q)
            if max(first, second) > options.orientation_tolerance:
                q, spent, restarts = hunt(body, goal, start, q, scale, budget, options)
    else:
        q, spent, restarts = anywhere(body, goal, point, start, scale, budget, options)
    if options.track and np.max(np.abs(q - start)) > NO_FLIP:
        q = keep_branch(body.chain, goal, point, start, q, scale, budget, options)
    return q, spent, restarts


@njit
def keep_branch(chain, goal, point, start, answer, scale, budget, options):
    """The nearest answer on the branch of `start`, unless `answer` is nearer by more than the hysteresis."""
    q = start.copy()
    settle(chain, goal, point, q, 1 if goal.targets > 0 else 0, scale, budget)
    here, there = errors(chain, goal, q), errors(chain, goal, answer)
    if here[0] > max(there[0] + SAME_POSITION, options.position_tolerance):
        return answer
    if here[1] - there[1] > options.hysteresis or here[2] - there[2] > options.hysteresis:
        return answer
    return q


@njit
def by_structure(waist_arm, goal, q0, options):
    """(q, largest miss of a direction, whether q can be taken as it is) of a WaistArm; inf where nothing is found."""
    arm = unpacked_waist(waist_arm)
    task = waist.waist_task(arm, goal, q0, options.elbow)
    tolerance = max(options.orientation_tolerance, EXACT)
    best = nothing()
    if goal.targets == 0:  # any approach will do, so the last hinge may stay where it is
        waist.look(task, task.now[4], 1.0, ANY_APPROACH, best)
        waist.look(task, task.now[4], -1.0, ANY_APPROACH, best)
    if goal.targets == 0 and best[MISS] < math.inf:
        best[MISS] = 0.0
    elif goal.targets < 2:
        waist.nearest_approach(task, 0.5 * options.orientation_tolerance if arm.exact else tolerance, best)
    else:
        waist.nearest_pose(task, tolerance, options.roll_slack, best)
    q = np.empty(JOINTS)
    for i in range(JOINTS):
        q[i] = arm.sign[i] * best[ANGLES + i]
    return q, max(best[MISS], best[SECOND]), arm.exact and best[STEP] > STILL


@njit
def on_waist(chain, waist_arm, goal, point, start, answer, miss, scale, budget, options):
    """(q, iterations, restarts) for a WaistArm, of which `by_structure` has an answer or not."""
    hunting = goal.targets >= 0  # as values, not literals, which would each be compiled for
    spent = 0
    if goal.targets == 0:
        q = start.copy()
        spent, there = descend(chain, point, q, (scale, 0.0, 0.0), budget, hunting)
        if there and options.elbow == 0.0:
            return q, spent, 0
        answer, miss, _ = by_structure(waist_arm, goal, start, options)
    if miss < math.inf:
        if miss < MENDED:
            q = answer.copy()
            more, there = descend(chain, goal, q, (scale, HUNT[0], HUNT[1]), budget, hunting)
            spent += more
            if there:
                return q, spent, 0
            # Where hinges are parallel only nearly, one branch may get there where another one cannot.
            rows = np.empty((16, JOINTS))
            tolerance = max(options.orientation_tolerance, NEARLY)
            best_step, best = math.inf, q
            for k in range(waist.exact_postures(unpacked_waist(waist_arm), goal, start, tolerance, rows)):
                row = rows[k]
                for i in range(JOINTS):
                    row[i] = min(max(row[i], chain.lower[i]), chain.upper[i])
                more, there = descend(chain, goal, row, (scale, HUNT[0], HUNT[1]), budget, hunting)
                spent += more
                step = np.max(np.abs(row - start))
                if there and step < best_step:
                    best_step, best = step, row
            if best_step < math.inf:
                return best.copy(), spent, 0
        more, there = descend(chain, point, answer, (scale, 0.0, 0.0), budget, hunting)
        if there:
            return answer, spent + more, 0
    return out_of_reach(chain, waist_arm, goal, point, start, scale, budget, spent)


@njit
def anywhere(body, goal, point, start, scale, budget, options):
    """(q, iterations, restarts) for any chain: hunt for an exact answer, then descend to the nearest."""
    chain = body.chain
    hunting = goal.targets >= 0
    weights = (scale, HUNT[0], HUNT[1])
    iterations = 0
    state = seeded(options.seed)
    near = nearest_postures(body, goal, scale)
    beyond = sub(goal.position, chain.origin_p[0])
    if dot(beyond, beyond) > body.reach * body.reach:
        q, _, spent = reach_for(body, point, start, scale, budget)
        return finish(chain, goal, point, q, scale, budget, spent)
    for restart in range(options.max_restarts + 1):
        q = begin(body, start, near, restart, state)
        if restart % NO_SWEEP == 1:
            sweep(chain, goal, q, weights)
        spent, there = descend(chain, goal, q, weights, budget, hunting)
        iterations += spent
        if there:
            return q, iterations, restart
        if restart == 2:
            q, there, spent = reach_for(body, point, start, scale, budget)
            iterations += spent
            if not there:
                return finish(chain, goal, point, q, scale, budget, iterations)

    best = start.copy()
    best_miss = (math.inf, math.inf, math.inf)
    best_step = math.inf
    state = seeded(options.seed)
    for restart in range(options.max_restarts + 1):
        q = begin(body, start, near, restart, state)
        # Half of them go by the position alone at first, lest a far direction draw all away from it.
        if restart % 2 == 1:
            spent, _ = descend(chain, point, q, (scale, 0.0, 0.0), budget, hunting)
            iterations += spent
        iterations += settle(chain, goal, point, q, restart % 2, scale, budget)
        miss = misses(chain, goal, q)
        step = np.max(np.abs(q - start))
        if _better(miss, step, best_miss, best_step, budget.position_tolerance):
            best[:] = q
            best_miss, best_step = miss, step
    # Near a singular posture an exact answer can look like a near miss; with all weights back, a descent tells.
    q = best.copy()
    spent, there = descend(chain, goal, q, weights, budget, not hunting)
    return (q if there else best), iterations + spent, options.max_restarts


@njit
def hunt(body, goal, start, answer, scale, budget, options):
    """(q, iterations, restarts): an exact answer found from the nearest postures or random ones, else `answer`."""
    near = nearest_postures(body, goal, scale)
    state = seeded(options.seed)
    spent = 0
    for restart in range(2, options.max_restarts + 1):
        q = begin(body, start, near, restart, state)
        more, there = descend(body.chain, goal, q, (scale, HUNT[0], HUNT[1]), budget, goal.targets >= 0)
        spent += more
        if there:
            return q, spent, restart
    return answer, spent, options.max_restarts


@njit
def settle(chain, goal, point, q, stage, scale, budget):
    """Descend from q, in place, to the nearest answer, beginning with this of the STAGES; returns the iterations."""
    hunting = goal.targets >= 0
    iterations = 0
    for k in range(stage, len(STAGES) if goal.targets > 0 else 1):
        spent, _ = descend(chain, goal, q, (scale, STAGES[k][0], STAGES[k][1]), budget, not hunting)
        iterations += spent
    # However small w1 is, it holds the tip off the position a little; this takes the little back.
    spent, _ = descend(chain, point, q, (scale, 0.0, 0.0), budget, hunting)
    return iterations + spent


@njit
def out_of_reach(chain, waist_arm, goal, point, start, scale, budget, spent):
    """(q, iterations, restarts) for a WaistArm and a goal whose position it cannot have."""
    hunting = goal.targets >= 0
    arm = unpacked_waist(waist_arm)
    task = waist.waist_task(arm, point, start, 0.0)
    postures = np.empty((KEPT, JOINTS))
    best = start.copy()
    least = math.inf
    for k in range(nearest_reach(task, postures)):
        q = np.empty(JOINTS)
        for i in range(JOINTS):
            q[i] = min(max(arm.sign[i] * postures[k, i], chain.lower[i]), chain.upper[i])
        more, _ = descend(chain, point, q, (scale, 0.0, 0.0), budget, not hunting)
        spent += more
        miss = misses(chain, point, q)[0]
        if miss < least - SAME_POSITION:
            least = miss
            best = q
    return finish(chain, goal, point, best, scale, budget, spent)


@njit
def reach_for(body, point, start, scale, budget):
    """(q, whether the position is reached, iterations): the nearest position from q0 and from the nearest postures."""
    chain = body.chain
    hunting = point.targets < 0
    near = nearest_postures(body, point, scale)
    best = start.copy()
    least, iterations = math.inf, 0
    state = seeded(body.postures.shape[0])
    for k in range(1, 2 + NEAR + FAR):
        q = begin(body, start, near, k, state)
        spent, there = descend(chain, point, q, (scale, 0.0, 0.0), budget, hunting)
        iterations += spent
        if there:
            return q, True, iterations
        miss = misses(chain, point, q)[0]
        if miss < least - SAME_POSITION:
            least = miss
            best[:] = q
    return best, False, iterations


@njit
def finish(chain, goal, point, q, scale, budget, iterations):
    """(q, iterations, restarts): from the nearest position q, what can be had of approach and roll at no cost of it."""
    if goal.targets > 0:
        settled = q.copy()
        iterations += settle(chain, goal, point, settled, len(STAGES) - 1 + 0 * goal.targets, scale, budget)
        if misses(chain, point, settled)[0] <= misses(chain, point, q)[0] + SAME_POSITION:
            q = settled
    return q, iterations, 0


@njit
def nearest_postures(body, goal, scale):
    """The NEAR sample postures whose tip is nearest to the goal, nearest first: their indices."""
    m = body.tips.shape[0]
    costs = np.empty(m)
    for k in range(m):
        tip = body.tips[k]
        cost = 0.0
        for i in range(3):
            cost += (scale * (tip[i] - goal.position[i])) ** 2
            if goal.targets > 0:
                cost += (HUNT[0] * (tip[3 + i] - goal.wanted[0, i])) ** 2
        costs[k] = cost
    out = np.empty(NEAR, dtype=np.int64)
    for k in range(NEAR):
        out[k] = np.argmin(costs)
        costs[out[k]] = math.inf
    return out


@njit
def begin(body, start, near, restart, state):
    """Where descent number `restart` begins: twice at q0, then at the nearest postures, then anywhere in the limits."""
    if restart < 2:
        return start.copy()
    if restart < 2 + NEAR:
        return body.postures[near[restart - 2]].copy()
    chain = body.chain
    q = start.copy()
    for i in range(q.shape[0]):
        u = uniform(state)
        if chain.kind[i] == CONTINUOUS:
            q[i] += math.pi * (2.0 * u - 1.0)
        else:
            q[i] = chain.lower[i] + u * (chain.upper[i] - chain.lower[i])
    return q


@njit
def _better(miss, step, best_miss, best_step, position_tolerance):
    """Position first, then approach, then roll, then the smaller largest joint step."""
    there = miss[0] <= position_tolerance and best_miss[0] <= position_tolerance
    if not there and abs(miss[0] - best_miss[0]) > SAME_POSITION:
        return miss[0] < best_miss[0]
    if abs(miss[1] - best_miss[1]) > SAME_ANGLE:
        return miss[1] < best_miss[1]
    if abs(miss[2] - best_miss[2]) > SAME_ANGLE:
        return miss[2] < best_miss[2]
    return step < best_step
