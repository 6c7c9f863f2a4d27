"""Where the plane of the group holds the tip, and the goal's direction: sinusoids in the waist and the last hinge.

The tip must lie in the plane of the group: across it (the third coordinate), the goal turned back by the waist equals
the tip turned by the last hinge,

    g0 + g cos(q1 - m) = t0 + t1 cos q5 + t2 sin q5                                                             (1)

so that each angle of the last hinge leaves two of the waist, and planar_group.py does the rest. The same holds of the
direction: a second equation, so that exact answers are found in closed form (`exact_pairs`).
"""

from __future__ import annotations

import math

from ik_solver_ros.kinematics.constants import ON_AXIS
from ik_solver_ros.kinematics.plane import at
from ik_solver_ros.kinematics.quaternion import dot
from ik_solver_ros.kinematics.waist_arm import WaistArm, fitted
from ik_solver_ros.solvers.ccdik.three_parallel.constants import SIDEWAYS
from ik_solver_ros.solvers.ccdik.three_parallel.planar_group import ArmProblem, best_pitch

try:
    import cython
except ImportError:
    from ik_solver_ros import uncompiled as cython  # type: ignore[no-redef]

if not cython.compiled:
    from ik_solver_ros.kinematics.shapes import Pair, Posture, Roots


def tip_on_axis(arm: WaistArm) -> bool:
    """Whether the last hinge moves neither the tip nor the tool's direction."""
    tip = dot(arm.tip.even, arm.tip.even)
    tool = dot(arm.tool.even, arm.tool.even)
    return tip < ON_AXIS * ON_AXIS and tool < SIDEWAYS * SIDEWAYS


def evaluate(problem: ArmProblem, q5: float, side: float, floor: float, best: Posture) -> Posture:
    """`best_pitch` at this angle of the last hinge and one of the two of the waist (side 1.0 or -1.0), equation (1)."""
    across = at(problem.arm.tip, math.cos(q5), math.sin(q5))[2] - problem.goal.point.fixed[2]
    if problem.goal.size < 1e-12:
        # On the waist's axis any angle will do: one that can serve the direction, or the present one.
        if abs(across) > 1e-9:
            return best
        q1 = _facing(problem, side)
    else:
        x = across / problem.goal.size
        if abs(x) > 1.0 + 1e-9:
            return best
        q1 = problem.goal.middle + side * math.acos(min(max(x, -1.0), 1.0))
    q1 = fitted(q1, problem.arm.lower[0], problem.arm.upper[0], problem.now[0])
    if q1 != q1:
        return best
    return best_pitch(problem, q1, q5, floor, best)


def both_sides(problem: ArmProblem, floor: float, best: Posture) -> Posture:
    """`evaluate` with the last hinge as it is, at both angles of the waist."""
    best = evaluate(problem, problem.now[4], 1.0, floor, best)
    return evaluate(problem, problem.now[4], -1.0, floor, best)


def _facing(problem: ArmProblem, side: float) -> float:
    """The angle of the waist at which the plane of the group holds the goal's direction; now's if any does."""
    wanted = problem.goal.tool
    found = roots(wanted.even[2], wanted.odd[2], -wanted.fixed[2], problem.now[0])
    if not found.found:
        return problem.now[0]
    return found.first if side > 0 else found.second


def roots(even: float, odd: float, value: float, near: float) -> Roots:
    """The two angles with even cos x + odd sin x = value (`near` where any has)."""
    size = math.sqrt(even * even + odd * odd)
    if size < 1e-12:
        return Roots(near, near, abs(value) < 1e-9)
    x = value / size
    if abs(x) > 1.0 + 1e-9:
        return Roots(near, near, False)
    middle = math.atan2(odd, even)
    half = math.acos(min(max(x, -1.0), 1.0))
    return Roots(middle + half, middle - half, True)


def exact_pairs(problem: ArmProblem) -> int:
    """Fill `problem.pairs` with what serves both position and direction across the plane; returns how many there are.

    One combination of the two sinusoids is free of q5 where the tool points along the last hinge, or straight away from
    it; of a tool that does neither no pair is found.
    """
    tip = problem.arm.tip
    tool = problem.arm.tool
    point = problem.goal.point
    wanted = problem.goal.tool
    size = math.sqrt(tool.even[2] * tool.even[2] + tool.odd[2] * tool.odd[2])
    along = size < SIDEWAYS
    if along:
        even = wanted.even[2]
        odd = wanted.odd[2]
        rest = tool.fixed[2] - wanted.fixed[2]
    else:
        skew = tip.even[2] * tool.odd[2] - tip.odd[2] * tool.even[2]
        if abs(skew) > SIDEWAYS * size * math.sqrt(tip.even[2] * tip.even[2] + tip.odd[2] * tip.odd[2]):
            return 0
        ratio = (tip.even[2] * tool.even[2] + tip.odd[2] * tool.odd[2]) / (size * size)
        even = point.even[2] - ratio * wanted.even[2]
        odd = point.odd[2] - ratio * wanted.odd[2]
        rest = tip.fixed[2] - point.fixed[2] - ratio * (tool.fixed[2] - wanted.fixed[2])
    waists = roots(even, odd, rest, problem.now[0])
    if not waists.found:
        return 0
    count = 0
    for k in range(2):
        q1 = waists.first if k == 0 else waists.second
        q1 = fitted(q1, problem.arm.lower[0], problem.arm.upper[0], problem.now[0])
        if q1 != q1:
            continue
        c = math.cos(q1)
        s = math.sin(q1)
        if along:
            bends = roots(tip.even[2], tip.odd[2], at(point, c, s)[2] - tip.fixed[2], problem.now[4])
        else:
            bends = roots(tool.even[2], tool.odd[2], at(wanted, c, s)[2] - tool.fixed[2], problem.now[4])
        if not bends.found:
            continue
        for m in range(2):
            q5 = bends.first if m == 0 else bends.second
            q5 = fitted(q5, problem.arm.lower[4], problem.arm.upper[4], problem.now[4])
            if q5 == q5:
                problem.pairs[count] = Pair(q1, q5)
                count += 1
    return count
