"""What is wrong with a URDF is said with the element and the value; what is odd but fine is not said at all."""

from __future__ import annotations

import math
import re

import pytest
from conftest import joint, links, urdf

from ik_solver_ros import errors
from ik_solver_ros.kinematics.load import load_chain
from ik_solver_ros.kinematics.model import load_model

GOOD = urdf(links("a", "b", "c"), joint("j1", "a", "b"), joint("j2", "b", "c"))

BAD = [
    ("not XML", "<robot name='r'><link", errors.UrdfSyntaxError, "not XML"),
    ("other XML", "<sdf/>", errors.UrdfSyntaxError, "<sdf>, not a <robot>"),
    ("DOCTYPE", '<!DOCTYPE robot [<!ENTITY x SYSTEM "file:///etc/passwd">]>' + GOOD, errors.UrdfSyntaxError, "DOCTYPE"),
    ("empty", "  ", errors.UrdfSyntaxError, "neither the XML"),
    ("no links", urdf(), errors.UrdfSyntaxError, "no links"),
    ("nameless link", urdf("<link/>"), errors.UrdfSyntaxError, "<link> has no name"),
    ("duplicate link", urdf(links("a", "b", "a"), joint("j", "a", "b")), errors.DuplicateNameError, "link 'a'"),
    (
        "duplicate joint",
        urdf(links("a", "b", "c"), joint("j", "a", "b"), joint("j", "b", "c")),
        errors.DuplicateNameError,
        "joint 'j'",
    ),
    (
        "two parents",
        urdf(links("a", "b", "c"), joint("j", "a", "c"), joint("k", "b", "c")),
        errors.DuplicateNameError,
        "link 'c' has two parents.*'j'.*'k'",
    ),
    (
        "unknown parent",
        urdf(links("a", "b"), joint("j", "x", "b")),
        errors.UnknownLinkError,
        "parent of joint 'j'.*'x'.*a, b",
    ),
    ("unknown child", urdf(links("a", "b"), joint("j", "a", "x")), errors.UnknownLinkError, "child of joint 'j'.*'x'"),
    (
        "no parent",
        urdf(links("a", "b"), '<joint name="j" type="fixed"><child link="b"/></joint>'),
        errors.UrdfSyntaxError,
        "'j' names no parent",
    ),
    (
        "ring",
        urdf(links("a", "b", "c"), joint("j", "b", "c"), joint("k", "c", "b")),
        errors.CycleError,
        "ring: b <- c <- b",
    ),
    ("two roots", urdf(links("a", "b", "c"), joint("j", "a", "b")), errors.NoPathError, "2 roots.*a, c"),
    (
        "zero axis",
        urdf(links("a", "b"), joint("j", "a", "b", axis="0 0 0")),
        errors.AxisError,
        r"'j'.*0\.0, 0\.0, 0\.0",
    ),
    (
        "NaN axis",
        urdf(links("a", "b"), joint("j", "a", "b", axis="nan 0 1")),
        errors.AxisError,
        "axis of joint 'j'.*nan",
    ),
    (
        "NaN origin",
        urdf(links("a", "b"), joint("j", "a", "b", xyz="0 inf 0")),
        errors.AxisError,
        "origin xyz of joint 'j'",
    ),
    ("short axis", urdf(links("a", "b"), joint("j", "a", "b", axis="1 0")), errors.UrdfSyntaxError, "joint 'j' cannot"),
    (
        "text axis",
        urdf(links("a", "b"), joint("j", "a", "b", axis="x y z")),
        errors.UrdfSyntaxError,
        "joint 'j' cannot",
    ),
    ("bad type", urdf(links("a", "b"), joint("j", "a", "b", "hinge")), errors.UrdfSyntaxError, "joint 'j'.*hinge"),
    (
        "no limit",
        urdf(links("a", "b"), joint("j", "a", "b", limit="")),
        errors.LimitError,
        "revolute joint 'j' has no <limit>",
    ),
    (
        "no lower",
        urdf(links("a", "b"), joint("j", "a", "b", "prismatic", limit='<limit upper="1" effort="1" velocity="1"/>')),
        errors.LimitError,
        "prismatic joint 'j'.*lower=nan",
    ),
    (
        "NaN limit",
        urdf(links("a", "b"), joint("j", "a", "b", limit='<limit lower="-1" upper="nan" effort="1" velocity="1"/>')),
        errors.LimitError,
        "'j'.*upper=nan",
    ),
    (
        "crossed limits",
        urdf(links("a", "b"), joint("j", "a", "b", limit='<limit lower="1" upper="-1" effort="1" velocity="1"/>')),
        errors.LimitError,
        r"'j' has lower=1\.0 above upper=-1\.0",
    ),
    (
        "mimics nobody",
        urdf(links("a", "b"), joint("j", "a", "b", extra='<mimic joint="x"/>')),
        errors.UrdfSyntaxError,
        "'j' mimics 'x'",
    ),
]


@pytest.mark.parametrize(("text", "error", "message"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_bad_urdf(text, error, message):
    with pytest.raises(error, match=message):
        load_chain(text)


def test_limit_errors_carry_the_values():
    text = urdf(links("a", "b"), joint("j", "a", "b", limit='<limit lower="2" upper="1" effort="1" velocity="1"/>'))
    with pytest.raises(errors.LimitError) as info:
        load_chain(text)
    assert (info.value.joint, info.value.lower, info.value.upper) == ("j", 2.0, 1.0)


NO_LIMITS = '<limit lower="1" upper="-1" effort="1" velocity="1"/>'
OFF_THE_CHAIN = {
    "no limit": (joint("jaw", "c", "d", limit=""), "off the chain is taken for fixed:.* 'jaw' has no <limit>"),
    "crossed": (joint("jaw", "c", "d", "prismatic", limit=NO_LIMITS), "'jaw' has lower=1.0 above upper=-1.0"),
    "no axis": (joint("jaw", "c", "d", axis="0 0 0"), "axis of joint 'jaw'"),
    "mimics nobody": (joint("jaw", "c", "d", extra='<mimic joint="x"/>'), "'jaw' mimics 'x'"),
    "mimics itself": (joint("jaw", "c", "d", extra='<mimic joint="jaw"/>'), "ring.*jaw -> jaw"),
    "follows": (joint("jaw", "c", "d", limit=NO_LIMITS, extra='<mimic joint="j2"/>'), "to follow 'j2' without limits"),
}


@pytest.mark.parametrize(("jaw", "words"), OFF_THE_CHAIN.values(), ids=OFF_THE_CHAIN)
def test_a_broken_joint_off_the_chain_is_said_and_no_more(jaw, words):
    text = GOOD.replace("</robot>", links("d") + jaw + "</robot>")
    chain = load_chain(text, tip_link="c")
    assert chain.joint_names == ("j1", "j2") and chain.other_joints == ()
    assert len(chain.doubts) == 1 and re.search(words, chain.doubts[0])
    with pytest.raises(errors.UrdfError, match="'jaw'"):
        load_chain(text, tip_link="d")
    assert load_chain(GOOD).doubts == ()


def test_mimics_in_a_ring():
    pair = joint("l", "c", "d", extra='<mimic joint="r"/>') + joint("r", "c", "e", extra='<mimic joint="l"/>')
    text = GOOD.replace("</robot>", links("d", "e") + pair + "</robot>")
    assert [re.search("ring.*: (.*)$", doubt)[1] for doubt in load_chain(text, tip_link="c").doubts] == [
        "l -> r -> l",
        "r -> l -> r",
    ]
    with pytest.raises(errors.CycleError, match="'l' mimics in a ring"):
        load_chain(text, tip_link="d")


def test_a_path_that_leads_nowhere():
    with pytest.raises(FileNotFoundError, match="nowhere"):
        load_model("nowhere.urdf")


def test_odd_but_fine_files_are_quiet(capfd):
    text = (
        '<?xml version="1.0" encoding="UTF-8"?>\n<!-- a comment before the robot -->\n'
        '<robot name="odd" xmlns:xacro="http://www.ros.org/wiki/xacro">'
        '<link name="a"><visual><geometry><mesh filename="package://gone/a.dae"/></geometry></visual></link>'
        '<link name="b"><visual><geometry/></visual><inertial><mass value="x"/></inertial></link>'
        + joint("j 1", "a", "b", extra='<dynamics damping="much"/><safety_controller k_velocity="1"/><child2/>')
        + '<transmission name="t"><type>x</type><joint name="j 1"><hardwareInterface>old</hardwareInterface></joint>'
        '</transmission><gazebo reference="a"><plugin/></gazebo><ros2_control name="x" type="system"/></robot>'
    )
    chain = load_chain(text.replace('velocity="1"/>', 'velocity="1" current="9"/>', 1))
    assert chain.joint_names == ("j 1",)
    assert capfd.readouterr() == ("", "")


def test_a_byte_order_mark_and_a_foreign_encoding_declaration(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text('<?xml version="1.0" encoding="ascii"?>' + GOOD, encoding="utf-8-sig")
    assert load_model(path).root == "a"
    assert load_model(str(path)).directory == tmp_path
    assert load_model("\ufeff" + GOOD).root == "a"


def test_what_the_file_leaves_out():
    text = urdf(links("a", "b"), '<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>')
    found = load_model(text).joints["j"]
    assert found.axis.tolist() == [1.0, 0.0, 0.0] and found.origin_p.tolist() == [0.0, 0.0, 0.0]
    assert (found.lower, found.upper) == (-math.inf, math.inf) and math.isnan(found.velocity)


def test_axes_are_normalised():
    axis = load_model(urdf(links("a", "b"), joint("j", "a", "b", axis="0 3 4"))).joints["j"].axis
    assert axis.tolist() == pytest.approx([0.0, 0.6, 0.8])


def test_a_mimic_joint_follows():
    mimic = joint("k", "b", "c", "prismatic", axis="1 0 0", extra='<mimic joint="j" multiplier="-2" offset="0.5"/>')
    model = load_model(urdf(links("a", "b", "c"), joint("j", "a", "b"), mimic))
    assert model.joint_position(model.joints["k"], {"j": 0.1}) == pytest.approx(0.3)
