"""Whoever sends trajectories is killed (SIGKILL) in mid-motion, again and again; and servo_node is ended by signals.

The servos are emulated; the judge is a monitor on the wire.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.stage import URDF, peer
from ik_solver_ros.kinematics.load import load_chain
from ik_solver_ros.ros.processes import NodeProcess
from ik_solver_ros.servo.emulated.calibration import emulated_calibration
from ik_solver_ros.servo.emulated.port import emulate
from ik_solver_ros.servo.emulated.traits import PRECISE

SENDER = """
import sys, time
import numpy as np, rclpy
from trajectory_msgs.msg import JointTrajectory
from ik_solver_ros.kinematics.load import load_chain
from ik_solver_ros.ros.common import convert
from ik_solver_ros.trajectory.limits import MotionLimits
from ik_solver_ros.trajectory.motion import MotionPlanner
chain = load_chain(sys.argv[1])
limits = MotionLimits.from_urdf(chain.joint_names, chain.lower, chain.upper, chain.velocity_limit)
rclpy.init()
node = rclpy.create_node("sender")
out = node.create_publisher(JointTrajectory, "joint_trajectory_controller/joint_trajectory", 10)
while not out.get_subscription_count():
    rclpy.spin_once(node, timeout_sec=0.05)
rng, planner, ends = np.random.default_rng(int(sys.argv[2])), MotionPlanner(limits), 0.0
at = np.array([float(x) for x in sys.argv[3].split(",")])
print("sending", flush=True)
while True:
    now = time.monotonic()
    state = planner.commanded(now)
    target = rng.uniform(0.6 * limits.lower, 0.6 * limits.upper)
    motion = planner.plan_to(target, at if state is None else state.position, now)
    stamp = None if motion.start is None else time.time() + motion.start - now
    out.publish(convert.trajectory_msg(motion.trajectory, stamp))
    time.sleep(0.15)
"""


def measure(kills: int = 100, ends: int = 10) -> None:
    chain = load_chain(URDF)
    calibration = emulated_calibration(chain, "feetech")
    with tempfile.TemporaryDirectory() as scratch:
        calibration.dump(Path(scratch) / "arm.yaml")
        with emulate(calibration, {}, f"{scratch}/port", PRECISE) as port:
            parameters = {
                "description_file": str(URDF), "port": port.url, "calibration": f"{scratch}/arm.yaml", "protocol": ""
            }  # fmt: skip
            killed(chain, calibration, port, parameters, scratch, kills)
            ended(chain, port, parameters, scratch, ends)


def positions(calibration, port) -> np.ndarray:
    with port.lock:
        ticks = port.bus.positions
    return np.array([joint.position(ticks[joint.id]) for joint in calibration.joints])


def killed(chain, calibration, port, parameters, scratch, kills) -> None:
    rng = np.random.default_rng(0)
    slowest, moving = 0.0, 0
    with NodeProcess("servo_node", Path(scratch) / "servo.log", parameters), peer() as bench:
        topic = "joint_trajectory_controller/joint_trajectory"
        bench.until(lambda: bench.count_subscribers(topic) > 1)  # the bench listens, too
        for i in range(kills):
            at = ",".join(str(q) for q in positions(calibration, port)[: chain.n])
            command = [sys.executable, "-c", SENDER, str(URDF), str(i), at]
            sender = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            sender.stdout.readline()
            time.sleep(rng.uniform(0.2, 0.8))
            sender.send_signal(signal.SIGKILL)
            sender.wait()
            began = time.monotonic()
            before = positions(calibration, port)
            still_since = began
            while time.monotonic() - still_since < 0.3 and time.monotonic() - began < 10.0:
                time.sleep(0.02)
                now = positions(calibration, port)
                if np.abs(now - before).max() > 1e-3:
                    before, still_since = now, time.monotonic()
            moving += still_since > began
            slowest = max(slowest, still_since - began)
    beyond, fastest, even, leap = on_the_wire(chain, calibration, port)
    print(
        f"the sender of trajectories killed {kills} times, {moving} of them in motion: at rest within {slowest:.2f} s;"
    )
    print(
        f"  goals on the wire outside the limits: {beyond}; the fastest: {fastest:.2f} of the velocity limit over\n"
        f"  50 ms ({100.0 * even:.0f} % of which came evenly), the largest step from one goal to the next: what "
        f"{1e3 * leap:.0f} ms\n  of the velocity limit are (a cycle is 10 ms, after stalls of the machine up to 30)"
    )


def on_the_wire(chain, calibration, port) -> tuple[int, float, float, float]:
    """Goals outside the limits; the greatest velocity between goals 50 ms apart, as a share of the limit, where goals
    came evenly, and how often they did; the greatest step from a goal to the next [s at the limit].

    Where goals came in a burst, either the node or the monitor had to wait for a processor, and times mean nothing.
    """
    beyond, fastest, even, leap = 0, 0.0, [], 0.0
    rows: dict[int, list[tuple[float, float]]] = {joint.id: [] for joint in calibration.joints}
    by_id = {joint.id: joint for joint in calibration.joints}
    for write in port.bus.writes:
        rows[write.servo_id].append((write.time, by_id[write.servo_id].position(write.goal)))
    for servo_id, row in rows.items():
        limits = chain.model.joints[by_id[servo_id].name]
        t, q = np.transpose(row)
        step = 2.0 * by_id[servo_id].per_tick
        beyond += int(((q < limits.lower - step) | (q > limits.upper + step)).sum())
        gaps = np.diff(t)
        windows = np.lib.stride_tricks.sliding_window_view(gaps, 5)
        evenly = ((windows > 0.005) & (windows < 0.02)).all(axis=1)
        speed = (np.abs(q[5:] - q[:-5]) - step) / (t[5:] - t[:-5])
        even.append(evenly.mean())
        fastest = max(fastest, float(speed[evenly].max()) / limits.velocity)
        leap = max(leap, float(np.abs(np.diff(q)).max() - step) / limits.velocity)
    return beyond, fastest, float(np.mean(even)), leap


def ended(chain, port, parameters, scratch, ends) -> None:
    slowest = 0.0
    for i in range(ends):
        how = ("hold", "release")[i % 2]
        log = Path(scratch) / "end.log"
        with NodeProcess("servo_node", log, parameters | {"on_shutdown": how}) as node, peer() as bench:
            bench.until(lambda log=log: "ready: " in log.read_text())
            sender = subprocess.Popen(
                [sys.executable, "-c", SENDER, str(URDF), str(i), ",".join("0" * chain.n)],
                stdout=subprocess.PIPE,
                text=True,
            )
            sender.stdout.readline()
            time.sleep(0.5)
            began = time.monotonic()
            node.process.send_signal((signal.SIGINT, signal.SIGTERM)[i // 2 % 2])
            node.process.wait(20.0)
            slowest = max(slowest, time.monotonic() - began)
            sender.kill()
            sender.wait()
        with port.lock:
            torque = {servo.get("torque_enable") for servo in port.bus.servos.values()}
        assert torque == {int(how == "hold")}, (how, torque)
    print(
        f"servo_node ended {ends} times in motion, by SIGINT and SIGTERM, to hold or release: "
        f"over within {slowest:.2f} s"
    )
