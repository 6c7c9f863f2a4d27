"""ik_node alone: joint_states from the test, trajectories to the test."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from conftest import URDF as ARMS
from geometry_msgs.msg import Point, PointStamped, PoseArray
from rcl_interfaces.srv import DescribeParameters, SetParameters
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import JointState
from std_msgs.msg import Header, String
from visualization_msgs.msg import Marker, MarkerArray

from ik_solver_ros.kinematics.load import load_chain
from ik_solver_ros.ros.common import convert
from ik_solver_ros.ros.ik_node.params import PARAMS
from ik_solver_ros.trajectory.trajectory import State

from .conftest import values

ERROR, WARN, OK = b"\x02", b"\x01", b"\x00"
CHAIN = load_chain(ARMS / "so101.urdf")
HOME = np.zeros(5)
DOWN = Rotation.from_matrix(np.array([[1, 0, 0], [0, -1, 0], [0, 0, -1]])).as_quat()
Q = np.array([0.3, -0.4, 0.5, 0.6, 0.2])  # a configuration, and the pose it has
POSITION, QUAT = CHAIN.forward(Q)


@pytest.fixture(scope="module")
def peer(stage):
    stage.start_ik()
    return stage.peer


def be_at(peer, positions=HOME, names=CHAIN.joint_names, spin=0.15):
    for _ in range(3):
        peer.joint_states.publish(JointState(name=["extra", *names], position=[7.0, *map(float, positions)]))
        peer.spin(spin / 3)


def follow(peer, message, seconds):
    """Be where a trajectory leads, for so long."""
    trajectory, began = convert.trajectory_from(message), time.monotonic()
    while (elapsed := time.monotonic() - began) < seconds:
        be_at(peer, trajectory.state(elapsed, State.at_rest(HOME)).position, spin=0.03)


def refused(answer, *parts):
    assert answer.level == ERROR and values(answer)["outcome"] == "REFUSED"
    for part in parts:
        assert part in answer.message
    return True


def nothing_sent(peer, before):
    peer.spin(0.2)
    return len(peer.trajectories) == before


def final_tip(trajectory):
    return CHAIN.forward(trajectory.points[-1].positions)


def test_a_goal_before_any_joint_states_is_refused(peer):
    sent = len(peer.trajectories)
    assert refused(peer.send_goal(POSITION, QUAT), "joint_states", "none were received")
    assert nothing_sent(peer, sent)


def test_a_reachable_pose(peer):
    be_at(peer)
    sent = len(peer.trajectories)
    answer = peer.send_goal(POSITION, QUAT)
    assert answer.level == OK and values(answer)["outcome"] == "REACHED"
    peer.until(lambda: len(peer.trajectories) > sent)
    trajectory = peer.trajectories[-1]
    assert tuple(trajectory.joint_names) == CHAIN.joint_names
    assert convert.seconds(trajectory.header.stamp) == 0.0  # at rest: at once
    times = [convert.seconds(point.time_from_start) for point in trajectory.points]
    assert times[0] > 0 and (np.diff(times) > 0).all()
    assert not any(trajectory.points[-1].velocities)
    assert all(len(p.velocities) == len(p.accelerations) == 5 for p in trajectory.points)
    np.testing.assert_allclose(final_tip(trajectory)[0], POSITION, atol=1e-4)
    peer.spin(convert.seconds(trajectory.points[-1].time_from_start))


def test_a_goal_in_motion_bends_it(peer):
    be_at(peer)
    peer.send_goal(POSITION, QUAT)
    first = peer.trajectories[-1]
    follow(peer, first, 0.3)
    sent = len(peer.trajectories)
    before = convert.seconds(peer.get_clock().now().to_msg())
    peer.send_goal(*CHAIN.forward(-Q))
    peer.until(lambda: len(peer.trajectories) > sent)
    second = peer.trajectories[-1]
    stamp = convert.seconds(second.header.stamp)
    assert stamp > before  # it starts in the future, replan_lead from now
    assert convert.seconds(first.header.stamp) == 0.0
    peer.spin(convert.seconds(second.points[-1].time_from_start) + 0.1)


def test_an_arm_that_is_not_where_it_was_sent_to_is_planned_for_where_it_is(peer):
    be_at(peer)
    peer.send_goal(*CHAIN.forward(2 * Q))
    peer.spin(0.5)
    be_at(peer)  # held by somebody else
    sent = len(peer.trajectories)
    peer.send_goal(POSITION, QUAT)
    peer.until(lambda: len(peer.trajectories) > sent)
    assert convert.seconds(peer.trajectories[-1].header.stamp) == 0.0
    peer.spin(2.0)


def test_a_direction_this_arm_cannot_have_is_answered_with_the_nearest(peer):
    be_at(peer)
    sideways = Rotation.from_euler("x", -90, degrees=True).as_quat()  # z of the tip along y
    answer = peer.send_goal([0.25, 0.0, 0.2], sideways)
    assert answer.level == WARN and values(answer)["outcome"] == "NEAREST_ORIENTATION"
    assert "position reached" in answer.message and float(values(answer)["approach_error_rad"]) > 0.5


def test_out_of_reach(peer):
    be_at(peer)
    answer = peer.send_goal([2.0, 0.0, 0.1], DOWN)
    assert answer.level == WARN and "out of reach by 1." in answer.message
    peer.spin(2.0)


def test_a_clicked_point(peer):
    be_at(peer)
    sent = len(peer.trajectories)
    message = PointStamped()
    message.header.frame_id = "base_link"
    message.point.x, message.point.y, message.point.z = 0.2, 0.1, 0.15
    assert values(peer.answered(peer.point, message))["outcome"] == "REACHED"
    peer.until(lambda: len(peer.trajectories) > sent)
    np.testing.assert_allclose(final_tip(peer.trajectories[-1])[0], [0.2, 0.1, 0.15], atol=2e-4)
    peer.spin(2.0)


def test_rviz_2d_goal(peer):
    be_at(peer)
    sent = len(peer.trajectories)
    yaw = math.atan2(0.12, 0.32 - 0.0388353)  # along the arm's plane, which is all that this arm can do
    answer = peer.send_goal([0.32, 0.12, 0.0], [0.0, 0.0, math.sin(yaw / 2), math.cos(yaw / 2)])
    assert "2D goal: the tip 0.1 m above it, the tool along the arrow" in answer.message
    peer.until(lambda: len(peer.trajectories) > sent)
    position, quat = final_tip(peer.trajectories[-1])
    np.testing.assert_allclose(position, [0.32, 0.12, 0.1], atol=2e-4)
    pointing = Rotation.from_quat(quat).as_matrix() @ CHAIN.tool_axis
    assert math.degrees(math.acos(pointing @ [math.cos(yaw), math.sin(yaw), 0.0])) < 5.0
    peer.spin(2.0)


def test_goals_in_other_frames_of_the_robot(peer):
    be_at(peer, Q)
    answer = peer.send_goal([0.0, 0.0, 0.0], frame="gripper_frame_link")  # where it is: z is 0, but leans
    assert answer.message == "goal reached"
    peer.spin(1.5)
    be_at(peer, Q)
    sent = len(peer.trajectories)
    answer = peer.send_goal([0.0, 0.0, -0.01], frame="/gripper_frame_link")  # 1 cm back along the tool
    assert float(values(answer)["position_error_m"]) < 1e-4
    peer.until(lambda: len(peer.trajectories) > sent)
    expected = POSITION - 0.01 * (Rotation.from_quat(QUAT).as_matrix() @ [0.0, 0.0, 1.0])
    np.testing.assert_allclose(final_tip(peer.trajectories[-1])[0], expected, atol=2e-4)
    peer.spin(1.5)


BAD = [
    ((math.nan, 0.0, 0.1), (0, 0, 0, 1), "base_link", "position"),
    ((0.2, math.inf, 0.1), (0, 0, 0, 1), "base_link", "position"),
    ((0.2, 0.0, 0.1), (0, 0, 0, 0), "base_link", "norm is 0"),
    ((0.2, 0.0, 0.1), (0, 0, 0, 2), "base_link", "norm is 2"),
    ((0.2, 0.0, 0.1), (0, math.nan, 0, 1), "base_link", "quat_xyzw"),
    ((0.2, 0.0, 0.1), (0, 0, 0, 1), "moon", "known frames"),
]


@pytest.mark.parametrize(("position", "quat", "frame", "part"), BAD)
def test_bad_goals_are_refused_and_nothing_moves(peer, position, quat, frame, part):
    be_at(peer)
    sent = len(peer.trajectories)
    assert refused(peer.send_goal(position, quat, frame), part)
    assert nothing_sent(peer, sent)


def test_a_bad_clicked_point(peer):
    be_at(peer)
    message = PointStamped()
    message.point.x = math.nan
    assert refused(peer.answered(peer.point, message), "clicked_point", "position")


def test_a_nearly_unit_quaternion_is_normalised(peer):
    be_at(peer)
    assert values(peer.send_goal(POSITION, 1.0005 * QUAT))["outcome"] == "REACHED"
    peer.spin(2.0)


def test_joint_states_with_missing_joints_or_nonsense(peer):
    be_at(peer, HOME[:4], CHAIN.joint_names[:4])
    assert refused(peer.send_goal(POSITION, QUAT), "joints are missing: wrist_roll")
    be_at(peer, [0, 0, math.nan, 0, 0])
    assert refused(peer.send_goal(POSITION, QUAT), "finite positions")


def test_silent_joint_states(peer):
    be_at(peer)
    peer.spin(1.3)
    assert refused(peer.send_goal(POSITION, QUAT), "the arm is silent")


def test_a_cause_is_logged_once(peer, stage):
    be_at(peer)
    for _ in range(5):
        be_at(peer, spin=0.03)
        refused(peer.send_goal([0.2, 0.0, 0.1], frame="mars"))
    log = (stage.directory / "ik_node.log").read_text()
    assert log.count("goal_pose refused") >= 1
    assert sum("'mars'" in line for line in log.splitlines()) <= 1


def test_home_and_hold(peer):
    assert set_parameter(peer, "speed_scale", 0.05).successful  # slow enough to be held on the way, however busy we are
    be_at(peer, 2.5 * Q)
    sent = len(peer.trajectories)
    assert peer.call("ik_node/home").success
    peer.until(lambda: len(peer.trajectories) > sent)
    assert list(peer.trajectories[-1].points[-1].positions) == [0.0] * 5
    be_at(peer, 2.5 * Q)
    assert peer.call("ik_node/hold").success
    peer.until(lambda: len(peer.trajectories) > sent + 1)
    stop = peer.trajectories[-1]
    assert convert.seconds(stop.points[-1].time_from_start) < 0.6
    assert any(abs(q) > 0.05 for q in stop.points[-1].positions)
    assert set_parameter(peer, "speed_scale", 1.0).successful
    peer.spin(1.0)


def set_parameter(peer, name, value):
    client = peer.create_client(SetParameters, "ik_node/set_parameters")
    assert client.wait_for_service(10.0)
    request = SetParameters.Request(parameters=[Parameter(name, value=value).to_parameter_msg()])
    future = client.call_async(request)
    peer.until(future.done)
    return future.result().results[0]


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


def test_live_parameters(peer):
    be_at(peer)
    peer.send_goal(POSITION, QUAT)
    full = float(values(peer.answers[-1])["motion_time_s"])
    peer.spin(full + 0.1)
    assert set_parameter(peer, "speed_scale", 0.25).successful
    be_at(peer)
    peer.send_goal(POSITION, QUAT)
    slow = float(values(peer.answers[-1])["motion_time_s"])
    assert slow > 1.5 * full
    assert set_parameter(peer, "speed_scale", 1.0).successful
    assert set_parameter(peer, "goal_mode", "position").successful
    peer.call("ik_node/hold")
    peer.spin(1.0)
    be_at(peer)
    assert values(peer.send_goal([0.2, 0.1, 0.15], (0, 1, 0, 0)))["outcome"] == "REACHED"
    assert set_parameter(peer, "goal_mode", "pose").successful
    peer.spin(1.5)


def test_goals_out_of_reach_can_be_refused(peer):
    sideways = np.array([0.25, 0.0, 0.2]), Rotation.from_euler("x", -90, degrees=True).as_quat()
    be_at(peer)
    assert set_parameter(peer, "on_unreachable", "reject").successful
    sent = len(peer.trajectories)
    assert refused(peer.send_goal(*sideways), "on_unreachable = 'reject'", "not reachable: position reached; the tool")
    assert nothing_sent(peer, sent)
    assert set_parameter(peer, "on_unreachable", "nearest").successful
    assert set_parameter(peer, "max_orientation_error", 0.5).successful
    assert refused(peer.send_goal(*sideways), "max_orientation_error = 0.5", "the nearest is 1")
    assert set_parameter(peer, "max_orientation_error", np.pi).successful
    answer = peer.send_goal(*sideways)
    assert values(answer)["outcome"] == "NEAREST_ORIENTATION" and "vertical plane" in values(answer)["reason"]
    peer.call("ik_node/hold")
    peer.spin(1.0)


def test_the_elbow_can_be_chosen(peer):
    found = {}
    for elbow in ("up", "down"):
        assert set_parameter(peer, "elbow", elbow).successful
        be_at(peer)
        assert set_parameter(peer, "goal_mode", "position").successful
        sent = len(peer.trajectories)
        peer.send_goal([0.2, 0.0, 0.2])
        peer.until(lambda sent=sent: len(peer.trajectories) > sent)
        found[elbow] = np.array(peer.trajectories[-1].points[-1].positions)
        np.testing.assert_allclose(CHAIN.forward(found[elbow])[0], [0.2, 0.0, 0.2], atol=1e-4)
        peer.call("ik_node/hold")
        peer.spin(1.0)
    assert found["up"][2] > found["down"][2] + 0.5  # the elbow's bend
    assert set_parameter(peer, "elbow", "nearest").successful
    assert set_parameter(peer, "goal_mode", "pose").successful


def test_markers(peer):
    late, shown = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL), []
    be_at(peer)
    sideways = Rotation.from_euler("x", -90, degrees=True).as_quat()
    assert set_parameter(peer, "goal_mode", "pose").successful
    assert values(peer.send_goal([0.25, 0.0, 0.2], sideways))["outcome"] == "NEAREST_ORIENTATION"
    peer.create_subscription(MarkerArray, "ik_node/markers", shown.append, late)
    peer.until(lambda: shown)  # whoever looks later sees it, too
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
    peer.spin(2.0)
    be_at(peer)
    before = len(shown)
    peer.point.publish(PointStamped(header=Header(frame_id="base_link"), point=Point(x=9.0, y=0.0, z=0.1)))
    peer.until(lambda: len(shown) > before)
    goal = next(marker for marker in shown[-1].markers if marker.ns == "goal")
    assert goal.type == Marker.SPHERE and goal.pose.position.x == 9.0
    peer.spin(2.0)
    be_at(peer, Q)
    before = len(shown)
    steps = (np.array([0.0, 0.0, z]) for z in (0.01, 0.0))
    poses = [convert.pose_msg(POSITION + step, QUAT, "", convert.time_msg(0.0)).pose for step in steps]
    peer.path.publish(PoseArray(header=Header(frame_id="base_link"), poses=poses))
    peer.until(lambda: len(shown) > before)
    assert [marker.ns for marker in shown[-1].markers[1:]] == ["goal", "goal", "path"]
    peer.call("ik_node/hold")
    peer.spin(1.0)


def test_diagnostics(peer, stage):
    name = f"{stage.namespace.strip('/')}/ik_node: goals"
    peer.until(lambda: be_at(peer) or any(s.name == name and s.level == OK for a in peer.diagnostics for s in a.status))
    found = next(s for a in reversed(peer.diagnostics) for s in a.status if s.name == name)
    assert values(found)["robot"] == "so101" and int(values(found)["accepted"]) > 0


def test_an_unknown_parameter_is_warned_of(fresh_stage):
    process = fresh_stage.start_ik(speed_scael=0.5, constraints=1)
    text = process.log.read_text()
    assert "unknown parameter 'speed_scael' is ignored; did you mean 'speed_scale'?" in text
    assert "unknown parameter 'constraints' is ignored\n" in text


def test_the_description_by_topic_and_a_bad_one_before(fresh_stage):
    process = fresh_stage.start("ik_node")
    peer = fresh_stage.peer
    qos = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    publisher = peer.create_publisher(String, "robot_description", qos)
    fresh_stage.wait(lambda: publisher.get_subscription_count() and peer.goal.get_subscription_count(), process)
    peer.spin(0.3)
    be_at(peer)
    assert refused(peer.send_goal(POSITION, QUAT), "no robot is known yet")
    publisher.publish(String(data="<robot/>"))
    fresh_stage.wait(lambda: "robot_description refused: the robot has no links" in process.log.read_text(), process)
    publisher.publish(String(data=CHAIN.model.text))
    fresh_stage.wait(lambda: "ready for goals" in process.log.read_text(), process)
    be_at(peer)
    assert values(peer.send_goal(POSITION, QUAT))["outcome"] == "REACHED"


def test_a_bad_description_as_parameter_is_recovered_from(fresh_stage):
    process = fresh_stage.start("ik_node", robot_description="<robot name='x'><link name='a'/></robot>")
    peer = fresh_stage.peer
    fresh_stage.wait(lambda: "robot_description refused" in process.log.read_text(), process)
    late = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    described = peer.create_publisher(String, "robot_description", late)
    described.publish(String(data=(ARMS / "so101.urdf").read_text()))
    fresh_stage.wait(lambda: "ready for goals" in process.log.read_text(), process)


def test_the_live_mode_sweeps_towards_the_goal(fresh_stage):
    fresh_stage.start_ik(live=True, live_rate=50.0)
    peer = fresh_stage.peer
    target = np.array([0.25, 0.1, 0.2])
    message = PointStamped()
    message.point.x, message.point.y, message.point.z = target
    be_at(peer)
    assert "live" in peer.answered(peer.point, message).message
    for _ in range(60):
        be_at(peer, spin=0.03)
    assert len(peer.trajectories) > 5  # one for each tick, until the sweeps have come to their end
    assert np.linalg.norm(final_tip(peer.trajectories[-1])[0] - target) < 0.02


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"description_file": "/nowhere/arm.urdf"}, "/nowhere/arm.urdf"),
        ({"tip_link": "nose"}, "tip_link 'nose' is not a link"),
        ({"tool_axis": "sideways"}, "tool_axis = 'sideways'"),
        ({"home": [0.0, 0.0, 0.0, 0.0, 9.0]}, "home ="),
        ({"solver": "magic"}, "magic"),
    ],
)
def test_a_node_that_cannot_start_says_why_and_ends(fresh_stage, parameters, message):
    process = fresh_stage.start("ik_node", **{"description_file": str(ARMS / "so101.urdf")} | parameters)
    assert process.process.wait(60) == 1
    log = process.log.read_text()
    assert message in log and "Traceback" not in log


def test_a_clean_end(fresh_stage):
    process = fresh_stage.start_ik()
    assert process.stop() == 0
    assert "Traceback" not in process.log.read_text()
