"""ArmClient, against the simulation and against emulated servos."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ik_solver_ros.errors import (
    ArmTimeoutError,
    GoalError,
    GoalMissedError,
    GoalRefusedError,
    GoalReplacedError,
)
from ik_solver_ros.kinematics.load import load_chain
from ik_solver_ros.ros.client import ArmClient

from .conftest import URDF

CHAIN = load_chain(URDF / "so101.urdf")
EXAMPLE = Path(__file__).parents[2] / "examples" / "pick_and_place.py"


def tip(arm):
    joints = arm.joints
    return CHAIN.forward(np.array([joints[name] for name in CHAIN.joint_names]))


@pytest.fixture(scope="module", params=["sim", "servos"])
def arm(request, tmp_path_factory):
    from .conftest import Stage

    stage = Stage(tmp_path_factory.mktemp(request.param))
    if request.param == "sim":
        stage.start_sim()
    else:
        stage.start_servos()
    stage.start_ik()
    with ArmClient(stage.namespace) as client:
        client.stage = stage
        yield client
    stage.stop()


def test_a_position_a_direction_and_a_pose(arm):
    answer = arm.move_to((0.22, 0.05, 0.1))
    assert answer.reached
    np.testing.assert_allclose(tip(arm)[0], (0.22, 0.05, 0.1), atol=3e-3)
    answer = arm.move_to((0.22, 0.05, 0.05), direction=(0, 0, -2))
    assert answer.reached and float(answer.values["position_error_m"]) < 1e-3
    q = np.array([0.3, -0.4, 0.5, 0.6, 0.2])
    p, quat = CHAIN.forward(q)
    assert arm.move_to(p, quat_xyzw=quat).reached
    np.testing.assert_allclose(tip(arm)[0], p, atol=3e-3)


def test_out_of_reach_is_an_answer(arm):
    answer = arm.move_to((2.0, 0.0, 0.1), direction=(1, 0, 0))
    assert not answer.reached and answer.outcome == "NEAREST_POSITION" and "out of reach by 1." in answer.sentence


def test_a_path_home_and_the_gripper(arm):
    arm.home()
    np.testing.assert_allclose([arm.joints[n] for n in CHAIN.joint_names], np.zeros(5), atol=5e-3)
    p, quat = CHAIN.forward(np.array([0.0, -0.4, 0.5, 0.6, 0.0]))
    arm.move_to(p, quat_xyzw=quat)
    answer = arm.follow_path([p + np.array([0.0, 0.0, 0.02]), p], [quat, quat])
    assert answer.outcome == "PATH"
    np.testing.assert_allclose(tip(arm)[0], p, atol=3e-3)
    assert arm.gripper(0.8) == pytest.approx(0.8, abs=0.02)


def test_errors_have_types(arm):
    with pytest.raises(GoalRefusedError, match="unknown frame"):
        arm.move_to((0.2, 0.0, 0.1), frame="moon")
    with pytest.raises(GoalRefusedError, match="floor"):
        arm.move_to((0.25, 0.0, -0.1), direction=(0, 0, -1))
    with pytest.raises(GoalError, match="3 finite numbers"):
        arm.move_to((0.2, np.nan, 0.1))
    with pytest.raises(GoalError, match="other than zero"):
        arm.move_to((0.2, 0.0, 0.1), direction=(0, 0, 0))
    with pytest.raises(GoalError, match="not both"):
        arm.move_to((0.2, 0.0, 0.1), direction=(0, 0, 1), quat_xyzw=(0, 0, 0, 1))
    with pytest.raises(GoalError, match="one for each of the 1 positions"):
        arm.follow_path([(0.2, 0.0, 0.1)], [])
    first = arm.move_to((0.2, 0.1, 0.15), wait=False)
    arm.hold()
    with pytest.raises(GoalReplacedError):
        arm.wait(first)


def test_an_arm_that_is_held_by_somebody_misses(arm):
    arm.home()
    first = arm.move_to((0.2, 0.1, 0.15), wait=False)
    node = "sim_node" if any(p.node == "sim_node" for p in arm.stage.processes) else "servo_node"
    arm.stage.peer.call(f"{node}/hold")
    with pytest.raises(GoalMissedError, match="missed: joint"):
        arm.wait(first)
    arm.home()


def test_the_example(arm):
    if any(process.node == "sim_node" for process in arm.stage.processes):
        pytest.skip("once is enough")
    out = subprocess.run(
        [sys.executable, str(EXAMPLE), "--ros-args", "-r", f"__ns:={arm.stage.namespace}"],
        capture_output=True,
        text=True,
        timeout=180.0,
        env=os.environ | {"PYTHONPATH": str(EXAMPLE.parents[1])},
    )
    assert out.returncode == 0, out.stdout + out.stderr
    assert out.stdout.count("goal reached") == 2 and "the jaw is at 0.0" in out.stdout


def test_nobody_is_there(ros):
    with pytest.raises(ArmTimeoutError, match="ik_node does not listen"):
        ArmClient("/nobody", timeout=1.0)
