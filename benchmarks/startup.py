"""How soon a new process has an answer: of `solve` in Python, and of ik_node."""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
import rclpy

from benchmarks.stage import URDF, ik_node, joint_state, peer
from ik_solver_ros.kinematics.load import load_chain
from ik_solver_ros.ros.common import convert

TIMES = 5
FIRST_ANSWER = """
import sys
from ik_solver_ros import Goal, load_chain, solve

solution = solve(load_chain(sys.argv[1]), Goal.approach((0.2, 0.0, 0.05), (0.0, 0.0, -1.0)))
assert solution.sentence() == "goal reached"
status = open("/proc/self/status").read()
print(int(status.split("VmHWM:")[1].split()[0]) / 1024.0, flush=True)
"""


def measure() -> None:
    report("a new process to its first answer of solve()", [first_answer() for _ in range(TIMES)], 1.0)
    report("start of ik_node to its first accepted goal", [(first_accepted(), None) for _ in range(TIMES)], 2.0)


def report(what: str, measured: list[tuple[float, float | None]], wanted: float) -> None:
    """Print times [s], memory [MB] if it is known, and what is wanted of the time."""
    seconds = [spent for spent, _ in measured]
    text = f"{what}: {np.median(seconds):.2f} s, {min(seconds):.2f} to {max(seconds):.2f} s in {len(seconds)} runs"
    memory = [megabytes for _, megabytes in measured if megabytes is not None]
    if memory:
        text += f", {max(memory):.0f} MB at most"
    print(f"{text} (wanted: under {wanted:g} s)")


def first_answer() -> tuple[float, float]:
    """From the start of Python to its first answer [s], and the most memory that this took [MB]."""
    command = [sys.executable, "-c", FIRST_ANSWER, str(URDF)]
    began = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        megabytes = process.stdout.readline()
        spent = time.perf_counter() - began
    if process.returncode:
        raise RuntimeError("no answer came: the reason is printed above")
    return spent, float(megabytes)


def first_accepted() -> float:
    """From the start of ik_node's process to the first goal that it accepts [s]."""
    chain = load_chain(URDF)
    pose = chain.forward(np.array([0.3, -0.4, 0.5, 0.6, 0.2]))
    began = time.perf_counter()
    with ik_node() as process, peer() as node:
        while not any(answer.level == b"\x00" for answer in node.answers):
            process.check()
            node.states.publish(joint_state(chain, np.zeros(chain.n)))
            stamp = node.get_clock().now().to_msg()
            node.goals.publish(convert.pose_msg(*pose, chain.base_link, stamp))
            rclpy.spin_once(node, timeout_sec=0.02)
        return time.perf_counter() - began
