"""Every row of the table is whole: what it names is there, and works together."""

from __future__ import annotations

import time

import numpy as np
import pytest

from ik_solver_ros.arm.servos import servo_arm
from ik_solver_ros.servo.bus import Port
from ik_solver_ros.servo.emulated.calibration import emulated_calibration
from ik_solver_ros.servo.emulated.port import emulate
from ik_solver_ros.servo.emulated.traits import PRECISE
from ik_solver_ros.servo.families import FAMILIES, load

START, STEP = 0.2, 0.1  # [rad]


def until(condition):
    deadline = time.monotonic() + 10.0
    while not condition():
        assert time.monotonic() < deadline


@pytest.fixture(params=FAMILIES)
def family(request):
    return FAMILIES[request.param]


@pytest.fixture
def rig(family, so101, tmp_path):
    """An arm whose joints are at START, and the port of its emulated servos."""
    protocol = next(name for name, row in FAMILIES.items() if row is family)
    calibration = emulated_calibration(so101, protocol)
    start = {joint.name: START for joint in calibration.joints}
    with emulate(calibration, start, str(tmp_path / "port"), PRECISE) as emulated:
        arm = servo_arm(calibration, Port(emulated.url, calibration.baud), start=start)
        arm.open()
        yield arm, emulated
        arm.close()


def test_what_a_row_names_is_there(family):
    for reference in (family.codec, family.bus, family.arm, family.emulator, family.by_hand):
        assert not reference or load(reference) is not None
    assert FAMILIES[load(family.codec).name] is family
    low, high = family.ticks
    assert low < high and 0.0 < family.per_tick < 0.01 and family.baud > 0 and family.fastest > 0.0


def test_its_arm_leads_its_emulated_servos(rig, family):
    """What the arm says by the codec is what the emulator hears, and the other way round."""
    arm, emulated = rig
    reading = arm.read()
    assert reading.measured is family.measures
    assert reading.positions == pytest.approx(START, abs=family.per_tick)
    assert emulated.bus.writes == [] and not any(sample.torque for sample in arm.samples().values())
    arm.enable(np.full(len(arm.joint_names), 2.0))
    target = np.full(len(arm.joint_names), START + STEP)
    ticks = {joint.id: joint.ticks(START + STEP) for joint in arm.calibration.joints}
    arm.write(target, np.zeros(len(target)))
    until(lambda: emulated.bus.positions == ticks)
    assert {write.servo_id: write.goal for write in emulated.bus.writes} == ticks
    assert arm.read().positions == pytest.approx(target, abs=family.per_tick)
    until(lambda: all(sample.torque for sample in arm.samples().values()))
    arm.release()
    until(lambda: not any(sample.torque for sample in arm.samples().values()))


def test_the_wizard_can_work_with_it(rig, family):
    arm, _ = rig
    ids = [joint.id for joint in arm.calibration.joints]
    if not family.measures:
        arm.bus.pulse(dict.fromkeys(ids, 1500))
        assert arm.bus.ask(arm.bus.codec.question, arm.bus.codec.status) is not None
        return
    by_hand = load(family.by_hand)(arm.bus)
    assert by_hand.port is arm.port and by_hand.found([*ids, 99]) == ids
    for joint in arm.calibration.joints:
        assert by_hand.position(joint.id) == joint.ticks(START)
        assert by_hand.settings(joint.id).homing_offset in (None, 0)
    before = [by_hand.position(i) for i in ids]
    by = round(0.06 / family.per_tick)
    assert by_hand.move(ids[0], by) == pytest.approx(by, abs=0.5 * by)
    by_hand.release(ids)
    assert [by_hand.position(i) for i in ids] == pytest.approx(before, abs=1)


def test_servos_that_come_a_little_late_are_found(family, so101, tmp_path):
    """A third of a second after the port is there: the first ones are asked in vain, and again after the others."""
    if not family.measures:
        pytest.skip("nothing is asked of them")
    protocol = next(name for name, row in FAMILIES.items() if row is family)
    calibration = emulated_calibration(so101, protocol)
    awake = time.monotonic() + 0.35
    with emulate(calibration, {}, str(tmp_path / "port"), PRECISE) as emulated:
        emulated.faults = lambda reply: [(0.0, reply)] if time.monotonic() > awake else []
        arm = servo_arm(calibration, Port(emulated.url, calibration.baud))
        arm.open()
        assert arm.read().positions == pytest.approx(0.0, abs=family.per_tick)
        arm.close()
