"""Emulated servos with injected faults, on a real pseudo-terminal; the judge is a monitor on the wire."""

from __future__ import annotations

import tempfile
import time
from contextlib import suppress

import numpy as np

from ik_solver_ros.arm.servos import servo_arm
from ik_solver_ros.control.follower import TrajectoryFollower
from ik_solver_ros.control.servo_cycle import ServoCycle
from ik_solver_ros.errors import ArmError, BusError, IkSolverError, TrajectoryError
from ik_solver_ros.kinematics.load import load_chain
from ik_solver_ros.servo.bus import Port
from ik_solver_ros.servo.emulated.calibration import emulated_calibration
from ik_solver_ros.servo.emulated.faults import Faults
from ik_solver_ros.servo.emulated.port import emulate
from ik_solver_ros.servo.emulated.traits import PRECISE
from ik_solver_ros.share import share_dir
from ik_solver_ros.trajectory.limits import MotionLimits
from ik_solver_ros.trajectory.plan import plan
from ik_solver_ros.trajectory.trajectory import State

PERIOD = 0.005  # [s]


def measure(frames: int = 100_000, unplugs: int = 1_000, setpoints: int = 1_000_000) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        for protocol in ("feetech", "dynamixel"):
            rate(protocol, f"{scratch}/{protocol}")
        bad_cable(frames, f"{scratch}/cable")
        unplugged(unplugs, f"{scratch}/unplug")
        nonsense(setpoints, f"{scratch}/nonsense")


class Rig:
    """The six servos of an SO-101 on a port, and a cycle that leads them."""

    def __init__(self, url: str, protocol: str = "feetech", faults=None, baud: int | None = None) -> None:
        chain = load_chain(share_dir() / "urdf" / "so101.urdf")
        self.calibration = emulated_calibration(chain, protocol)
        self.joints = [chain.model.joints[joint.name] for joint in self.calibration.joints]
        self.names = tuple(joint.name for joint in self.joints)
        self.port = emulate(self.calibration, {}, url, PRECISE)
        self.port.faults, self.port.baud = faults, baud
        self.port.plug()
        self.arm = servo_arm(self.calibration, Port(url, self.calibration.baud))
        lower, upper, velocity = (
            np.array([getattr(j, w) for j in self.joints]) for w in ("lower", "upper", "velocity")
        )
        self.limits = MotionLimits.from_urdf(self.names, lower, upper, velocity)
        self.cycle = ServoCycle(self.arm, lambda q: {"arm": (TrajectoryFollower(self.limits, q), list(range(6)))})
        self.rng = np.random.default_rng(0)

    def start(self) -> None:
        self.until(lambda: self.cycle.connected)
        for _ in range(50):
            with suppress(ArmError):
                self.cycle.enable()
                return

    def until(self, condition, seconds: float = 10.0) -> float:
        began = time.monotonic()
        while not condition():
            if time.monotonic() - began > seconds:
                raise RuntimeError("nothing happened")
            self.cycle.step(time.monotonic)
        return time.monotonic() - began

    def step(self) -> None:
        began = time.monotonic()
        self.cycle.step(time.monotonic)
        time.sleep(max(0.0, began + PERIOD - time.monotonic()))

    def go(self) -> None:
        """To somewhere else, in a time that the limits allow."""
        assert self.cycle.connected
        state = self.cycle.setpoint("arm", time.monotonic())
        target = self.rng.uniform(0.7 * self.limits.lower, 0.7 * self.limits.upper)
        with suppress(TrajectoryError):
            self.cycle.accept("arm", plan(State.at_rest(state.position), target, self.limits), time.monotonic(), None)

    def truth(self) -> np.ndarray:
        with self.port.lock:
            ticks = self.port.bus.positions
        return np.array([joint.position(ticks[joint.id]) for joint in self.calibration.joints])

    def close(self) -> None:
        self.arm.close()
        self.port.unplug()


def rate(protocol: str, url: str) -> None:
    rig = Rig(url, protocol, baud=1_000_000)
    try:
        rig.start()
        began, cycles = time.monotonic(), 0
        while time.monotonic() - began < 5.0:
            if not cycles % 300:
                rig.go()
            rig.cycle.step(time.monotonic)
            cycles += 1
        print(f"{protocol}, 6 servos at 1 Mbaud by emulated timing, as fast as it goes: {cycles / 5.0:.0f} cycles/s")
    finally:
        rig.close()


def bad_cable(frames: int, url: str) -> None:
    """A share of the replies is damaged, cut short, repeated, late or lost."""
    rig = Rig(url, faults=Faults(seed=1, fraction=0.05, late=0.015))
    try:
        rig.start()
        gate = (
            40 * rig.calibration.family.per_tick
            + rig.calibration.family.fastest * rig.calibration.family.per_tick * 0.02
        )
        worst, published, asked, errors, began = 0.0, 0, 0, 0, time.monotonic()
        while asked < frames:
            if not asked % 600:
                rig.go()
            before = rig.truth()
            try:
                now = time.monotonic()
                at = rig.cycle._clock.advance(now)
                fresh = rig.cycle._gate.plausible(rig.arm.samples(), now)
                if rig.cycle.connected and rig.cycle.enabled:
                    rig.cycle._write_setpoints(at)
            except IkSolverError:
                errors += 1
                continue
            asked += 6
            published += len(fresh)
            after = rig.truth()
            for i, joint in enumerate(rig.calibration.joints):
                if joint.name in fresh:
                    q = joint.position(fresh[joint.name].ticks)
                    low, high = sorted((before[i], after[i]))
                    worst = max(worst, low - q, q - high)
        share, spent = 100.0 * published / asked, time.monotonic() - began
        print(f"{asked} replies, 5 % of them spoilt ({spent:.0f} s): {share:.1f} % published, {errors} errors;")
        print(f"  the worst {worst:.4f} rad from the truth (one step of the gate: {gate:.3f})")
    finally:
        rig.close()


def unplugged(count: int, url: str) -> None:
    rig = Rig(url)
    allowed = float(rig.limits.velocity.max()) * 0.05
    try:
        rig.start()
        delays, lead = [], 0.0
        for _ in range(count):
            rig.go()
            until = time.monotonic() + rig.rng.uniform(0.02, 0.15)
            while time.monotonic() < until:
                rig.step()
            rig.port.unplug()
            rig.until(lambda: not rig.cycle.connected)
            seen = len(rig.port.bus.writes)
            rig.port.plug()
            delays.append(rig.until(lambda: rig.cycle.connected))
            for _ in range(4):
                rig.step()
            writes = rig.port.bus.writes[seen:]
            lead = max(
                lead, *(abs(w.goal - w.position) * rig.calibration.family.per_tick for w in writes if w.torque), 0.0
            )
            rig.port.bus.writes.clear()
            if not rig.cycle.enabled:
                rig.cycle.enable()
        print(
            f"{count} times unplugged in motion: back after {1e3 * np.median(delays):.0f} ms, at most "
            f"{1e3 * max(delays):.0f} ms; goals then at most {lead:.4f} rad from where the servo was "
            f"({allowed:.2f} allowed)"
        )
    finally:
        rig.close()


def nonsense(count: int, url: str) -> None:
    rig = Rig(url)
    try:
        rig.start()
        rig.port.bus.writes.clear()
        bad, sent = np.array([np.nan, np.inf, -np.inf, 1e300, -1e9, 50.0]), 0
        ranges = {joint.id: (joint.min, joint.max) for joint in rig.calibration.joints}
        outside = 0
        for i in range(count // 6):
            values = np.zeros(6)
            values[rig.rng.integers(6)] = bad[i % 6]
            with suppress(ArmError, BusError):
                rig.arm.write(values, np.zeros(6))
            sent += 6
            if i % 1000 == 999:
                time.sleep(0.01)
                outside += sum(
                    not ranges[w.servo_id][0] <= w.goal <= ranges[w.servo_id][1] for w in rig.port.bus.writes
                )
                rig.port.bus.writes.clear()
        print(f"{sent} setpoints, one in six of them not a number, infinite or far away: {outside} outside on the wire")
    finally:
        rig.close()
