"""The main job: a PoseStamped over DDS, and the arm in the simulation is there. In a namespace, with both nodes."""

from __future__ import annotations

import numpy as np
from conftest import URDF as ARMS
from conftest import angle_between_quaternions, random_q

from ik_solver_ros.kinematics.load import load_chain
from ik_solver_ros.ros.common import convert

from .conftest import values


def test_goals_are_reached_as_measured(fresh_stage):
    arm = str(ARMS / "seed_arm.urdf")
    chain = load_chain(arm)
    fresh_stage.start_sim(description_file=arm, floor=False)
    fresh_stage.start_ik(description_file=arm)
    peer = fresh_stage.peer
    rng = np.random.default_rng(31)
    for _ in range(4):
        position, quat = chain.forward(0.6 * random_q(chain, rng))
        answer = peer.send_goal(position, quat)
        assert values(answer)["outcome"] == "REACHED", answer.message
        peer.ended(answer)

        def arrived(position=position, quat=quat) -> bool:
            tip = peer.tips[-1].pose
            error = np.linalg.norm(convert.position_of(tip) - position)
            turned = angle_between_quaternions(np.array(convert.quaternion_of(tip)), quat)
            return error < 2e-3 and turned < np.radians(1.0)

        peer.until(arrived)


def test_goals_in_quick_succession_never_make_the_arm_leap(fresh_stage):
    """50 goals a second: the latest wins, nothing is refused by the follower, and no joint exceeds its speed."""
    fresh_stage.start_sim(backend="mock")
    fresh_stage.start_ik(collision_guard=False)  # the goals are anywhere
    peer = fresh_stage.peer
    chain = load_chain(ARMS / "so101.urdf")
    rng = np.random.default_rng(32)
    poses = [chain.forward(random_q(chain, rng)) for _ in range(8)]
    start = len(peer.states)
    for i in range(60):
        now = peer.get_clock().now().to_msg()
        peer.goal.publish(convert.pose_msg(*poses[i // 8], "base_link", now))
        peer.spin(0.02)
    peer.ended(peer.send_goal(*poses[59 // 8]))
    assert [report.message for report in peer.reports if report.level != b"\x00"] == []
    peer.until(lambda: np.linalg.norm(convert.position_of(peer.tips[-1].pose) - poses[59 // 8][0]) < 2e-3)
    states = peer.states[start:]
    speeds = np.array([[dict(zip(s.name, s.velocity))[name] for name in chain.joint_names] for s in states])
    assert np.abs(speeds).max(axis=0).max() < 1.02 * chain.velocity_limit.max()
