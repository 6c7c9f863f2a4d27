"""Many calibrations of one joint, its horn put on anywhere: what is accepted is right, the rest refused by name.

CALIBRATIONS=1000 in the environment makes it so many.
"""

from __future__ import annotations

import math
import os
import time

import numpy as np
import pytest
from unkind_servos import TURN, DirectPort, Joint, Person, robot, unkind

from ik_solver_ros.errors import CalibrationError
from ik_solver_ros.servo.calibration import load_calibration
from ik_solver_ros.tools.calibrate.measure import EDGE
from ik_solver_ros.tools.calibrate.wizard import calibrate

COUNT = int(os.environ.get("CALIBRATIONS", "200"))
WITHIN = 3.0  # [ticks] of the truth
EDGE_TICKS = EDGE * TURN / math.tau
REASONS = {
    "feetech": "nothing that is ever refused",
    "dynamixel": "passes where its turn begins anew",
}


def drawn(rng):
    """A joint of up to 300 degrees, its zero anywhere in its range, on a horn put on anywhere."""
    span = math.radians(rng.uniform(20.0, 300.0)) * TURN / math.tau
    low = rng.uniform(0.0, TURN)
    zero = low + rng.uniform(0.0, 1.0) * span
    return Joint(zero, int(rng.choice([-1, 1])), low, low + span)


def used(servo, rng):
    """A servo that something else had before."""
    if rng.uniform() < 0.5:
        servo.set("homing_offset", int(rng.integers(-900, 900)))
    if rng.uniform() < 0.3:
        servo.set("min_position", int(rng.integers(0, 1500)))
        servo.set("max_position", int(rng.integers(2500, 4095)))
    if rng.uniform() < 0.2:
        servo.set("operating_mode", 1)
    if "phase" in servo.registers and rng.uniform() < 0.3:
        servo.set("phase", 0x1C)


def judge(joint, servo, truth, port):
    """By the shaft: what is read is true, what is asked for is reached, and nothing leads out of the range."""
    low, high = sorted((truth.angle(truth.low), truth.angle(truth.high)))
    tick = math.tau / TURN
    assert low - WITHIN * tick <= joint.limits[0] <= low + (EDGE_TICKS + WITHIN) * tick
    assert high - (EDGE_TICKS + WITHIN) * tick <= joint.limits[1] <= high + WITHIN * tick
    shafts = [truth.zero + truth.sign * angle / tick for angle in np.linspace(*joint.limits, 5)]
    for start in shafts:
        for end in (shafts[0], shafts[-1], shafts[2]):
            servo.position = start
            servo.set("torque_enable", 0)
            servo.written(servo.registers["torque_enable"].address, b"\x01")
            servo.measure()
            assert abs(joint.position(servo.get("position")) - truth.angle(start)) <= WITHIN * tick
            servo.set("goal_position", joint.ticks(truth.angle(end)))
            way = []
            for _ in range(80):
                servo.advance(0.02)
                way.append(servo.position)
            assert abs(way[-1] - end) <= WITHIN
            assert min(way) >= truth.low - WITHIN and max(way) <= truth.high + WITHIN


@pytest.mark.parametrize("protocol", REASONS)
def test_what_is_accepted_is_right(protocol, tmp_path, monkeypatch):
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    rng = np.random.default_rng(20)
    refused = 0
    for run in range(COUNT):
        truth = drawn(rng)
        servos = unkind(protocol, [(1, rng.uniform(truth.low, truth.high))])
        servo = servos.all[0]
        used(servo, rng)
        port = DirectPort(servos)
        person = Person(port, servo, truth, rng)
        out = tmp_path / f"{run}.yaml"
        chain = robot(*sorted((truth.angle(truth.low), truth.angle(truth.high))))
        try:
            calibrate(chain, port, protocol, out, person.ask, person.said.append)
        except CalibrationError as error:
            refused += 1
            assert REASONS[protocol] in str(error), (run, str(error))
            assert math.floor((truth.low - 13) / TURN) != math.floor((truth.high + 13) / TURN)
            assert not out.exists()
            continue
        assert not servo.get("torque_enable")
        judge(load_calibration(out).joints[0], servo, truth, port)
    print(f"{protocol}: {COUNT - refused} accepted, {refused} refused")
    assert refused < 0.6 * COUNT
