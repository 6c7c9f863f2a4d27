"""Goals in frames that only tf2 knows. Needs tf2_ros, which no package index has: skipped where there is none."""

from __future__ import annotations

import time

import numpy as np
import pytest
from geometry_msgs.msg import TransformStamped
from scipy.spatial.transform import Rotation

from ik_solver_ros.kinematics.load import load_chain
from ik_solver_ros.ros.common import convert

from .conftest import URDF, values

tf2_ros = pytest.importorskip("tf2_ros")

CHAIN = load_chain(URDF / "so101.urdf")
Q = np.array([0.4, -0.3, 0.5, 0.2, 0.1])


def transform(parent, child, shift, turn, stamp):
    out = TransformStamped(child_frame_id=child)
    out.header.frame_id, out.header.stamp = parent, stamp
    t, r = out.transform.translation, out.transform.rotation
    t.x, t.y, t.z = shift
    r.x, r.y, r.z, r.w = turn.as_quat()
    return out


@pytest.fixture(scope="module")
def placed(stage):
    """The arm on a table in a room; the table turns and moves."""
    stage.start_sim()
    stage.start_ik(tf_timeout=1.0)
    yield stage.peer


def goal_in(frame, position, quat, stamp):
    return convert.pose_msg(np.array(position), np.array(quat), frame, stamp)


def test_a_static_frame(placed):
    peer = placed
    static = tf2_ros.StaticTransformBroadcaster(peer)
    shift, turn = (1.0, 2.0, 0.7), Rotation.from_euler("z", 40, degrees=True)
    static.sendTransform(transform("room", "base_link", shift, turn, peer.get_clock().now().to_msg()))
    tip, quat = CHAIN.forward(Q)
    there = turn.apply(tip) + shift
    answer = peer.send_goal(there, (turn * Rotation.from_quat(quat)).as_quat(), "room")
    assert values(answer)["outcome"] == "REACHED", answer.message
    got = CHAIN.forward(np.array(peer.sent(answer).points[-1].positions))[0]
    np.testing.assert_allclose(got, tip, atol=2e-4)
    assert peer.ended(answer)["outcome"] == "EXECUTED"


def test_a_frame_that_comes_to_be_known_while_the_goal_waits(placed):
    peer, before = placed, len(placed.answers)
    peer.goal.publish(goal_in("camera", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0), peer.get_clock().now().to_msg()))
    peer.spin(0.3)
    assert len(peer.answers) == before
    moving = tf2_ros.TransformBroadcaster(peer)
    tip, quat = CHAIN.forward(-Q)

    def answered():
        stamp = peer.get_clock().now().to_msg()
        moving.sendTransform(transform("base_link", "camera", tuple(tip), Rotation.from_quat(quat), stamp))
        return len(peer.answers) > before

    peer.until(answered)
    assert values(peer.answers[-1])["outcome"] == "REACHED", peer.answers[-1].message


def test_a_stamp_that_no_transform_has_gets_the_newest(placed):
    peer = placed
    message = goal_in("camera", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0), convert.time_msg(time.time() + 1e6))
    answer = peer.answered(peer.goal, message)
    assert values(answer)["outcome"] == "REACHED", answer.message


def test_nobody_knows_the_frame(placed):
    answer = placed.send_goal((0.2, 0.0, 0.1), frame="nowhere")
    assert "frame_id = 'nowhere': unknown frame" in answer.message
    assert "known frames are: base_link" in answer.message and answer.message.endswith("camera, room")


def test_the_newest_goal_counts_while_others_wait(placed):
    peer, before = placed, len(placed.answers)
    peer.goal.publish(goal_in("nowhere", (0.2, 0.0, 0.1), (0.0, 0.0, 0.0, 1.0), peer.get_clock().now().to_msg()))
    answer = peer.send_goal(*CHAIN.forward(Q))
    assert values(answer)["outcome"] == "REACHED"
    peer.spin(1.5)
    assert len(peer.answers) == before + 1
