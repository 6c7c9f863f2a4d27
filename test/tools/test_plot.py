from __future__ import annotations

import json

import numpy as np
import pytest

from ik_solver_ros.cli.main import main
from ik_solver_ros.control.run_record import Recorder, load_run
from ik_solver_ros.errors import RecordError
from ik_solver_ros.trajectory.limits import MotionLimits
from ik_solver_ros.trajectory.plan import plan
from ik_solver_ros.trajectory.trajectory import State


@pytest.fixture
def run_file(so101, tmp_path):
    """An arm that goes to one place and, in mid-motion, to another; measured exactly, and one joint more."""
    limits = MotionLimits.from_urdf(so101.joint_names, so101.lower, so101.upper, so101.velocity_limit)
    rest = State.at_rest(np.zeros(5))
    first = plan(rest, np.array([0.5, 0.3, 0.0, 0.0, 0.0]), limits)
    begins = 0.4
    second = plan(first.state(begins, rest), np.array([-0.5, 0.0, 0.2, 0.0, 0.0]), limits)
    path = tmp_path / "run.jsonl"
    with path.open("w") as file:
        recorder = Recorder(file)
        recorder.robot(so101)
        recorder.trajectory(100.0, 0.0, first)
        recorder.event(100.0, "ik_node", "REACHED", "goal reached")
        recorder.trajectory(100.38, 100.0 + begins, second)
        for t in np.arange(0.0, 1.5, 0.01):
            q = first.state(t, rest) if t < begins else second.state(t - begins, first.state(begins, rest))
            names = ["gripper", *reversed(so101.joint_names)]
            recorder.state(100.0 + t, names, [9.0, *q.position[::-1]], [0.0, *q.velocity[::-1]])
    return path


def test_a_run_is_read_back_and_led_again(run_file, so101):
    run = load_run(run_file)
    assert run.chain.joint_names == so101.joint_names and len(run.times) == 150 and len(run.sent) == 2
    assert run.times[0] == 0.0 and run.events == [(0.0, "REACHED", "goal reached")]
    again = run.commanded(run.times)
    np.testing.assert_allclose(again.position, run.positions, atol=1e-6)
    np.testing.assert_allclose(again.velocity, run.velocities, atol=1e-4)
    assert run.duration >= run.times[-1]


def test_a_run_that_was_cut_off_in_a_line(run_file):
    text = run_file.read_text()
    run_file.write_text(text[:-20])
    assert len(load_run(run_file).times) == 149


@pytest.mark.parametrize(
    "text, said",
    [
        ("", "nothing of an arm"),
        ("hello\nthere\n", "line 1: not JSON"),
        ('{"a": 1}\n', "line 1: not of a run: 'kind' is missing"),
        (
            '{"kind": "state", "t": 1, "names": [], "position": [], "velocity": []}\n',
            "the robot, which must come first",
        ),
    ],
)
def test_what_is_no_run_is_refused(tmp_path, text, said):
    path = tmp_path / "run.jsonl"
    path.write_text(text)
    with pytest.raises(RecordError, match=said):
        load_run(path)


def test_a_line_without_its_numbers_is_named(run_file):
    lines = run_file.read_text().splitlines()
    bad = json.loads(lines[1])
    del bad["positions"]
    lines[1] = json.dumps(bad)
    run_file.write_text("\n".join(lines))
    with pytest.raises(RecordError, match="line 2: not of a run: 'positions' is missing"):
        load_run(run_file)


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_the_picture(run_file, tmp_path, capsys, ending):
    pytest.importorskip("matplotlib")
    out = tmp_path / f"picture.{ending}"
    assert main(["plot", str(run_file), "--out", str(out), "--begin", "0.2"]) == 0
    assert "2 trajectories and 150 measurements" in capsys.readouterr().out
    start = out.read_bytes()[:100]
    assert start.startswith(b"\x89PNG") if ending == "png" else b"<?xml" in start
    assert main(["plot", str(run_file), "--begin", "99"]) == 2
    assert "nothing is on record from 99 s on" in capsys.readouterr().err


def test_the_film(run_file, tmp_path, capsys):
    pytest.importorskip("pybullet")
    from PIL import Image

    out = tmp_path / "films" / "run.gif"
    assert main(["plot", str(run_file), "--out", str(out), "--end", "0.5"]) == 0
    assert "0 frames remain" in capsys.readouterr().err
    with Image.open(out) as film:
        assert film.n_frames == 5


def test_a_file_that_is_not_there(capsys):
    assert main(["plot", "nowhere.jsonl"]) == 2
    assert "nowhere.jsonl" in capsys.readouterr().err
