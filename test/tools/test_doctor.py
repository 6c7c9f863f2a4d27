"""doctor, on good URDFs and on URDFs with faults put into them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import joint, links, urdf

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


def chain_of(*joints: str, **names: str):
    return load_chain(urdf(links(*(f"l{k}" for k in range(len(joints) + 1))), *joints), **names)


def hinge(k: int, axis: str, xyz: str = "0 0 0.1", **more: str) -> str:
    return joint(f"j{k}", f"l{k}", f"l{k + 1}", axis=axis, xyz=xyz, **more)


NO_RANGE = '<limit lower="0.5" upper="0.5" effort="1" velocity="1"/>'
NONSENSE = {
    "no length": (
        [hinge(k, axis, "0 0 0") for k, axis in enumerate(("1 0 0", "0 1 0", "0 0 1"))],
        "no joint moves the tip",
    ),
    "idle": ([hinge(k, "0 0 1", "0 0 0.1" if k else "0.1 0 0") for k in range(3)], "no joint moves the tip"),
    "one joint": (
        [hinge(0, "0 1 0"), joint("t", "l1", "l2", "fixed", xyz="0.1 0 0")],
        "the tip can only be on a circle",
    ),
    "thirty": ([hinge(k, ("1 0 0", "0 1 0")[k % 2]) for k in range(30)], "30 joints in a row"),
    "stuck": ([hinge(0, "0 1 0"), hinge(1, "1 0 0", limit=NO_RANGE), hinge(2, "0 1 0")], "cannot move: j1"),
}


@pytest.mark.parametrize(("joints", "words"), NONSENSE.values(), ids=NONSENSE)
def test_what_is_no_arm_is_not_praised(joints, words):
    found = examine(chain_of(*joints))
    assert words in " ".join(finding.text for finding in found if finding.warning)
    if "no joint" in words or "only be" in words:
        assert not any("were reached" in finding.text for finding in found)
    if "no joint" in words:
        assert not any("the tip reaches" in finding.text for finding in found)


def test_a_joint_that_does_nothing():
    chain = chain_of(hinge(0, "0 1 0"), hinge(1, "0 0 1"), hinge(2, "0 0 1"), hinge(3, "0 0 1"), tool_axis="z")
    said = " ".join(finding.text for finding in examine(chain))
    assert "'j1' moves neither" in said and "'j2' moves neither" in said
    assert "'j3' moves neither" not in said  # the roll of the wrist


def test_a_tool_like_a_propeller():
    chain = load_chain(SO101, tip_link="gripper_link", tool_axis="x")
    assert "propeller" not in " ".join(finding.text for finding in examine(chain))  # somebody wanted it
    assert "propeller" in " ".join(finding.text for finding in examine(replace(chain, tool_axis_reason="a guess")))


def test_doubts_are_warnings(capsys, tmp_path):
    (tmp_path / "arm.urdf").write_text(SO101.replace("gripper_frame_link", "ar_tag"))
    assert main(["doctor", str(tmp_path / "arm.urdf")]) == 1
    assert "! no frame tells where the gripper grips, and the tip is 'gripper_link'" in capsys.readouterr().out
    assert main(["solve", str(tmp_path / "arm.urdf"), "--position", "0.2", "0", "0.1"]) == 0
    assert capsys.readouterr().err.startswith("note: no frame tells")
    bent = urdf(links("a", "b", "c"), joint("j1", "a", "b", axis="0 1 0"), joint("j2", "b", "c", axis="1 0 0"))
    (tmp_path / "bent.urdf").write_text(bent)
    assert main(["doctor", str(tmp_path / "bent.urdf")]) == 1
    assert "write --tool-axis=-x or --tool-axis=z" in capsys.readouterr().out


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
