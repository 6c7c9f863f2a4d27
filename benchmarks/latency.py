"""From publishing a goal to receiving its trajectory: two processes over DDS, 1,000 goals at 20 Hz."""

from __future__ import annotations

import time
from contextlib import suppress

import numpy as np
import rclpy

from benchmarks.stage import URDF, ik_node, joint_state, peer
from ik_solver_ros import Goal, solve
from ik_solver_ros.collision.guard import CollisionGuard
from ik_solver_ros.errors import CollisionError
from ik_solver_ros.kinematics.load import load_chain
from ik_solver_ros.ros.common import convert
from ik_solver_ros.trajectory.limits import MotionLimits
from ik_solver_ros.trajectory.plan import plan
from ik_solver_ros.trajectory.trajectory import State

GOALS, RATE = 1000, 20.0


def measure() -> None:
    chain = load_chain(URDF)
    poses = free_poses(chain, np.random.default_rng(1))
    with ik_node() as process, peer() as node:
        node.until(lambda: "ready for goals" in process.log.read_text())
        node.until(lambda: node.goals.get_subscription_count() and node.states.get_subscription_count())
        for _ in range(20):
            node.states.publish(joint_state(chain, np.zeros(chain.n)))
            rclpy.spin_once(node, timeout_sec=0.05)
        times = []
        begin = time.perf_counter()
        for i in range(GOALS):
            while (wait := begin + i / RATE - time.perf_counter()) > 0:
                rclpy.spin_once(node, timeout_sec=wait)
            node.states.publish(joint_state(chain, np.zeros(chain.n)))
            message = convert.pose_msg(*next(poses), chain.base_link, node.get_clock().now().to_msg())
            process.check()
            seen = len(node.arrivals)
            sent = time.perf_counter()
            node.goals.publish(message)
            if node.until(lambda seen=seen: len(node.arrivals) > seen, 1.0):
                times.append(1e3 * (node.arrivals[-1] - sent))
    p50, p99 = np.percentile(times, [50, 99])
    print(
        f"goal_pose to joint_trajectory, {len(times)}/{GOALS} goals at {RATE:g} Hz: p50 {p50:.2f} ms, p99 {p99:.2f} ms"
    )


def free_poses(chain, rng):
    """Poses of random joint positions, to which the guard lets the arm go from zero."""
    limits = MotionLimits.from_urdf(chain.joint_names, chain.lower, chain.upper, chain.velocity_limit)
    guard, rest = CollisionGuard(chain), State.at_rest(np.zeros(chain.n))
    while True:
        pose = chain.forward(rng.uniform(chain.lower, chain.upper))
        with suppress(CollisionError):
            guard.check(plan(rest, solve(chain, Goal.pose(*pose), rest.position).q, limits), rest)
            yield pose
