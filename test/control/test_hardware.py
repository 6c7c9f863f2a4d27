"""Servos as unkind as hardware is reported to be, judged by what the emulators have logged: a few of the bench's rows.

`make bench ONLY=hardware` has the same by the hundred.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.hardware import rows
from benchmarks.hardware.rig import Rig, Verdict
from ik_solver_ros.arm.measured_servos import ENABLE_WITHIN
from ik_solver_ros.errors import ArmError
from ik_solver_ros.servo.emulated import judge
from ik_solver_ros.servo.emulated.traits import UNKIND


@pytest.fixture
def rig(tmp_path):
    """By protocol, and what differs from the traits of hardware."""
    made = []

    def make(protocol="feetech", settle=0.0, **traits):
        made.append(Rig(str(tmp_path / f"port{len(made)}"), protocol, replace(UNKIND, **traits), settle=settle))
        return made[-1].__enter__()

    yield make
    for one in made:
        one.__exit__()


def good(verdict: Verdict) -> bool:
    assert not verdict.bad, str(verdict)
    return verdict.trials > 0


@pytest.mark.parametrize("protocol", ["feetech", "dynamixel", "lx16a"])
def test_brown_outs(rig, protocol):
    """A goal, or a move, would turn their torque on again, and have fallen servos snap back."""
    bench = rig(protocol)
    assert bench.enable()
    for chosen in ([1], list(range(6))):
        bench.go()
        bench.run(0.3)
        since = time.monotonic()
        with bench.port.lock:
            for i in chosen:
                bench.servos[i].restart(0.05)
        assert bench.run(1.5, lambda: "torque lost" in bench.cycle.fault), bench.cycle.fault
        bench.run(0.4)
        with bench.port.lock:
            assert judge.torque_on(bench.plant, since) == []
        assert bench.enable()


@pytest.mark.parametrize("protocol", ["feetech", "dynamixel"])
def test_a_joint_that_is_held_up(rig, protocol):
    assert good(rows.blocked(rig(protocol), 2))


def test_nothing_sinks(rig):
    assert good(rows.sinks(rig(), 3))


def test_another_start_takes_no_torque(rig):
    """Though a joint sags beyond its range, or a servo is silent."""
    assert good(rows.restarts(rig(), 2))


@pytest.mark.parametrize("latency, echo", [(0.016, False), (0.016, True), (0.001, True)])
def test_slow_adapters_and_such_that_echo(rig, latency, echo):
    assert good(rows.adapters(rig(latency=latency, echo=echo, pause_every=1.5), 1))


def test_wrong_replies_with_a_right_check(rig):
    assert good(rows.wrong_replies(rig(), 4))


def test_what_other_programs_left(rig):
    assert good(rows.settings(rig(), 8))


def test_it_settles(rig):
    verdict = rows.settles(rig(settle=np.radians(3.0), pause_every=0.0), 1, 5.0)
    assert good(verdict) and verdict.worst["before [ticks]"] > 8.0


@pytest.mark.parametrize("protocol", ["feetech", "dynamixel"])
def test_a_servo_that_overloads_is_told_and_comes_back_when_it_is_asked(rig, protocol):
    bench = rig(protocol)
    assert bench.enable()
    bench.run(0.5)  # at rest: a new goal clears an STS's overload
    with bench.port.lock:
        bench.servos[2].trip()
    assert bench.run(1.0, lambda: "elbow_flex" in bench.cycle.fault), bench.cycle.fault
    on = [servo.energized for servo in bench.servos]
    assert on == [True, True, protocol == "feetech", True, True, True]
    bench.run(0.5)
    since = time.monotonic()
    bench.servos[2].supported = True
    bench.cycle.enable()  # a REBOOT, or torque off, is the cure
    bench.run(0.3)
    assert not bench.cycle.fault and all(servo.energized for servo in bench.servos)
    with bench.port.lock:
        off = {change.servo_id for change in bench.plant.changes if change.time > since and not change.torque}
    assert off <= {3}, "the others hold meanwhile"


def test_servos_that_refuse_are_named_and_the_others_hold(rig):
    bench = rig()
    assert bench.enable()
    bench.run(0.3)
    with bench.port.lock:
        bench.servos[1].restart(0.02)
        bench.servos[1].supported = True
        bench.servos[1].position = bench.calibration.joints[1].min - 100.0
    assert bench.run(1.0, lambda: "torque lost" in bench.cycle.fault)
    with pytest.raises(ArmError, match=r"'shoulder_lift' is at \d+ ticks, outside its .* by (99|100|101);"):
        bench.cycle.enable()
    assert [servo.energized for servo in bench.servos] == [True, False, True, True, True, True]


def test_torque_that_cannot_be_taken_off_is_not_said_to_be_off(rig):
    bench = rig()
    assert bench.enable()
    bench.run(0.1)
    bench.port.unplug()
    bench.run(0.2)
    with pytest.raises(ArmError, match="the servos are away: their torque stays as it is"):
        bench.cycle.release()
    bench.port.plug()
    assert bench.run(5.0, lambda: bench.cycle.connected)
    bench.support(True)
    bench.servos[3].silent = True
    with pytest.raises(ArmError, match="the torque of wrist_flex may still be on"):
        bench.cycle.release()
    bench.servos[3].silent = False
    bench.cycle.release()
    assert not any(servo.energized for servo in bench.servos)


def test_a_servos_own_limits_are_kept(rig):
    """It would go there at full speed when its torque comes on."""
    bench = rig()
    joint, servo = bench.calibration.joints[0], bench.servos[0]
    with bench.port.lock:
        servo.set("min_position", joint.zero + 100)
    assert not bench.enable(2)
    assert f"outside its calibrated range [{joint.zero + 100}," in bench.events[-1]
    with bench.port.lock:
        servo.position = joint.zero + 300.0
    assert bench.enable()
    bench.run(0.1)
    with bench.port.lock:
        assert max(abs(write.target - write.position) for write in bench.plant.writes) <= ENABLE_WITHIN + 14


def test_speeds_that_others_have_set_are_set_right(rig):
    bench = rig()
    with bench.port.lock:
        for servo in bench.servos:
            servo.set("goal_velocity", 100)
            servo.set("acceleration", 1)
            servo.refresh()
    assert bench.enable()
    bench.go(0.8)
    bench.run(2.0)
    assert not bench.cycle.fault
    wanted = bench.cycle.setpoint("arm", time.monotonic()).position
    here = [joint.position(ticks) for joint, ticks in zip(bench.calibration.joints, bench.truth())]
    np.testing.assert_allclose(here, wanted, atol=20 * bench.tick)


def test_an_lx16a_that_shows_alarms_has_no_fault(rig):
    bench = rig("lx16a")
    assert bench.enable()
    bench.run(0.5)
    assert not any(sample.faults for sample in bench.cycle.samples.values()) and not bench.cycle.fault


def test_gains_of_the_calibration_are_what_the_servos_have(rig):
    bench = rig()
    joint = replace(bench.calibration.joints[1], p_gain=48, i_gain=0, d_gain=16)
    bench.calibration = bench.calibration.with_joint(joint)
    bench.cycle = bench.another_cycle()
    assert bench.enable()
    assert [bench.servos[1].get(name) for name in ("p_gain", "i_gain", "d_gain")] == [48, 0, 16]
    assert bench.servos[0].get("p_gain") == 32
