"""ik_node: goals in, joint trajectories out.

goal_pose, goal_approach, clicked_point -> solve          \
goal_path                               -> plan_tip_path   -> MotionPlanner -> joint_trajectory_controller/...
~/delta_twist_cmds                      -> solve_velocity /
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import PointStamped, PoseArray, PoseStamped, TwistStamped
from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory

from ik_solver_ros.collision.guard import CollisionGuard
from ik_solver_ros.errors import GoalError, IkSolverError, TrajectoryError
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.kernels import Array
from ik_solver_ros.kinematics.load import with_limits
from ik_solver_ros.kinematics.quaternion import rotate
from ik_solver_ros.ros.common import convert
from ik_solver_ros.ros.common.description import when_described
from ik_solver_ros.ros.common.health import Health, Tell
from ik_solver_ros.ros.common.joint_limits import joint_limits
from ik_solver_ros.ros.common.latest_message import Latest
from ik_solver_ros.ros.common.parameters import declare, value, warn_of_unknown
from ik_solver_ros.ros.common.spin import run
from ik_solver_ros.ros.common.steady_clock import SteadyClock
from ik_solver_ros.ros.ik_node.goal_status import GoalStatus
from ik_solver_ros.ros.ik_node.markers import Markers
from ik_solver_ros.ros.ik_node.params import PARAMS, SOLVING
from ik_solver_ros.ros.ik_node.pending_goals import Arrivals
from ik_solver_ros.servo.calibration import load_calibration
from ik_solver_ros.solvers.goal import Goal
from ik_solver_ros.solvers.reference.ccdik_published import ccdik_step
from ik_solver_ros.solvers.solution import Solution, SolverOptions, Status
from ik_solver_ros.solvers.solve import solve
from ik_solver_ros.solvers.velocity import solve_velocity
from ik_solver_ros.trajectory.cartesian import PathOptions, plan_tip_path
from ik_solver_ros.trajectory.limits import MotionLimits
from ik_solver_ros.trajectory.motion import AT_REST_WITHIN, Motion, MotionPlanner
from ik_solver_ros.trajectory.trajectory import State, Trajectory

TipMarker: Any = None
try:
    from ik_solver_ros.ros.ik_node.tip_marker import TipMarker
except ModuleNotFoundError as missing:
    if missing.name is None or not missing.name.startswith("interactive_markers"):
        raise

ARRIVAL = 1.0  # [s] after a motion's end that the arm may take to be there...
THERE = 0.005  # [rad or m] ...this near; after it, what it has not followed by is missed


class IkNode(Node):
    """The node. All it knows of the arm is its URDF and joint_states; all it says is a trajectory."""

    def __init__(self) -> None:
        super().__init__("ik_node")
        self._chain: Chain | None = None
        self._planner: MotionPlanner | None = None
        self._others: dict[str, float] = {}  # joints off the chain, as measured
        declare(self, PARAMS, self._configure)
        self._steady = SteadyClock(self, self._on_jump)
        self._goals = GoalStatus(self)
        self._markers: Markers | None = None
        self._tip_marker: Any = None
        self._stopper = self.create_client(SetBool, "servo_node/emergency_stop")
        self._arrivals = Arrivals(self, self._goals, self._ready)
        self._joint_states = Latest(self, JointState, "joint_states")
        self._steered_until = 0.0
        self._live = value(self, "live")
        self._live_goal: tuple[Goal, Array] | None = None

        self._trajectories = self.create_publisher(JointTrajectory, "joint_trajectory_controller/joint_trajectory", 10)
        self._configure()
        when_described(self, self._use)
        # Of what arrives faster than it can be done, the latest counts.
        self.create_subscription(PoseStamped, "goal_pose", self._on_goal_pose, 1)
        self.create_subscription(PoseStamped, "goal_approach", self._on_goal_approach, 1)
        self.create_subscription(PointStamped, "clicked_point", self._on_clicked_point, 1)
        self.create_subscription(PoseArray, "goal_path", self._on_goal_path, 1)
        self.create_subscription(TwistStamped, "~/delta_twist_cmds", self._on_twist, 1)
        self.create_service(Trigger, "~/hold", self._on_hold)
        self.create_service(Trigger, "~/home", self._on_home)
        Health(self, self._examine)
        self._end_timer = self.create_timer(3600.0, self._on_end)
        self._end_timer.cancel()
        if self._live:
            self.create_timer(1.0 / value(self, "live_rate"), self._on_tick)

    # The robot and the settings

    def _use(self, chain: Chain) -> None:
        log = self.get_logger()
        given = joint_limits(self, chain.joint_names)
        chain = self._calibrated(chain)
        limits = MotionLimits.from_urdf(
            chain.joint_names, chain.lower, chain.upper, chain.velocity_limit, value(self, "ramp_time"), given
        )
        if (limits.lower != chain.lower).any() or (limits.upper != chain.upper).any():
            chain = with_limits(chain, limits.lower, limits.upper)
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
        guard = CollisionGuard(
            chain,
            floor_height=value(self, "floor_height"),
            margin=value(self, "collision_margin"),
            ignored=[pair for pair in value(self, "collision_ignored") if pair],
        )
        for sentence in guard.notes:
            log.info(sentence)

        def check(trajectory: Trajectory, start: State) -> None:
            if value(self, "collision_guard"):
                guard.check(trajectory, start, self._others)

        self._planner = MotionPlanner(limits, value(self, "replan_lead"), check)
        self._configure()
        self._home = self._home_position(chain)
        self._markers = Markers(self, chain, value(self, "frame_prefix"))
        self._make_tip_marker(chain)
        warn_of_unknown(self)
        log.info("ready for goals")

    def _calibrated(self, chain: Chain) -> Chain:
        """The chain within the ranges of its servos, where a calibration is given."""
        path = value(self, "calibration")
        if not path:
            return chain
        calibration = load_calibration(Path(path))
        calibration.fit({j.name: (j.lower, j.upper) for j in chain.model.joints.values()}, chain.joint_names)
        ranges = {joint.name: joint.limits for joint in calibration.joints}
        low, high = np.transpose([ranges[name] for name in chain.joint_names])
        return with_limits(chain, np.maximum(chain.lower, low), np.minimum(chain.upper, high))

    def _make_tip_marker(self, chain: Chain) -> None:
        if TipMarker is None or self._tip_marker is not None:
            return

        def chosen(name: str) -> str:
            return str(value(self, name))

        def choose(name: str, choice: str) -> None:
            self.set_parameters([Parameter(name, value=choice)])

        self._tip_marker = TipMarker(
            self,
            value(self, "frame_prefix") + chain.base_link,
            0.5 * chain.reach,
            self._on_dragged,
            {param.name: param.choices for param in SOLVING if param.name in ("goal_mode", "elbow")},
            chosen,
            choose,
            {"hold": self._hold, "home": self._go_home, "emergency stop": self._stop},
        )

    def _configure(self) -> None:
        self._options = SolverOptions(
            position_tolerance=value(self, "position_tolerance"),
            orientation_tolerance=value(self, "orientation_tolerance"),
            max_iterations=value(self, "max_iterations"),
            max_restarts=value(self, "max_restarts"),
            seed=value(self, "seed"),
            elbow=value(self, "elbow"),
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
        def answer(chain: Chain, transform: Array, measured: Array) -> None:
            height, mode = self._goal_2d_height, self._goal_mode
            goal, note = convert.goal_from(message.pose, transform, chain.tool_axis, mode, height)
            self._pursue(chain, goal, measured, note)

        self._arrivals.take("goal_pose", message.header, answer)

    def _on_goal_approach(self, message: PoseStamped) -> None:
        def answer(chain: Chain, transform: Array, measured: Array) -> None:
            position, quat = convert.pose_in(message.pose, transform)
            self._pursue(chain, Goal.approach(position, rotate(quat, (1.0, 0.0, 0.0))), measured, "")

        self._arrivals.take("goal_approach", message.header, answer)

    def _on_clicked_point(self, message: PointStamped) -> None:
        def answer(chain: Chain, transform: Array, measured: Array) -> None:
            at = message.point
            self._pursue(chain, Goal.point(transform[:3, :3] @ (at.x, at.y, at.z) + transform[:3, 3]), measured, "")

        self._arrivals.take("clicked_point", message.header, answer)

    def _on_goal_path(self, message: PoseArray) -> None:
        def answer(chain: Chain, transform: Array, measured: Array) -> None:
            self._trace(chain, [convert.pose_in(pose, transform) for pose in message.poses], measured)

        self._arrivals.take("goal_path", message.header, answer)

    def _on_dragged(self, feedback: Any) -> None:
        def answer(chain: Chain, transform: Array, measured: Array) -> None:
            pose = convert.pose_in(feedback.pose, transform)
            self._pursue(chain, convert.goal_of(*pose, chain.tool_axis, self._goal_mode), measured, "")

        self._arrivals.take("drag", feedback.header, answer)

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
        self._others = convert.other_positions(message, self._chain.model.joints)
        return self._chain, convert.joint_positions(message, self._chain.joint_names)

    def _on_twist(self, message: TwistStamped) -> None:
        try:
            chain, measured = self._ready()
            self._steer(chain, message, measured)
        except IkSolverError as error:
            self._goals.refuse("delta_twist_cmds", error)

    def _pursue(self, chain: Chain, goal: Goal, measured: Array, note: str) -> None:
        assert self._planner is not None
        now = self._steady.now()
        q0 = self._commanded(measured, now)
        if self._live:
            self._live_goal = (goal, chain.clamped(q0))
            self._goals.report(DiagnosticStatus.OK, note + "live: one sweep for each tick", outcome="live")
            return
        began = time.perf_counter()
        solution = solve(chain, goal, q0, solver=self._solver, options=self._options)
        spent = time.perf_counter() - began
        self._check_answer(solution)
        limits, slowly = self._limits_for(chain, solution.q - q0)
        motion = self._planner.plan_to(solution.q, measured, now, limits)
        self._send(motion)
        self._accept()
        self._goals.report(
            DiagnosticStatus.OK if solution.status is Status.REACHED else DiagnosticStatus.WARN,
            note + solution.sentence() + slowly,
            outcome=solution.status.name,
            reason=solution.reason,
            position_error_m=solution.position_error,
            approach_error_rad=solution.approach_error,
            roll_error_rad=solution.roll_error,
            solve_time_us=1e6 * spent,
            iterations=solution.iterations,
            restarts=solution.restarts,
            motion_time_s=motion.trajectory.duration,
        )
        if self._markers is not None:
            self._markers.show(solution, motion.trajectory, q0, self._others)
        self._put_tip_marker(chain, solution.q)

    def _check_answer(self, solution: Solution) -> None:
        """Raise GoalError where the nearest answer is not good enough for the parameters."""
        if solution.status is Status.REACHED:
            return
        if value(self, "on_unreachable") == "reject":
            raise GoalError("on_unreachable", "reject", f"it is not reachable: {solution.sentence()}")
        worst, most = max(solution.approach_error, solution.roll_error), value(self, "max_orientation_error")
        if worst > most:
            raise GoalError("max_orientation_error", most, f"the nearest is {worst:.3g} off: {solution.sentence()}")

    def _commanded(self, measured: Array, now: float) -> Array:
        """Where the joints are: as commanded while they move, else as measured."""
        assert self._planner is not None
        state = self._planner.commanded(now)
        return state.position if state is not None and self._planner.moving(now) else measured

    def _limits_for(self, chain: Chain, way: Array) -> tuple[MotionLimits | None, str]:
        """The limits to go a way (n,) with, and what to say of it. Raises TrajectoryError where it is refused."""
        worst = int(np.argmax(np.abs(way)))
        if abs(way[worst]) <= value(self, "max_joint_jump"):
            return None, ""
        what = f"{chain.joint_names[worst]} has to go by {abs(way[worst]):.3g}, to another posture of the arm"
        if value(self, "on_joint_jump") == "refuse":
            raise TrajectoryError(f"{what} (max_joint_jump: {value(self, 'max_joint_jump'):g})")
        scale = value(self, "speed_scale") * value(self, "joint_jump_speed_scale")
        return self._limits.scaled(scale), f"; slowly: {what}"

    def _trace(self, chain: Chain, poses: list[tuple[Array, Array]], measured: Array) -> None:
        """Go straight lines through the poses, from rest: whatever was under way is stopped first."""
        assert self._planner is not None
        if not poses:
            raise GoalError("poses", [], "at least one pose is wanted")
        planner = self._planner
        if planner.moving(self._steady.now()):
            stop = planner.stop(measured, self._steady.now())
            self._send(stop)
            self._goals.drop()
            rest = stop.trajectory.positions[-1]
        else:
            rest = chain.clamped(planner.resting(measured, self._steady.now()))
        motion = plan_tip_path(
            chain,
            rest,
            [p for p, _ in poses],
            [quat for _, quat in poses],
            planner.limits,
            PathOptions(
                self._goal_mode,
                deviation=value(self, "path_deviation"),
                angle=value(self, "path_angle"),
                rounding=value(self, "path_rounding"),
                speed=value(self, "path_speed") or np.inf,
            ),
            self._options,
        )
        if motion.reason and (value(self, "on_path_incomplete") == "refuse" or motion.trajectory is None):
            raise TrajectoryError(f"{100.0 * motion.fraction:.0f} % of the path can be done, then: {motion.reason}")
        said = f"path of {len(poses)} poses" if not motion.reason else f"{100.0 * motion.fraction:.0f} % of the path"
        outcome = "PATH" if not motion.reason else "PARTIAL_PATH"
        duration = 0.0
        if motion.trajectory is not None:
            sent = planner.append(motion.trajectory, self._steady.now(), rest)
            self._send(sent)
            self._accept()
            duration = sent.trajectory.duration
            if self._markers is not None:
                self._markers.trace(poses, sent.trajectory, rest)
        self._goals.report(
            DiagnosticStatus.OK if not motion.reason else DiagnosticStatus.WARN,
            said + (f", then: {motion.reason}" if motion.reason else ""),
            outcome=outcome,
            fraction=motion.fraction,
            motion_time_s=duration,
        )

    def _steer(self, chain: Chain, message: TwistStamped, measured: Array) -> None:
        """Move the tip at this velocity, until the commands stop coming."""
        assert self._planner is not None
        linear, angular = message.twist.linear, message.twist.angular
        transform = self._arrivals.frames.transform(chain, message.header, measured, last=True)
        assert transform is not None
        rotation = transform[:3, :3]
        now = self._steady.now()
        self._arrivals.forget()
        q = self._commanded(measured, now)
        velocity = solve_velocity(
            chain, q, rotation @ [linear.x, linear.y, linear.z], rotation @ [angular.x, angular.y, angular.z]
        )
        timeout = value(self, "incoming_command_timeout")
        self._send(self._planner.plan_velocity(velocity, timeout, measured, now))
        self._goals.drop()
        if now > self._steered_until:
            self._goals.begin()
            self._goals.report(DiagnosticStatus.OK, "steering by delta_twist_cmds", outcome="STEERING")
        self._steered_until = now + timeout

    def _accept(self) -> None:
        """Pursue the present goal by the motion sent last."""
        self._goals.accept()
        self._wait_for_end()

    def _wait_for_end(self, least: float = 1e-3) -> None:
        assert self._planner is not None
        left = max(self._planner.ends() - self._steady.now(), 0.0) + least
        self._end_timer.timer_period_ns = int(left * 1e9)
        self._end_timer.reset()

    def _on_end(self) -> None:
        """The motion should be over by now, and the arm where it should be."""
        self._end_timer.cancel()
        if self._planner is None or self._goals.ledger.pursued is None:
            return
        now = self._steady.now()
        if self._planner.moving(now):
            self._wait_for_end()
            return
        waited = now >= self._planner.ends() + ARRIVAL
        off = self._off(now, AT_REST_WITHIN if waited else THERE)
        if off and not waited:
            self._wait_for_end(0.02)
            return
        self._goals.finish(off)

    def _off(self, now: float, within: float) -> str:
        """What keeps the arm from being where it was led; empty where it is there."""
        assert self._planner is not None
        try:
            chain, measured = self._ready()
        except GoalError as error:
            return f"where the arm is is not known: {error}"
        state = self._planner.commanded(now)
        assert state is not None
        off = np.abs(state.position - measured)
        worst = int(np.argmax(off))
        if off[worst] <= within:
            return ""
        return f"missed: joint {chain.joint_names[worst]!r} is {off[worst]:.3g} from where it was led"

    def _on_jump(self) -> None:
        """Simulated time has leapt: what was planned is void; where the arm is, its joint_states say."""
        self.get_logger().warning("the simulated time has leapt: the motion under way is given up")
        if self._planner is not None:
            self._planner.forget()
            self._goals.drop()

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
            self._send(self._planner.plan_to(stepped, measured, self._steady.now()))
        except IkSolverError as error:
            self._live_goal = None
            self._goals.refuse("live", error)

    # Services

    def _on_hold(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success, response.message = self._hold()
        return response

    def _on_home(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success, response.message = self._go_home()
        return response

    def _hold(self) -> tuple[bool, str]:
        return self._do("holding", lambda planner, measured: planner.stop(measured, self._steady.now()))

    def _go_home(self) -> tuple[bool, str]:
        return self._do(
            "going home", lambda planner, measured: planner.plan_to(self._home, measured, self._steady.now())
        )

    def _stop(self) -> None:
        """The servos' emergency stop where there is one, and hold."""
        if self._stopper.service_is_ready():
            self._stopper.call_async(SetBool.Request(data=True))
        self._hold()

    def _do(self, what: str, move: Callable[[MotionPlanner, Array], Motion]) -> tuple[bool, str]:
        """Make a motion that is no goal's, and return whether it is made and a sentence."""
        self._goals.begin()
        self._live_goal = None
        self._arrivals.forget()
        try:
            chain, measured = self._ready()
            assert self._planner is not None
            motion = move(self._planner, measured)
            self._send(motion)
            self._goals.drop()
            self._goals.report(DiagnosticStatus.OK, what, outcome=what.upper().replace(" ", "_"))
            self._put_tip_marker(chain, motion.trajectory.positions[-1])
        except IkSolverError as error:
            self._goals.refuse(what, error)
            return False, str(error)
        return True, what

    def _put_tip_marker(self, chain: Chain, q: Array) -> None:
        if self._tip_marker is not None and not self._tip_marker.held:
            self._tip_marker.put(*chain.forward(chain.clamped(q)))

    # What leaves the node

    def _examine(self, tell: Tell) -> None:
        """How the node is, once a second."""
        if self._markers is not None:
            self._markers.refresh()
        level, sentence = DiagnosticStatus.OK, "ready for goals"
        try:
            chain, measured = self._ready()
            if self._planner is not None and not self._planner.moving(self._steady.now()):
                self._put_tip_marker(chain, measured)
        except IkSolverError as error:
            level, sentence = DiagnosticStatus.WARN, str(error)
        robot = "" if self._chain is None else self._chain.model.name
        counts = self._goals.counts() | {"refused": self._goals.refused}
        tell(level, "goals", sentence, robot=robot, solver=self._solver, last=self._goals.last, **counts)

    def _send(self, motion: Motion) -> None:
        stamp = None if motion.start is None else self._steady.stamp(motion.start)
        self._trajectories.publish(convert.trajectory_msg(motion.trajectory, stamp))


def main(args: list[str] | None = None) -> int:
    """Run ik_node."""
    return run(IkNode, args)


if __name__ == "__main__":
    sys.exit(main())
