"""The list of traits itself."""

from __future__ import annotations

import inspect
from dataclasses import FrozenInstanceError, fields

import pytest

from ik_solver_ros.servo.calibration import Calibration, ServoJoint
from ik_solver_ros.servo.emulated import traits
from ik_solver_ros.servo.emulated.port import emulate
from ik_solver_ros.servo.emulated.traits import KIND, UNKIND, Traits
from ik_solver_ros.servo.families import FAMILIES, load

# What an ideal servo has as well: nobody is hurt by obeying a speed
IDEAL = {"sts_speed_registers", "dxl_speed_registers", "sts_goal_clears_overload", "first_pulse_at_once"}


def test_each_trait_says_where_it_comes_from():
    lines = [line for line in inspect.getsource(traits).splitlines() if line.startswith("    ") and ": " in line]
    said = {line.split(":")[0].strip(): line.partition("#")[2] for line in lines if " = " in line.partition("#")[0]}
    for field in fields(Traits):
        assert said[field.name].strip(), field.name


def test_kind_switches_off_all_that_is_on():
    for field in fields(Traits):
        if getattr(UNKIND, field.name) is True and field.name not in IDEAL:
            assert getattr(KIND, field.name) is False, field.name
    with pytest.raises(FrozenInstanceError):
        KIND.sag = 1.0


@pytest.mark.parametrize("protocol", FAMILIES)
def test_all_emulators_take_traits_and_are_unkind_without(protocol, tmp_path):
    family = FAMILIES[protocol]
    first = load(family.emulator)({1: 900.0})
    assert first.traits is UNKIND and first.servos[1].pull < 0.0
    assert load(family.emulator)({1: 900.0}, KIND).servos[1].pull == 0.0
    joint = ServoJoint("a", 1, 1, 900, 600, 990, family.per_tick)
    calibration = Calibration(protocol, family.baud, (joint,))
    assert emulate(calibration, {}, str(tmp_path / "a")).bus.traits is UNKIND
    port = emulate(calibration, {}, str(tmp_path / "a"), traits=KIND)
    assert port.bus.traits is KIND and port.bus.positions == {1: 900.0} and port.baud == family.baud


def test_a_set_up_board_is_ready_for_use(tmp_path):
    joint = ServoJoint("a", 0, 1, 1500, 700, 2300, 0.0015)
    for protocol in ("ssc32", "maestro"):
        port = emulate(Calibration(protocol, 9600, (joint,)), {}, str(tmp_path / "a"))
        assert port.bus.baud == 9600
    assert not port.bus.uart and port.bus.limits == {0: (992.0, 2000.0)}
