"""ArmSession: what lies between a goal that comes and a motion that goes out, without ROS.

goal -> solve -> plan within the limits -> guard -> Reply with a Motion
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ik_solver_ros.collision.guard import CollisionGuard
from ik_solver_ros.errors import GoalError, TrajectoryError
from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.session.arrival import ArrivalWatch
from ik_solver_ros.session.live import LiveSweep
from ik_solver_ros.session.outcome import Outcome
from ik_solver_ros.session.reply import Joints, Level, Reply
from ik_solver_ros.session.settings import DEFAULT_SETTINGS, Settings
from ik_solver_ros.solvers.goal import Goal
from ik_solver_ros.solvers.solution import Solution, Status
from ik_solver_ros.solvers.solve import solve
from ik_solver_ros.solvers.velocity import solve_velocity
from ik_solver_ros.trajectory.cartesian import PathOptions, plan_tip_path
from ik_solver_ros.trajectory.limits import MotionLimits
from ik_solver_ros.trajectory.motion import Motion, MotionPlanner
from ik_solver_ros.trajectory.trajectory import State, Trajectory


class ArmSession:
    """One robot, from the moment that it is known. All times are seconds of `clock`, which must never jump.

    Every verb is given the joints as measured. It returns a Reply whose motion is to be sent at once, or raises an
    IkSolverError that says why nothing comes of the goal; the arm then goes on as it was.
    """

    def __init__(
        self,
        chain: Chain,
        limits: MotionLimits,
        guard: CollisionGuard,
        *,
        home: Array | None = None,
        replan_lead: float = 0.02,
        clock: Callable[[], float] = time.monotonic,
        settings: Settings = DEFAULT_SETTINGS,
    ) -> None:
        """home: (n,) [rad or m] inside the limits; None: zero, or the limit nearest to it. replan_lead [s]: a new goal
        in motion bends the motion this much later. Raises GoalError for a home outside the limits.
        """
        self.chain, self.guard = chain, guard
        self.home = _checked_home(chain, home)
        self.planner = MotionPlanner(limits, replan_lead, self._check)
        self.arrival = ArrivalWatch(chain, self.planner)
        self._limits, self._clock = limits, clock
        self.others: Mapping[str, float] = {}  # joints off the chain, as measured last
        self._steered_until = -np.inf
        self.sweep = LiveSweep(chain)
        self.configure(settings)

    def configure(self, settings: Settings) -> None:
        """Answer the next goals by other settings."""
        self.settings = settings
        self.planner.limits = self._limits.scaled(settings.speed_scale)

    def reach(self, goal: Goal, joints: Joints) -> Reply:
        """Go to a goal, or as near as the arm can."""
        q0 = self._start(joints)
        if self.settings.live:
            self.sweep.begin(goal, q0)
            return Reply(Level.OK, "live: one sweep for each tick", Outcome.LIVE)
        began = time.perf_counter()
        solution = solve(self.chain, goal, q0, solver=self.settings.solver, options=self.settings.options)
        seconds = time.perf_counter() - began
        self._check_answer(solution)
        limits, slowly = self._limits_for(solution.q - q0)
        motion = self.planner.plan_to(solution.q, joints.q, self._clock(), limits)
        values = {
            "reason": solution.reason,
            "position_error_m": solution.position_error,
            "approach_error_rad": solution.approach_error,
            "roll_error_rad": solution.roll_error,
            "solve_time_us": 1e6 * seconds,
            "iterations": solution.iterations,
            "restarts": solution.restarts,
            "motion_time_s": motion.trajectory.duration,
        }
        level = Level.OK if solution.status is Status.REACHED else Level.WARN
        return Reply(level, solution.sentence() + slowly, Outcome[solution.status.name], motion, values, solution)

    def stop(self, joints: Joints) -> Motion | None:
        """The motion to rest; None where nothing is under way."""
        self.sweep.end()
        now = self._clock()
        return self.planner.stop(joints.q, now) if self.planner.moving(now) else None

    def trace(self, poses: Sequence[tuple[Array, Array]], joints: Joints) -> Reply:
        """Go straight lines through poses, each a position (3,) [m] and a quaternion (4,) xyzw in base_link.

        They begin where the motion sent last ends: call `stop` first where another one is under way.
        """
        if not poses:
            raise GoalError("poses", [], "at least one pose is wanted")
        planner, settings, now = self.planner, self.settings, self._clock()
        if planner.sent is not None and planner.moving(now):
            rest = planner.sent.trajectory.positions[-1]
        else:
            rest = self.chain.clamped(planner.resting(joints.q, now))
        found = plan_tip_path(
            self.chain,
            rest,
            [position for position, _ in poses],
            [quat for _, quat in poses],
            planner.limits,
            PathOptions(
                settings.goal_mode,
                settings.path_deviation,
                settings.path_angle,
                settings.path_rounding,
                settings.path_speed or np.inf,
            ),
            settings.options,
        )
        percent = f"{100.0 * found.fraction:.0f} % of the path"
        if found.trajectory is None or (found.reason and settings.on_path_incomplete == "refuse"):
            raise TrajectoryError(f"{percent} can be done, then: {found.reason}")
        self.others = joints.others
        motion = planner.append(found.trajectory, self._clock(), rest)
        values = {"fraction": found.fraction, "motion_time_s": motion.trajectory.duration}
        if found.reason:
            return Reply(
                Level.WARN, f"{percent}, then: {found.reason}", Outcome.PARTIAL_PATH, motion, values, poses=poses
            )
        return Reply(Level.OK, f"path of {len(poses)} poses", Outcome.PATH, motion, values, poses=poses)

    def steer(self, linear: Array, angular: Array, joints: Joints) -> Reply:
        """Move the tip at linear (3,) [m/s] and angular (3,) [rad/s] in base_link, until nobody says so any more."""
        self.sweep.end()
        q, now = self._start(joints), self._clock()
        velocity = solve_velocity(self.chain, q, linear, angular)
        timeout = self.settings.incoming_command_timeout
        motion = self.planner.plan_velocity(velocity, timeout, joints.q, now)
        is_first, self._steered_until = now > self._steered_until, now + timeout
        return Reply(Level.OK, "steering by delta_twist_cmds", Outcome.STEERING, motion, is_news=is_first)

    def hold(self, joints: Joints) -> Reply:
        """Come to rest as soon as the limits allow."""
        self.sweep.end()
        motion = self.planner.stop(joints.q, self._clock())
        return Reply(Level.OK, "holding", Outcome.HOLDING, motion)

    def go_home(self, joints: Joints) -> Reply:
        """Go to the home position."""
        self.sweep.end()
        self.others = joints.others
        motion = self.planner.plan_to(self.home, joints.q, self._clock())
        return Reply(Level.OK, "going home", Outcome.GOING_HOME, motion)

    def live(self, joints: Joints) -> Motion | None:
        """One tick of the live mode: the motion of one sweep; None where there is nothing to do."""
        target = self.sweep.step()
        if target is None:
            return None
        self.others = joints.others
        return self.planner.plan_to(target, joints.q, self._clock())

    def forget(self) -> None:
        """Time has leapt: what was planned is void, and the next motion begins where the arm is measured."""
        self.planner.forget()

    def _start(self, joints: Joints) -> Array:
        """Where a new motion starts (n,): as commanded while the arm moves, else as measured."""
        self.others = joints.others
        now = self._clock()
        state = self.planner.commanded(now)
        return state.position if state is not None and self.planner.moving(now) else joints.q

    def _check(self, trajectory: Trajectory, start: State) -> None:
        if self.settings.collision_guard:
            self.guard.check(trajectory, start, self.others)

    def _check_answer(self, solution: Solution) -> None:
        """Raise GoalError where the nearest answer is not good enough for the settings."""
        if solution.status is Status.REACHED:
            return
        if self.settings.on_unreachable == "reject":
            raise GoalError("on_unreachable", "reject", f"it is not reachable: {solution.sentence()}")
        worst, most = max(solution.approach_error, solution.roll_error), self.settings.max_orientation_error
        if worst > most:
            raise GoalError("max_orientation_error", most, f"the nearest is {worst:.3g} off: {solution.sentence()}")

    def _limits_for(self, way: Array) -> tuple[MotionLimits | None, str]:
        """The limits for a way (n,) in joint space, None for the usual ones, and what to say of it.

        Raises TrajectoryError where the settings refuse it.
        """
        settings = self.settings
        worst = int(np.argmax(np.abs(way)))
        if abs(way[worst]) <= settings.max_joint_jump:
            return None, ""
        what = f"{self.chain.joint_names[worst]} has to go by {abs(way[worst]):.3g}, to another posture of the arm"
        if settings.on_joint_jump == "refuse":
            raise TrajectoryError(f"{what} (max_joint_jump: {settings.max_joint_jump:g})")
        scale = settings.speed_scale * settings.joint_jump_speed_scale
        return self._limits.scaled(scale), f"; slowly: {what}"


def _checked_home(chain: Chain, home: Array | None) -> Array:
    if home is None:
        return chain.clamped(np.zeros(chain.n))
    position = chain.checked(home, "home")
    if (position < chain.lower).any() or (position > chain.upper).any():
        raise GoalError(
            "home", list(home), f"positions within {chain.lower.tolist()} and {chain.upper.tolist()} are wanted"
        )
    return position
