"""ik_node alone: joint_states from the test, trajectories to the test. What it answers is tested in test/session."""

from __future__ import annotations

import math

import numpy as np
import pytest
from conftest import URDF as ARMS
from geometry_msgs.msg import Point, PointStamped, PoseArray
from rcl_interfaces.srv import DescribeParameters
from rclpy.qos import DurabilityPolicy, QoSProfile
from scipy.spatial.transform import Rotation
from std_msgs.msg import Header, String
from visualization_msgs.msg import Marker, MarkerArray

from ik_solver_ros.kinematics.load import load_chain
from ik_solver_ros.ros.common import convert
from ik_solver_ros.ros.ik_node.params import PARAMS

from .conftest import OK, set_parameter, values

ERROR, WARN = b"\x02", b"\x01"
CHAIN = load_chain(ARMS / "so101.urdf")
HOME = np.zeros(5)
Q = np.array([0.3, -0.4, 0.5, 0.6, 0.2])  # a configuration, and the pose it has
POSITION, QUAT = CHAIN.forward(Q)
LATE = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


@pytest.fixture(scope="module")
def peer(stage):
    stage.start_ik()
    return stage.peer


@pytest.fixture
def arm(peer):
    """The peer, as an arm that stands at home."""
    peer.stream(CHAIN.joint_names, HOME)
    goals_are(peer, OK)
    return peer


def goals_are(peer, level, *parts):
    """Wait until ik_node says so of its readiness for goals."""
    return peer.diagnosed(lambda s: s.name.endswith("/ik_node: goals") and s.level == level and has(s.message, parts))


def has(text, parts):
    return all(part in text for part in parts)


def refused(answer, *parts):
    assert answer.level == ERROR and values(answer)["outcome"] == "REFUSED"
    assert has(answer.message, parts), answer.message
    return True


def final_tip(trajectory):
    return CHAIN.forward(trajectory.points[-1].positions)


def point(x, y, z, frame="base_link"):
    return PointStamped(header=Header(frame_id=frame), point=Point(x=float(x), y=float(y), z=float(z)))


class TestWaiting:
    """Goals that come before what they need; in this order, for an arm is never forgotten."""

    def test_a_goal_waits_for_joint_states(self, peer):
        goals_are(peer, WARN, "joint_states", "none were received")
        stamped = convert.pose_msg(POSITION, QUAT, "base_link", peer.get_clock().now().to_msg())
        assert set_parameter(peer, "goal_timeout", 20.0).successful
        peer.goal.publish(stamped)
        peer.diagnosed(lambda s: s.name.endswith("/ik_node: goals"))  # it has had time, and has not refused
        assert not peer.answers and not peer.trajectories
        peer.stream(CHAIN.joint_names, HOME)
        peer.until(lambda: peer.answers)
        assert values(peer.answers[-1])["outcome"] == "REACHED"
        np.testing.assert_allclose(final_tip(peer.sent(peer.answers[-1]))[0], POSITION, atol=1e-4)

    def test_the_newest_counts(self, peer):
        peer.silence()
        goals_are(peer, WARN, "silent")
        answers = len(peer.answers)
        for x in (0.15, 0.16, 0.2):
            message = point(x, 0.0, 0.15)
            message.header.stamp = peer.get_clock().now().to_msg()
            peer.point.publish(message)
        peer.diagnosed(lambda s: s.name.endswith("/ik_node: goals"))
        peer.stream(CHAIN.joint_names, HOME)
        peer.until(lambda: len(peer.answers) > answers)
        np.testing.assert_allclose(final_tip(peer.sent(peer.answers[-1]))[0], [0.2, 0.0, 0.15], atol=2e-4)
        goals_are(peer, OK)
        assert len(peer.answers) == answers + 1

    def test_but_not_longer_than_it_may(self, peer):
        peer.silence()
        goals_are(peer, WARN, "silent")
        for patience in (0.3, 0.0):
            assert set_parameter(peer, "goal_timeout", patience).successful
            assert refused(peer.send_goal(POSITION, QUAT), "joint_states", "the arm is silent")
        assert set_parameter(peer, "goal_timeout", 1.0).successful

    def test_joint_states_with_missing_joints_or_nonsense(self, peer):
        for names, positions, reason in (
            (CHAIN.joint_names[:4], HOME[:4], "joints are missing: wrist_roll"),
            (CHAIN.joint_names, [0, 0, math.nan, 0, 0], "finite positions"),
        ):
            peer.stream(names, positions)
            goals_are(peer, WARN, reason)
            assert refused(peer.send_goal(POSITION, QUAT), reason)


def test_a_pose(arm):
    answer = arm.send_goal(POSITION, QUAT)
    assert answer.level == OK and values(answer)["outcome"] == "REACHED"
    trajectory = arm.sent(answer)
    assert tuple(trajectory.joint_names) == CHAIN.joint_names
    assert convert.seconds(trajectory.header.stamp) == 0.0  # at rest: at once
    times = [convert.seconds(point.time_from_start) for point in trajectory.points]
    assert times[0] > 0 and (np.diff(times) > 0).all() and not any(trajectory.points[-1].velocities)
    assert all(len(p.velocities) == len(p.accelerations) == 5 for p in trajectory.points)
    np.testing.assert_allclose(final_tip(trajectory)[0], POSITION, atol=1e-4)
    assert arm.ended(answer)["outcome"] == "MISSED"  # this arm does not move


def test_a_point_a_direction_and_rviz_2d_goal(arm):
    answer = arm.answered(arm.point, point(0.2, 0.1, 0.15))
    assert values(answer)["outcome"] == "REACHED"
    np.testing.assert_allclose(final_tip(arm.sent(answer))[0], [0.2, 0.1, 0.15], atol=2e-4)
    yaw = math.atan2(0.12, 0.32 - 0.0388353)  # along the arm's plane, which is all that this arm can do
    answer = arm.send_goal([0.32, 0.12, 0.0], [0.0, 0.0, math.sin(yaw / 2), math.cos(yaw / 2)])
    assert "2D goal: the tip 0.1 m above it, the tool along the arrow" in answer.message
    position, quat = final_tip(arm.sent(answer))
    np.testing.assert_allclose(position, [0.32, 0.12, 0.1], atol=2e-4)
    pointing = Rotation.from_quat(quat).as_matrix() @ CHAIN.tool_axis
    assert math.degrees(math.acos(pointing @ [math.cos(yaw), math.sin(yaw), 0.0])) < 5.0


def test_goals_in_other_frames_of_the_robot(peer):
    peer.stream(CHAIN.joint_names, Q)
    goals_are(peer, OK)
    assert peer.send_goal([0.0, 0.0, 0.0], frame="gripper_frame_link").message == "goal reached"  # it is there
    answer = peer.send_goal([0.0, 0.0, -0.01], frame="/gripper_frame_link")  # 1 cm back along the tool
    expected = POSITION - 0.01 * (Rotation.from_quat(QUAT).as_matrix() @ [0.0, 0.0, 1.0])
    np.testing.assert_allclose(final_tip(peer.sent(answer))[0], expected, atol=2e-4)


def test_bad_goals_are_refused_and_nothing_moves(arm, stage):
    sent = len(arm.trajectories)
    for position, quat, frame, part in (
        ((math.nan, 0.0, 0.1), (0, 0, 0, 1), "base_link", "position"),
        ((0.2, 0.0, 0.1), (0, 0, 0, 0), "base_link", "norm is 0"),
        ((0.2, 0.0, 0.1), (0, math.nan, 0, 1), "base_link", "quat_xyzw"),
        ((0.2, 0.0, 0.1), (0, 0, 0, 1), "mars", "known frames"),
        ((0.2, 0.0, 0.1), (0, 0, 0, 1), "mars", "known frames"),
    ):
        assert refused(arm.send_goal(position, quat, frame), part)
    assert refused(arm.answered(arm.point, point(math.nan, 0, 0)), "clicked_point", "position")
    assert refused(arm.answered(arm.path, PoseArray()), "at least one pose")
    goals_are(arm, OK)
    assert len(arm.trajectories) == sent
    log = (stage.directory / "ik_node.log").read_text()
    assert sum("'mars'" in line for line in log.splitlines()) == 1  # a cause is logged once in a while


def test_home_and_hold(arm):
    for service, sentence in (("home", "going home"), ("hold", "holding")):
        sent = len(arm.trajectories)
        response = arm.call(f"ik_node/{service}")
        assert response.success and response.message == sentence
        arm.until(lambda sent=sent: len(arm.trajectories) > sent)
        assert list(arm.trajectories[-1].points[-1].positions) == [0.0] * 5


def test_parameters_are_described_and_validated(peer):
    client = peer.create_client(DescribeParameters, "ik_node/describe_parameters")
    assert client.wait_for_service(10.0)
    future = client.call_async(DescribeParameters.Request(names=[param.name for param in PARAMS]))
    peer.until(future.done)
    descriptors = future.result().descriptors
    assert len(descriptors) == len(PARAMS) and all(d.description for d in descriptors)
    assert not set_parameter(peer, "solver", "magic").successful
    assert "ccdik, ccdik_published" in set_parameter(peer, "solver", "magic").reason
    assert not set_parameter(peer, "speed_scale", 3.0).successful
    assert not set_parameter(peer, "speed_scale", math.nan).successful
    assert not set_parameter(peer, "position_tolerance", math.inf).successful
    assert not set_parameter(peer, "base_link", "x").successful  # not while running


def test_a_parameter_that_is_set_counts_from_the_next_goal_on(arm):
    arm.ended(arm.send_goal(POSITION, QUAT))  # and what the tests before have sent, too: each goes off at rest, at home
    times = []
    for scale in (1.0, 0.25):
        assert set_parameter(arm, "speed_scale", scale).successful
        answer = arm.send_goal(POSITION, QUAT)
        times.append(float(values(answer)["motion_time_s"]))
        arm.ended(answer)
    assert set_parameter(arm, "speed_scale", 1.0).successful
    assert times[1] > 1.5 * times[0]


def test_markers(arm):
    shown = []
    sideways = Rotation.from_euler("x", -90, degrees=True).as_quat()  # z of the tip along y
    answer = arm.send_goal([0.25, 0.0, 0.2], sideways)
    assert answer.level == WARN and values(answer)["outcome"] == "NEAREST_ORIENTATION"
    arm.create_subscription(MarkerArray, "ik_node/markers", shown.append, LATE)
    arm.until(lambda: shown)  # whoever looks later sees it, too
    markers = shown[-1].markers
    assert markers[0].action == Marker.DELETEALL
    by_name = {}
    for marker in markers[1:]:
        assert marker.header.frame_id == "base_link"
        by_name.setdefault(marker.ns, []).append(marker)
    assert set(by_name) == {"goal", "reached", "residual", "path", "ghost"}
    assert any("the tool points" in marker.text for marker in by_name["residual"])
    assert len(by_name["ghost"]) >= 5 and all(0.0 < marker.color.a < 1.0 for marker in by_name["ghost"])
    goal = by_name["goal"][0]
    assert goal.type == Marker.LINE_LIST and len(goal.points) == len(goal.colors) == 6
    np.testing.assert_allclose([goal.points[0].x, goal.points[0].y, goal.points[0].z], [0.25, 0.0, 0.2], atol=1e-9)
    z_axis = np.subtract(*([p.x, p.y, p.z] for p in (goal.points[5], goal.points[4])))
    assert z_axis[1] > 0.02 and abs(z_axis[0]) < 1e-6
    way = by_name["path"][0].points
    np.testing.assert_allclose([way[-1].x, way[-1].y, way[-1].z], [0.25, 0.0, 0.2], atol=1e-3)

    before = len(shown)
    arm.answered(arm.point, point(9.0, 0.0, 0.1))
    arm.until(lambda: len(shown) > before)
    goal = next(marker for marker in shown[-1].markers if marker.ns == "goal")
    assert goal.type == Marker.SPHERE and goal.pose.position.x == 9.0

    arm.stream(CHAIN.joint_names, Q)
    goals_are(arm, OK)
    before = len(shown)
    steps = (np.array([0.0, 0.0, z]) for z in (0.01, 0.0))
    poses = [convert.pose_msg(POSITION + step, QUAT, "", convert.time_msg(0.0)).pose for step in steps]
    answer = arm.answered(arm.path, PoseArray(header=Header(frame_id="base_link"), poses=poses))
    assert values(answer)["outcome"] == "PATH", answer.message
    arm.until(lambda: len(shown) > before)
    assert [marker.ns for marker in shown[-1].markers[1:]] == ["goal", "goal", "path"]


def test_diagnostics(arm):
    found = values(goals_are(arm, OK, "ready for goals"))
    assert found["robot"] == "so101" and int(found["accepted"]) > 0 and found["followers"] == "1"


def test_an_unknown_parameter_is_warned_of_and_the_end_is_clean(fresh_stage):
    process = fresh_stage.start_ik(speed_scael=0.5, constraints=1)
    text = process.log.read_text()
    assert "unknown parameter 'speed_scael' is ignored; did you mean 'speed_scale'?" in text
    assert "unknown parameter 'constraints' is ignored\n" in text
    assert process.stop() == 0
    assert "Traceback" not in process.log.read_text()


def test_what_was_guessed_of_the_robot_is_said(fresh_stage):
    path = fresh_stage.directory / "arm.urdf"
    path.write_text(CHAIN.model.text.replace("gripper_frame_link", "camera"))
    process = fresh_stage.start("ik_node", description_file=str(path))
    fresh_stage.wait(lambda: "ready for goals" in process.log.read_text(), process)
    assert "no frame tells where the gripper grips" in process.log.read_text()


def test_the_description_by_topic_and_a_bad_one_before(fresh_stage):
    process = fresh_stage.start("ik_node", goal_timeout=0.1)
    peer = fresh_stage.peer
    publisher = peer.create_publisher(String, "robot_description", LATE)
    fresh_stage.wait(lambda: publisher.get_subscription_count() and peer.goal.get_subscription_count(), process)
    peer.stream(CHAIN.joint_names, HOME)
    assert refused(peer.send_goal(POSITION, QUAT), "no robot is known yet")
    publisher.publish(String(data="<robot/>"))
    fresh_stage.wait(lambda: "robot_description refused: the robot has no links" in process.log.read_text(), process)
    publisher.publish(String(data=CHAIN.model.text))
    fresh_stage.wait(lambda: "ready for goals" in process.log.read_text(), process)
    goals_are(peer, OK)
    assert values(peer.send_goal(POSITION, QUAT))["outcome"] == "REACHED"
    text = CHAIN.model.text.replace('name="so101"', 'name="another"')
    publisher.publish(String(data=text))
    fresh_stage.wait(lambda: process.log.read_text().count("ready for goals") == 2, process)
    assert values(goals_are(peer, OK))["robot"] == "another"
    assert values(peer.send_goal(POSITION, QUAT))["outcome"] == "REACHED"


def test_a_bad_description_as_parameter_is_recovered_from(fresh_stage):
    process = fresh_stage.start("ik_node", robot_description="<robot name='x'><link name='a'/></robot>")
    peer = fresh_stage.peer
    fresh_stage.wait(lambda: "robot_description refused" in process.log.read_text(), process)
    described = peer.create_publisher(String, "robot_description", LATE)
    described.publish(String(data=(ARMS / "so101.urdf").read_text()))
    fresh_stage.wait(lambda: "ready for goals" in process.log.read_text(), process)


def test_the_live_mode_sends_a_sweep_a_tick(fresh_stage):
    fresh_stage.start_ik(live=True, live_rate=50.0)
    peer = fresh_stage.peer
    peer.stream(CHAIN.joint_names, HOME)
    goals_are(peer, OK)
    target = np.array([0.25, 0.1, 0.2])
    assert values(peer.answered(peer.point, point(*target)))["outcome"] == "LIVE"
    peer.until(lambda: peer.trajectories and np.linalg.norm(final_tip(peer.trajectories[-1])[0] - target) < 0.02)
    goals_are(peer, OK)
    assert len(peer.trajectories) > 5


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"description_file": "/nowhere/arm.urdf"}, "/nowhere/arm.urdf"),
        ({"home": [0.0, 0.0, 0.0, 0.0, 9.0]}, "home ="),
        ({"solver": "magic"}, "magic"),
    ],
)
def test_a_node_that_cannot_start_says_why_and_ends(fresh_stage, parameters, message):
    process = fresh_stage.start("ik_node", **{"description_file": str(ARMS / "so101.urdf")} | parameters)
    assert process.process.wait(60) == 1
    log = process.log.read_text()
    assert message in log and "Traceback" not in log
