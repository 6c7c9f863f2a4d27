from __future__ import annotations

import time

import numpy as np
import pytest

from ik_solver_ros.control.follower import TrajectoryFollower
from ik_solver_ros.control.servo_cycle import ServoCycle
from ik_solver_ros.servo.bus import Port, RegisterBus
from ik_solver_ros.servo.emulated.port import EmulatedPort
from ik_solver_ros.servo.emulated.traits import KIND
from ik_solver_ros.servo.families import FAMILIES, load
from ik_solver_ros.trajectory.limits import MotionLimits

BAUD = 1_000_000
IDS = (1, 2, 3, 4, 5, 6)


REGISTER_FAMILIES = [name for name, family in FAMILIES.items() if load(family.bus) is RegisterBus]
BOARDS = [name for name, family in FAMILIES.items() if not family.measures]


@pytest.fixture(params=REGISTER_FAMILIES)
def codec(request):
    return load(FAMILIES[request.param].codec)


@pytest.fixture
def plugged(tmp_path):
    """Six emulated servos on a port, and a bus on it: made by (codec, faults)."""
    opened = []

    def make(codec, faults=None, baud=None):
        servos = load(FAMILIES[codec.name].emulator)({i: 2048 + 100 * i for i in IDS}, KIND)
        emulated = EmulatedPort(servos, str(tmp_path / "port"), faults=faults, baud=baud)
        emulated.plug()
        port = Port(emulated.url, BAUD)
        port.open()
        opened.append((emulated, port))
        return emulated, RegisterBus(port, codec)

    yield make
    for emulated, port in opened:
        port.close()
        emulated.unplug()


def cycle_of(arm, speed):
    """A cycle that leads all joints of an arm as one, at a speed [rad/s]."""
    joints = arm.calibration.joints

    def followers(q):
        low, high = np.transpose([joint.limits for joint in joints])
        limits = MotionLimits.from_urdf(arm.joint_names, low, high, np.full(len(joints), speed))
        return {"arm": (TrajectoryFollower(limits, q), list(range(len(joints))))}

    return ServoCycle(arm, followers)


def run(cycle, seconds):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        cycle.step(time.monotonic)
        time.sleep(0.005)
