"""ik_node: goals in, joint trajectories out.

goal_pose, clicked_point -> solve -> MotionPlanner -> joint_trajectory_controller/joint_trajectory
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import PointStamped, Pose, PoseStamped
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from ik_solver_ros.errors import GoalError, IkSolverError, UnknownFrameError
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.kernels import Array
from ik_solver_ros.kinematics.quaternion import rotate
from ik_solver_ros.nodes import convert
from ik_solver_ros.nodes.description import when_described
from ik_solver_ros.nodes.latest import Latest
from ik_solver_ros.nodes.main import run
from ik_solver_ros.nodes.parameters import DESCRIPTION_PARAMS, Param, declare, value
from ik_solver_ros.nodes.throttle import Warnings
from ik_solver_ros.solvers.ccdik_seed import ccdik_step
from ik_solver_ros.solvers.goal import Goal
from ik_solver_ros.solvers.solution import SolverOptions, Status
from ik_solver_ros.solvers.solve import SOLVERS, solve
from ik_solver_ros.trajectory.limits import RAMP_TIME, MotionLimits
from ik_solver_ros.trajectory.motion import Motion, MotionPlanner

PARAMS = (
    *DESCRIPTION_PARAMS,
    Param("solver", "ccdik", "the algorithm", choices=tuple(SOLVERS), live=True),
    Param(
        "goal_mode",
        "pose",
        "what of a goal_pose counts: position and orientation, position and where the tool points, or position",
        choices=("pose", "approach", "position"),
        live=True,
    ),
    Param("position_tolerance", 1e-4, "[m] a goal within this is reached", 1e-9, 0.1, live=True),
    Param("orientation_tolerance", 1e-3, "[rad] a goal within this is reached", 1e-9, 1.0, live=True),
    Param("max_iterations", 100, "steps of one descent of the solver", 1, 100000, live=True),
    Param("max_restarts", 64, "random starts before a goal counts as out of reach", 0, 10000, live=True),
    Param("seed", 0, "of the random starts; the same seed gives the same answers", 0, 2**31 - 1, live=True),
    Param("speed_scale", 1.0, "share of the URDF's velocity limits to use", 0.01, 1.0, live=True),
    Param("ramp_time", RAMP_TIME, "[s] from rest to full speed; a URDF has no acceleration limits", 0.01, 10.0),
    Param("replan_lead", 0.02, "[s] a new goal in motion bends the motion this much later", 0.0, 1.0),
    Param("goal_2d_height", 0.1, "[m] height of the tip for RViz's 2D Goal Pose, whose z is 0", -10.0, 10.0, live=True),
    Param("joint_states_timeout", 1.0, "[s] goals are refused when joint_states are older", 0.05, 60.0, live=True),
    Param("home", [], "joint positions of ~/home [rad or m]; empty: zero, or the limit nearest to it"),
    Param("live", False, "step-wise: one CCDIK sweep for each tick instead of a whole solution"),
    Param("live_rate", 30.0, "[Hz] ticks of the live mode", 1.0, 200.0),
)


class IkNode(Node):
    """The node. All it knows of the arm is its URDF and joint_states; all it says is a trajectory."""

    def __init__(self) -> None:
        super().__init__("ik_node")
        self._chain: Chain | None = None
        self._planner: MotionPlanner | None = None
        declare(self, PARAMS, self._configure)
        self._warnings = Warnings(self)
        self._joint_states = Latest(self, JointState, "joint_states")
        self._goal_id = 0
        self._live = value(self, "live")
        self._live_goal: tuple[Goal, Array] | None = None

        self._trajectories = self.create_publisher(JointTrajectory, "joint_trajectory_controller/joint_trajectory", 10)
        self._status = self.create_publisher(DiagnosticStatus, "~/status", 10)
        self._configure()
        when_described(self, self._use)
        self.create_subscription(PoseStamped, "goal_pose", self._on_goal_pose, 10)
        self.create_subscription(PointStamped, "clicked_point", self._on_clicked_point, 10)
        self.create_service(Trigger, "~/hold", self._on_hold)
        self.create_service(Trigger, "~/home", self._on_home)
        if self._live:
            self.create_timer(1.0 / value(self, "live_rate"), self._on_tick)

    # The robot and the settings

    def _use(self, chain: Chain) -> None:
        log = self.get_logger()
        limits = MotionLimits.from_urdf(
            chain.joint_names, chain.lower, chain.upper, chain.velocity_limit, value(self, "ramp_time")
        )
        self._limits = limits
        log.info(
            f"{chain.model.name}: {chain.n} joints from {chain.base_link} to {chain.tip_link} "
            f"({', '.join(chain.joint_names)}); "
            f"the tool points along {np.round(chain.tool_axis, 3).tolist()} of the tip, {chain.tool_axis_reason}; "
            f"wrist: {chain.wrist.value}"
        )
        for sentence in limits.assumed:
            log.info(sentence)
        log.info("preparing the solver; the very first time it is compiled, which takes about a minute")
        began = time.monotonic()
        pose = Goal.pose(*chain.forward(chain.mid))
        solve(chain, pose, solver=self._solver)  # compiles, or loads what was compiled before
        if self._live:
            ccdik_step(chain, pose, chain.mid)
        if time.monotonic() - began > 3.0:
            log.info(f"the solver was compiled in {time.monotonic() - began:.0f} s and kept for the next start")
        self._chain, self._live_goal = chain, None
        self._planner = MotionPlanner(limits, value(self, "replan_lead"))
        self._configure()
        self._home = self._home_position(chain)
        log.info("ready for goals")

    def _configure(self) -> None:
        self._options = SolverOptions(
            position_tolerance=value(self, "position_tolerance"),
            orientation_tolerance=value(self, "orientation_tolerance"),
            max_iterations=value(self, "max_iterations"),
            max_restarts=value(self, "max_restarts"),
            seed=value(self, "seed"),
        )
        self._solver = value(self, "solver")
        self._goal_mode = value(self, "goal_mode")
        self._goal_2d_height = value(self, "goal_2d_height")
        self._joint_states_timeout = value(self, "joint_states_timeout")
        if self._planner is not None:
            self._planner.limits = self._limits.scaled(value(self, "speed_scale"))

    def _home_position(self, chain: Chain) -> Array:
        home = value(self, "home")
        if not len(home):
            return chain.clamped(np.zeros(chain.n))
        position = chain.checked(home, "home")
        if (position < chain.lower).any() or (position > chain.upper).any():
            raise GoalError(
                "home", list(home), f"positions within {chain.lower.tolist()} and {chain.upper.tolist()} are wanted"
            )
        return position

    # Goals

    def _on_goal_pose(self, message: PoseStamped) -> None:
        self._goal_id += 1
        try:
            chain, measured = self._ready()
            goal, note = self._goal_from(chain, message, measured)
            self._pursue(chain, goal, measured, note)
        except IkSolverError as error:
            self._refuse("goal_pose", error)

    def _on_clicked_point(self, message: PointStamped) -> None:
        self._goal_id += 1
        try:
            chain, measured = self._ready()
            pose = Pose()
            pose.position.x, pose.position.y, pose.position.z = message.point.x, message.point.y, message.point.z
            position, _ = self._in_base(chain, message.header.frame_id, pose, measured)
            self._pursue(chain, Goal.point(position), measured, "")
        except IkSolverError as error:
            self._refuse("clicked_point", error)

    def _ready(self) -> tuple[Chain, Array]:
        """The chain and its measured joints (n,). Raises GoalError while something is missing."""
        if self._chain is None:
            raise GoalError("robot_description", None, "no robot is known yet; publish one, or set description_file")
        message, received = self._joint_states.take()
        if message is None:
            raise GoalError("joint_states", None, "none were received yet, so where the arm is is not known")
        age = time.time() - received
        if age > self._joint_states_timeout:
            raise GoalError("joint_states", f"{age:.1f} s old", "the arm is silent, so where it is is not known")
        return self._chain, convert.joint_positions(message, self._chain.joint_names)

    def _goal_from(self, chain: Chain, message: PoseStamped, measured: Array) -> tuple[Goal, str]:
        pose = message.pose
        flat = pose.position.z == 0.0 and pose.orientation.x == 0.0 and pose.orientation.y == 0.0
        if flat:  # as RViz's 2D Goal Pose sends it
            pose.position.z = self._goal_2d_height
        position, quat = self._in_base(chain, message.header.frame_id, pose, measured)
        if flat:
            note = f"2D goal: the tip {self._goal_2d_height:g} m above it, the tool along the arrow; "
            return Goal.approach(position, rotate(quat, (1.0, 0.0, 0.0))), note
        if self._goal_mode == "position":
            return Goal.point(position), ""
        if self._goal_mode == "approach":
            return Goal.approach(position, rotate(quat, chain.tool_axis)), ""
        return Goal.pose(position, quat), ""

    def _in_base(self, chain: Chain, frame: str, pose: Pose, measured: Array) -> tuple[Array, Array]:
        """A pose of any frame of the URDF, checked, in base_link: position (3,), quaternion (4,)."""
        checked = Goal.pose(convert.position_of(pose), convert.quaternion_of(pose))
        assert checked.quat_xyzw is not None
        frame = frame.removeprefix("/")
        if frame in ("", chain.base_link):
            return checked.position, checked.quat_xyzw
        if frame not in chain.model.links:
            raise UnknownFrameError(frame, chain.model.links)
        positions = dict(zip(chain.joint_names, measured))
        return convert.transformed(
            chain.model.transform(chain.base_link, frame, positions), checked.position, checked.quat_xyzw
        )

    def _pursue(self, chain: Chain, goal: Goal, measured: Array, note: str) -> None:
        assert self._planner is not None
        now = self._now()
        commanded = self._planner.commanded(now)
        q0 = commanded.position if commanded is not None and self._planner.moving(now) else measured
        if self._live:
            self._live_goal = (goal, chain.clamped(q0))
            self._report(DiagnosticStatus.OK, note + "live: one sweep for each tick", outcome="live")
            return
        began = time.perf_counter()
        solution = solve(chain, goal, q0, solver=self._solver, options=self._options)
        spent = time.perf_counter() - began
        motion = self._planner.to(solution.q, measured, now)
        self._send(motion)
        self._report(
            DiagnosticStatus.OK if solution.status is Status.REACHED else DiagnosticStatus.WARN,
            note + solution.sentence(),
            outcome=solution.status.name,
            position_error_m=solution.position_error,
            approach_error_rad=solution.approach_error,
            roll_error_rad=solution.roll_error,
            solve_time_us=1e6 * spent,
            iterations=solution.iterations,
            restarts=solution.restarts,
            motion_time_s=motion.trajectory.duration,
        )

    def _on_tick(self) -> None:
        if self._live_goal is None:
            return
        try:
            chain, measured = self._ready()
            goal, q = self._live_goal
            stepped = ccdik_step(chain, goal, q)
            if np.max(np.abs(stepped - q)) < 1e-6:  # the sweeps have come to their end
                self._live_goal = None
                return
            self._live_goal = (goal, stepped)
            assert self._planner is not None
            self._send(self._planner.to(stepped, measured, self._now()))
        except IkSolverError as error:
            self._live_goal = None
            self._refuse("live", error)

    # Services

    def _on_hold(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        return self._serve(response, "holding", lambda planner, measured: planner.stop(measured, self._now()))

    def _on_home(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        return self._serve(
            response, "going home", lambda planner, measured: planner.to(self._home, measured, self._now())
        )

    def _serve(self, response: Trigger.Response, what: str, move: Any) -> Trigger.Response:
        self._goal_id += 1
        self._live_goal = None
        try:
            _, measured = self._ready()
            self._send(move(self._planner, measured))
            self._report(DiagnosticStatus.OK, what, outcome=what.upper().replace(" ", "_"))
            response.success, response.message = True, what
        except IkSolverError as error:
            self._refuse(what, error)
            response.success, response.message = False, str(error)
        return response

    # What leaves the node

    def _now(self) -> float:
        return float(self.get_clock().now().nanoseconds * 1e-9)

    def _send(self, motion: Motion) -> None:
        self._trajectories.publish(convert.trajectory_msg(motion.trajectory, motion.start))

    def _report(self, level: bytes, message: str, **values: object) -> None:
        name = f"{self.get_name()}: goal {self._goal_id}"
        self._status.publish(convert.status_msg(level, name, message, goal_id=self._goal_id, **values))

    def _refuse(self, source: str, error: IkSolverError) -> None:
        argument = getattr(error, "argument", "")
        self._warnings.warn(
            f"{source} {type(error).__name__} {argument}", f"{source} refused, the arm goes on as it was: {error}"
        )
        self._report(
            DiagnosticStatus.ERROR, f"{source} refused: {error}", outcome="REFUSED", cause=type(error).__name__
        )


def main(args: list[str] | None = None) -> int:
    """Run ik_node."""
    return run(IkNode, args)


if __name__ == "__main__":
    sys.exit(main())
