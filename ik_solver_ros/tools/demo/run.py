"""The run: goals over DDS, an arm in PyBullet, and a judge that believes only what is measured there.

With servos, the arm is emulated ones on a pseudo-terminal, and the judge believes where these really are.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from scipy.spatial.transform import Rotation

from ik_solver_ros.arm.bullet import BulletArm
from ik_solver_ros.arm.mock import MockArm
from ik_solver_ros.errors import ArmError
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.load import load_chain
from ik_solver_ros.ros.processes import NodeProcess, isolated_environment
from ik_solver_ros.share import share_dir
from ik_solver_ros.tools.demo.emulated_arm import EmulatedArm
from ik_solver_ros.tools.demo.film import Frame, draw_run
from ik_solver_ros.tools.demo.goals import Pose, reachable_poses
from ik_solver_ros.tools.demo.results import Result, results_table, summary
from ik_solver_ros.tools.film import FPS

if TYPE_CHECKING:
    from ik_solver_ros.ros.demo_judge import Judge

WITHIN_POSITION, WITHIN_ANGLE = 2e-3, np.radians(1.0)  # [m], [rad] a goal within both is reached
SETTLE = 0.4  # [s] after the end of a motion, before it is measured
PATIENCE = 9.0  # [s] for an answer to a goal
START_WITHIN = 120.0  # [s] for both nodes, also on a slow computer that is busy with something else

Measure = Callable[[], "tuple[np.ndarray, np.ndarray] | None"]  # where the tip is, in base_link; None: not known yet


def demo(goals: int = 12, seed: int = 1, gui: bool = False, out: str = "out", arm: str = "sim") -> int:
    """Run the demonstration: 0 if every goal was reached.

    arm: a simulated one ("sim"), the same without physics ("mock"), or emulated servos ("servo"). Raises ImportError
    without ROS.
    """
    from ik_solver_ros.ros.demo_judge import judge

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
        with ExitStack() as stack:
            driver, measure = "sim_node", None
            parameters: dict[str, object] = {"gui": gui, "backend": "pybullet" if physics else "mock"}
            if arm == "servo":
                servos = stack.enter_context(EmulatedArm(chain, directory))
                driver, measure, parameters = "servo_node", servos.tip, servos.parameters
            # Children first: a process should fork before DDS has threads.
            nodes = [
                stack.enter_context(NodeProcess(name, directory / f"{name}.log", {"description_file": str(urdf)} | own))
                for name, own in ((driver, parameters), ("ik_node", {}))
            ]
            node = stack.enter_context(judge(driver))
            run = _Run(node, measure or node.tip, nodes, chain.base_link)
            run.pursue_all(console, poses)
        console.print(results_table(poses, run.results))
        if physics:
            _draw(console, directory / "demo.gif", chain, run, poses)
    except ArmError as error:
        console.print(f"error: {error}")
        return 2
    except KeyboardInterrupt:
        console.print("demo: interrupted; all processes are ended")
        return 130
    print(f"demo: {summary(run.results)}", flush=True)
    return 0 if all(result.reached for result in run.results) else 1


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _choose(console: Console, chain: Chain, goals: int, seed: int, physics: bool) -> list[Pose]:
    with closing(BulletArm(chain.model) if physics else MockArm(chain.model)) as arm:
        arm.open()
        with console.status("drawing goals"):
            poses = reachable_poses(chain, arm, goals, seed)
    console.print(f"{goals} goals for {chain.model.name}, poses that a second {arm.name} arm had (seed {seed})")
    return poses


class _Run:
    """Goals, one after another; of each a Result, and of the way to it Frames."""

    def __init__(self, judge: Judge, measure: Measure, nodes: Sequence[NodeProcess], base_link: str) -> None:
        self.results: list[Result] = []
        self.frames: list[Frame] = []
        self._judge, self._measure, self._nodes, self._base_link = judge, measure, nodes, base_link

    def pursue_all(self, console: Console, poses: Sequence[Pose]) -> None:
        """Wait for the nodes and pursue every goal. Raises ArmError where a node ends, or the nodes do not meet."""
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=console) as progress:
            task = progress.add_task("starting the nodes", total=None)
            self._wait_until_connected()
            progress.update(task, description="goals", total=len(poses))
            for i, pose in enumerate(poses):
                self.results.append(self._pursue(pose, i, len(poses)))
                progress.advance(task)

    def _wait_until_connected(self) -> None:
        deadline = time.monotonic() + START_WITHIN
        while not self._judge.connected or self._measure() is None:
            if time.monotonic() > deadline:
                raise ArmError(
                    f"the nodes have not found each other within {START_WITHIN:.0f} s; see the logs under out/"
                )
            self._listen(0.1)

    def _pursue(self, pose: Pose, number: int, count: int) -> Result:
        """Send one goal, film the way to it, and measure where the tip has come to."""
        judge = self._judge
        judge.send(pose.position, pose.quat_xyzw, self._base_link)
        deadline = time.monotonic() + PATIENCE
        while not judge.answered and time.monotonic() < deadline:
            self._listen(0.02)
        ends = time.monotonic() + float(judge.answer.get("motion_time_s", 0.0)) + SETTLE
        next_frame = time.monotonic()
        while time.monotonic() < ends:
            self._listen(0.005)
            if time.monotonic() >= next_frame:
                next_frame += 1.0 / FPS
                distance, angle = self._errors(pose)
                caption = f"goal {number + 1}/{count}   {1e3 * distance:6.1f} mm  {np.degrees(angle):5.1f} deg to go"
                self.frames.append(Frame(judge.joints, number, caption))
        distance, angle = self._errors(pose)
        reached = judge.answered and distance <= WITHIN_POSITION and angle <= WITHIN_ANGLE
        return Result(distance, angle, judge.answer.get("message", "no answer"), reached)

    def _listen(self, seconds: float) -> None:
        for node in self._nodes:
            node.check()
        self._judge.listen(seconds)

    def _errors(self, goal: Pose) -> tuple[float, float]:
        """How far the measured tip is from the goal: [m], [rad]."""
        tip = self._measure()
        assert tip is not None
        position, quat = tip
        turned = Rotation.from_quat(quat).inv() * Rotation.from_quat(goal.quat_xyzw)
        return float(np.linalg.norm(position - goal.position)), float(turned.magnitude())


def _draw(console: Console, path: Path, chain: Chain, run: _Run, poses: Sequence[Pose]) -> None:
    with Progress(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), console=console) as progress:
        task = progress.add_task(f"drawing {path}", total=len(run.frames))
        for _ in draw_run(path, chain, run.frames, poses, [result.reached for result in run.results]):
            progress.advance(task)
    console.print(f"the run as a film: {path}")
