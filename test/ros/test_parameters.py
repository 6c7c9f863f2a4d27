"""The tables of parameters."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from ik_solver_ros.ros.arm_node import constraints, controllers, servo_node, sim_node
from ik_solver_ros.ros.common.parameters import Param
from ik_solver_ros.ros.ik_node import node as ik_node

NODES = Path(ik_node.__file__).parent
TABLES = {
    "ik_node": ik_node.PARAMS,
    "sim_node": sim_node.PARAMS,
    "servo_node": servo_node.PARAMS,
    "constraints": constraints.WHOLE,
    "controllers": controllers.PARAMS,
}
SHARED = ("arrivals", "description", "controllers", "constraints", "parameters")


def used(files) -> set[str]:
    text = "".join((NODES / f"{name}.py").read_text() for name in files)
    return set(re.findall(r"""value\((?:self|node|self\._node), "([\w.]+)"\)""", text))


@pytest.mark.parametrize("table", TABLES)
def test_every_parameter_is_used(table):
    if table == "constraints":  # read in a loop over the same table
        assert "value(node, param.name) for param in WHOLE" in (NODES / "constraints.py").read_text()
        return
    names = {param.name for param in TABLES[table]}
    assert names and names <= used((table, *SHARED))


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
