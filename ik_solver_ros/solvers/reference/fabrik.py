"""FABRIK: points on a string, reached for forward and backward, and hinges that are enforced by projection.

Source: A. Aristidou and J. Lasenby, "FABRIK: a fast, iterative solver for the inverse kinematics problem" (2011); its
hinges and cones: A. Aristidou, Y. Chrysanthou and J. Lasenby, "Extending FABRIK with model constraints" (2016).

    tip to base: each point goes onto the line from the next point's new place to its own old one, a bone's length away
    base to tip: each bone points from where it begins to where its end was wished

In the first pass the bone of a hinge is projected onto the plane across the hinge's axis, as that lies now. In the
second each bone turns only as its hinges let it, as near to the wish as they and their limits can (`off_hinges` tells
how far that was from it). A ball joint is three coincident hinges: there the projection costs nothing, unless its cone
(`SolverOptions.ball_cone`) is left. Hinges coincide where their axes meet: a hinge may slide along its axis without
another motion of the tip, so a waist and the shoulder on its axis are one joint.

It serves the position alone: of approach and pose goals the direction comes as it comes, and the status says so.
Sliding joints have no bone of a fixed length, and are refused.
"""

from __future__ import annotations

import math

from ik_solver_ros.kinematics.arrays import Array, Quat, Vec
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.constants import INF, MOST_JOINTS, PI
from ik_solver_ros.kinematics.kernels import ORIGIN, room
from ik_solver_ros.kinematics.quaternion import (
    add,
    angle_between,
    conjugate,
    cross,
    dot,
    from_axis_angle,
    multiply,
    rotate,
    scaled,
    sub,
    turn,
)
from ik_solver_ros.solvers.goal import Goal
from ik_solver_ros.solvers.problem import Problem, prepare
from ik_solver_ros.solvers.reference.bones import COINCIDENT, Bones, bones_of
from ik_solver_ros.solvers.reference.restarts import Restarts, keep_best, randomise
from ik_solver_ros.solvers.solution import Attempt, SolverOptions

try:
    import cython
except ImportError:
    from ik_solver_ros import uncompiled as cython  # type: ignore[no-redef]

CYCLES = 20  # over the hinges of one joint, to point its bone
HALVINGS = 50
AIMED = 1e-14  # [rad] turns smaller than this end them


class Skeleton(Restarts):
    """Such a search: the chain's bones, and where its points are."""

    def __init__(self, problem: Problem, bones: Bones, cone: float) -> None:
        super().__init__(problem)
        self.cone = cone  # [rad]
        self.base = _vec(bones.base)  # and the next two: see Bones
        self.bone = room(ORIGIN)
        self.last = room(0)
        self.points = room(ORIGIN, MOST_JOINTS + 1)  # the joints and the tip [m]
        self.wishes = room(ORIGIN, MOST_JOINTS + 1)  # where they would like to be
        self.axes = room(ORIGIN)  # of the hinges
        self.off_now = 0.0  # [m] by which the wishes of the last pass were off what the hinges allow
        self.off_hinges = 0.0  # the same of the best configuration
        for i in range(self.problem.body.n):
            self.bone[i] = _vec(bones.bone[i])
            self.last[i] = int(bones.last[i])


def _vec(v: Array) -> tuple[float, float, float]:
    return float(v[0]), float(v[1]), float(v[2])


def fabrik(chain: Chain, goal: Goal, q0: Array, options: SolverOptions) -> Attempt:
    """From q0, then from random configurations. Raises UnsupportedChainError for a chain with a sliding joint."""
    bones, problem = bones_of(chain), prepare(Problem(), chain.body, goal, q0.tolist(), options)
    search = Skeleton(problem, bones, options.ball_cone)
    with cython.nogil:
        restarts = _descend(search)
    return search.attempt(restarts, search.off_hinges)


def _descend(search: Skeleton) -> int:
    """Fill in `search.best`; returns the number of restarts."""
    n = search.problem.body.n
    for restart in range(search.problem.max_restarts + 1):
        if restart > 0:
            randomise(search)
        _place(search)
        for passes in range(search.problem.max_iterations + 1):
            offset = sub(search.problem.position, search.points[n])
            error = math.sqrt(dot(offset, offset))
            if passes == 0 and search.cone < PI:
                error = INF  # a start may bend its balls too far
            if error < search.least:
                search.off_hinges = search.off_now
            keep_best(search, error)
            if search.least <= search.problem.position_tolerance:
                return restart
            if passes < search.problem.max_iterations:
                _reach_back(search)
                _reach_forth(search)
                search.iterations += 1
    return search.problem.max_restarts


def _place(search: Skeleton) -> None:
    """Fill the points and axes of `search.q`."""
    search.off_now = 0.0
    n = search.problem.body.n
    p = search.base
    r = (0.0, 0.0, 0.0, 1.0)
    for i in range(n):
        search.points[i] = p
        r = _through(search, r, i)
        search.axes[i] = rotate(r, search.problem.body.axis[i])
        p = add(p, rotate(r, search.bone[i]))
    search.points[n] = p


def _through(search: Skeleton, r: Quat, i: int) -> tuple[float, float, float, float]:
    """The orientation of what hinge i carries, from that of what the hinge before it does."""
    r = multiply(r, search.problem.body.origin_q[i])
    return multiply(r, from_axis_angle(search.problem.body.axis[i], search.q.at[i]))


def _reach_back(search: Skeleton) -> None:
    """Tip to base: where the points would like to be. A hinge alone keeps its bone in the plane across its axis."""
    n = search.problem.body.n
    end = search.problem.position
    search.wishes[n] = end
    for i in range(n - 1, -1, -1):
        length = math.sqrt(dot(search.bone[i], search.bone[i]))
        if length > 0.0:
            way = sub(search.points[i], end)
            if i == 0 or search.last[i - 1] != i:
                way = sub(way, scaled(dot(way, search.axes[i]), search.axes[i]))
            far = math.sqrt(dot(way, way))
            if far > 0.0:
                end = add(end, scaled(length / far, way))
        search.wishes[i] = end


def _reach_forth(search: Skeleton) -> None:
    """Base to tip, as the hinges can: `search.q`, the points and the axes; and how far off the wishes they were."""
    n = search.problem.body.n
    search.off_now = 0.0
    p = search.base
    r = (0.0, 0.0, 0.0, 1.0)
    i = 0
    while i < n:
        k = search.last[i]
        bone = search.bone[k]
        length = math.sqrt(dot(bone, bone))
        way = sub(search.wishes[k + 1], p)
        far = math.sqrt(dot(way, way))
        if length > 0.0 and far > 0.0:
            wish = scaled(1.0 / far, way)
            if k - i == 2 and search.cone < PI:
                _aim(search, r, i, _in_cone(search, r, i, wish))
                _straighten(search, i)
            else:
                _aim(search, r, i, wish)
        for j in range(i, k + 1):
            search.points[j] = p
            r = _through(search, r, j)
            search.axes[j] = rotate(r, search.problem.body.axis[j])
        end = add(p, rotate(r, bone))
        if length > 0.0 and far > 0.0:
            missed = sub(add(p, scaled(length / far, way)), end)
            search.off_now = max(search.off_now, math.sqrt(dot(missed, missed)))
        p = end
        i = k + 1
    search.points[n] = p


def _aim(search: Skeleton, r: Quat, i: int, wish: Vec) -> None:
    """Turn the hinges from i on that coincide so that their bone points along `wish` as nearly as it can.

    r: the orientation of the frame before hinge i.
    """
    k = search.last[i]
    for _ in range(CYCLES):
        largest = 0.0
        for j in range(k, i - 1, -1):
            z = search.problem.body.axis[j]
            v = search.bone[k]
            for m in range(k, j, -1):
                hinge = from_axis_angle(search.problem.body.axis[m], search.q.at[m])
                v = rotate(multiply(search.problem.body.origin_q[m], hinge), v)
            v = turn(v, z, search.q.at[j])  # in the frame before hinge j, as the wish will be
            before = r
            for m in range(i, j):
                before = _through(search, before, m)
            before = multiply(before, search.problem.body.origin_q[j])
            w = rotate(conjugate(before), wish)
            sine = dot(z, cross(v, w))
            cosine = dot(v, w) - dot(z, v) * dot(z, w)
            if sine * sine + cosine * cosine < COINCIDENT * COINCIDENT * dot(v, v):
                continue  # the bone, or the wish, lies along the axis
            angle = search.q.at[j] + math.atan2(sine, cosine)
            angle = min(max(angle, search.problem.body.lower[j]), search.problem.body.upper[j])
            largest = max(largest, abs(angle - search.q.at[j]))
            search.q.at[j] = angle
        if largest < AIMED or i == k:
            break


def _in_cone(search: Skeleton, r: Quat, i: int, wish: Vec) -> tuple[float, float, float]:
    """The direction nearest to `wish` within the cone about where the bone points with its three hinges at zero."""
    for j in range(i, i + 3):
        r = multiply(r, search.problem.body.origin_q[j])
    rest = rotate(r, search.bone[i + 2])
    across = cross(rest, wish)
    size = math.sqrt(dot(across, across))
    if angle_between(rest, wish) <= search.cone or size == 0.0:
        return wish[0], wish[1], wish[2]
    aimed = turn(rest, scaled(1.0 / size, across), search.cone)
    return scaled(1.0 / math.sqrt(dot(aimed, aimed)), aimed)


def _straighten(search: Skeleton, i: int) -> None:
    """Turn the three hinges from i on back towards zero, so far that their bone is in its cone to the last digit."""
    good = 1.0
    if _bent(search, i, 1.0) > search.cone:
        good = 0.0
        bad = 1.0
        for _ in range(HALVINGS):
            middle = 0.5 * (good + bad)
            if _bent(search, i, middle) > search.cone:
                bad = middle
            else:
                good = middle
    for k in range(i, i + 3):
        search.q.at[k] = good * search.q.at[k]


def _bent(search: Skeleton, i: int, fraction: float) -> float:
    """The angle [rad] by which a fraction of the turns of the three hinges from i on bends their bone."""
    rest = search.bone[i + 2]
    now = rest
    for k in range(i + 2, i - 1, -1):
        origin = search.problem.body.origin_q[k]
        rest = rotate(origin, rest)
        hinge = from_axis_angle(search.problem.body.axis[k], fraction * search.q.at[k])
        now = rotate(multiply(origin, hinge), now)
    return angle_between(rest, now)
