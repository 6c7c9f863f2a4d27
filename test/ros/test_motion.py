"""ik_node and sim_node together: streams of goals, paths, velocities of the tip, and what is said of them."""

from __future__ import annotations

import time

import numpy as np
import pytest
from conftest import URDF as ARMS
from geometry_msgs.msg import PoseArray, TwistStamped

from ik_solver_ros import Goal, solve
from ik_solver_ros.kinematics.load import load_chain
from ik_solver_ros.ros.common import convert

from .conftest import values
from .test_ik_node import refused, set_parameter

CHAIN = load_chain(ARMS / "so101.urdf")
START = solve(CHAIN, Goal.approach([0.2, -0.1, 0.03], [0.0, 0.0, -1.0])).q
SQUARE = [[0.2, 0.1, 0.03], [0.25, 0.1, 0.05], [0.25, -0.1, 0.03]]
DOWN = [1.0, 0.0, 0.0, 0.0]


@pytest.fixture(scope="module")
def peer(stage):
    stage.start_sim(backend="mock", initial_positions=START.tolist())
    stage.start_ik(**{"goal_mode": "approach", "joint_limits.shoulder_pan.max_velocity": 1.5})
    return stage.peer


def path(points, quat=DOWN):
    message = PoseArray()
    message.header.frame_id = "base_link"
    for point in points:
        message.poses.append(convert.pose_msg(np.array(point), np.array(quat), "", message.header.stamp).pose)
    return message


def twist(x=0.0, y=0.0, z=0.0, frame="base_link"):
    message = TwistStamped()
    message.header.frame_id = frame
    message.twist.linear.x, message.twist.linear.y, message.twist.linear.z = x, y, z
    return message


def tips(peer, since):
    return np.array([convert.position_of(tip.pose) for tip in peer.tips[since:]])


def at_rest(peer):
    def still():
        before, seen = peer.latest(), len(peer.states)
        peer.until(lambda: len(peer.states) > seen + 20)
        return max(abs(peer.latest()[name] - before[name]) for name in CHAIN.joint_names) < 1e-6

    peer.until(still)


def accounted(peer, goal_id):
    return peer.until(lambda: next((a for a in peer.accounts if a["goal_id"] == goal_id), None))


def go_to_start(peer):
    tip, quat = CHAIN.forward(START)
    answer = values(peer.send_goal(tip, quat))
    accounted(peer, answer["goal_id"])
    at_rest(peer)


def test_a_goal_is_said_to_be_executed(peer):
    answer = values(peer.send_goal([0.22, 0.05, 0.05], DOWN))
    assert answer["outcome"] == "REACHED"
    assert accounted(peer, answer["goal_id"])["outcome"] == "EXECUTED"
    at_rest(peer)
    np.testing.assert_allclose(tips(peer, -1)[0], [0.22, 0.05, 0.05], atol=1e-3)


def test_goals_in_quick_succession_are_executed_or_replaced(peer):
    accounts, first = len(peer.accounts), int(values(peer.send_goal([0.2, 0.0, 0.05], DOWN))["goal_id"])
    for i in range(40):
        y = 0.1 * np.sin(0.3 * i)
        peer.goal.publish(
            convert.pose_msg(np.array([0.2, y, 0.05]), np.array(DOWN), "base_link", peer.get_clock().now().to_msg())
        )
        peer.spin(0.02)
    peer.until(
        lambda: peer.accounts and peer.accounts[-1]["outcome"] == "EXECUTED" and len(peer.accounts) > accounts + 5
    )
    last = peer.accounts[-1]
    assert int(last["accepted"]) == int(last["executed"]) + int(last["replaced"])
    ids = [int(a["goal_id"]) for a in peer.accounts[accounts:]]
    assert ids == sorted(set(ids)) and ids[0] == first  # each one once, in order
    at_rest(peer)
    np.testing.assert_allclose(tips(peer, -1)[0], [0.2, y, 0.05], atol=1e-3)


def test_a_path_is_gone_in_straight_lines(peer):
    go_to_start(peer)
    since = len(peer.tips)
    answer = peer.answered(peer.path, path(SQUARE))
    assert values(answer)["outcome"] == "PATH" and values(answer)["fraction"] == "1", answer.message
    assert accounted(peer, values(answer)["goal_id"])["outcome"] == "EXECUTED"
    at_rest(peer)
    seen, corners = tips(peer, since), [[0.2, -0.1, 0.03], *SQUARE]
    off = np.full(len(seen), np.inf)
    for a, b in zip(map(np.array, corners), map(np.array, corners[1:]), strict=False):
        share = np.clip((seen - a) @ (b - a) / ((b - a) @ (b - a)), 0.0, 1.0)
        off = np.minimum(off, np.linalg.norm(seen - a - share[:, np.newaxis] * (b - a), axis=1))
    assert off.max() < 1e-3 and len(seen) > 100
    np.testing.assert_allclose(seen[-1], SQUARE[-1], atol=1e-3)


def test_a_path_in_mid_motion_begins_where_the_arm_can_stop(peer):
    first = values(peer.send_goal([0.2, 0.15, 0.1], DOWN))["goal_id"]
    peer.spin(0.2)
    answer = peer.answered(peer.path, path([[0.25, 0.0, 0.05]]))
    assert accounted(peer, first)["outcome"] == "REPLACED"  # also by a path that is refused
    if values(answer)["outcome"] == "PATH":  # from where it stops, the line may be out of what the arm can do
        accounted(peer, values(answer)["goal_id"])
        at_rest(peer)
        np.testing.assert_allclose(
            tips(peer, -1)[0], [0.25, 0.0, 0.05], atol=1e-3, err_msg=str([r.message for r in peer.reports[-4:]])
        )
    else:
        assert "of the path can be done" in answer.message


def test_a_path_that_cannot_be_done_is_refused_with_how_much_can(peer):
    go_to_start(peer)
    before = peer.latest()
    answer = peer.answered(peer.path, path([[0.25, -0.1, 0.03], [0.8, 0.0, 0.03]]))
    assert refused(answer, "% of the path can be done, then: ")
    peer.spin(0.3)
    assert all(abs(peer.latest()[name] - before[name]) < 1e-6 for name in CHAIN.joint_names)
    assert refused(peer.answered(peer.path, path([])), "at least one pose")
    assert refused(peer.answered(peer.path, path([[np.nan, 0.0, 0.0]])), "finite")


def test_or_done_as_far_as_it_goes(peer):
    go_to_start(peer)
    assert set_parameter(peer, "on_path_incomplete", "partial").successful
    answer = peer.answered(peer.path, path([[0.25, -0.1, 0.03], [0.8, -0.1, 0.03]]))
    assert set_parameter(peer, "on_path_incomplete", "refuse").successful
    assert values(answer)["outcome"] == "PARTIAL_PATH" and 0.0 < float(values(answer)["fraction"]) < 0.6
    accounted(peer, values(answer)["goal_id"])
    at_rest(peer)
    assert 0.24 < tips(peer, -1)[0][0] < 0.5


def test_the_tip_is_steered_and_rests_when_the_commands_stop(peer):
    go_to_start(peer)
    since, began = len(peer.tips), tips(peer, -1)[0]
    until = time.monotonic() + 1.5
    while time.monotonic() < until:
        peer.twist.publish(twist(y=0.06))
        peer.spin(0.02)
    peer.spin(0.6)
    seen = tips(peer, since)
    way = seen[-1] - began
    assert 0.05 < way[1] < 0.12 and abs(way[0]) < 8e-3 and abs(way[2]) < 8e-3  # velocities are not held to a line
    assert np.linalg.norm(seen[-1] - seen[-5]) < 1e-6
    assert values(peer.answers[-1])["outcome"] == "STEERING"


def test_nonsense_twists_are_refused(peer):
    assert refused(peer.answered(peer.twist, twist(x=np.nan)), "finite")
    assert refused(peer.answered(peer.twist, twist(x=0.1, frame="mars")), "mars")


def test_another_posture_is_gone_to_slowly_or_not_at_all(peer):
    go_to_start(peer)
    assert set_parameter(peer, "max_joint_jump", 0.5).successful
    assert set_parameter(peer, "on_joint_jump", "refuse").successful
    assert refused(peer.send_goal([0.2, 0.15, 0.05], DOWN), "shoulder_pan", "another posture", "max_joint_jump")
    assert set_parameter(peer, "on_joint_jump", "slow").successful
    slow = peer.send_goal([0.2, 0.15, 0.05], DOWN)
    assert set_parameter(peer, "max_joint_jump", 2.5).successful
    assert "slowly: shoulder_pan has to go by" in slow.message
    way = abs(np.arctan2(0.15, 0.2 - 0.0388) - START[0])
    assert float(values(slow)["motion_time_s"]) > 0.6 * way / (1.5 * 0.3)
    accounted(peer, values(slow)["goal_id"])


def test_a_joint_limit_of_the_parameters_is_kept(peer):
    go_to_start(peer)
    peer.send_goal([0.18, 0.15, 0.05], DOWN)
    pan = CHAIN.joint_names.index("shoulder_pan")
    speeds = [abs(point.velocities[pan]) for point in peer.trajectories[-1].points]
    assert max(speeds) == pytest.approx(1.5, abs=1e-4)


def test_a_goal_below_the_floor_is_refused_before_anything_moves(peer):
    go_to_start(peer)
    before, sent = peer.latest(), len(peer.trajectories)
    assert refused(peer.send_goal([0.25, -0.1, -0.05], DOWN), "link 'gripper", "below the floor, which is at 0 m")
    peer.spin(0.3)
    assert len(peer.trajectories) == sent
    assert all(abs(peer.latest()[name] - before[name]) < 1e-6 for name in CHAIN.joint_names)
    assert refused(peer.answered(peer.path, path([[0.2, -0.1, -0.05]])), "below the floor")
    assert set_parameter(peer, "collision_guard", False).successful
    assert values(peer.send_goal([0.25, -0.1, -0.02], DOWN))["outcome"] != "REFUSED"
    go_to_start(peer)
    assert set_parameter(peer, "collision_guard", True).successful


def test_an_arm_that_somebody_else_leads_away_has_missed_its_goal(peer):
    go_to_start(peer)
    goal = values(peer.send_goal([0.2, 0.15, 0.1], DOWN))["goal_id"]
    peer.spin(0.1)
    assert peer.call("sim_node/hold").success
    account = accounted(peer, goal)
    assert account["outcome"] == "MISSED" and int(account["missed"]) == 1
    go_to_start(peer)
