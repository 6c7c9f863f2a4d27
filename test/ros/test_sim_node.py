"""sim_node alone: trajectories from the test, measurements to the test."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest
from builtin_interfaces.msg import Duration
from conftest import URDF as ARMS
from conftest import angle_between_quaternions
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ik_solver_ros.kinematics.load import load_chain
from ik_solver_ros.ros.common import convert

CHAIN = load_chain(ARMS / "so101.urdf")
RAISED = np.array([0.5, -0.5, 0.4, 0.5, 0.5])  # clear of the floor
STILL = 20  # measurements in a row that hardly differ, a fifth of a second
BACKENDS = ["pybullet"] if find_spec("pybullet") else ["mock"]  # with the mock, test_motion.py moves


@pytest.fixture(scope="module", params=BACKENDS)
def peer(request, tmp_path_factory):
    from .conftest import Stage

    stage = Stage(tmp_path_factory.mktemp(request.param))
    stage.start_sim(backend=request.param)
    yield stage.peer
    stage.stop()


def trajectory(positions, seconds=1.0, names=CHAIN.joint_names, **more) -> JointTrajectory:
    point = JointTrajectoryPoint(positions=[float(p) for p in positions], velocities=[0.0] * len(positions), **more)
    point.time_from_start = Duration(sec=int(seconds), nanosec=int(1e9 * (seconds % 1)))
    return JointTrajectory(joint_names=list(names), points=[point])


def chain_positions(peer):
    return np.array([peer.latest()[name] for name in CHAIN.joint_names])


def recorded(peer, since=0):
    """Stamps (m,) [s] and positions (m, 5) of the chain that were published."""
    states = peer.states[since:]
    stamps = np.array([convert.seconds(s.header.stamp) for s in states])
    return stamps, np.array([[dict(zip(s.name, s.position))[n] for n in CHAIN.joint_names] for s in states])


def published(peer, seconds):
    """What is published from now on, until it covers so much time [s]."""
    since = len(peer.states)
    peer.until(lambda: len(peer.states) > since + 1 and np.ptp(recorded(peer, since)[0]) >= seconds)
    return recorded(peer, since)[1]


def resting(peer, positions=None, within=2e-3, patience=60.0):
    """Where the chain comes to rest: wait until it is published to be still, and at these positions where given."""
    since = len(peer.states)

    def still():
        seen = recorded(peer, max(since, len(peer.states) - STILL))[1]
        if len(seen) < STILL or np.ptp(seen, axis=0).max() > 1e-3:
            return False
        return positions is None or np.abs(seen - positions).max() < within

    peer.until(still, patience)
    return chain_positions(peer)


def go(peer, positions, seconds=1.0):
    report = peer.reported(peer.follower, trajectory(positions, seconds))
    assert report.message == "trajectory accepted" and report.name == "sim_node: joint_trajectory_controller"
    resting(peer, positions)


def start_on(peer, positions, seconds, part=0.3, patience=60.0):
    """Start from zero to these positions, and wait until the chain has come so far."""
    peer.until(lambda: peer.follower.get_subscription_count() > 1)  # the peer itself, and the arm's node
    peer.follower.publish(trajectory(positions, seconds))
    peer.until(lambda: (chain_positions(peer) / positions > part).all(), patience)


def test_joint_states_and_tip_pose(peer):
    state = peer.states[-1]
    assert set(state.name) == {*CHAIN.joint_names, "gripper"}
    assert len(state.position) == len(state.velocity) == 6
    assert convert.seconds(state.header.stamp) > 1e9
    tip = peer.tips[-1]
    assert tip.header.frame_id == "base_link"


def test_it_follows_and_the_tip_is_measured(peer):
    q = np.array([0.4, -0.5, 0.6, 0.3, -0.7])
    go(peer, q)
    np.testing.assert_allclose(chain_positions(peer), q, atol=2e-3)
    p, quat = CHAIN.forward(chain_positions(peer))
    tip = peer.tips[-1].pose
    np.testing.assert_allclose(convert.position_of(tip), p, atol=2e-4)
    assert angle_between_quaternions(np.array(convert.quaternion_of(tip)), quat) < 2e-3
    go(peer, np.zeros(5))


def test_the_gripper_has_a_follower_of_its_own(peer):
    go(peer, np.zeros(5))
    peer.follower.publish(trajectory(RAISED, 1.0))
    report = peer.reported(peer.gripper, trajectory([1.0], 0.8, ["gripper"]))
    peer.until(lambda: peer.latest()["gripper"] == pytest.approx(1.0, abs=3e-3))
    resting(peer, RAISED, 3e-3)
    assert "accepted" in report.message
    np.testing.assert_allclose(chain_positions(peer), RAISED, atol=3e-3)
    assert peer.latest()["gripper"] == pytest.approx(1.0, abs=3e-3)
    go(peer, np.zeros(5))
    assert peer.latest()["gripper"] == pytest.approx(1.0, abs=3e-3)


def test_there_is_no_step_on_preemption(peer):
    go(peer, np.zeros(5))
    start = len(peer.states)
    for sign in (1, -1, 1, -1):
        peer.follower.publish(trajectory(0.8 * sign * RAISED, 1.0))
        published(peer, 0.4)
    resting(peer)
    stamps, positions = recorded(peer, start)
    steps = np.abs(np.diff(positions, axis=0)).max(axis=1)
    assert (steps < 3.2 * np.maximum(np.diff(stamps), 0.02)).all()


BAD = [
    (trajectory([0.1], names=["nose"]), "unknown joints: nose"),
    (trajectory([0.1] * 4, names=CHAIN.joint_names[:4]), "joints are missing: wrist_roll"),
    (trajectory([0.1] * 4), "positions of 4 numbers in points of 5 joints"),
    (trajectory([np.nan] * 5), "nan, joint 'shoulder_pan'"),
    (trajectory([0.1] * 5, seconds=0.0), "first point is at time 0"),
    (trajectory([2.5] * 5, seconds=5), "outside its limits"),
    (trajectory([1.0] * 5, seconds=0.01), "above its limit of 3"),
]


@pytest.mark.parametrize(("bad", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_trajectories_are_refused_and_the_arm_holds(peer, bad, message):
    go(peer, np.zeros(5))
    report = peer.reported(peer.follower, bad)
    assert report.level == b"\x02" and message in report.message
    np.testing.assert_allclose(published(peer, 0.3), 0.0, atol=2e-3)


def test_times_that_do_not_increase(peer):
    message = trajectory([0.1] * 5)
    message.points.append(message.points[0])
    assert "strictly increasing" in peer.reported(peer.follower, message).message


def test_hold_comes_to_rest_on_the_way(peer):
    go(peer, np.zeros(5))
    start_on(peer, 1.8 * RAISED, 1.5)
    assert peer.call("sim_node/hold").success
    at = resting(peer)
    assert (np.abs(at) > 0.1).all() and (at / RAISED < 1.7).all()
    assert np.abs(published(peer, 0.5) - at).max() <= 2e-3
    go(peer, np.zeros(5), 2.0)


def test_an_empty_trajectory_means_hold(peer):
    go(peer, np.zeros(5))
    start_on(peer, 1.8 * RAISED, 1.5)
    assert "accepted" in peer.reported(peer.follower, JointTrajectory(joint_names=list(CHAIN.joint_names))).message
    assert (resting(peer) / RAISED < 1.7).all()
    go(peer, np.zeros(5), 2.0)


def test_a_stamp_in_the_future_waits(peer):
    go(peer, np.zeros(5))
    message = trajectory(0.6 * RAISED, 0.5)
    starts = convert.seconds(peer.get_clock().now().to_msg()) + 0.8
    message.header.stamp = convert.time_msg(starts)
    since = len(peer.states)
    peer.follower.publish(message)
    resting(peer, 0.6 * RAISED, 3e-3)
    stamps, positions = recorded(peer, since)
    np.testing.assert_allclose(positions[stamps < starts - 0.1], 0.0, atol=2e-3)
    assert (stamps < starts - 0.1).any()
    go(peer, np.zeros(5))


def test_a_stamp_long_past_is_refused(peer):
    message = trajectory(0.6 * RAISED, 0.5)
    message.header.stamp = convert.time_msg(1000.0)
    assert "s ago" in peer.reported(peer.follower, message).message


@pytest.mark.skipif("pybullet" not in BACKENDS, reason="PyBullet has no wheel for this Python")
def test_physics_goes_by_the_clock(fresh_stage):
    """On a straight line in time, each measured position says what time it is; its stamp must say the same."""
    fresh_stage.start_sim(backend="pybullet", initial_positions=[0.1, -0.1, 0.1, 0.1, 0.1])
    peer = fresh_stage.peer
    np.testing.assert_allclose(chain_positions(peer), [0.1, -0.1, 0.1, 0.1, 0.1], atol=2e-3)
    now = convert.seconds(peer.get_clock().now().to_msg())
    message = trajectory([1.6, -0.1, 0.1, 0.1, 0.1], 1.5)
    message.points[0].velocities = []  # 1 rad/s
    message.header.stamp = convert.time_msg(now + 0.5)
    start = len(peer.states)
    peer.follower.publish(message)
    peer.until(lambda: peer.latest()["shoulder_pan"] > 1.55)
    stamps = np.array([convert.seconds(s.header.stamp) for s in peer.states[start:]]) - (now + 0.5)
    pan = np.array([dict(zip(s.name, s.position))["shoulder_pan"] for s in peer.states[start:]])
    underway = (pan > 0.3) & (pan < 1.5)
    assert underway.any()
    assert abs(np.median(stamps[underway] - (pan[underway] - 0.1))) < 0.1


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"description_file": "/nowhere/arm.urdf"}, "/nowhere/arm.urdf"),
        ({"initial_positions": [0.0]}, "initial_positions"),
        ({"initial_positions": [9.0, 0.0, 0.0, 0.0, 0.0]}, "outside its limits"),
        ({"backend": "hardware"}, "hardware"),
    ],
)
def test_a_node_that_cannot_start_says_why_and_ends(fresh_stage, parameters, message):
    process = fresh_stage.start("sim_node", **{"description_file": str(ARMS / "so101.urdf")} | parameters)
    assert process.process.wait(60) == 1
    log = process.log.read_text()
    assert message in log and "Traceback" not in log


@pytest.mark.skipif("pybullet" not in BACKENDS, reason="PyBullet has no wheel for this Python")
def test_an_arm_that_cannot_keep_to_its_path_is_held(fresh_stage):
    """PyBullet's motors lag a little behind: to a tolerance that is tighter than that, a joint is blocked."""
    process = fresh_stage.start_sim(backend="pybullet", **{"constraints.shoulder_pan.trajectory": 1e-5})
    peer = fresh_stage.peer
    peer.follower.publish(trajectory([1.0, *RAISED[1:]], 1.0))
    peer.until(lambda: any("PATH_TOLERANCE" in {v.value for v in report.values} for report in peer.reports))
    assert "joint 'shoulder_pan' is" in peer.reports[-1].message and "1e-05 allowed" in peer.reports[-1].message
    assert "off the path" in process.log.read_text()
    before = resting(peer)
    assert before[0] < 0.9 and np.abs(published(peer, 0.3) - before).max() < 1e-3


def test_the_action_where_control_msgs_are_installed(fresh_stage):
    action = pytest.importorskip("control_msgs.action").FollowJointTrajectory
    from control_msgs.msg import JointTolerance
    from rclpy.action import ActionClient

    fresh_stage.start_sim(backend="mock")
    peer = fresh_stage.peer
    client = ActionClient(peer, action, "joint_trajectory_controller/follow_joint_trajectory")
    assert client.wait_for_server(30.0)
    feedback = []

    def sent(goal):
        future = client.send_goal_async(goal, lambda message: feedback.append(message.feedback))
        peer.until(future.done)
        return future.result()

    def result(handle):
        future = handle.get_result_async()
        peer.until(future.done)
        return future.result().status, future.result().result

    succeeded, canceled, aborted = 4, 5, 6
    status, answer = result(sent(action.Goal(trajectory=trajectory(RAISED, 1.0))))
    assert (status, answer.error_code) == (succeeded, action.Result.SUCCESSFUL)
    np.testing.assert_allclose(chain_positions(peer), RAISED, atol=1e-6)
    assert len(feedback) > 5 and list(feedback[0].joint_names) == list(CHAIN.joint_names)

    status, answer = result(sent(action.Goal(trajectory=trajectory([9.0, 0.0, 0.0, 0.0, 0.0], 1.0))))
    assert (status, answer.error_code) == (
        aborted,
        action.Result.INVALID_GOAL,
    ) and "shoulder_pan" in answer.error_string

    first = sent(action.Goal(trajectory=trajectory(np.zeros(5), 5.0)))
    second = sent(action.Goal(trajectory=trajectory(np.zeros(5), 2.0)))
    status, answer = result(first)
    assert status == aborted and "another trajectory" in answer.error_string
    future = second.cancel_goal_async()
    peer.until(future.done)
    status, answer = result(second)
    assert status == canceled
    before = resting(peer)
    assert np.abs(published(peer, 0.2) - before).max() < 1e-6 and np.abs(before).max() > 0.05

    first = sent(action.Goal(trajectory=trajectory(np.zeros(5), 5.0)))
    first.cancel_goal_async()
    second = sent(action.Goal(trajectory=trajectory(RAISED, 1.0)))  # at once, as of who has changed their mind
    assert result(second)[0] == succeeded and result(first)[0] in (canceled, aborted)

    tight = [JointTolerance(name="shoulder_pan", position=1e-9)]
    status, answer = result(sent(action.Goal(trajectory=trajectory(RAISED, 1.0), path_tolerance=tight)))
    assert (status, answer.error_code) == (aborted, action.Result.PATH_TOLERANCE_VIOLATED)


@pytest.mark.skipif("pybullet" not in BACKENDS, reason="PyBullet has no wheel for this Python")
def test_a_window_without_a_display(fresh_stage, monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    process = fresh_stage.start("sim_node", description_file=str(ARMS / "so101.urdf"), gui=True)
    assert process.process.wait(60) == 1
    assert "DISPLAY is not set" in process.log.read_text()


def test_a_clean_end(fresh_stage):
    process = fresh_stage.start_sim()
    assert process.stop() == 0
    assert "Traceback" not in process.log.read_text()
