"""Goals at 500 Hz for a minute into ik_node, with sim_node's kinematic mock behind it, over DDS."""

from __future__ import annotations

import tempfile
import time
from collections import deque
from pathlib import Path

import numpy as np
import rclpy
from geometry_msgs.msg import PoseStamped

from benchmarks.stage import URDF, ik_node, peer
from ik_solver_ros.kinematics.load import load_chain
from ik_solver_ros.ros.common import convert
from ik_solver_ros.ros.processes import NodeProcess

RATE = 500.0  # [Hz]
DOWN = np.array([1.0, 0.0, 0.0, 0.0])


def measure(seconds: float = 60.0) -> None:
    chain = load_chain(URDF)
    with (
        tempfile.TemporaryDirectory() as scratch,
        NodeProcess("sim_node", Path(scratch) / "sim.log", {"description_file": str(URDF), "backend": "mock"}),
        ik_node(goal_mode="approach") as node,
        peer() as bench,
    ):
        tips: deque[PoseStamped] = deque(maxlen=1)
        bench.create_subscription(PoseStamped, "sim_node/tip_pose", lambda tip: tips.append(tip), 1)
        bench.until(lambda: bench.goals.get_subscription_count() and tips, 300.0)
        bench.until(lambda: _answered(bench, chain), 300.0)
        before = memory(node)
        began, sent = time.perf_counter(), 0
        while time.perf_counter() - began < seconds:
            bench.goals.publish(goal(chain, 0.001 * sent, bench))
            sent += 1
            rclpy.spin_once(bench, timeout_sec=0.0)
            time.sleep(max(0.0, began + sent / RATE - time.perf_counter()))
        spent = time.perf_counter() - began
        bench.until(lambda: last(bench, "EXECUTED"), 20.0)
        counts = last(bench, "EXECUTED") or {}
        settled = time.perf_counter() + 1.0
        bench.until(lambda: time.perf_counter() > settled)
        off = np.linalg.norm(convert.position_of(tips[-1].pose) - place(0.001 * (sent - 1)))
        print(f"{sent} goals in {spent:.0f} s: accepted {counts.get('accepted')}, executed {counts.get('executed')},")
        print(f"replaced {counts.get('replaced')}; the tip is {1e3 * off:.2f} mm off the last goal;")
        print(f"memory of ik_node: {before:.1f} MB before, {memory(node) - before:+.1f} MB after")


def place(phase: float) -> np.ndarray:
    return np.array([0.22 + 0.03 * np.sin(1.7 * phase), 0.08 * np.sin(phase), 0.05])


def goal(chain, phase: float, bench):
    return convert.pose_msg(place(phase), DOWN, chain.base_link, bench.get_clock().now().to_msg())


def _answered(bench, chain) -> bool:
    bench.goals.publish(goal(chain, 0.0, bench))
    return bench.until(lambda: last(bench, "EXECUTED") is not None, 5.0)


def last(bench, outcome: str) -> dict[str, str] | None:
    """The newest status, if it has this outcome."""
    if not bench.answers:
        return None
    known = {pair.key: pair.value for pair in bench.answers[-1].values}
    return known if known.get("outcome") == outcome else None


def memory(node: NodeProcess) -> float:
    """Resident memory [MB]."""
    status = Path(f"/proc/{node.process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024.0
