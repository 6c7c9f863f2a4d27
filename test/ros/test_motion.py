"""ik_node and sim_node together: streams of goals, paths, velocities of the tip, and how each goal ends."""

from __future__ import annotations

import time

import numpy as np
import pytest
from conftest import URDF as ARMS
from geometry_msgs.msg import PoseArray, TwistStamped

from ik_solver_ros import Goal, load_chain, solve
from ik_solver_ros.ros.common import convert

from .conftest import values

CHAIN = load_chain(ARMS / "so101.urdf")
START = solve(CHAIN, Goal.approach([0.2, -0.1, 0.03], [0.0, 0.0, -1.0])).q
SQUARE = [[0.2, 0.1, 0.03], [0.25, 0.1, 0.05], [0.25, -0.1, 0.03]]
DOWN = [1.0, 0.0, 0.0, 0.0]


@pytest.fixture(scope="module")
def peer(stage):
    stage.start_sim(backend="mock", initial_positions=START.tolist())
    stage.start_ik(goal_mode="approach")
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


def under_way(peer):
    """Wait until the arm moves."""
    before = peer.latest()
    peer.until(lambda: max(abs(peer.latest()[name] - before[name]) for name in CHAIN.joint_names) > 0.05)


def go_to_start(peer):
    peer.ended(peer.send_goal(*CHAIN.forward(START)))
    at_rest(peer)


def test_a_goal_is_executed(peer):
    answer = peer.send_goal([0.22, 0.05, 0.05], DOWN)
    assert values(answer)["outcome"] == "REACHED" and peer.ended(answer)["outcome"] == "EXECUTED"
    at_rest(peer)
    np.testing.assert_allclose(tips(peer, -1)[0], [0.22, 0.05, 0.05], atol=1e-3)


def test_a_goal_in_motion_bends_it(peer):
    go_to_start(peer)
    first = peer.send_goal([0.2, 0.15, 0.05], DOWN)
    under_way(peer)
    before = convert.seconds(peer.get_clock().now().to_msg())
    second = peer.send_goal([0.25, 0.0, 0.05], DOWN)
    assert convert.seconds(peer.sent(first).header.stamp) == 0.0  # from rest: at once
    assert convert.seconds(peer.sent(second).header.stamp) > before  # replan_lead from now
    assert peer.ended(first)["outcome"] == "REPLACED" and peer.ended(second)["outcome"] == "EXECUTED"


def test_goals_in_quick_succession_are_executed_or_replaced(peer):
    ends, first = len(peer.ends), peer.send_goal([0.2, 0.0, 0.05], DOWN)
    for i in range(40):
        y = 0.1 * np.sin(0.3 * i)
        peer.goal.publish(
            convert.pose_msg(np.array([0.2, y, 0.05]), np.array(DOWN), "base_link", peer.get_clock().now().to_msg())
        )
        peer.spin(0.02)
    peer.until(lambda: len(peer.ends) > ends + 5 and peer.ends[-1]["outcome"] == "EXECUTED")
    last = peer.ends[-1]
    assert int(last["accepted"]) == int(last["executed"]) + int(last["replaced"])
    ids = [int(end["goal_id"]) for end in peer.ends[ends:]]
    assert ids == sorted(set(ids)) and ids[0] == int(values(first)["goal_id"])  # each one once, in order
    at_rest(peer)
    np.testing.assert_allclose(tips(peer, -1)[0], [0.2, y, 0.05], atol=1e-3)


def test_a_path_is_gone_in_straight_lines(peer):
    go_to_start(peer)
    since = len(peer.tips)
    answer = peer.answered(peer.path, path(SQUARE))
    assert values(answer)["outcome"] == "PATH" and values(answer)["fraction"] == "1", answer.message
    assert peer.ended(answer)["outcome"] == "EXECUTED"
    at_rest(peer)
    seen, corners = tips(peer, since), [[0.2, -0.1, 0.03], *SQUARE]
    off = np.full(len(seen), np.inf)
    for a, b in zip(map(np.array, corners), map(np.array, corners[1:]), strict=False):
        along = np.clip((seen - a) @ (b - a) / ((b - a) @ (b - a)), 0.0, 1.0)
        off = np.minimum(off, np.linalg.norm(seen - a - along[:, np.newaxis] * (b - a), axis=1))
    assert off.max() < 1e-3 and len(seen) > 100
    np.testing.assert_allclose(seen[-1], SQUARE[-1], atol=1e-3)


def test_a_path_in_mid_motion_begins_where_the_arm_can_stop(peer):
    first = peer.send_goal([0.2, 0.15, 0.1], DOWN)
    under_way(peer)
    answer = peer.answered(peer.path, path([[0.25, 0.0, 0.05]]))
    assert peer.ended(first)["outcome"] == "REPLACED"  # also by a path that is refused
    if values(answer)["outcome"] == "PATH":  # from where it stops, the line may be out of what the arm can do
        peer.ended(answer)
        at_rest(peer)
        np.testing.assert_allclose(
            tips(peer, -1)[0], [0.25, 0.0, 0.05], atol=1e-3, err_msg=str([r.message for r in peer.reports[-4:]])
        )
    else:
        assert "of the path can be done" in answer.message


def test_a_refused_goal_moves_nothing(peer):
    go_to_start(peer)
    before, sent = peer.latest(), len(peer.trajectories)
    for answer, reason in (
        (peer.send_goal([0.25, -0.1, -0.05], DOWN), "below the floor, which is at 0 m"),
        (peer.answered(peer.path, path([[0.2, -0.1, -0.05]])), "below the floor"),
        (peer.answered(peer.path, path([[0.25, -0.1, 0.03], [0.8, 0.0, 0.03]])), "% of the path can be done, then: "),
        (peer.answered(peer.path, path([[np.nan, 0.0, 0.0]])), "finite"),
    ):
        assert values(answer)["outcome"] == "REFUSED" and reason in answer.message
    at_rest(peer)
    assert len(peer.trajectories) == sent
    assert all(abs(peer.latest()[name] - before[name]) < 1e-6 for name in CHAIN.joint_names)


def test_the_tip_is_steered_and_rests_when_the_commands_stop(peer):
    go_to_start(peer)
    since, began = len(peer.tips), tips(peer, -1)[0]
    until = time.monotonic() + 1.5
    while time.monotonic() < until:
        peer.twist.publish(twist(y=0.06))
        peer.spin(0.02)
    at_rest(peer)
    way = tips(peer, since)[-1] - began
    assert 0.05 < way[1] < 0.12 and abs(way[0]) < 8e-3 and abs(way[2]) < 8e-3  # velocities are not held to a line
    assert [values(answer)["outcome"] for answer in peer.answers[-1:]] == ["STEERING"]  # said once of a stream


def test_nonsense_twists_are_refused(peer):
    for message, reason in ((twist(x=np.nan), "finite"), (twist(x=0.1, frame="mars"), "mars")):
        answers = len(peer.answers)
        peer.twist.publish(message)
        peer.until(lambda answers=answers: len(peer.answers) > answers)
        assert values(peer.answers[-1])["outcome"] == "REFUSED" and reason in peer.answers[-1].message


def test_an_arm_that_somebody_else_leads_away_has_missed_its_goal(peer):
    go_to_start(peer)
    answer = peer.send_goal([0.2, 0.15, 0.1], DOWN)
    under_way(peer)
    assert peer.call("sim_node/hold").success
    end = peer.ended(answer)
    assert end["outcome"] == "MISSED" and int(end["missed"]) == 1
    go_to_start(peer)
