"""Reply: what a session says to a goal, and what the arm shall do about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple

from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.session.outcome import Outcome
from ik_solver_ros.solvers.solution import Solution
from ik_solver_ros.trajectory.motion import Motion


class Level(IntEnum):
    """How serious it is; diagnostic_msgs/DiagnosticStatus has the same numbers."""

    OK = 0
    WARN = 1
    ERROR = 2


class Joints(NamedTuple):
    """The joints of a robot as measured."""

    q: Array  # (n,) of the chain [rad or m]
    others: Mapping[str, float] = {}  # off the chain, by name, where known


class Reply(NamedTuple):
    """An answer. `motion` is what is to be sent to the arm; None where it goes on as it does."""

    level: Level
    sentence: str
    outcome: Outcome
    motion: Motion | None = None
    values: Mapping[str, object] = {}  # numbers for programs, by name with the unit
    solution: Solution | None = None  # of a goal that was solved
    poses: Sequence[tuple[Array, Array]] = ()  # of a path: positions (3,) [m] and quaternions (4,) xyzw
    is_news: bool = True  # False where the same was said just before, as of every further twist of a stream
