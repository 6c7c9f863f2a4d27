"""Random clicks into the running nodes, in PyBullet: recorded, for `python -m ik_solver_ros plot` to draw and film.

Reachable goals, replaced in mid-motion or not; some out of reach, some below the floor; paths.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from geometry_msgs.msg import PoseArray

from benchmarks.stage import URDF, ik_node, peer
from ik_solver_ros.kinematics.load import load_chain
from ik_solver_ros.ros.common import convert
from ik_solver_ros.ros.processes import NodeProcess

OUT = Path("out") / "clicks.jsonl"
DOWN = np.array([1.0, 0.0, 0.0, 0.0])
SQUARE = [[0.2, 0.08, 0.04], [0.26, 0.08, 0.04], [0.26, -0.08, 0.04], [0.2, -0.08, 0.04], [0.2, 0.08, 0.04]]


def measure(clicks: int = 16) -> None:
    chain = load_chain(URDF)
    OUT.parent.mkdir(exist_ok=True)
    parameters = {"description_file": str(URDF)}
    with (
        tempfile.TemporaryDirectory() as scratch,
        NodeProcess("sim_node", Path(scratch) / "sim.log", parameters),
        ik_node(goal_mode="approach") as ik,
        peer() as bench,
    ):
        paths = bench.create_publisher(PoseArray, "goal_path", 10)
        bench.until(lambda: "ready for goals" in ik.log.read_text(), 300.0)
        with recorder():
            bench.until(lambda: bench.goals.get_subscription_count() > 1 and paths.get_subscription_count() > 1)
            wait(bench, 1.0)  # until the recorder has met the nodes
            rng = np.random.default_rng(4)
            for i in range(clicks):
                if i % 8 == 5:
                    message = PoseArray()
                    message.header.frame_id = chain.base_link
                    message.poses = [goal(chain, place, bench).pose for place in SQUARE]
                    paths.publish(message)
                    wait(bench, 4.0)
                else:
                    bench.goals.publish(goal(chain, place(rng, i), bench))
                    wait(bench, rng.choice([0.25, 0.5, 1.5]))
            wait(bench, 1.5)
        outcomes = [pair.value for answer in bench.answers for pair in answer.values if pair.key == "outcome"]
        print(f"{clicks} clicks: " + ", ".join(f"{outcomes.count(o)} {o}" for o in sorted(set(outcomes))))
        print(f"recorded in {OUT}; python -m ik_solver_ros plot {OUT} draws it, with --out X.gif it films it")


@contextmanager
def recorder() -> Iterator[None]:
    """`python -m ik_solver_ros record` in a process of its own."""
    command = [sys.executable, "-m", "ik_solver_ros", "record", str(OUT), "--urdf", str(URDF)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(10.0)


def place(rng, i: int) -> np.ndarray:
    if i % 8 == 3:
        return np.array([0.6, rng.uniform(-0.3, 0.3), 0.2])  # out of reach
    if i % 8 == 6:
        return np.array([0.22, rng.uniform(-0.1, 0.1), -0.06])  # below the floor
    return np.array([rng.uniform(0.2, 0.28), rng.uniform(-0.14, 0.14), rng.uniform(0.02, 0.06)])


def goal(chain, position, bench):
    return convert.pose_msg(np.asarray(position), DOWN, chain.base_link, bench.get_clock().now().to_msg())


def wait(bench, seconds: float) -> None:
    until = time.perf_counter() + seconds
    bench.until(lambda: time.perf_counter() > until)
