"""What ik_node costs while it has nothing to do but listen to joint_states at 100 Hz."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import rclpy

from benchmarks.stage import URDF, ik_node, joint_state, peer
from ik_solver_ros.kinematics.load import load_chain

SECONDS, RATE = 20.0, 100.0


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_megabytes(pid: int) -> float:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def measure() -> None:
    chain = load_chain(URDF)
    message = joint_state(chain, np.zeros(chain.n))
    with ik_node() as process, peer() as node:
        node.until(lambda: "ready for goals" in process.log.read_text())
        node.until(lambda: node.states.get_subscription_count())
        pid = process.process.pid
        begin, before = time.perf_counter(), 0.0
        for i in range(int((SECONDS + 2.0) * RATE)):
            if i == int(2.0 * RATE):  # settled
                begun, before = time.perf_counter(), cpu_seconds(pid)
            time.sleep(max(begin + i / RATE - time.perf_counter(), 0.0))
            node.states.publish(message)
        share = (cpu_seconds(pid) - before) / (time.perf_counter() - begun)
        print(
            f"ik_node at rest, joint_states at {RATE:g} Hz for {SECONDS:g} s: {100 * share:.1f} % of a core, "
            f"{resident_megabytes(pid):.0f} MB resident"
        )
        rclpy.spin_once(node, timeout_sec=0.0)
