"""The session as ik_node, or a page, uses it: goals, measured joints and a clock in; replies and motions out."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest
from conftest import URDF
from scipy.spatial.transform import Rotation

from ik_solver_ros import Goal, load_chain, solve
from ik_solver_ros.collision.guard import CollisionGuard
from ik_solver_ros.errors import CollisionError, GoalError, TrajectoryError, UnknownSolverError
from ik_solver_ros.session.outcome import Outcome
from ik_solver_ros.session.reply import Joints, Level
from ik_solver_ros.session.session import ArmSession
from ik_solver_ros.session.settings import Settings
from ik_solver_ros.trajectory.limits import MotionLimits

CHAIN = load_chain(URDF / "so101.urdf")
GUARD = CollisionGuard(CHAIN)
HOME = np.zeros(5)
Q = np.array([0.3, -0.4, 0.5, 0.6, 0.2])  # a configuration, and the pose it has
POSE = Goal.pose(*CHAIN.forward(Q))
OTHER = Goal.pose(*CHAIN.forward(-Q))
SIDEWAYS = Goal.pose([0.25, 0.0, 0.2], Rotation.from_euler("x", -90, degrees=True).as_quat())  # z of the tip along y
DOWN = np.array([1.0, 0.0, 0.0, 0.0])
OVER_TABLE = solve(CHAIN, Goal.approach([0.2, -0.1, 0.03], [0.0, 0.0, -1.0])).q


class Arm:
    """A session, a clock that is set by hand, and an arm that is exactly where its motions lead it."""

    def __init__(self, q=HOME, given=None, home=None, **settings) -> None:
        self.now = 1000.0
        limits = MotionLimits.from_urdf(
            CHAIN.joint_names, CHAIN.lower, CHAIN.upper, CHAIN.velocity_limit, given=given or {}
        )
        self.session = ArmSession(
            CHAIN,
            limits,
            GUARD,
            home=home,
            clock=lambda: self.now,
            settings=dataclasses.replace(Settings(), **settings),
        )
        self.q = np.array(q, dtype=float)

    @property
    def joints(self) -> Joints:
        return Joints(self.q)

    def set(self, **settings) -> None:
        self.session.configure(dataclasses.replace(self.session.settings, **settings))

    def go_on(self, seconds=10.0) -> None:
        """Let time pass, the arm following."""
        self.now += seconds
        state = self.session.planner.commanded(self.now)
        self.q = self.q if state is None else state.position

    @property
    def tip(self) -> np.ndarray:
        return CHAIN.forward(self.q)[0]

    def tips(self, motion) -> np.ndarray:
        """The way of the tip along a motion, (m, 3)."""
        times = np.linspace(0.0, motion.trajectory.duration, 300)
        return np.array([CHAIN.forward(q)[0] for q in motion.trajectory.states(times, motion.origin).position])


def end(reply) -> np.ndarray:
    return reply.motion.trajectory.positions[-1]


class TestReach:
    def test_a_pose(self):
        arm = Arm()
        reply = arm.session.reach(POSE, arm.joints)
        assert (reply.level, reply.outcome, reply.sentence) == (Level.OK, Outcome.REACHED, "goal reached")
        trajectory = reply.motion.trajectory
        assert trajectory.joint_names == CHAIN.joint_names
        assert reply.motion.start is None  # at rest: at once
        assert trajectory.times[0] > 0 and (np.diff(trajectory.times) > 0).all() and not trajectory.velocities[-1].any()
        np.testing.assert_allclose(CHAIN.forward(end(reply))[0], POSE.position, atol=1e-4)
        assert reply.values["motion_time_s"] == trajectory.duration and reply.values["position_error_m"] < 1e-4

    def test_a_goal_in_motion_bends_it_on_the_way(self):
        arm = Arm()
        first = arm.session.reach(POSE, arm.joints).motion
        arm.go_on(0.3)
        second = arm.session.reach(OTHER, arm.joints).motion
        assert second.start == pytest.approx(arm.now + 0.02)  # replan_lead from now
        where = first.trajectory.state(0.32, first.origin)
        for planned, followed in zip(second.origin, where):
            np.testing.assert_allclose(planned, followed, atol=1e-9)

    def test_an_arm_that_is_not_where_it_was_sent_is_planned_for_where_it_is(self):
        arm = Arm()
        arm.session.reach(Goal.pose(*CHAIN.forward(2 * Q)), arm.joints)
        arm.now += 0.5  # and held at home by somebody else
        motion = arm.session.reach(POSE, arm.joints).motion
        assert motion.start is None
        np.testing.assert_array_equal(motion.origin.position, HOME)

    def test_a_direction_that_this_arm_cannot_have_is_answered_with_the_nearest(self):
        arm = Arm()
        reply = arm.session.reach(SIDEWAYS, arm.joints)
        assert reply.level is Level.WARN and reply.outcome is Outcome.NEAREST_ORIENTATION
        assert "position reached" in reply.sentence and reply.values["approach_error_rad"] > 0.5
        assert "vertical plane" in reply.values["reason"]

    def test_out_of_reach(self):
        arm = Arm(collision_guard=False)
        reply = arm.session.reach(Goal.point([2.0, 0.0, 0.1]), arm.joints)
        assert reply.outcome is Outcome.NEAREST_POSITION and "out of reach by 1." in reply.sentence

    def test_what_cannot_be_reached_can_be_refused(self):
        arm = Arm(on_unreachable="reject")
        with pytest.raises(GoalError, match="on_unreachable = 'reject'.*not reachable: position reached; the tool"):
            arm.session.reach(SIDEWAYS, arm.joints)
        arm.set(on_unreachable="nearest", max_orientation_error=0.5)
        with pytest.raises(GoalError, match=r"max_orientation_error = 0.5: the nearest is 1"):
            arm.session.reach(SIDEWAYS, arm.joints)
        assert arm.session.planner.sent is None

    def test_the_elbow_can_be_chosen(self):
        found = {}
        for elbow in ("up", "down"):
            arm = Arm()
            arm.set(options=dataclasses.replace(arm.session.settings.options, elbow=elbow))
            found[elbow] = end(arm.session.reach(Goal.point([0.2, 0.0, 0.2]), arm.joints))
            np.testing.assert_allclose(CHAIN.forward(found[elbow])[0], [0.2, 0.0, 0.2], atol=1e-4)
        assert found["up"][2] > found["down"][2] + 0.5  # the elbow's bend

    def test_an_unknown_solver(self):
        arm = Arm(solver="magic")
        with pytest.raises(UnknownSolverError):
            arm.session.reach(POSE, arm.joints)

    def test_slower_by_a_setting(self):
        arm = Arm()
        full = arm.session.reach(POSE, arm.joints).motion.trajectory.duration
        arm = Arm(speed_scale=0.25)
        assert arm.session.reach(POSE, arm.joints).motion.trajectory.duration > 1.5 * full

    def test_another_posture_is_gone_to_slowly_or_not_at_all(self):
        goal = Goal.approach([0.2, 0.15, 0.05], [0, 0, -1])
        arm = Arm(OVER_TABLE, max_joint_jump=0.5, on_joint_jump="refuse")
        with pytest.raises(TrajectoryError, match=r"shoulder_pan has to go by .*another posture.*max_joint_jump"):
            arm.session.reach(goal, arm.joints)
        quick = Arm(OVER_TABLE).session.reach(goal, arm.joints)
        arm.set(on_joint_jump="slow")
        slow = arm.session.reach(goal, arm.joints)
        assert "slowly: shoulder_pan has to go by" in slow.sentence and "slowly" not in quick.sentence
        assert slow.motion.trajectory.duration > 2.0 * quick.motion.trajectory.duration

    def test_a_given_limit_is_kept(self):
        arm = Arm(OVER_TABLE, given={"shoulder_pan": {"max_velocity": 1.5}})
        motion = arm.session.reach(Goal.approach([0.18, 0.15, 0.05], [0, 0, -1]), arm.joints).motion
        assert np.abs(motion.trajectory.velocities[:, 0]).max() == pytest.approx(1.5, abs=1e-4)

    def test_a_goal_below_the_floor_is_refused_and_the_motion_before_it_goes_on(self):
        arm = Arm(OVER_TABLE)
        before = arm.session.reach(Goal.approach([0.2, 0.1, 0.05], [0, 0, -1]), arm.joints).motion
        arm.go_on(0.1)
        with pytest.raises(CollisionError, match="below the floor, which is at 0 m"):
            arm.session.reach(Goal.approach([0.25, -0.1, -0.05], [0, 0, -1]), arm.joints)
        assert arm.session.planner.sent is before
        arm.set(collision_guard=False)
        assert arm.session.reach(Goal.approach([0.25, -0.1, -0.02], [0, 0, -1]), arm.joints).motion is not None


class TestPaths:
    SQUARE = ([0.2, 0.1, 0.03], [0.25, 0.1, 0.05], [0.25, -0.1, 0.03])

    def poses(self, *points, quat=DOWN):
        return [(np.array(point), quat) for point in points]

    def test_straight_lines(self):
        arm = Arm(OVER_TABLE, goal_mode="approach")
        reply = arm.session.trace(self.poses(*self.SQUARE), arm.joints)
        assert reply.outcome is Outcome.PATH and reply.values["fraction"] == 1.0 and reply.sentence == "path of 3 poses"
        assert len(reply.poses) == 3
        seen, corners = arm.tips(reply.motion), np.array([[0.2, -0.1, 0.03], *self.SQUARE])
        off = np.full(len(seen), np.inf)
        for a, b in itertools.pairwise(corners):
            along = np.clip((seen - a) @ (b - a) / ((b - a) @ (b - a)), 0.0, 1.0)
            off = np.minimum(off, np.linalg.norm(seen - a - along[:, np.newaxis] * (b - a), axis=1))
        assert off.max() < 1e-3
        np.testing.assert_allclose(seen[-1], self.SQUARE[-1], atol=1e-3)

    def test_in_motion_one_stops_first_and_goes_on_from_there(self):
        arm = Arm(OVER_TABLE, goal_mode="approach")
        assert arm.session.stop(arm.joints) is None  # nothing is under way
        arm.session.reach(Goal.approach([0.2, 0.1, 0.03], [0, 0, -1]), arm.joints)
        arm.go_on(0.2)
        stop = arm.session.stop(arm.joints)
        rest = stop.trajectory.positions[-1]
        tip, quat = CHAIN.forward(rest)
        reply = arm.session.trace(self.poses(tip + np.array([0.0, 0.0, 0.01]), quat=quat), arm.joints)
        assert reply.motion.start == pytest.approx(stop.start + stop.trajectory.duration)
        np.testing.assert_allclose(reply.motion.origin.position, rest)

    def test_what_cannot_be_done_is_refused_with_how_much_can(self):
        arm = Arm(OVER_TABLE, goal_mode="approach")
        poses = self.poses([0.25, -0.1, 0.03], [0.8, -0.1, 0.03])
        with pytest.raises(TrajectoryError, match=r"^\d+ % of the path can be done, then: "):
            arm.session.trace(poses, arm.joints)
        with pytest.raises(GoalError, match="at least one pose"):
            arm.session.trace([], arm.joints)
        with pytest.raises(CollisionError, match="below the floor"):
            arm.session.trace(self.poses([0.2, -0.1, -0.05]), arm.joints)
        assert arm.session.planner.sent is None
        arm.set(on_path_incomplete="partial")
        reply = arm.session.trace(poses, arm.joints)
        assert reply.outcome is Outcome.PARTIAL_PATH and reply.level is Level.WARN
        assert 0.0 < reply.values["fraction"] < 0.6 and "% of the path, then: " in reply.sentence
        assert 0.24 < arm.tips(reply.motion)[-1][0] < 0.5


class TestSteering:
    def test_the_tip_goes_along_and_rests_when_the_commands_stop(self):
        arm = Arm(OVER_TABLE)
        began = arm.tip
        news = []
        for _ in range(75):
            news.append(arm.session.steer(np.array([0.0, 0.06, 0.0]), np.zeros(3), arm.joints).is_news)
            arm.go_on(0.02)
        assert news == [True] + [False] * 74  # of a stream, the first one is news
        arm.go_on(1.0)
        way = arm.tip - began
        assert 0.05 < way[1] < 0.12 and abs(way[0]) < 8e-3 and abs(way[2]) < 8e-3  # velocities are not held to a line
        assert not arm.session.planner.moving(arm.now)
        assert arm.session.steer(np.array([0.0, 0.06, 0.0]), np.zeros(3), arm.joints).is_news  # another stream

    def test_nonsense(self):
        arm = Arm()
        with pytest.raises(GoalError, match="finite"):
            arm.session.steer(np.array([math.nan, 0.0, 0.0]), np.zeros(3), arm.joints)


class TestWithoutAGoal:
    def test_home(self):
        arm = Arm(2.5 * Q)
        reply = arm.session.go_home(arm.joints)
        assert reply.outcome is Outcome.GOING_HOME and list(end(reply)) == [0.0] * 5
        assert list(end(Arm(HOME, home=Q).session.go_home(arm.joints))) == list(Q)

    def test_a_home_outside_the_limits(self):
        with pytest.raises(GoalError, match="home = .*positions within"):
            Arm(home=[0.0, 0.0, 0.0, 0.0, 9.0])

    def test_hold_comes_to_rest_at_once_wherever_that_is(self):
        arm = Arm(2.5 * Q)
        arm.session.go_home(arm.joints)
        arm.go_on(0.3)
        reply = arm.session.hold(arm.joints)
        assert reply.outcome is Outcome.HOLDING and reply.motion.trajectory.duration < 0.6
        assert np.abs(end(reply)).max() > 0.05  # on the way

    def test_time_that_leaps_voids_what_was_planned(self):
        arm = Arm()
        arm.session.reach(POSE, arm.joints)
        arm.go_on(0.3)
        arm.session.forget()
        assert arm.session.reach(OTHER, arm.joints).motion.start is None


class TestLive:
    def test_sweeps_come_to_the_goal_and_to_an_end(self):
        arm = Arm(live=True)
        reply = arm.session.reach(Goal.point([0.25, 0.1, 0.2]), arm.joints)
        assert reply.outcome is Outcome.LIVE and reply.motion is None
        ticks = 0
        while arm.session.live(arm.joints) is not None:
            arm.go_on(0.02)
            ticks += 1
            assert ticks < 1000
        arm.go_on()
        assert ticks > 5 and np.linalg.norm(arm.tip - [0.25, 0.1, 0.2]) < 0.02

    def test_hold_ends_it(self):
        arm = Arm(live=True)
        arm.session.reach(Goal.point([0.25, 0.1, 0.2]), arm.joints)
        assert arm.session.live(arm.joints) is not None
        arm.session.hold(arm.joints)
        assert arm.session.live(arm.joints) is None

    def test_a_sweep_into_the_floor_is_refused(self):
        arm = Arm(OVER_TABLE, live=True)
        arm.session.reach(Goal.approach([0.25, -0.1, -0.2], [0, 0, -1]), arm.joints)
        with pytest.raises(CollisionError):
            for _ in range(200):
                arm.session.live(arm.joints)
                arm.go_on(0.02)


class TestArrival:
    def test_an_arm_that_follows_has_arrived(self):
        arm = Arm()
        watch = arm.session.arrival
        duration = arm.session.reach(POSE, arm.joints).motion.trajectory.duration
        assert watch.fault(arm.q, arm.now) is None and watch.wait(arm.now) == pytest.approx(duration)
        arm.go_on(duration + 0.01)
        assert watch.fault(arm.q, arm.now) == ""

    def test_one_that_is_led_away_has_missed_when_patience_is_over(self):
        arm = Arm()
        watch = arm.session.arrival
        duration = arm.session.reach(POSE, arm.joints).motion.trajectory.duration
        arm.now += duration + 0.5
        assert watch.fault(HOME, arm.now) is None and 0.0 < watch.wait(arm.now) < 0.1  # it may still be coming
        arm.now += 1.0
        assert watch.fault(HOME, arm.now).startswith("missed: joint 'wrist_flex' is 0.6")

    def test_one_that_sags_a_little_has_arrived_when_patience_is_over(self):
        arm = Arm()
        arm.session.reach(POSE, arm.joints)
        arm.go_on()
        assert arm.session.arrival.fault(arm.q + 0.03, arm.now) == ""
