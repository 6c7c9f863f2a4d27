"""GoalStatus: ~/status, what is said of each goal: once when it is answered, and once when it has ended."""

from __future__ import annotations

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.node import Node

from ik_solver_ros.errors import IkSolverError
from ik_solver_ros.ros.common import convert
from ik_solver_ros.ros.common.qos import STATUS_QOS
from ik_solver_ros.ros.common.throttled_warnings import ThrottledWarnings
from ik_solver_ros.session.ledger import End, GoalLedger
from ik_solver_ros.session.outcome import Outcome
from ik_solver_ros.session.reply import Level, Reply


class GoalStatus:
    """Goals are numbered as they come; of each, `outcome` says what became of it."""

    def __init__(self, node: Node) -> None:
        self.ledger = GoalLedger()
        self.last = "none came yet"  # what was said of the last goal
        self._stamp = ""
        self._node = node
        self._warnings = ThrottledWarnings(node)
        self._status = node.create_publisher(DiagnosticStatus, "~/status", STATUS_QOS)

    def begin(self, stamp: Time | None = None) -> None:
        """Another goal has come; its `stamp` is repeated in the answer, for whoever sent it."""
        self.ledger.begin()
        self._stamp = "" if stamp is None else convert.stamp_text(stamp)

    def answer(self, reply: Reply) -> None:
        """Answer the present goal."""
        self._end(self.ledger.answer(reply.outcome))
        self.last = reply.sentence
        values = dict(reply.values)
        if self._stamp:
            values["goal_stamp"] = self._stamp
        self._say(reply.level, self.ledger.goal_id, reply.sentence, outcome=reply.outcome.name, **values)

    def refuse(self, source: str, error: IkSolverError) -> None:
        """Nothing comes of the present goal."""
        cause = type(error).__name__
        self._warnings.warn(
            f"{source} {cause} {getattr(error, 'argument', '')}",
            f"{source} refused, the arm goes on as it was: {error}",
        )
        self.answer(Reply(Level.ERROR, f"{source} refused: {error}", Outcome.REFUSED, values={"cause": cause}))

    def replace(self) -> None:
        """The arm is led by something else than a goal."""
        self._end(self.ledger.replace())

    def finish(self, fault: str, tip_error: tuple[float, float]) -> None:
        """The motion is over: see GoalLedger."""
        self._end(self.ledger.finish(fault, tip_error))

    def _end(self, end: End | None) -> None:
        if end is not None:
            level = Level.WARN if end.outcome is Outcome.MISSED else Level.OK
            self._say(level, end.goal_id, end.sentence, outcome=end.outcome.name, **self.ledger.counts())

    def _say(self, level: Level, goal_id: int, sentence: str, **values: object) -> None:
        name = f"{self._node.get_name()}: goal {goal_id}"
        self._status.publish(convert.status_msg(level, name, sentence, goal_id=goal_id, **values))
