"""Records that the arm with a waist is described by: C structs in compiled modules (shapes.pxd), these where not."""

from __future__ import annotations

from typing import NamedTuple

from ik_solver_ros.kinematics.arrays import Vec


class Turning(NamedTuple):
    """A vector that turns about an axis: fixed + cos(angle) even + sin(angle) odd."""

    fixed: Vec
    even: Vec
    odd: Vec


class Target(NamedTuple):
    """A goal seen from the arm behind the waist: vectors that turn back as joint 1 turns forth."""

    point: Turning
    tool: Turning
    side: Turning
    size: float  # the part of `point` across the plane is point.fixed[2] + size cos(q1 - middle)
    middle: float


class Sinusoid(NamedTuple):
    """The scalar product of two vectors as the pitch t changes it: mean + Re(swing e^-it)."""

    mean: float
    swing: complex


class Corner(NamedTuple):
    """The bend from one link to the next, see `corner`."""

    cosine: float
    sine: float  # at least 0; negative where there is no such bend


class GroupView(NamedTuple):
    """A problem as the group of hinges sees it, at given angles of the waist and the last hinge."""

    q1: float
    q5: float
    reach: complex  # the tip from hinge 2 [m]
    hand: complex  # the tip from hinge 4, at pitch 0
    match: Sinusoid  # cosine of the approach error
    sine: Sinusoid  # of the roll error; this and the next times 1 + match
    cosine: Sinusoid


class Misses(NamedTuple):
    """By how much a posture misses a direction [rad], the more important one first."""

    first: float  # the approach's chord; or, where the least roll is asked for, the roll
    second: float  # then the approach's chord; else 0


class Posture(NamedTuple):
    """The best posture so far: how it misses, what else tells it from its like, and its five angles."""

    miss: float  # Misses.first; inf of no posture
    second: float  # Misses.second
    elbow: float  # 0 as preferred, 1 not
    step: float  # the largest change of a joint [rad]...
    total: float  # ...and of all of them
    q1: float
    q2: float
    q3: float
    q4: float
    q5: float


class Roots(NamedTuple):
    """Two angles [rad], and whether there are any."""

    first: float
    second: float
    found: bool


class Place(NamedTuple):
    """An angle of the last hinge that has been looked at."""

    miss: float  # negative: not to be looked at again
    q5: float
    side: int  # 0 or 1: which of the two angles of the waist


class Pair(NamedTuple):
    """Angles [rad] of the waist and the last hinge."""

    q1: float
    q5: float


class Valley(NamedTuple):
    """Where a search along the last hinge came to."""

    miss: float
    q5: float
    best: Posture  # what was found on the way, or before
