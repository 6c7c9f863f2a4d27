"""Servos led over a real pseudo-terminal. The judge is what they were told on the wire, and where they really are."""

from __future__ import annotations

import time

import numpy as np
import pytest

from ik_solver_ros.arm.measured_servos import ENABLE_WITHIN
from ik_solver_ros.arm.servos import servo_arm
from ik_solver_ros.control.follower import TrajectoryFollower
from ik_solver_ros.control.servo_cycle import ServoCycle
from ik_solver_ros.errors import ArmError, TrajectoryError
from ik_solver_ros.servo import dynamixel, feetech
from ik_solver_ros.servo.bus import Port
from ik_solver_ros.servo.calibration import Calibration, ServoJoint
from ik_solver_ros.servo.emulated.faults import Faults
from ik_solver_ros.servo.emulated.port import EmulatedPort
from ik_solver_ros.servo.emulated.traits import PRECISE
from ik_solver_ros.servo.families import FAMILIES, load
from ik_solver_ros.trajectory.limits import MotionLimits
from ik_solver_ros.trajectory.plan import plan
from ik_solver_ros.trajectory.trajectory import State, Trajectory

NAMES = ("a", "b", "c")
SPEED = 2.0  # [rad/s]
TICK = FAMILIES["feetech"].per_tick
PERIOD = 0.005  # [s]
CONTROLLER = "arm"


def calibration(name: str) -> Calibration:
    joints = [ServoJoint(n, i + 1, (-1) ** i, 2048, 500, 3600, TICK) for i, n in enumerate(NAMES)]
    return Calibration(name, 1_000_000, tuple(joints))


class OwnClock:
    """Goes on when it is told, so that a busy machine changes nothing."""

    def __init__(self):
        self.now = time.monotonic()

    def __call__(self):
        return self.now


class Rig:
    """Three emulated servos, and a cycle that leads them."""

    def __init__(self, codec, url, faults=None, traits=PRECISE):
        emulator = load(FAMILIES[codec.name].emulator)({1: 2048, 2: 2300, 3: 1700}, traits)
        self.servos = list(emulator.servos.values())
        self.port = EmulatedPort(emulator, url, faults=faults)
        self.port.plug()
        arm = servo_arm(calibration(codec.name), Port(url, 1_000_000))
        self.cycle = ServoCycle(arm, self.followers)
        self.events, self.cycles = [], 0

    def followers(self, positions):
        limits = [joint.limits for joint in self.cycle.arm.calibration.joints]
        lower, upper = np.transpose(limits)
        motion = MotionLimits.from_urdf(NAMES, lower, upper, np.full(3, SPEED))
        return {CONTROLLER: (TrajectoryFollower(motion, positions), [0, 1, 2])}

    def run(self, seconds, until=None):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            began = time.monotonic()
            self.cycle.step(time.monotonic)
            self.cycles += 1
            self.events += self.cycle.events()
            if until is not None and until():
                return True
            time.sleep(max(0.0, began + PERIOD - time.monotonic()))
        return until is None

    def go(self, positions, seconds=1.0):
        n = len(NAMES)
        points = Trajectory(NAMES, np.array([seconds]), np.array([positions], dtype=float), np.zeros((1, n)))
        self.cycle.accept(CONTROLLER, points, time.monotonic(), None)

    def positions(self):
        return np.array([j.position(s.position) for j, s in zip(self.cycle.arm.calibration.joints, self.servos)])

    def texts(self):
        return " | ".join(event.text for event in self.events)


@pytest.fixture(params=[feetech, dynamixel], ids=lambda codec: codec.name)
def rig(request, tmp_path):
    made = Rig(request.param, str(tmp_path / "port"))
    yield made
    made.cycle.arm.close()
    made.port.unplug()


def enabled(rig):
    assert rig.run(5.0, lambda: rig.cycle.connected)
    rig.cycle.enable()
    return rig


def largest_lead(writes, since=0):
    """How far goals on the wire were from where the servo was, at most [rad]."""
    return max((abs(w.goal - w.position) * TICK for w in writes[since:] if w.torque), default=0.0)


def test_torque_comes_on_where_the_servos_are(rig):
    before = rig.positions()
    enabled(rig)
    rig.run(0.2)
    assert all(servo.get("torque_enable") for servo in rig.servos)
    assert all(abs(w.goal - w.position) <= ENABLE_WITHIN for w in rig.port.bus.writes)
    np.testing.assert_allclose(rig.positions(), before, atol=2 * TICK)


def test_nothing_is_taken_while_the_torque_is_off(rig):
    rig.run(0.2)
    with pytest.raises(TrajectoryError, match="the torque is off; call ~/enable_torque"):
        rig.go([0.0, 0.0, 0.0])
    assert rig.port.bus.writes == []


def test_a_trajectory_is_followed_within_the_speed_limits(rig):
    enabled(rig)
    rig.go([0.5, 0.4, -0.3], 1.0)
    rig.run(1.5)
    np.testing.assert_allclose(rig.positions(), [0.5, 0.4, -0.3], atol=2 * TICK)
    goals = {}
    for w in rig.port.bus.writes:
        goals.setdefault(w.servo_id, []).append((w.time, w.goal))
    for rows in goals.values():
        t, ticks = np.transpose(rows)
        assert (np.abs(np.diff(ticks)) * TICK <= SPEED * (np.diff(t) + 0.1) + TICK).all()


@pytest.mark.parametrize("seed", range(4))
def test_a_first_command_far_away_is_ramped_to(rig, seed):
    """A quarter of a turn in a twentieth of a second, for an arm that stands anywhere."""
    rng = np.random.default_rng(seed)
    with rig.port.lock:
        for servo in rig.servos:
            servo.position = rng.uniform(1300, 2800)
    enabled(rig)
    here = rig.positions()
    there = here + np.where(here > 0.0, -1.0, 1.0) * np.pi / 2
    far = Trajectory(NAMES, np.array([0.05, 0.1]), np.array([there, there]), np.zeros((2, 3)), np.zeros((2, 3)))
    clock, since = OwnClock(), len(rig.port.bus.writes)
    rig.cycle.accept(CONTROLLER, far, clock.now, None)
    for _ in range(250):
        clock.now += PERIOD
        rig.cycle.step(clock)
        time.sleep(PERIOD)
    for servo_id in (1, 2, 3):
        goals = [w.goal * TICK for w in rig.port.bus.writes[since:] if w.servo_id == servo_id]
        assert np.abs(np.diff(goals)).max() <= SPEED * PERIOD + 2 * TICK
        assert np.ptp(goals) > 1.5
    rig.run(0.5)
    np.testing.assert_allclose(rig.positions(), there, atol=2 * TICK)


def test_a_servo_that_is_missing_at_the_start_is_named(tmp_path):
    rig = Rig(feetech, str(tmp_path / "port"))
    rig.servos[1].silent = True
    try:
        with pytest.raises(ArmError, match=r"servos that do not answer .*: b \(id 2\); are they powered"):
            rig.cycle.connect(time.monotonic())
        assert not rig.cycle.arm.bus.port.is_open
    finally:
        rig.port.unplug()


def test_a_servo_of_another_arm_is_refused(tmp_path):
    rig = Rig(feetech, str(tmp_path / "port"))
    joints = rig.cycle.arm.calibration.joints
    own = Calibration("feetech", 1_000_000, (joints[0], joints[1], ServoJoint("c", 3, 1, 2048, 500, 3600, TICK, -12)))
    arm = servo_arm(own, rig.cycle.arm.port)
    try:
        with pytest.raises(ArmError, match="'c' .* has the homing offset 0, the calibration -12"):
            arm.open()
    finally:
        rig.port.unplug()


def test_unplugged_in_motion(rig):
    """The trajectory does not go on while the hardware is away, and nothing leaps when it is back."""
    enabled(rig)
    for _ in range(4):
        rig.go([0.8, -0.8, 0.5] if rig.positions()[0] < 0.4 else [0.0, 0.0, 0.0], 1.0)
        rig.run(0.4)
        rig.port.unplug()
        assert rig.run(10.0, lambda: not rig.cycle.connected)
        with pytest.raises(TrajectoryError, match="the servos are away"):
            rig.go([0.0, 0.0, 0.0])
        rig.run(0.3)
        since = len(rig.port.bus.writes)
        rig.port.plug()
        assert rig.run(10.0, lambda: rig.cycle.connected)
        here = rig.positions()
        rig.run(0.2)
        assert largest_lead(rig.port.bus.writes, since) <= SPEED * 0.15
        np.testing.assert_allclose(rig.positions(), here, atol=0.02)
    assert rig.cycle.reconnects == 4 and "is gone" in rig.texts()


def test_one_servo_falls_silent(rig):
    enabled(rig)
    rig.go([0.8, -0.8, 0.5], 1.0)
    rig.run(0.4)
    rig.servos[1].silent = True
    assert rig.run(5.0, lambda: bool(rig.cycle.fault))
    assert "servos do not answer: b; the others hold" in rig.texts()
    with pytest.raises(TrajectoryError, match="do not answer: b"):
        rig.go([0.0, 0.0, 0.0])
    rig.run(1.2)
    before, cycles = rig.positions(), rig.cycles
    rig.run(0.2)
    np.testing.assert_allclose(rig.positions()[[0, 2]], before[[0, 2]], atol=2 * TICK)
    assert rig.cycles - cycles > 10, "the silent one is not to slow the others"
    rig.servos[1].silent = False
    assert rig.run(10.0, lambda: not rig.cycle.fault)
    since = len(rig.port.bus.writes)
    rig.run(0.2)
    assert largest_lead(rig.port.bus.writes, since) <= SPEED * 0.15
    rig.go([0.0, 0.0, 0.0], 1.5)
    rig.run(2.0)
    np.testing.assert_allclose(rig.positions(), np.zeros(3), atol=2 * TICK)


def test_a_brown_out_in_motion(rig):
    """Registers reset and torque lost: it stays off until it is asked for, and comes back where the servo is."""
    enabled(rig)
    rig.go([0.8, -0.8, 0.5], 1.0)
    rig.run(0.5)
    with rig.port.lock:
        rig.servos[2].restart()
    since = len(rig.port.bus.writes)
    assert rig.run(5.0, lambda: bool(rig.cycle.fault))
    rig.run(0.3)
    assert "torque lost: c" in rig.texts() and not rig.servos[2].get("torque_enable")
    late = [w for w in rig.port.bus.writes[since:] if w.servo_id == 3]
    assert len(late) <= 1 and all(abs(w.goal - w.position) * TICK <= SPEED * 0.15 for w in late)
    with pytest.raises(TrajectoryError, match="torque lost: c"):
        rig.go([0.0, 0.0, 0.0])
    before, since = rig.positions(), len(rig.port.bus.writes)
    rig.cycle.enable()
    rig.run(0.2)
    assert largest_lead(rig.port.bus.writes, since) <= ENABLE_WITHIN * TICK
    np.testing.assert_allclose(rig.positions(), before, atol=0.02)
    rig.go([0.0, 0.0, 0.0], 1.5)
    rig.run(2.0)
    np.testing.assert_allclose(rig.positions(), np.zeros(3), atol=2 * TICK)


def test_the_emergency_stop_wins(rig):
    enabled(rig)
    rig.go([0.8, -0.8, 0.5], 1.0)
    rig.run(0.5)
    rig.cycle.emergency_stop(True)
    at = rig.positions()
    rig.run(0.3)
    np.testing.assert_allclose(rig.positions(), at, atol=SPEED * 0.1)
    with pytest.raises(TrajectoryError, match="the emergency stop is on"):
        rig.go([0.0, 0.0, 0.0])
    with pytest.raises(ArmError, match="the emergency stop is on"):
        rig.cycle.enable()
    at, since = rig.positions(), len(rig.port.bus.writes)
    rig.cycle.emergency_stop(False)
    rig.run(0.3)
    np.testing.assert_allclose(rig.positions(), at, atol=0.02)
    assert largest_lead(rig.port.bus.writes, since) <= 0.03


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_nonsense_never_reaches_the_wire(rig, bad):
    enabled(rig)
    count = len(rig.port.bus.writes)
    with pytest.raises(ArmError, match="finite"):
        rig.cycle.arm.write(np.array([0.0, bad, 0.0]), np.zeros(3))
    assert len(rig.port.bus.writes) == count
    rig.cycle.arm.write(np.array([100.0, -100.0, 0.0]), np.zeros(3))
    time.sleep(0.05)
    assert [w.goal for w in rig.port.bus.writes[-3:]] == [3600, 3600, 2048]  # the ends of the calibrated range


def test_a_servo_outside_its_range_gets_no_torque(rig):
    rig.run(0.1)
    with rig.port.lock:
        rig.servos[0].position = 100.0
    with pytest.raises(ArmError, match=r"'a' is at 100 ticks, outside its calibrated range \[500, 3600\]"):
        rig.cycle.enable()
    assert not any(servo.get("torque_enable") for servo in rig.servos) and not rig.cycle.enabled


def test_moved_by_hand_while_the_torque_is_off(rig):
    rig.run(0.1)
    with rig.port.lock:
        rig.servos[0].position = 2500.0
    rig.run(0.3)
    rig.cycle.enable()
    rig.run(0.2)
    assert abs(rig.servos[0].position - 2500.0) <= ENABLE_WITHIN


def test_a_bad_cable_publishes_nothing_that_is_not_true(tmp_path):
    rig = Rig(feetech, str(tmp_path / "port"), Faults(seed=2, fraction=0.05, late=0.01))
    try:
        assert rig.run(5.0, lambda: rig.cycle.connected)
        for _ in range(20):
            try:
                rig.cycle.enable()
                break
            except ArmError:
                continue
        rig.go([0.8, -0.8, 0.5], 1.5)
        worst = 0.0
        deadline = time.monotonic() + 2.0
        while time.monotonic() < deadline:
            reading = rig.cycle.step(time.monotonic)
            if reading is not None:
                worst = max(worst, np.abs(reading.positions - rig.positions()).max())
        assert worst <= SPEED * 0.15
    finally:
        rig.cycle.arm.close()
        rig.port.unplug()


def test_a_stall_of_the_machine_delays_the_motion_and_is_not_made_up_for(rig):
    cycle, clock = enabled(rig).cycle, OwnClock()
    for _ in range(20):
        clock.now += 0.01
        cycle.step(clock)
    here = rig.positions()
    target = np.array([j.position(t) for j, t in zip(cycle.arm.calibration.joints, (3000, 1500, 2500))])
    cycle.accept(
        CONTROLLER, plan(State.at_rest(here), target, rig.followers(here)[CONTROLLER][0].limits), clock.now, None
    )
    since = at_stall = len(rig.port.bus.writes)
    for i in range(150):
        clock.now += 0.5 if i == 40 else 0.01
        cycle.step(clock)
        time.sleep(0.01)
        at_stall = len(rig.port.bus.writes) if i == 39 else at_stall
    for servo_id, end in zip((1, 2, 3), (3000, 1500, 2500)):
        goals = [w.goal for w in rig.port.bus.writes[since:] if w.servo_id == servo_id]
        assert any(w.servo_id == servo_id for w in rig.port.bus.writes[at_stall:]), "it was to be on its way"
        assert np.abs(np.diff(goals)).max() * TICK < SPEED * 0.05
        assert goals[-1] == pytest.approx(end, abs=1)


def test_a_stall_that_outlasts_the_motion_does_not_jump_to_its_end(rig):
    cycle, clock = enabled(rig).cycle, OwnClock()
    cycle.step(clock)
    here = rig.positions()
    limits = rig.followers(here)[CONTROLLER][0].limits
    cycle.accept(CONTROLLER, plan(State.at_rest(here), here + 0.8, limits), clock.now, None)
    for _ in range(30):
        clock.now += 0.01
        cycle.step(clock)
        time.sleep(0.01)
    since = len(rig.port.bus.writes)
    clock.now += 5.0
    cycle.step(clock)
    time.sleep(0.1)
    assert max(abs(w.target - w.position) * TICK for w in rig.port.bus.writes[since:]) < SPEED * 0.03
