"""A circle of 10 cm across at 0.1 m/s, as a goal_path: how far off it the tip is in PyBullet, and how far behind."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from geometry_msgs.msg import PoseArray, PoseStamped
from rclpy.qos import qos_profile_sensor_data
from trajectory_msgs.msg import JointTrajectory

from benchmarks.stage import URDF, ik_node, peer
from ik_solver_ros.kinematics.load import load_chain
from ik_solver_ros.ros.common import convert
from ik_solver_ros.ros.processes import NodeProcess
from ik_solver_ros.trajectory.trajectory import State

CENTER, RADIUS, SPEED, CORNERS = np.array([0.22, 0.0, 0.05]), 0.05, 0.1, 72
DOWN = np.array([1.0, 0.0, 0.0, 0.0])


def measure() -> None:
    chain = load_chain(URDF)
    parameters = {"description_file": str(URDF), "backend": "pybullet", "publish_rate": 240.0}
    moving = {"goal_mode": "approach", "path_speed": SPEED, "path_rounding": 1e-4}
    with (
        tempfile.TemporaryDirectory() as scratch,
        NodeProcess("sim_node", Path(scratch) / "sim.log", parameters),
        ik_node(**moving) as node,
        peer() as bench,
    ):
        tips: list[PoseStamped] = []
        sent: list[JointTrajectory] = []
        bench.create_subscription(PoseStamped, "sim_node/tip_pose", tips.append, qos_profile_sensor_data)
        bench.create_subscription(JointTrajectory, "joint_trajectory_controller/joint_trajectory", sent.append, 10)
        paths = bench.create_publisher(PoseArray, "goal_path", 10)
        bench.until(lambda: "ready for goals" in node.log.read_text(), 300.0)
        bench.until(lambda: bench.goals.get_subscription_count() and paths.get_subscription_count() and tips)
        bench.goals.publish(pose(chain, corner(0), bench))
        bench.until(lambda: ended(bench, 1), 20.0)
        message = PoseArray()
        message.header.frame_id = chain.base_link
        message.poses = [pose(chain, corner(i), bench).pose for i in range(1, CORNERS + 1)]
        since = len(tips)
        began = bench.get_clock().now().nanoseconds * 1e-9
        paths.publish(message)
        if not bench.until(lambda: ended(bench, 2), 30.0):
            raise RuntimeError(bench.answers[-1].message)
        print_errors(chain, convert.trajectory_from(sent[-1]), tips[since:], began)


def corner(i: int) -> np.ndarray:
    angle = 2.0 * np.pi * i / CORNERS
    return CENTER + RADIUS * np.array([np.cos(angle), np.sin(angle), 0.0])


def pose(chain, position, bench) -> PoseStamped:
    return convert.pose_msg(position, DOWN, chain.base_link, bench.get_clock().now().to_msg())


def ended(bench, count: int) -> bool:
    outcomes = [pair.value for answer in bench.answers for pair in answer.values if pair.key == "outcome"]
    return outcomes.count("EXECUTED") + outcomes.count("MISSED") >= count


def print_errors(chain, trajectory, tips, began: float) -> None:
    measured = np.array([convert.position_of(tip.pose) for tip in tips])
    times = np.array([convert.seconds(tip.header.stamp) for tip in tips]) - began
    way = np.linalg.norm(np.diff(measured, axis=0), axis=1)
    # From when it is at speed until it brakes.
    first, last = (np.searchsorted(np.cumsum(way), share * 2.0 * np.pi * RADIUS) for share in (0.05, 0.95))
    measured, times = measured[first:last], times[first:last]
    radial = np.linalg.norm((measured - CENTER)[:, :2], axis=1) - RADIUS
    off = 1e3 * np.hypot(radial, (measured - CENTER)[:, 2])
    speed = np.linalg.norm(measured[-1] - measured[0]) and np.sum(way[first : last - 1]) / (times[-1] - times[0])
    rest = State.at_rest(trajectory.positions[0])
    fine = np.arange(0.0, trajectory.duration, 1e-3)
    planned = np.array([chain.forward(q)[0] for q in trajectory.states(fine, rest).position])
    starts = np.arange(0.0, 2.0, 1e-3)  # when the trajectory began is not on record: the best fit
    behind = [
        np.linalg.norm(
            measured - np.column_stack([np.interp(times - s, fine, planned[:, k]) for k in range(3)]), axis=1
        ).max()
        for s in starts
    ]
    print(f"a circle of {200 * RADIUS:g} cm across at {SPEED} m/s ({speed:.3f} m/s measured), {len(measured)} samples:")
    print(f"  off the circle: rms {np.sqrt(np.mean(off**2)):.3f} mm, at most {off.max():.3f} mm")
    print(f"  from where the plan has it, timed to fit best: at most {1e3 * min(behind):.3f} mm")
    flat = np.hypot(np.linalg.norm((planned - CENTER)[:, :2], axis=1) - RADIUS, (planned - CENTER)[:, 2])
    print(f"  of that the plan itself is off the circle by {1e3 * flat.max():.3f} mm")
