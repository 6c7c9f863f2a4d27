"""The demonstration: goals over DDS, an arm in PyBullet, and a judge that believes only what is measured there.

With servos, the arm is emulated ones on a pseudo-terminal, and the judge believes where these really are.
"""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import NamedTuple

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import PoseStamped
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from rclpy.signals import SignalHandlerOptions
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import JointState

from ik_solver_ros.arm.base import SimulatedArm
from ik_solver_ros.arm.bullet import BulletArm
from ik_solver_ros.arm.mock import MockArm
from ik_solver_ros.errors import ArmError
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.load import load_chain
from ik_solver_ros.ros.common import convert
from ik_solver_ros.ros.processes import NodeProcess, isolated_environment
from ik_solver_ros.servo.emulated.calibration import emulated_calibration
from ik_solver_ros.servo.emulated.port import emulate
from ik_solver_ros.share import share_dir
from ik_solver_ros.tools.demo.film import FPS, Frame, Pose, write_gif
from ik_solver_ros.tools.demo.goals import reachable_poses

WITHIN_POSITION, WITHIN_ANGLE = 2e-3, np.radians(1.0)  # [m], [rad] a goal within both is reached
SETTLE = 0.4  # [s] after the end of a motion, before it is measured
PATIENCE = 3.0  # [s] for an answer to a goal
START_WITHIN = 600.0  # [s] for both nodes; at the very first start the solver is compiled, perhaps for minutes


class Outcome(NamedTuple):
    """One goal, judged."""

    position_error: float  # [m] measured
    angle_error: float  # [rad] measured
    answer: str  # what ik_node said
    reached: bool


class EmulatedArm:
    """Emulated servos in this process, on a pseudo-terminal for servo_node; and where their tip really is."""

    def __init__(self, chain: Chain, directory: Path) -> None:
        self._chain, self._calibration = chain, emulated_calibration(chain, "feetech")
        directory.mkdir(parents=True, exist_ok=True)
        path = directory / "servos.yaml"
        self._calibration.dump(path)
        self._scratch = tempfile.TemporaryDirectory(prefix="ik_solver_ros_")
        url = str(Path(self._scratch.name) / "port")
        self._port = emulate(self._calibration, {}, url)
        self.parameters: dict[str, object] = {"port": url, "calibration": str(path)}
        self._arm: SimulatedArm = BulletArm(chain.model) if find_spec("pybullet") else MockArm(chain.model)

    def tip(self) -> Pose:
        """By PyBullet's forward kinematics, where there is PyBullet."""
        with self._port.lock:
            ticks = self._port.bus.positions
        known = {joint.name: joint.position(ticks[joint.id]) for joint in self._calibration.joints}
        positions = np.array([known[name] for name in self._arm.joint_names])
        if isinstance(self._arm, BulletArm):
            self._arm.place(positions)
        else:
            self._arm.write(positions, np.zeros(len(positions)))
            self._arm.advance()
        return Pose(*self._arm.link_pose(self._chain.base_link, self._chain.tip_link))

    def __enter__(self) -> EmulatedArm:
        self._arm.open()
        self._port.plug()
        return self

    def __exit__(self, *_: object) -> None:
        self._port.unplug()
        self._arm.close()
        self._scratch.cleanup()


class Judge(Node):
    """Sends goals and listens to what the simulation measures."""

    def __init__(self, driver: str, measure: Callable[[], Pose] | None = None) -> None:
        """driver: the node that moves the arm. measure: where the tip really is; else by the driver's tip_pose."""
        super().__init__("demo")
        self._measure, self._base_link = measure, ""
        self.goals = self.create_publisher(PoseStamped, "goal_pose", 10)
        self.tip: PoseStamped | None = None
        self.joints: JointState | None = None
        self.answer: dict[str, str] = {}
        self.accepted = False
        self.create_subscription(PoseStamped, f"{driver}/tip_pose", self._on_tip, qos_profile_sensor_data)
        self.create_subscription(JointState, "joint_states", self._on_joints, qos_profile_sensor_data)
        self.create_subscription(DiagnosticStatus, "ik_node/status", self._on_answer, 10)
        self.create_subscription(DiagnosticStatus, f"{driver}/status", self._on_controller, 10)

    def where(self) -> Pose | None:
        """Where the tip is measured to be; None before that is known."""
        if self._measure is not None:
            return self._measure()
        if self.tip is None:
            return None
        return Pose(np.array(convert.position_of(self.tip.pose)), np.array(convert.quaternion_of(self.tip.pose)))

    def _on_tip(self, message: PoseStamped) -> None:
        self.tip = message

    def _on_joints(self, message: JointState) -> None:
        self.joints = message

    def _on_answer(self, message: DiagnosticStatus) -> None:
        answer = {"message": message.message} | {pair.key: pair.value for pair in message.values}
        if answer.get("outcome") not in ("EXECUTED", "MISSED", "REPLACED"):  # which tell of a goal before
            self.answer = answer

    def _on_controller(self, _: DiagnosticStatus) -> None:
        self.accepted = True

    def connected(self) -> bool:
        """Whether all that must find each other has: the goal's way to the arm, and the measurements' way back."""
        follower = "joint_trajectory_controller/joint_trajectory"
        return (
            self.goals.get_subscription_count() > 0
            and self.where() is not None
            and self.joints is not None
            and self.count_publishers(follower) > 0
            and self.count_subscribers(follower) > 0
            and self.count_publishers("ik_node/status") > 0
            and self.count_subscribers("joint_states") > 1
        )


def demo(goals: int = 12, seed: int = 1, gui: bool = False, out: str = "out", arm: str = "sim") -> int:
    """Run the demonstration: 0 if every goal was reached.

    arm: a simulated one ("sim"), the same without physics ("mock"), or emulated servos ("servo").
    """
    console = Console(highlight=False)
    if gui and not os.environ.get("DISPLAY"):
        console.print("error: a window needs a display, and DISPLAY is not set; run without the GUI")
        return 2
    for name in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, _interrupt)
    os.environ.update(isolated_environment(domain_id=20 + os.getpid() % 80))
    urdf = share_dir() / "urdf" / "so101.urdf"
    directory = Path(out)
    chain = load_chain(urdf)
    physics = find_spec("pybullet") is not None and arm != "mock"
    if arm != "mock" and not physics:
        console.print("PyBullet is not installed here: the kinematic mock moves, without physics and without a film.")
    try:
        poses = _choose(console, chain, goals, seed, physics)
        parameters = {"description_file": str(urdf)}
        with ExitStack() as stack:
            driver, measure = "sim_node", None
            more: dict[str, object] = {"gui": gui, "backend": "pybullet" if physics else "mock"}
            if arm == "servo":
                servos = stack.enter_context(EmulatedArm(chain, directory))
                driver, measure = "servo_node", servos.tip
                more = servos.parameters
            # Children first: a process should fork before DDS has threads.
            nodes = [
                stack.enter_context(NodeProcess(name, directory / f"{name}.log", parameters | own))
                for name, own in ((driver, more), ("ik_node", {}))
            ]
            outcomes, frames = _run(console, chain, poses, nodes, driver, measure)
        _print_table(console, poses, outcomes)
        if physics:
            _draw(console, directory / "demo.gif", chain, frames, poses, outcomes)
    except ArmError as error:
        console.print(f"error: {error}")
        return 2
    except KeyboardInterrupt:
        console.print("demo: interrupted; all processes are ended")
        return 130
    reached = sum(outcome.reached for outcome in outcomes)
    worst = max(outcome.position_error for outcome in outcomes), max(outcome.angle_error for outcome in outcomes)
    print(
        f"demo: {reached}/{len(poses)} goals reached, worst {1e3 * worst[0]:.2f} mm, {np.degrees(worst[1]):.2f} deg",
        flush=True,
    )
    return 0 if reached == len(poses) else 1


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _choose(console: Console, chain: Chain, goals: int, seed: int, physics: bool) -> list[Pose]:
    arm = BulletArm(chain.model) if physics else MockArm(chain.model)
    arm.open()
    with console.status("drawing goals (the very first time the solver is compiled, which takes about a minute)"):
        poses = reachable_poses(chain, arm, goals, seed)
    arm.close()
    console.print(f"{goals} goals for {chain.model.name}, poses that a second {arm.name} arm had (seed {seed})")
    return poses


def _run(
    console: Console,
    chain: Chain,
    poses: list[Pose],
    nodes: list[NodeProcess],
    driver: str,
    measure: Callable[[], Pose] | None,
) -> tuple[list[Outcome], list[Frame]]:
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    try:
        judge = Judge(driver, measure)
        outcomes: list[Outcome] = []
        frames: list[Frame] = []
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=console) as progress:
            task = progress.add_task("starting the nodes", total=None)
            _wait_until_connected(judge, nodes)
            progress.update(task, description="goals", total=len(poses))
            for i, pose in enumerate(poses):
                outcomes.append(_pursue(judge, chain, i, pose, nodes, frames, len(poses)))
                progress.advance(task)
        judge.destroy_node()
        return outcomes, frames
    finally:
        rclpy.try_shutdown()


def _wait_until_connected(judge: Judge, nodes: list[NodeProcess]) -> None:
    deadline = time.monotonic() + START_WITHIN
    while not judge.connected():
        for node in nodes:
            node.check()
        if time.monotonic() > deadline:
            raise ArmError(f"the nodes have not found each other within {START_WITHIN:.0f} s; see the logs under out/")
        rclpy.spin_once(judge, timeout_sec=0.1)


def _pursue(
    judge: Judge, chain: Chain, number: int, pose: Pose, nodes: list[NodeProcess], frames: list[Frame], count: int
) -> Outcome:
    """Send one goal, film the way there, and measure where the tip has come to."""
    answered = False
    for _ in range(3):  # the very first message may be sent before the nodes have met each other
        judge.answer, judge.accepted = {}, False
        now = judge.get_clock().now().to_msg()
        judge.goals.publish(convert.pose_msg(pose.position, pose.quat_xyzw, chain.base_link, now))
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and not (judge.answer and judge.accepted):
            rclpy.spin_once(judge, timeout_sec=0.02)
        answered = bool(judge.answer and judge.accepted)
        if answered:
            break
    answer = judge.answer.get("message", "no answer")
    ends = time.monotonic() + float(judge.answer.get("motion_time_s", 0.0)) + SETTLE
    next_frame = time.monotonic()
    while time.monotonic() < ends:
        for node in nodes:
            node.check()
        rclpy.spin_once(judge, timeout_sec=0.005)
        if time.monotonic() >= next_frame and judge.joints is not None:
            next_frame += 1.0 / FPS
            off, angle = _errors(judge, pose)
            caption = f"goal {number + 1}/{count}   {1e3 * off:6.1f} mm  {np.degrees(angle):5.1f} deg to go"
            frames.append(Frame(dict(zip(judge.joints.name, judge.joints.position)), number, caption))
    off, angle = _errors(judge, pose)
    return Outcome(off, angle, answer, answered and off <= WITHIN_POSITION and angle <= WITHIN_ANGLE)


def _errors(judge: Judge, pose: Pose) -> tuple[float, float]:
    """How far the measured tip is from the goal: [m], [rad]."""
    where = judge.where()
    assert where is not None
    turned = Rotation.from_quat(where.quat_xyzw).inv() * Rotation.from_quat(pose.quat_xyzw)
    return float(np.linalg.norm(where.position - pose.position)), float(turned.magnitude())


def _print_table(console: Console, poses: list[Pose], outcomes: list[Outcome]) -> None:
    table = Table("goal", "x [m]", "y [m]", "z [m]", "off [mm]", "off [deg]", "measured", "ik_node says")
    for i, (pose, outcome) in enumerate(zip(poses, outcomes), 1):
        table.add_row(
            str(i),
            *(f"{v:+.3f}" for v in pose.position),
            f"{1e3 * outcome.position_error:.3f}",
            f"{np.degrees(outcome.angle_error):.3f}",
            "reached" if outcome.reached else "MISSED",
            outcome.answer,
        )
    console.print(table)


def _draw(
    console: Console, path: Path, chain: Chain, frames: list[Frame], poses: list[Pose], outcomes: list[Outcome]
) -> None:
    with Progress(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), console=console) as progress:
        task = progress.add_task(f"drawing {path}", total=len(frames))
        for _ in write_gif(path, chain, frames, poses, [outcome.reached for outcome in outcomes]):
            progress.advance(task)
    console.print(f"the run as a film: {path}")
