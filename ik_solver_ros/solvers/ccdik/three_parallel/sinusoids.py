"""Where the plane of the group holds the tip, and the goal's direction: sinusoids in the waist and the last hinge.

The tip must lie in the plane of the group: across it (the third coordinate), the goal turned back by the waist equals
the tip turned by the last hinge,

    g0 + g cos(q1 - m) = t0 + t1 cos q5 + t2 sin q5                                                             (1)

so that each angle of the last hinge leaves two of the waist, and planar_group.py does the rest. The same holds of the
direction: a second equation, so that exact answers are found in closed form (`exact_pairs`).
"""

from __future__ import annotations

import math

from ik_solver_ros.jit import njit
from ik_solver_ros.kinematics.quaternion import dot
from ik_solver_ros.kinematics.waist_arm import ON_AXIS, at, fitted
from ik_solver_ros.solvers.ccdik.three_parallel.planar_group import best_pitch

SIDEWAYS = 1e-4  # lengths of directions below this are taken for zero; a descent mends the rest


@njit
def tip_on_axis(arm):
    """Whether the last hinge moves neither the tip nor the tool's direction."""
    return (
        dot(arm.tip.even, arm.tip.even) < ON_AXIS * ON_AXIS and dot(arm.tool.even, arm.tool.even) < SIDEWAYS * SIDEWAYS
    )


@njit
def evaluate(problem, q5, side, floor, best):
    """`best_pitch` at this angle of the last hinge and one of the two of the waist (side 1.0 or -1.0), equation (1)."""
    goal, arm = problem.goal, problem.arm
    across = at(arm.tip, math.cos(q5), math.sin(q5))[2] - goal.point.fixed[2]
    if goal.size < 1e-12:  # on the waist's axis any angle will do: one that can serve the direction, or the present one
        if abs(across) > 1e-9:
            return
        q1 = _facing(problem, side)
    else:
        x = across / goal.size
        if abs(x) > 1.0 + 1e-9:
            return
        q1 = goal.middle + side * math.acos(min(max(x, -1.0), 1.0))
    q1 = fitted(q1, arm.lower[0], arm.upper[0], problem.now[0])
    if q1 == q1:
        best_pitch(problem, q1, q5, floor, best)


@njit
def _facing(problem, side):
    """The angle of the waist at which the plane of the group holds the goal's direction; now's if any does."""
    wanted = problem.goal.tool
    first, second, has_roots = roots(wanted.even[2], wanted.odd[2], -wanted.fixed[2], problem.now[0])
    return (first if side > 0 else second) if has_roots else problem.now[0]


@njit
def roots(even, odd, value, near):
    """The two angles with even cos x + odd sin x = value (`near` where any has), and whether there are any."""
    size = math.hypot(even, odd)
    if size < 1e-12:
        return near, near, abs(value) < 1e-9
    x = value / size
    if abs(x) > 1.0 + 1e-9:
        return near, near, False
    middle, half = math.atan2(odd, even), math.acos(min(max(x, -1.0), 1.0))
    return middle + half, middle - half, True


@njit
def exact_pairs(problem, pairs):
    """Fill `pairs` (8, 2) with the (q1, q5) that serve both position and direction across the plane; returns how many.

    One combination of the two sinusoids is free of q5 where the tool points along the last hinge, or straight away from
    it; of a tool that does neither no pair is found.
    """
    arm, goal, now = problem.arm, problem.goal, problem.now
    tip, tool = arm.tip, arm.tool
    size = math.hypot(tool.even[2], tool.odd[2])
    along = size < SIDEWAYS
    if along:
        even, odd, rest = goal.tool.even[2], goal.tool.odd[2], tool.fixed[2] - goal.tool.fixed[2]
    else:
        skew = tip.even[2] * tool.odd[2] - tip.odd[2] * tool.even[2]
        if abs(skew) > SIDEWAYS * size * math.hypot(tip.even[2], tip.odd[2]):
            return 0
        ratio = (tip.even[2] * tool.even[2] + tip.odd[2] * tool.odd[2]) / (size * size)
        even = goal.point.even[2] - ratio * goal.tool.even[2]
        odd = goal.point.odd[2] - ratio * goal.tool.odd[2]
        rest = tip.fixed[2] - goal.point.fixed[2] - ratio * (tool.fixed[2] - goal.tool.fixed[2])
    first, second, has_roots = roots(even, odd, rest, now[0])
    if not has_roots:
        return 0
    count = 0
    for turned_to in (first, second):
        q1 = fitted(turned_to, arm.lower[0], arm.upper[0], now[0])
        if q1 != q1:
            continue
        c, s = math.cos(q1), math.sin(q1)
        if along:
            low, high, has_roots = roots(tip.even[2], tip.odd[2], at(goal.point, c, s)[2] - tip.fixed[2], now[4])
        else:
            low, high, has_roots = roots(tool.even[2], tool.odd[2], at(goal.tool, c, s)[2] - tool.fixed[2], now[4])
        if not has_roots:
            continue
        for bent_to in (low, high):
            q5 = fitted(bent_to, arm.lower[4], arm.upper[4], now[4])
            if q5 == q5:
                pairs[count, 0], pairs[count, 1] = q1, q5
                count += 1
    return count
