"""doctor, on good URDFs and on URDFs with faults put into them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from ik_solver_ros.cli.main import main
from ik_solver_ros.kinematics.load import load_chain
from ik_solver_ros.tools.doctor import examine

URDF = Path(__file__).parents[2] / "urdf"
SO101 = (URDF / "so101.urdf").read_text()


def warnings(text: str) -> str:
    return "\n".join(finding.text for finding in examine(load_chain(text)) if finding.warning)


def test_a_good_one(capsys):
    assert main(["doctor", str(URDF / "so101.urdf")]) == 0
    said = capsys.readouterr().out
    assert "5 joints from 'base_link' to 'gripper_frame_link'" in said
    assert "within the arm's vertical plane" in said and "nothing looks wrong" in said
    assert "shoulder_pan   -110.0 to 110.0 deg, 3 rad/s" in said


FAULTS = [
    (r'velocity="3(.0)?"', 'velocity="10"', "velocity limit 10 rad/s looks like a placeholder"),
    (r'velocity="3(.0)?"', 'velocity="0"', "no velocity limit; set joint_limits.shoulder_pan.max_velocity"),
    (r'effort="[^"]+"', 'effort="0"', "effort limit 0 looks like a placeholder"),
    (r'lower="[^"]+" upper="[^"]+"', 'lower="-3.14159265" upper="3.14159265"', "look like placeholders; measure them"),
    (r"<inertial>.*?</inertial>", "", "has no <inertial>: PyBullet takes it for 1 kg"),
    (r'<mass value="[^"]+"', '<mass value="0"', "its mass is 0 kg"),
    (r'<mass value="[^"]+"', '<mass value="0.1"', "all links weigh 0.1 kg: placeholders"),
    (r'ixx="[^"]+"', 'ixx="-1"', "principal moment -1: all must be positive"),
    (r'ixx="[^"]+"', 'ixx="0.9"', "of no body"),
    (r"<collision>.*?</collision>", "", "no link has a <collision>"),
]


@pytest.mark.parametrize(("pattern", "by", "words"), FAULTS, ids=[words for *_, words in FAULTS])
def test_faults_are_found(pattern, by, words):
    broken, count = re.subn(pattern, by, SO101, flags=re.DOTALL)
    assert count, "the pattern is not in the URDF any more"
    assert words not in warnings(SO101)
    assert words in warnings(broken)


def test_an_inertia_of_something_much_larger():
    broken = re.sub(r"<inertia [^>]*/>", '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>', SO101)
    assert "m in radius, on an arm that reaches" in warnings(broken)


def test_across_wrist_and_placeholders(capsys):
    assert main(["doctor", str(URDF / "seed_arm.urdf")]) == 1
    said = capsys.readouterr().out
    assert "position and direction can be chosen" in said and "of these look wrong (!)" in said


def test_what_cannot_be_used(tmp_path, capsys):
    assert main(["doctor", str(URDF / "so101.urdf"), "--tip-link", "hand"]) == 2
    assert "'hand'" in capsys.readouterr().err
    assert main(["doctor", str(tmp_path / "none.urdf")]) == 2


def test_a_xacro_file(tmp_path, capsys):
    pytest.importorskip("xacro")
    text = SO101.replace("<robot ", '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" ', 1)
    (tmp_path / "arm.urdf.xacro").write_text(text.replace("</robot>", '<xacro:property name="x" value="1"/></robot>'))
    assert main(["doctor", str(tmp_path / "arm.urdf.xacro")]) == 0
    (tmp_path / "bad.xacro").write_text(text.replace("</robot>", "<xacro:nothing/></robot>"))
    assert main(["doctor", str(tmp_path / "bad.xacro")]) == 2
    assert "xacro" in capsys.readouterr().err


def test_where_the_tool_can_be_aimed():
    pytest.importorskip("matplotlib")
    from ik_solver_ros.tools.plot.reachable import reachable

    chain = load_chain(URDF / "so101.urdf")
    done = []
    slices = reachable(chain, done.append)
    assert done == sorted(done) and done[-1] == pytest.approx(1.0)
    side, top = slices
    assert side.names == ("x", "z") and top.names == ("x", "y")
    for piece in slices:
        known = piece.fraction[np.isfinite(piece.fraction)]
        assert 0.2 < np.isfinite(piece.fraction).mean() < 0.9 and known.min() >= 0.0 and known.max() > 0.2
    far = np.hypot(*np.meshgrid(top.across, top.up)) > chain.reach + 0.1
    assert np.isnan(top.fraction[far]).all()  # out of reach is out of reach


def test_the_picture(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    assert main(["doctor", str(URDF / "so101.urdf"), "--plot", str(tmp_path / "reach.png")]) == 0
    from PIL import Image

    pixels = np.asarray(Image.open(tmp_path / "reach.png").convert("RGB")).reshape(-1, 3)
    assert len(np.unique(pixels, axis=0)) > 100
