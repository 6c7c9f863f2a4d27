from __future__ import annotations

import json

import numpy as np
import pytest
from conftest import URDF, tool_direction

from ik_solver_ros.cli.main import main
from ik_solver_ros.kinematics.load import load_chain

SO101 = str(URDF / "so101.urdf")


def run(capsys, *arguments):
    status = main(["solve", *map(str, arguments)])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_a_point_as_a_sentence_and_as_json(capsys):
    status, out, _ = run(capsys, SO101, "--position", 0.25, 0.0, 0.1)
    lines = out.splitlines()
    assert status == 0 and lines[0] == "goal reached:" and "shoulder_pan" in lines[1] and "deg" in lines[1]
    answer = json.loads(lines[-1])
    assert answer["status"] == "REACHED" and len(answer["joints"]) == 5


def test_json_alone_and_that_it_is_true(capsys, so101):
    position, quat = so101.forward([0.2, -0.3, 0.4, 0.5, -0.6])
    direction = tool_direction(so101, quat)
    for more in (["--quat", *quat], ["--approach", *direction]):
        status, out, _ = run(capsys, SO101, "--json", "--position", *position, *more)
        answer = json.loads(out)
        assert status == 0 and answer["status"] == "REACHED"
        reached, reached_quat = load_chain(SO101).forward(list(answer["joints"].values()))
        np.testing.assert_allclose(reached, position, atol=1e-5)
        np.testing.assert_allclose(tool_direction(so101, reached_quat), direction, atol=1e-4)


def test_the_nearest_answer_has_a_status_of_its_own(capsys):
    status, out, _ = run(capsys, SO101, "--position", 3, 0, 0)
    assert status == 1 and "out of reach" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["/nowhere.urdf", "--position", 0, 0, 0], "/nowhere.urdf"),
        ([SO101, "--position", "nan", 0, 0], "position ="),
        ([SO101, "--position", 0, 0, 0, "--quat", 0, 0, 0, 0], "unit quaternion"),
        ([SO101, "--position", 0, 0, 0, "--approach", 0, 0, 0], "a direction must have a length"),
        ([SO101, "--position", 0, 0, 0, "--solver", "magic"], "there are: ccdik"),
        ([SO101, "--position", 0, 0, 0, "--tip-link", "nose"], "its links are: base_link"),
        ([SO101, "--position", 0, 0, 0, "--from", 1, 2], "shape (5,)"),
        ([SO101, "--position", 0, 0, 0, "--tool-axis", "w"], "tool_axis"),
    ],
)
def test_wrong_input(capsys, arguments, message):
    status, out, err = run(capsys, *arguments)
    assert status == 2 and out == "" and err.startswith("error: ") and message in err and len(err.splitlines()) == 1


def test_from_where_the_arm_is(capsys, so101):
    q = [0.3, 0.2, -0.1, 0.4, 1.0]
    position, quat = so101.forward(q)
    _, out, _ = run(capsys, SO101, "--json", "--position", *position, "--quat", *quat, "--from", *q)
    np.testing.assert_allclose(list(json.loads(out)["joints"].values()), q, atol=1e-8)


@pytest.mark.parametrize("goals", ["0", "-3", "many"])
def test_a_demonstration_of_nothing(capsys, goals):
    with pytest.raises(SystemExit) as info:
        main(["demo", "--goals", goals])
    assert info.value.code == 2 and "--goals" in capsys.readouterr().err
