"""GoalStatus: ~/status, what is said of each goal: once when it is answered, and once when it has ended."""

from __future__ import annotations

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.node import Node

from ik_solver_ros.errors import IkSolverError
from ik_solver_ros.ros.common import convert
from ik_solver_ros.ros.common.qos import STATUS_QOS
from ik_solver_ros.ros.common.throttled_warnings import Warnings
from ik_solver_ros.session.ledger import GoalLedger


class GoalStatus:
    """Goals are numbered as they come; of each, `outcome` says what became of it."""

    def __init__(self, node: Node) -> None:
        self.goal_id = 0  # of the goal that came last
        self.ledger = GoalLedger()
        self._stamp = ""
        self.refused = 0
        self.last = "none came yet"  # what was said of the last one
        self._node = node
        self._warnings = Warnings(node)
        self._status = node.create_publisher(DiagnosticStatus, "~/status", STATUS_QOS)

    def begin(self, stamp: Time | None = None) -> None:
        """Another goal has come; its `stamp` is repeated in the answer, for whoever sent it."""
        self.goal_id += 1
        self._stamp = "" if stamp is None else f"{stamp.sec}.{stamp.nanosec:09d}"

    def report(self, level: bytes, message: str, **values: object) -> None:
        """Answer the present goal."""
        self.last = message
        if self._stamp:
            values["goal_stamp"] = self._stamp
        self._say(level, self.goal_id, message, **values)

    def refuse(self, source: str, error: IkSolverError) -> None:
        """Nothing comes of the present goal."""
        self.refused += 1
        cause = f"{source} {type(error).__name__} {getattr(error, 'argument', '')}"
        self._warnings.warn(cause, f"{source} refused, the arm goes on as it was: {error}")
        self.report(DiagnosticStatus.ERROR, f"{source} refused: {error}", outcome="REFUSED", cause=type(error).__name__)

    def accept(self) -> None:
        """The arm is on its way to the present goal."""
        self._replaced(self.ledger.accept(self.goal_id))

    def drop(self) -> None:
        """The arm is led by something else than a goal."""
        self._replaced(self.ledger.drop())

    def finish(self, off: str) -> None:
        """The motion is over; `off`: what keeps the arm from being where it was led, empty where it is there."""
        done = self.ledger.finish(arrived=not off)
        if done is not None:
            self._end(done, off or "executed", "MISSED" if off else "EXECUTED")

    def counts(self) -> dict[str, int]:
        """How many goals were accepted, executed, missed and replaced."""
        return {what: getattr(self.ledger, what) for what in ("accepted", "executed", "missed", "replaced")}

    def _replaced(self, goal_id: int | None) -> None:
        if goal_id is not None:
            self._end(goal_id, "replaced by another", "REPLACED")

    def _end(self, goal_id: int, message: str, outcome: str) -> None:
        level = DiagnosticStatus.WARN if outcome == "MISSED" else DiagnosticStatus.OK
        self._say(level, goal_id, message, outcome=outcome, **self.counts())

    def _say(self, level: bytes, goal_id: int, message: str, **values: object) -> None:
        name = f"{self._node.get_name()}: goal {goal_id}"
        self._status.publish(convert.status_msg(level, name, message, goal_id=goal_id, **values))
