from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ik_solver_ros.arm.servos import servo_arm
from ik_solver_ros.errors import ArmError, TrajectoryError
from ik_solver_ros.servo import lx16a
from ik_solver_ros.servo.bus import Port
from ik_solver_ros.servo.calibration import Calibration, ServoJoint
from ik_solver_ros.servo.emulated.port import emulate
from ik_solver_ros.servo.emulated.traits import PRECISE
from ik_solver_ros.servo.families import FAMILIES
from ik_solver_ros.trajectory.trajectory import Trajectory

from .conftest import cycle_of, run

NAMES, SPEED = ("a", "b"), 2.0
TICK = FAMILIES["lx16a"].per_tick


def test_golden_frames():
    assert lx16a.move(1, 375, 500).hex(" ") == "55 55 01 07 01 77 01 f4 01 89"
    assert lx16a.frame(1, lx16a.POSITION_READ).hex(" ") == "55 55 01 03 1c df"
    assert lx16a.frame(1, lx16a.TORQUE_WRITE, b"\0").hex(" ") == "55 55 01 04 1f 00 db"


@given(st.lists(st.tuples(st.integers(0, 253), st.integers(1, 50), st.binary(max_size=7)), max_size=6), st.data())
def test_frames_are_found_however_they_come(frames, data):
    stream, found, rest, at = b"".join(lx16a.frame(*one) for one in frames), [], b"", 0
    while at < len(stream):
        size = data.draw(st.integers(1, 20))
        more, rest = lx16a.parse(rest + stream[at : at + size])
        found, at = found + more, at + size
    assert found == frames


@given(st.binary(max_size=100))
def test_noise_never_raises(noise):
    lx16a.parse(noise)


@pytest.fixture
def rig(tmp_path):
    joints = tuple(ServoJoint(n, i + 1, 1, 500, 100, 900, TICK) for i, n in enumerate(NAMES))
    calibration = Calibration("lx16a", 115_200, joints)
    with emulate(calibration, {"b": joints[1].position(620)}, str(tmp_path / "port"), PRECISE) as port:
        arm = servo_arm(calibration, Port(port.url, 115_200))
        yield port, port.bus, cycle_of(arm, SPEED)
        arm.close()


def go(cycle, positions, seconds=1.0):
    points = Trajectory(NAMES, np.array([seconds]), np.array([positions]), np.zeros((1, 2)))
    cycle.accept("arm", points, time.monotonic(), None)


def where(servos):
    return [(servos.positions[i] - 500.0) * TICK for i in (1, 2)]


def test_it_begins_where_it_is_and_follows(rig):
    _, servos, cycle = rig
    run(cycle, 0.1)
    assert servos.writes == []
    cycle.enable()
    run(cycle, 0.2)
    assert max(abs(w.goal - w.position) for w in servos.writes) <= 1.0
    go(cycle, [0.5, -0.3])
    run(cycle, 1.5)
    assert where(servos) == pytest.approx([0.5, -0.3], abs=2 * TICK)
    assert cycle.step(time.monotonic).positions == pytest.approx([0.5, -0.3], abs=2 * TICK)


def test_a_servo_that_loses_its_power_is_not_moved_again_before_somebody_asks(rig):
    port, servos, cycle = rig
    run(cycle, 0.1)
    cycle.enable()
    go(cycle, [0.5, -0.3])
    run(cycle, 0.4)
    with port.lock:
        servos.servos[2].restart()
        servos.servos[2].silent = True
    run(cycle, 0.2)
    with port.lock:
        servos.servos[2].silent = False
    run(cycle, 0.5)
    with pytest.raises(TrajectoryError):
        go(cycle, [0.0, 0.0])
    cycle.enable()
    seen = len(servos.writes)
    run(cycle, 0.2)
    assert max(abs(w.goal - w.position) for w in servos.writes[seen:]) * TICK < SPEED * 0.15
    go(cycle, [0.0, 0.0], 1.5)
    run(cycle, 2.0)
    assert where(servos) == pytest.approx([0.0, 0.0], abs=2 * TICK)


def test_a_servo_that_is_missing_is_named(rig):
    _, servos, cycle = rig
    servos.servos[2].silent = True
    with pytest.raises(ArmError, match=r"do not answer on .*: b \(id 2\)"):
        cycle.connect(time.monotonic())
