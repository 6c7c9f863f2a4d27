from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from conftest import URDF, tool_direction

from ik_solver_ros.cli.main import COMMANDS, main
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


def test_every_command_has_help(capsys):
    for command in COMMANDS:
        with pytest.raises(SystemExit) as info:
            main([command, "--help"])
        assert info.value.code == 0 and f"ik_solver_ros {command} " in capsys.readouterr().out


def test_help_loads_nothing_heavy():
    code = (
        "import sys; from ik_solver_ros.cli.main import make_parser; make_parser(); "
        "print([n for n in ('numpy', 'scipy', 'rclpy') if n in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert out.stdout.strip() == "[]"


def test_what_is_not_installed_is_said_with_its_extra(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sys.modules, "ik_solver_ros.ros.record_node", None)
    assert main(["record", str(tmp_path / "run.jsonl")]) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: recording needs ROS (") and said.endswith("pip install 'ik_solver_ros[ros]'\n")


def test_a_reader_that_has_gone():
    """What is printed for nobody ends the command quietly."""
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "ik_solver_ros", "solve", SO101, "--position", "0.25", "0", "0.1"]
    with os.fdopen(writer, "w") as closed:
        done = subprocess.run(command, stdout=closed, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (2, "")
