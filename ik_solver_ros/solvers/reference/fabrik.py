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
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ik_solver_ros.errors import UnsupportedChainError
from ik_solver_ros.jit import njit
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.kernels import CONTINUOUS, PRISMATIC, Array, joint_frames
from ik_solver_ros.kinematics.quaternion import (
    add,
    angle_between,
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
from ik_solver_ros.solvers.random import seeded
from ik_solver_ros.solvers.reference.restarts import randomise, update_best
from ik_solver_ros.solvers.solution import Attempt, SolverOptions

COINCIDENT = 1e-6  # [m] hinges that are nearer are one joint
CYCLES = 20  # over the hinges of one joint, to point its bone
HALVINGS = 50
AIMED = 1e-14  # [rad] turns smaller than this end them


class Bones(NamedTuple):
    """A chain as points and bones."""

    base: Array  # (3,) [m] the first joint's place
    bone: Array  # (n, 3) [m] from each hinge to the next, in the frame that it turns; zero where they coincide
    last: npt.NDArray[np.int64]  # (n,) of the hinges that coincide with this one, the last


def fabrik(chain: Chain, goal: Goal, q0: Array, options: SolverOptions) -> Attempt:
    """From q0, then from random configurations. Raises UnsupportedChainError for a chain with a sliding joint."""
    bones, start = bones_of(chain), chain.clamped(q0)
    return Attempt(*_descend(chain.arrays, bones, goal.position, start, options.ball_cone, options.settings))


@lru_cache(maxsize=32)
def bones_of(chain: Chain) -> Bones:
    """The Bones of a chain. Raises UnsupportedChainError."""
    sliding = [name for name, kind in zip(chain.joint_names, chain.arrays.kind) if kind == PRISMATIC]
    if sliding:
        raise UnsupportedChainError("fabrik", chain, f"{' and '.join(sliding)} slides, and a bone has a fixed length")
    n = chain.n
    parents, origins, axes = np.empty((n, 4)), np.empty((n, 3)), np.empty((n, 3))
    tip, _ = joint_frames(chain.arrays, np.zeros(n), parents, origins, axes)
    following, bone, last = np.array(tip), np.zeros((n, 3)), np.arange(n)
    together = [sum(np.linalg.norm(origins[max(i - 2, 0) : i + 3] - origins[i], axis=1) < COINCIDENT) for i in range(n)]
    for i in range(n - 1, -1, -1):
        here = origins[i]
        if together[i] < 3:  # not of a ball
            here = here + axes[i] * (axes[i] @ (following - here))
        offset = following - here
        if np.linalg.norm(offset) > COINCIDENT:
            parent = parents[i]
            bone[i] = rotate((-parent[0], -parent[1], -parent[2], parent[3]), offset)
        elif i + 1 < n:
            last[i] = last[i + 1]
        following = here
    return Bones(following, bone, last)


@njit
def _descend(chain, bones, position, q0, cone, settings):
    n = q0.shape[0]
    goal = (position[0], position[1], position[2])
    points, wishes, axes = np.empty((n + 1, 3)), np.empty((n + 1, 3)), np.empty((n, 3))
    state, q, best, least, iterations, off_hinges = seeded(settings.seed), q0.copy(), q0.copy(), math.inf, 0, 0.0
    for restart in range(settings.max_restarts + 1):
        if restart > 0:
            randomise(chain, state, q)
        _place(chain, bones, q, points, axes)
        off_now = 0.0
        for passes in range(settings.max_iterations + 1):
            offset = sub(goal, points[n])
            error = math.sqrt(dot(offset, offset))
            if passes == 0 and cone < math.pi:
                error = math.inf  # a start may bend its balls too far
            if error < least:
                off_hinges = off_now
            least = update_best(q, error, best, least)
            if least <= settings.position_tolerance:
                return best, iterations, restart, off_hinges
            if passes < settings.max_iterations:
                _reach_back(bones, goal, points, axes, wishes)
                off_now = _reach_forth(chain, bones, q, cone, points, axes, wishes)
                iterations += 1
    return best, iterations, settings.max_restarts, off_hinges


@njit
def _place(chain, bones, q, points, axes):
    """Fill `points` (n + 1, 3), the joints and the tip, and the hinges' `axes` (n, 3)."""
    p, r = (bones.base[0], bones.base[1], bones.base[2]), (0.0, 0.0, 0.0, 1.0)
    for i in range(q.shape[0]):
        points[i, 0], points[i, 1], points[i, 2] = p
        r = multiply(multiply(r, chain.origin_q[i]), from_axis_angle(chain.axis[i], q[i]))
        axes[i, 0], axes[i, 1], axes[i, 2] = rotate(r, chain.axis[i])
        p = add(p, rotate(r, bones.bone[i]))
    points[-1, 0], points[-1, 1], points[-1, 2] = p


@njit
def _reach_back(bones, goal, points, axes, wishes):
    """Tip to base: where the points would like to be. A hinge alone keeps its bone in the plane across its axis."""
    n = points.shape[0] - 1
    end = goal
    wishes[n, 0], wishes[n, 1], wishes[n, 2] = end
    for i in range(n - 1, -1, -1):
        length = math.sqrt(dot(bones.bone[i], bones.bone[i]))
        if length > 0.0:
            way = sub(points[i], end)
            if i == 0 or bones.last[i - 1] != i:
                way = sub(way, scaled(dot(way, axes[i]), axes[i]))
            far = math.sqrt(dot(way, way))
            if far > 0.0:
                end = add(end, scaled(length / far, way))
        wishes[i, 0], wishes[i, 1], wishes[i, 2] = end


@njit
def _reach_forth(chain, bones, q, cone, points, axes, wishes):
    """Base to tip, as the hinges can: q, `points`, `axes` in place; returns how far off [m] the wishes they were."""
    p, r, off, i = (bones.base[0], bones.base[1], bones.base[2]), (0.0, 0.0, 0.0, 1.0), 0.0, 0
    while i < q.shape[0]:
        k = bones.last[i]
        bone = (bones.bone[k, 0], bones.bone[k, 1], bones.bone[k, 2])
        length = math.sqrt(dot(bone, bone))
        way = sub(wishes[k + 1], p)
        far = math.sqrt(dot(way, way))
        if length > 0.0 and far > 0.0:
            wish = scaled(1.0 / far, way)
            if k - i == 2 and cone < math.pi:
                wish = _in_cone(chain, r, bone, i, wish, cone)
                _aim(chain, q, r, bone, i, k, wish)
                _straighten(chain, q, bone, i, cone)
            else:
                _aim(chain, q, r, bone, i, k, wish)
        for j in range(i, k + 1):
            points[j, 0], points[j, 1], points[j, 2] = p
            r = multiply(multiply(r, chain.origin_q[j]), from_axis_angle(chain.axis[j], q[j]))
            axes[j, 0], axes[j, 1], axes[j, 2] = rotate(r, chain.axis[j])
        end = add(p, rotate(r, bone))
        if length > 0.0 and far > 0.0:
            missed = sub(add(p, scaled(length / far, way)), end)
            off = max(off, math.sqrt(dot(missed, missed)))
        p, i = end, k + 1
    points[-1, 0], points[-1, 1], points[-1, 2] = p
    return off


@njit
def _aim(chain, q, r, bone, i, k, wish):
    """Turn the hinges from i to k, which coincide, so that their bone points along `wish` as nearly as it can."""
    for _ in range(CYCLES):
        largest = 0.0
        for j in range(k, i - 1, -1):
            v = bone
            for m in range(k, j, -1):
                v = rotate(multiply(chain.origin_q[m], from_axis_angle(chain.axis[m], q[m])), v)
            v = turn(v, chain.axis[j], q[j])  # in the frame before hinge j, as the wish will be
            before = r
            for m in range(i, j):
                before = multiply(multiply(before, chain.origin_q[m]), from_axis_angle(chain.axis[m], q[m]))
            before = multiply(before, chain.origin_q[j])
            w = rotate((-before[0], -before[1], -before[2], before[3]), wish)
            z = chain.axis[j]
            sine, cosine = dot(z, cross(v, w)), dot(v, w) - dot(z, v) * dot(z, w)
            if sine * sine + cosine * cosine < COINCIDENT * COINCIDENT * dot(v, v):
                continue  # the bone, or the wish, lies along the axis
            angle = q[j] + math.atan2(sine, cosine)
            if chain.kind[j] != CONTINUOUS:
                angle = min(max(angle, chain.lower[j]), chain.upper[j])
            largest = max(largest, abs(angle - q[j]))
            q[j] = angle
        if largest < AIMED or i == k:
            break


@njit
def _in_cone(chain, r, bone, i, wish, cone):
    """The direction nearest to `wish` within `cone` [rad] of where the bone points with its three hinges at zero."""
    for j in range(i, i + 3):
        r = multiply(r, chain.origin_q[j])
    rest = rotate(r, bone)
    angle = angle_between(rest, wish)
    if angle <= cone:
        return wish
    across = cross(rest, wish)
    size = math.sqrt(dot(across, across))
    if size == 0.0:
        return wish
    aimed = turn(rest, scaled(1.0 / size, across), cone)
    return scaled(1.0 / math.sqrt(dot(aimed, aimed)), aimed)


@njit
def _straighten(chain, q, bone, i, cone):
    """Turn the three hinges from i on back towards zero, so far that their bone is in its cone to the last digit."""
    a, b, c = q[i], q[i + 1], q[i + 2]
    fraction, bad = 1.0, 1.0
    if _bent(chain, bone, i, a, b, c) > cone:
        fraction = 0.0
        for _ in range(HALVINGS):
            middle = 0.5 * (fraction + bad)
            if _bent(chain, bone, i, middle * a, middle * b, middle * c) > cone:
                bad = middle
            else:
                fraction = middle
    q[i], q[i + 1], q[i + 2] = fraction * a, fraction * b, fraction * c


@njit
def _bent(chain, bone, i, a, b, c):
    """The angle [rad] by which three hinges from i on bend their bone from where it points when they are at zero."""
    rest, now = (bone[0], bone[1], bone[2]), (bone[0], bone[1], bone[2])
    angles = (a, b, c)
    for k in range(2, -1, -1):
        rest = rotate(chain.origin_q[i + k], rest)
        now = rotate(multiply(chain.origin_q[i + k], from_axis_angle(chain.axis[i + k], angles[k])), now)
    return angle_between(rest, now)
