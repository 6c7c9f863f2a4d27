"""The FollowJointTrajectory action of a follower, for MoveIt and whoever else speaks it. Needs control_msgs."""

from __future__ import annotations

from collections import deque
from typing import Any

from control_msgs.action import FollowJointTrajectory
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.node import Node
from rclpy.task import Future

from ik_solver_ros.control.follower import Ending, TrajectoryEnd
from ik_solver_ros.control.tolerances import Tolerances
from ik_solver_ros.errors import IkSolverError
from ik_solver_ros.ros.arm_node.controllers import Commands, Controller
from ik_solver_ros.ros.common import convert

Result = FollowJointTrajectory.Result
CODES = {
    TrajectoryEnd.DONE: Result.SUCCESSFUL,
    TrajectoryEnd.PATH_TOLERANCE: Result.PATH_TOLERANCE_VIOLATED,
    TrajectoryEnd.GOAL_TOLERANCE: Result.GOAL_TOLERANCE_VIOLATED,
    TrajectoryEnd.REPLACED: Result.INVALID_GOAL,
    TrajectoryEnd.HELD: Result.INVALID_GOAL,
}
FEEDBACK_PERIOD = 0.05  # [s]


class FollowAction:
    """Hands the goals of an action to a follower, and tells their ends."""

    def __init__(self, node: Node, controller: Controller, commands: Commands) -> None:
        self._node, self._controller, self._commands = node, controller, commands
        self._open = 0  # goals that are under way, or being handed over
        self._goals: dict[int, tuple[Any, Future]] = {}  # by the trajectory's number
        self._newest = 0  # of these numbers
        self._ended: deque[Ending] = deque()
        self._timer = node.create_timer(FEEDBACK_PERIOD, self._tell)
        self._timer.cancel()
        self._server = ActionServer(
            node,
            FollowJointTrajectory,
            f"{controller.name}/follow_joint_trajectory",
            execute_callback=self._execute,
            goal_callback=lambda _: GoalResponse.ACCEPT,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
        )

    def ended(self, ending: Ending) -> None:
        """Note how a trajectory ended, from any thread. While no goal is open it was none of ours."""
        if self._open:
            self._ended.append(ending)

    async def _execute(self, handle: Any) -> Any:
        self._open += 1  # before the trajectory is handed over: it may end at once
        try:
            return await self._follow(handle)
        finally:
            self._open -= 1

    async def _follow(self, handle: Any) -> Any:
        goal = handle.request
        try:
            trajectory = convert.trajectory_from(goal.trajectory)
            stamp = convert.seconds(goal.trajectory.header.stamp)
            number = self._commands.accept(self._controller.name, trajectory, stamp, self._tolerances(goal))
        except IkSolverError as error:
            handle.abort()
            return Result(error_code=Result.INVALID_GOAL, error_string=str(error))
        if len(trajectory.times) == 0:
            handle.succeed()
            return Result(error_code=Result.SUCCESSFUL, error_string="holding")
        done = Future(executor=self._node.executor)
        self._goals[number], self._newest = (handle, done), number
        self._timer.reset()
        ending: Ending = await done
        if ending.how is TrajectoryEnd.DONE:
            handle.succeed()
        elif handle.is_cancel_requested:
            handle.canceled()
        else:
            handle.abort()
        return Result(error_code=CODES[ending.how], error_string=ending.reason)

    def _tolerances(self, goal: Any) -> Tolerances:
        """The goal's own tolerances, by the message's rules: 0 is the follower's own, negative is none."""
        own, names = self._controller.tolerances, self._controller.limits.joint_names
        columns = []
        for given, default in ((goal.path_tolerance, own.path), (goal.goal_tolerance, own.goal)):
            column = dict(zip(names, default.tolist()))
            for one in given:
                if one.name in column and one.position != 0.0:
                    column[one.name] = max(one.position, 0.0)
            columns.append(column)
        seconds = convert.seconds(goal.goal_time_tolerance)
        goal_time = own.goal_time if seconds == 0.0 else max(seconds, 0.0)
        return Tolerances.of(names, columns[0], columns[1], goal_time, own.stopped_velocity)

    def _tell(self) -> None:
        """Feedback to the goals under way, and their ends."""
        setpoint = self._commands.setpoint(self._controller.name)
        while self._ended:
            ending = self._ended.popleft()
            _, done = self._goals.pop(ending.number, (None, None))
            if done is not None:
                done.set_result(ending)
        # An older goal is canceled by its successor, which is not to be held for it.
        if self._newest in self._goals and self._goals[self._newest][0].is_cancel_requested:
            self._commands.hold(self._controller.name)
        for handle, _ in self._goals.values():
            feedback = FollowJointTrajectory.Feedback(joint_names=list(self._controller.limits.joint_names))
            feedback.header.stamp = self._node.get_clock().now().to_msg()
            feedback.desired.positions = setpoint.position.tolist()
            feedback.desired.velocities = setpoint.velocity.tolist()
            handle.publish_feedback(feedback)
        if not self._goals:
            self._timer.cancel()
