"""Every exception of the package.

::

    IkSolverError
    |-- UrdfError (ValueError)
    |   |-- UrdfSyntaxError        not XML, not a <robot>, a DOCTYPE, an element the parser refuses
    |   |-- DuplicateNameError     two links or two joints of one name, two parents of one link
    |   |-- UnknownLinkError       a link that the URDF does not have
    |   |-- NoPathError            the tip does not hang on the base
    |   |-- AmbiguousTipError      several serial chains to choose from
    |   |-- CycleError             links, or mimic tags, in a ring
    |   |-- UnsupportedJointError  planar, floating or unknown joint on the chain; no moving joint
    |   |-- AxisError              zero or non-finite axis or origin
    |   `-- LimitError             missing, non-finite or crossed limits
    |-- GoalError (ValueError)     an argument of a goal or of solve() that cannot be used
    |   `-- UnknownFrameError      a goal in a frame that nobody knows
    |-- ParameterError (ValueError)  a node's parameter, or a tolerance, that cannot be used
    |-- UnknownSolverError (KeyError)
    |-- UnsupportedChainError      a solver that cannot work on this chain
    |-- MissingPackageError        a solver whose optional package is not installed
    |-- TrajectoryError (ValueError)  a trajectory that is refused whole
    |-- GoalRefusedError           ik_node refused a goal of ArmClient's
    |-- GoalMissedError            the arm did not come to it
    |-- GoalReplacedError          somebody sent another
    |-- ArmTimeoutError            a node does not answer
    |-- BusError                   a serial port that cannot be opened, or is gone
    |-- CalibrationError (ValueError)  a calibration that cannot be used
    |   `-- SilentServoError     a servo that is being calibrated does not answer
    |-- RecordError (ValueError)   a file that is not the record of a run
    |-- CollisionError             a motion through the floor, or through the arm itself
    `-- ArmError                   a simulated or real arm that cannot be used

Each carries the offending values as attributes, and its message names the thing, the value and what would
be right.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def listed(names: Iterable[Any]) -> str:
    """Names for a message: "a, b, c", or "none"."""
    return ", ".join(str(name) for name in names) or "none"


class IkSolverError(Exception):
    """Base of all errors of this package."""


class UrdfError(IkSolverError, ValueError):
    """The robot description cannot be used; `element` names the part at fault."""

    def __init__(self, message: str, *, element: str = "") -> None:
        super().__init__(message)
        self.element = element


class UrdfSyntaxError(UrdfError):
    """The text is not the XML of a robot, or has a DOCTYPE."""


class DuplicateNameError(UrdfError):
    """A name that must be unique occurs twice."""


class UnknownLinkError(UrdfError):
    """A link that is not in the URDF."""

    def __init__(self, role: str, link: str, available: Iterable[str]) -> None:
        self.available = tuple(available)
        self.link = link
        super().__init__(
            f"{role} {link!r} is not a link of this robot; its links are: {listed(self.available)}", element=link
        )


class NoPathError(UrdfError):
    """There is no way from the base link down to the tip link."""


class AmbiguousTipError(UrdfError):
    """Several serial chains are possible; `candidates` lists their tip links."""

    def __init__(self, role: str, candidates: Iterable[str], advice: str) -> None:
        self.candidates = tuple(candidates)
        super().__init__(f"several links could be the {role}: {listed(self.candidates)}; {advice}", element=role)


class CycleError(UrdfError):
    """The joints form a ring, or mimic each other in one."""


class UnsupportedJointError(UrdfError):
    """A joint on the chain is of a type that a serial chain cannot have."""


class AxisError(UrdfError):
    """A joint axis or origin is zero or not finite."""


class LimitError(UrdfError):
    """A joint limit is missing, not finite, or lower > upper."""

    def __init__(self, message: str, *, joint: str, lower: float | None = None, upper: float | None = None) -> None:
        super().__init__(message, element=joint)
        self.joint, self.lower, self.upper = joint, lower, upper


class GoalError(IkSolverError, ValueError):
    """An argument that cannot be used; `argument`, `value` and `wanted` say which, what and what would be right."""

    def __init__(self, argument: str, value: Any, wanted: str) -> None:
        self.argument, self.value, self.wanted = argument, value, wanted
        super().__init__(_refusal(argument, value, wanted))


class UnknownFrameError(GoalError):
    """A frame that is neither in the URDF nor known to tf2."""

    def __init__(self, frame: str, available: Iterable[str], which: str = "") -> None:
        self.available = tuple(available)
        known = f"frames {which}" if which else "frames"
        super().__init__("frame_id", frame, f"unknown frame; known {known} are: {listed(self.available)}")


class ParameterError(IkSolverError, ValueError):
    """A parameter that cannot be used; `name`, `value` and `wanted` say which, what and what would be right."""

    def __init__(self, name: str, value: Any, wanted: str) -> None:
        self.name, self.value, self.wanted = name, value, wanted
        super().__init__(_refusal(name, value, wanted))


def _refusal(name: str, value: Any, wanted: str) -> str:
    shown = value.tolist() if hasattr(value, "tolist") else value  # numpy's numbers as plain ones
    return f"{name} = {shown!r}: {wanted}"


class UnknownSolverError(IkSolverError, KeyError):
    """A solver name that is not in the table."""

    def __init__(self, name: str, available: Iterable[str]) -> None:
        self.name, self.available = name, tuple(available)
        super().__init__(f"solver {name!r} is unknown; there are: {listed(self.available)}")

    def __str__(self) -> str:  # KeyError would print the message quoted
        return str(self.args[0])


class UnsupportedChainError(IkSolverError):
    """A solver that cannot work on this chain; `solver` and `why` say which and why."""

    def __init__(self, solver: str, chain: Any, why: str) -> None:
        self.solver, self.why = solver, why
        super().__init__(f"solver {solver!r} cannot work on {chain!r}: {why}; ccdik takes any chain")


class MissingPackageError(IkSolverError):
    """A solver whose optional package is not installed; the message says how to install it."""

    def __init__(self, solver: str, package: str, error: Exception) -> None:
        self.solver, self.package = solver, package
        extra = "sim" if package == "pybullet" else solver
        super().__init__(f"solver {solver!r} needs {package} ({error}): pip install 'ik_solver_ros[{extra}]'")


class TrajectoryError(IkSolverError, ValueError):
    """A trajectory that is refused whole; `joint` is the joint at fault where there is one."""

    def __init__(self, message: str, *, joint: str = "") -> None:
        super().__init__(message)
        self.joint = joint


class GoalRefusedError(IkSolverError):
    """ik_node has refused a goal; the message says why."""


class GoalMissedError(IkSolverError):
    """The arm did not come to where it was led; the message says what kept it."""


class GoalReplacedError(IkSolverError):
    """Another goal, or a hold, came before this one was executed."""


class ArmTimeoutError(IkSolverError, TimeoutError):
    """A node that does not answer; the message names it."""


class BusError(IkSolverError):
    """A serial port, `port`, that cannot be opened, or is gone."""

    def __init__(self, message: str, *, port: str) -> None:
        super().__init__(message)
        self.port = port


class CalibrationError(IkSolverError, ValueError):
    """A calibration of servos that cannot be used; `joint` is the joint at fault where there is one."""

    def __init__(self, message: str, *, joint: str = "") -> None:
        super().__init__(message)
        self.joint = joint


class SilentServoError(CalibrationError):
    """A servo that does not answer while it is being calibrated."""


class RecordError(IkSolverError, ValueError):
    """A file that is not the record of a run, or has nothing of what was asked for."""


class CollisionError(IkSolverError):
    """A motion in which two links, or a link and the "floor", would touch: `links`, `fraction` of it before that."""

    def __init__(self, message: str, links: tuple[str, str], fraction: float) -> None:
        super().__init__(message)
        self.links, self.fraction = links, fraction


class ArmError(IkSolverError):
    """An arm (simulated or real) that cannot be opened, read or written."""
