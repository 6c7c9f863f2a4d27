"""The tables of parameters."""

from __future__ import annotations

import math
import re
from dataclasses import fields
from pathlib import Path

import pytest

from ik_solver_ros import ros
from ik_solver_ros.ros.arm_node import constraints, controllers, servo_node, sim_node
from ik_solver_ros.ros.common.parameters import Param
from ik_solver_ros.ros.ik_node import params, robot
from ik_solver_ros.session.settings import DEFAULT_SETTINGS, WITHIN, Settings

ROS = Path(ros.__file__).parent
TABLES = {
    "ik_node": params.PARAMS,
    "sim_node": sim_node.PARAMS,
    "servo_node": servo_node.PARAMS,
    "constraints": constraints.WHOLE,
    "controllers": controllers.PARAMS,
}
OF_SESSION = {f.name for f in fields(Settings)} - {"options"} | set(robot.OF_SOLVER)


def read(*rooms) -> set[str]:
    """The names of all parameters that files of these rooms read."""
    text = "".join(path.read_text() for room in rooms for path in (ROS / room).glob("*.py"))
    return set(re.findall(r"""value\((?:self|node|self\._node), "([\w.]+)"\)""", text))


@pytest.mark.parametrize(
    ("table", "room"), [("ik_node", "ik_node"), ("sim_node", "arm_node"), ("servo_node", "arm_node")]
)
def test_every_parameter_is_read(table, room):
    names = {param.name for param in TABLES[table]}
    assert names and names <= read(room, "common") | (OF_SESSION if table == "ik_node" else set())


def test_the_session_has_the_defaults_that_the_node_declares():
    declared = {param.name: param.default for param in params.PARAMS}
    assert set(declared) >= OF_SESSION
    for name in OF_SESSION:
        default = getattr(WITHIN if name in robot.OF_SOLVER else DEFAULT_SETTINGS, name)
        assert declared[name] == default, name


@pytest.mark.parametrize("param", [param for table in TABLES.values() for param in table], ids=lambda p: p.name)
def test_every_default_is_allowed_and_described(param: Param):
    assert len(param.description) > 5
    if param.choices:
        assert param.default in param.choices
    if isinstance(param.default, (int, float)) and not isinstance(param.default, bool) and math.isfinite(param.default):
        if param.low is not None and param.high is not None:
            assert param.low <= param.default <= param.high
        else:
            assert param.low is None and param.high is None
