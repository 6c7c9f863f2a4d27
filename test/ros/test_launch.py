"""Every launch file under the real `ros2 launch`. Needs it, and the package installed: skipped where either is not."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

launch_ros = pytest.importorskip("launch_ros", reason="launch_ros is on no package index")
if shutil.which("ros2") is None:
    pytest.skip("ros2cli is not installed", allow_module_level=True)
from ament_index_python.packages import PackageNotFoundError, get_package_prefix  # noqa: E402

try:
    get_package_prefix("ik_solver_ros")
except PackageNotFoundError:
    pytest.skip("ik_solver_ros is not installed", allow_module_level=True)

URDF = Path(__file__).parents[2] / "urdf"
MOCK = "backend:=mock"


class Launched:
    """`ros2 launch` of a file, with all it says."""

    def __init__(self, log: Path, file: str, *arguments: str) -> None:
        self.log = log
        with log.open("w") as out:
            self.process = subprocess.Popen(
                ["ros2", "launch", "ik_solver_ros", file, *arguments],
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env=os.environ | {"PYTHONUNBUFFERED": "1"},
            )

    def text(self) -> str:
        return self.log.read_text()

    def until(self, *words: str, seconds: float = 180.0) -> None:
        deadline = time.monotonic() + seconds
        while not all(word in self.text() for word in words):
            assert self.process.poll() is None, self.text()
            assert time.monotonic() < deadline, self.text()
            time.sleep(0.1)

    def stop(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(30.0)

    def kill(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)


@pytest.fixture
def launched(tmp_path):
    made = []

    def launch(file, *arguments):
        made.append(Launched(tmp_path / f"{len(made)}.log", file, *arguments))
        return made[-1]

    yield launch
    for one in made:
        one.kill()


READY = {
    "sim.launch.py": ((MOCK,), ("ready for goals", "ready: so101")),
    "servo.launch.py": (("protocol:=emulated:feetech",), ("ready for goals", "ready: so101", "torque on")),
    "ros2_control.launch.py": ((), ("waiting for the robot on the topic robot_description",)),
    "two_arms.launch.py": ((MOCK,), ("left.ik_node", "right.ik_node", "left.sim_node", "right.sim_node")),
}


@pytest.mark.parametrize("file", READY)
def test_it_starts_and_stops_cleanly(launched, file):
    arguments, words = READY[file]
    run = launched(file, *arguments)
    run.until(*words)
    if file == "two_arms.launch.py":
        while run.text().count("ready for goals") < 2:
            run.until("ready for goals")
            time.sleep(0.2)
    assert "unknown parameter" not in run.text()
    assert run.stop() == 0, run.text()
    assert "Traceback" not in run.text() and "process has died" not in run.text()


def test_rviz_alone(launched):
    run = launched("view.launch.py", "base_link:=base")
    try:
        get_package_prefix("rviz2")
    except PackageNotFoundError:
        assert run.process.wait(60.0) == 0
        assert "RViz is wanted, but not installed" in run.text()
    else:
        run.until("process started")
        assert run.stop() == 0, run.text()


@pytest.mark.parametrize("file", ["sim", "servo", "ros2_control", "view", "two_arms"])
def test_its_arguments_are_described(file):
    command = ["ros2", "launch", "ik_solver_ros", f"{file}.launch.py", "--show-args"]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "use_rviz" in out or file == "view"
    assert "(no default)" not in out and "\n        \n" not in out


WRONG = [
    (("descriptoin_file:=x.urdf",), "unknown launch argument 'descriptoin_file'; did you mean 'description_file'?"),
    (("description_file:=/nowhere.urdf",), "description_file:=/nowhere.urdf: there is no such file"),
    (("tip_link:=hand",), "tip_link 'hand'"),
    (("speed_scale:=fast",), "speed_scale:=fast: a number is wanted"),
    (("backend:=gazebo",), "gazebo"),
    (("tool_axis:=up",), "tool_axis"),
    (("params_file:=/nowhere.yaml",), "params_file:=/nowhere.yaml: there is no such file"),
]


@pytest.mark.parametrize(("arguments", "words"), WRONG)
def test_what_does_not_fit_ends_it_with_a_sentence(launched, arguments, words):
    run = launched("sim.launch.py", *arguments)
    assert run.process.wait(60.0) == 1
    assert words in run.text() and "Traceback" not in run.text(), run.text()


def test_a_xacro_file_and_another_base(launched, tmp_path):
    pytest.importorskip("xacro")
    text = (URDF / "seed_arm.urdf").read_text()
    (tmp_path / "arm.urdf.xacro").write_text(
        text.replace("<robot ", '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" ', 1)
    )
    run = launched("sim.launch.py", MOCK, f"description_file:={tmp_path / 'arm.urdf.xacro'}", "namespace:=lab")
    run.until("ready for goals", "lab.sim_node")
    goal = "{header: {frame_id: lab/base_link}, pose: {position: {x: 0.1, z: 0.2}, orientation: {y: 1.0, w: 0.0}}}"
    command = ["ros2", "topic", "pub", "--once", "/lab/goal_pose", "geometry_msgs/msg/PoseStamped", goal]
    with (tmp_path / "status").open("w") as out:
        echo = subprocess.Popen([sys.executable, "-c", ECHO, "/lab/ik_node/status"], stdout=out)
        time.sleep(2.0)
        subprocess.run(command, check=True, capture_output=True, timeout=60.0)
        deadline = time.monotonic() + 30.0
        while "EXECUTED" not in (tmp_path / "status").read_text() and time.monotonic() < deadline:
            time.sleep(0.2)
        echo.kill()
    assert "EXECUTED" in (tmp_path / "status").read_text(), run.text()
    assert run.stop() == 0


ECHO = """
import sys, rclpy
from diagnostic_msgs.msg import DiagnosticStatus
rclpy.init()
node = rclpy.create_node("echo")
node.create_subscription(DiagnosticStatus, sys.argv[1], lambda m: print(m, flush=True), 10)
rclpy.spin(node)
"""
