"""From the start of ik_node's process to the first goal that it accepts, without and with a cache of compiled code."""

from __future__ import annotations

import os
import tempfile
import time

import numpy as np
import rclpy

from benchmarks.stage import URDF, ik_node, joint_state, peer
from ik_solver_ros.kinematics.load import load_chain
from ik_solver_ros.ros.common import convert


def measure() -> None:
    chain = load_chain(URDF)
    pose = chain.forward(np.array([0.3, -0.4, 0.5, 0.6, 0.2]))
    with tempfile.TemporaryDirectory() as cache:
        os.environ["NUMBA_CACHE_DIR"] = cache
        for what in ("cold", "warm", "warm"):
            began = time.perf_counter()
            with ik_node() as process, peer() as node:
                while not any(answer.level == b"\x00" for answer in node.answers):
                    process.check()
                    node.states.publish(joint_state(chain, np.zeros(chain.n)))
                    stamp = node.get_clock().now().to_msg()
                    node.goals.publish(convert.pose_msg(*pose, chain.base_link, stamp))
                    rclpy.spin_once(node, timeout_sec=0.02)
                print(f"start of ik_node to its first accepted goal, {what}: {time.perf_counter() - began:.1f} s")
