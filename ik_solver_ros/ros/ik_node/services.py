"""Services: ~/hold and ~/home, by service and from the tip's menu, and an emergency stop there."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rclpy.node import Node
from std_srvs.srv import SetBool, Trigger

from ik_solver_ros.errors import IkSolverError
from ik_solver_ros.ros.ik_node.goal_status import GoalStatus
from ik_solver_ros.ros.ik_node.pending_goals import PendingGoals, Ready
from ik_solver_ros.session.reply import Joints, Reply
from ik_solver_ros.session.session import ArmSession


class Services:
    """What has the arm move, or rest, without a goal."""

    def __init__(
        self, node: Node, status: GoalStatus, pending: PendingGoals, ready: Ready, answer: Callable[[Reply], None]
    ) -> None:
        """answer: have the arm do what a reply says, and make it known."""
        self._status, self._pending, self._ready, self._answer = status, pending, ready, answer
        self._stopper = node.create_client(SetBool, "servo_node/emergency_stop")
        node.create_service(Trigger, "~/hold", lambda _, response: _served(self._hold(), response))
        node.create_service(Trigger, "~/home", lambda _, response: _served(self._go_home(), response))

    @property
    def actions(self) -> Mapping[str, Callable[[], object]]:
        """By what they are called in a menu."""
        return {"hold": self._hold, "home": self._go_home, "emergency stop": self._emergency_stop}

    def _hold(self) -> tuple[bool, str]:
        return self._do("holding", ArmSession.hold)

    def _go_home(self) -> tuple[bool, str]:
        return self._do("going home", ArmSession.go_home)

    def _emergency_stop(self) -> None:
        """The servos' emergency stop where there is one, and hold."""
        if self._stopper.service_is_ready():
            self._stopper.call_async(SetBool.Request(data=True))
        self._hold()

    def _do(self, what: str, act: Callable[[ArmSession, Joints], Reply]) -> tuple[bool, str]:
        """Whether it is done, and a sentence."""
        self._status.begin()
        self._pending.forget()
        try:
            session, joints = self._ready()
            reply = act(session, joints)
        except IkSolverError as error:
            self._status.refuse(what, error)
            return False, str(error)
        self._answer(reply)
        return True, reply.sentence


def _served(done: tuple[bool, str], response: Trigger.Response) -> Trigger.Response:
    response.success, response.message = done
    return response
