from __future__ import annotations

import numpy as np
import pytest
from conftest import joint, links, random_urdf, urdf

from ik_solver_ros import errors
from ik_solver_ros.kinematics.chain import Wrist
from ik_solver_ros.kinematics.load import load_chain
from ik_solver_ros.kinematics.model import load_model

FREE = '<limit effort="1" velocity="1"/>'


def arm(*more: str, hand: str = "hand") -> str:
    """Two joints to a hand, and whatever hangs on it."""
    return urdf(links("base", "upper", hand), joint("j1", "base", "upper"), joint("j2", "upper", hand), *more)


def test_so101(so101):
    names = ("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll")
    assert so101.joint_names == names
    assert (so101.base_link, so101.tip_link) == ("base_link", "gripper_frame_link")
    assert so101.tool_axis.tolist() == [0.0, 0.0, 1.0]
    assert so101.wrist is Wrist.ROLL and so101.direction_rank == 4
    assert [joint.name for joint in so101.other_joints] == ["gripper"]


def test_seed_arm(seed_arm):
    axes = seed_arm.arrays.axis.tolist()
    assert axes == [[0, 1, 0], [1, 0, 0], [1, 0, 0], [1, 0, 0], [0, 1, 0]]
    np.testing.assert_allclose(np.degrees(seed_arm.upper), [180, 90, 150, 130, 180])
    np.testing.assert_allclose(seed_arm.lower, -seed_arm.upper)
    assert seed_arm.wrist is Wrist.ACROSS and seed_arm.direction_rank == 5
    assert seed_arm.tip_link == "tip_link" and seed_arm.other_joints == ()


def test_both_arms_look_and_weigh_like_arms(chain):
    assert np.isfinite(chain.velocity_limit).all() and (chain.velocity_limit <= 5.0).all()
    assert np.isfinite(chain.effort_limit).all()
    from xml.etree import ElementTree

    for link in ElementTree.fromstring(chain.model.text).findall("link"):
        inertia = link.find("inertial/inertia")
        assert inertia is not None and link.find("visual") is not None, link.get("name")
        x, y, z = (float(inertia.get(k)) for k in ("ixx", "iyy", "izz"))
        assert x <= y + z and y <= x + z and z <= x + y, f"{link.get('name')} has impossible moments of inertia"


def test_arrays_are_read_only(chain):
    for array in (*chain.arrays, chain.tool_axis, chain.velocity_limit, chain.effort_limit):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    with pytest.raises(AttributeError):
        chain.tip_link = "x"


@pytest.mark.parametrize("seed", range(8))
def test_folding_fixed_joints_changes_nothing(seed):
    types = ["fixed", "revolute", "fixed", "fixed", "prismatic", "continuous", "fixed"]
    model = load_model(random_urdf(seed, types))
    chain = load_chain(model, tip_link="link6")
    assert chain.n == 3
    q = np.random.default_rng(seed).uniform(chain.lower.clip(-3, 3), chain.upper.clip(-3, 3))
    expected = model.transform("base", "link6", dict(zip(chain.joint_names, q)))
    p, _ = chain.forward(q)
    np.testing.assert_allclose(p, expected[:3, 3], atol=1e-12)


def test_base_and_tip_by_name(so101):
    part = load_chain(so101.model, "shoulder_link", "wrist_link")
    assert part.joint_names == ("shoulder_lift", "elbow_flex", "wrist_flex")


def test_a_gripper_is_left_off():
    finger = joint("right_finger_joint", "hand", "finger", "prismatic")
    assert load_chain(arm(links("finger"), finger)).tip_link == "hand"
    jaw = joint("jaw", "hand", "jaw_link")
    frame = joint("tcp_joint", "hand", "tcp", "fixed")
    assert load_chain(arm(links("jaw_link", "tcp"), jaw, frame)).tip_link == "tcp"


def test_fingers_that_mimic_or_stand_side_by_side_are_a_gripper():
    left = joint("left", "hand", "l", "prismatic")
    right = joint("right", "hand", "r", "prismatic", extra='<mimic joint="left"/>')
    for pair in (left + right, left + right.replace('<mimic joint="left"/>', "")):
        chain = load_chain(arm(links("l", "r"), pair))
        assert chain.tip_link == "hand" and chain.joint_names == ("j1", "j2")
    assert [j.name for j in load_chain(arm(links("l", "r"), left + right)).other_joints] == ["left"]


def test_a_wrist_is_no_finger():
    more = joint("wrist_roll", "hand", "tool"), joint("camera_joint", "hand", "camera", "fixed")
    chain = load_chain(arm(links("tool", "camera"), *more))
    assert chain.joint_names == ("j1", "j2", "wrist_roll") and chain.tip_link == "tool"


def test_several_frames_on_the_hand():
    camera, tcp = joint("c", "hand", "camera", "fixed"), joint("t", "hand", "tcp", "fixed")
    assert load_chain(arm(links("camera", "tcp"), camera, tcp)).tip_link == "tcp"
    assert load_chain(arm(links("camera", "tcp"), camera, tcp)).doubts == ()
    plate, rod = joint("m", "hand", "plate", "fixed", xyz="0 0 0"), joint("n", "hand", "rod", "fixed")
    with pytest.raises(errors.AmbiguousTipError) as info:
        load_chain(arm(links("rod", "plate"), rod, plate))
    assert set(info.value.candidates) == {"rod", "plate", "hand"}


def test_the_customary_names_of_tips_in_their_order():
    frames = [joint(f"j_{name}", "hand", name, "fixed") for name in ("ee_link", "tool0", "finger_tip")]
    assert load_chain(arm(links("ee_link", "tool0", "finger_tip"), *frames)).tip_link == "tool0"
    assert load_chain(arm(links("ee_link", "finger_tip"), frames[0], frames[2])).tip_link == "ee_link"


def test_a_namespace_tells_nothing_and_sensors_are_no_tips():
    for namespace in ("gripper/", "gripper_bot:", "finger_tool_"):
        base, upper, hand, *frames = (
            namespace + name for name in ("base", "upper", "hand", "ee_arm", "ar_tag", "eeTip")
        )
        text = urdf(
            links(base, upper, hand, *frames),
            joint("j1", base, upper),
            joint("j2", upper, hand),
            *(joint(f"j_{frame}", hand, frame, "fixed") for frame in frames[:2]),
            joint("j_tip", frames[0], frames[2], "fixed"),
        )
        chain = load_chain(text)
        assert (chain.tip_link, chain.joint_names, chain.doubts) == (frames[2], ("j1", "j2"), ())


def test_fingers_without_a_frame_between_them():
    palm = joint("palm_joint", "hand", "palm", "fixed")
    fingers = [joint(f"finger{k}", "palm", f"f{k}", "prismatic", axis="1 0 0") for k in range(2)]
    chain = load_chain(arm(links("palm", "f0", "f1"), palm, *fingers))
    assert chain.tip_link == "palm" and chain.joint_names == ("j1", "j2")
    assert len(chain.doubts) == 1 and "tip_link:=hand" in chain.doubts[0]
    frame = joint("t", "palm", "tool_center", "fixed")
    chain = load_chain(arm(links("palm", "f0", "f1", "tool_center"), palm, *fingers, frame))
    assert chain.tip_link == "tool_center" and chain.doubts == ()
    named = arm(links("ee_link", "palm", "f0", "f1"), joint("e", "hand", "ee_link", "fixed"), *fingers, palm).replace(
        '<parent link="hand"/><child link="palm"/>', '<parent link="ee_link"/><child link="palm"/>'
    )
    chain = load_chain(named)
    assert chain.tip_link == "ee_link" and "tip_link:=palm" in chain.doubts[0]


def test_a_tip_by_its_name_ends_the_arm():
    frame = joint("t", "hand", "tcp", "fixed")
    chain = load_chain(arm(links("tcp", "x"), frame, joint("clap", "hand", "x")))
    assert chain.tip_link == "tcp" and chain.doubts == ()
    hinges = [
        joint(f"a{k}{i}", f"a{k}" if i else "hand", f"b{k}" if i else f"a{k}") for k in range(3) for i in range(2)
    ]
    chain = load_chain(arm(links("tcp", "a0", "a1", "a2", "b0", "b1", "b2"), frame, *hinges))
    assert chain.tip_link == "tcp" and chain.joint_names == ("j1", "j2")


def test_what_turns_a_gripper_is_no_finger():
    chain = load_chain(arm(links("gripper_link"), joint("wrist_roll", "hand", "gripper_link", axis="1 0 0")))
    assert chain.tip_link == "gripper_link"  # by its name
    chain = load_chain(arm(links("gripper_link"), joint("j3", "hand", "gripper_link")))
    assert chain.tip_link == "gripper_link"  # on the line to it
    chain = load_chain(arm(links("gripper_link"), joint("j3", "hand", "gripper_link", axis="1 0 0")))
    assert chain.tip_link == "hand"


def test_what_is_beside_an_arm():
    more = [joint("j3", "hand", "tip"), joint("pan", "base", "turret"), joint("tilt", "turret", "eye")]
    text = arm(links("tip", "turret", "eye"), *more)
    chain = load_chain(text)
    assert chain.tip_link == "tip" and "turret" in chain.doubts[0] and "tip_link:=..." in chain.doubts[0]
    assert load_chain(text.replace("turret", "head")).doubts == ()


def test_a_short_branch_beside_a_short_branch():
    more = [joint("a", "hand", "a0"), joint("b", "hand", "b0"), joint("c", "b0", "b1")]
    text = arm(links("a0", "b0", "b1"), *more)
    with pytest.raises(errors.AmbiguousTipError) as info:
        load_chain(text)
    assert info.value.candidates == ("a0", "b1")
    chain = load_chain(text.replace("a0", "camera_link"))
    assert chain.tip_link == "b1" and chain.doubts == ()
    chain = load_chain(
        arm(links("tilted_camera", "plate"), joint("j3", "hand", "plate"), joint("t", "hand", "tilted_camera"))
    )
    assert chain.tip_link == "plate"


def test_a_linkage_is_no_gripper():
    levelled = joint("level", "hand", "plate", extra='<mimic joint="j1" multiplier="-1"/>')
    chain = load_chain(arm(links("plate"), levelled))
    assert chain.tip_link == "hand" and "'hand': plate beyond it can only follow" in chain.doubts[0]
    for text in (
        arm(links("plate", "cup"), levelled, joint("turn", "plate", "cup")),
        arm(links("plate", "tool"), levelled, joint("t", "plate", "tool", "fixed")),
    ):
        with pytest.raises(errors.UnsupportedJointError, match="'level' on the chain mimics 'j1'.*such as 'hand'"):
            load_chain(text)


def test_an_arm_that_bears_a_camera():
    chain = load_chain(arm(links("camera"), joint("c", "hand", "camera", "fixed")))
    assert chain.tip_link == "hand" and "camera" in chain.doubts[0]
    assert load_chain(chain.model, tip_link="camera").doubts == ()


def test_two_arms_are_listed():
    two = urdf(
        links("base", "l1", "l2", "r1", "r2"),
        *(joint(f"j_{b}", a, b) for a, b in (("base", "l1"), ("l1", "l2"), ("base", "r1"), ("r1", "r2"))),
    )
    with pytest.raises(errors.AmbiguousTipError, match="l2, r2") as info:
        load_chain(two)
    assert info.value.candidates == ("l2", "r2")
    assert load_chain(two, tip_link="r2").joint_names == ("j_r1", "j_r2")


def test_all_ends_of_two_arms_are_listed():
    two = "".join(
        links(*(f"{side}{k}" for k in range(4)))
        + joint(f"{side}_a", "base", f"{side}0")
        + joint(f"{side}_b", f"{side}0", f"{side}1")
        + joint(f"{side}_c", f"{side}1", f"{side}2", "fixed")
        + joint(f"{side}_d", f"{side}1", f"{side}3", "fixed", xyz="0 0 0.2")
        for side in "lr"
    )
    head = links("head", "eye") + joint("pan", "base", "head") + joint("tilt", "head", "eye")
    with pytest.raises(errors.AmbiguousTipError) as info:
        load_chain(urdf(links("base"), two, head))
    assert info.value.candidates == ("l2", "l3", "l1", "r2", "r3", "r1")


def test_two_frames_at_one_place():
    frames = joint("e", "hand", "ee", "fixed") + joint("k", "hand", "ee_kuka", "fixed", rpy="0 1 0")
    chain = load_chain(arm(links("ee_kuka", "ee"), frames))
    assert chain.tip_link == "ee" and len(chain.doubts) == 1 and "tip_link:=ee_kuka" in chain.doubts[0]
    assert load_chain(arm(links("ee_kuka", "ee"), frames.replace("0 1 0", "0 0 0"))).doubts == ()


def test_a_gripper_beside_the_frame_that_is_named():
    beside = joint("e", "hand", "ee", "fixed", xyz="0 0 0.02") + joint("p", "hand", "palm", "fixed", xyz="0 0 0.05")
    text = arm(links("ee", "palm", "f"), beside, joint("finger", "palm", "f", "prismatic"))
    assert load_chain(text).tip_link == "ee" and "tip_link:=palm" in load_chain(text).doubts[0]
    assert load_chain(text.replace("0 0 0.02", "0 0 0.15")).doubts == ()


def test_a_cart_a_gripper_and_nothing_are_no_arm():
    wheels = [joint(f"wheel{k}", "base", f"w{k}", "continuous", limit="") for k in range(2)]
    fixed = joint("t", "base", "tool_rack", "fixed")
    for text in (
        urdf(links("base", "w0", "w1", "tool_rack"), *wheels, fixed),
        urdf(links("base", "f"), joint("finger", "base", "f", "prismatic", axis="1 0 0")),
        urdf(links("base", "tool_rack"), fixed),
    ):
        with pytest.raises(errors.UnsupportedJointError, match="no arm hangs on 'base'"):
            load_chain(text)
    assert load_chain(urdf(links("base", "a", "tool_rack"), fixed, joint("j", "base", "a"))).joint_names == ("j",)


def test_unknown_links_are_answered_with_the_known_ones(so101):
    with pytest.raises(errors.UnknownLinkError, match="tip_link 'nose'.*gripper_frame_link"):
        load_chain(so101.model, tip_link="nose")
    with pytest.raises(errors.UnknownLinkError, match="base_link 'nose'"):
        load_chain(so101.model, base_link="nose")


def test_no_path_upwards(so101):
    with pytest.raises(errors.NoPathError, match="'base_link' does not hang on base_link 'wrist_link'"):
        load_chain(so101.model, "wrist_link", "base_link")


@pytest.mark.parametrize("type", ["planar", "floating"])
def test_unsupported_joints_on_the_chain(type):
    text = arm(links("x", "tool"), joint("odd", "hand", "x", type, limit=""), joint("j4", "x", "tool"))
    with pytest.raises(errors.UnsupportedJointError, match=f"'odd'.*'{type}'"):
        load_chain(text, tip_link="tool")
    assert load_chain(text, tip_link="hand").n == 2


def test_a_mimic_on_the_chain_and_a_chain_without_joints():
    text = arm(links("tool"), joint("j3", "hand", "tool", extra='<mimic joint="j1"/>'))
    with pytest.raises(errors.UnsupportedJointError, match="'j3' on the chain mimics 'j1'"):
        load_chain(text, tip_link="tool")
    with pytest.raises(errors.UnsupportedJointError, match="no joint between"):
        load_chain(text, tip_link="base")


def snake(n: int) -> str:
    names = [f"l{k}" for k in range(n + 1)]
    return urdf(links(*names), *(joint(f"j{k}", *names[k : k + 2], axis=("1 0 0", "0 1 0")[k % 2]) for k in range(n)))


def test_how_many_joints_a_chain_may_have():
    for n in (1, 30, 32):
        assert load_chain(snake(n)).n == n
    with pytest.raises(errors.UnsupportedJointError, match="33 joints between 'l0' and 'l33' move; .* may have 32"):
        load_chain(snake(33))
    assert load_chain(snake(33), tip_link="l5").n == 5


@pytest.mark.parametrize(
    ("given", "axis"), [("x", [1, 0, 0]), ("-z", [0, 0, -1]), ("0 3 4", [0, 0.6, 0.8]), ((0, -2, 0), [0, -1, 0])]
)
def test_tool_axis_as_given(so101, given, axis):
    chain = load_chain(so101.model, tool_axis=given)
    assert chain.tool_axis.tolist() == pytest.approx(axis)
    assert chain.tool_axis_reason == "as given"


@pytest.mark.parametrize("given", ["w", "", "1 2", (0, 0, 0), (1, 2), (np.nan, 0, 1), "--x"])
def test_bad_tool_axis(so101, given):
    with pytest.raises(errors.GoalError, match="tool_axis"):
        load_chain(so101.model, tool_axis=given)


def test_tool_axis_when_the_tip_is_at_the_last_joint():
    text = urdf(
        links("base", "a", "b"),
        joint("j1", "base", "a", axis="0 1 0", limit=""),
        joint("j2", "a", "b", axis="1 0 0", xyz="0.2 0 0", limit=""),
    ).replace('type="revolute"', 'type="continuous"')
    chain = load_chain(text)
    assert chain.tool_axis.tolist() == [1.0, 0.0, 0.0] and chain.wrist is Wrist.ROLL


def test_a_tip_on_the_roll_axis_of_an_offset_wrist():
    text = urdf(
        links("base", "a", "b"),
        joint("j1", "base", "a", axis="0 1 0"),
        joint("j2", "a", "b", axis="0 0 -1", xyz="0.076 0 0.097"),
    )
    chain = load_chain(text)
    assert chain.tool_axis.tolist() == [0.0, 0.0, 1.0] and chain.wrist is Wrist.ROLL


def bent_wrist(axis: str, *more: str) -> str:
    """The tip is on the last hinge, and the line to it is along x."""
    return urdf(
        links("base", "a", "b"),
        joint("j1", "base", "a", axis="0 1 0"),
        joint("j2", "a", "b", axis=axis, xyz="0.2 0 0.01"),
        *more,
    )


def test_a_tip_on_the_last_hinge_where_nothing_is_beyond():
    for axis, tool in (("0 0 -1", [0, 0, 1]), ("0 -1 0", [1, 0, 0])):  # a roll across the line; a bend
        chain = load_chain(bent_wrist(axis))
        assert chain.tool_axis.tolist() == tool and len(chain.doubts) == 1
        assert "'j2'" in chain.doubts[0] and "tool_axis:=-z" in chain.doubts[0]
        assert load_chain(chain.model, tool_axis="-z").doubts == ()


def test_the_tool_points_to_where_the_fingers_are():
    def fingers(xyz: str) -> str:
        pair = (joint(f"finger{k}", "b", f"f{k}", "prismatic", axis="0 1 0", xyz=xyz) for k in range(2))
        return links("f0", "f1") + "".join(pair)

    chain = load_chain(bent_wrist("0 0 1", fingers("0 0 -0.1")))
    assert chain.tool_axis.tolist() == [0, 0, -1] and chain.wrist is Wrist.ROLL
    chain = load_chain(bent_wrist("0 1 0", fingers("0 0 -0.1")))
    assert chain.tool_axis.tolist() == [0, 0, -1] and chain.wrist is Wrist.ACROSS
    assert len(chain.doubts) == 1  # of the tip alone
    chain = load_chain(bent_wrist("1 0 0", fingers("0 0 -0.1")))
    assert chain.tool_axis.tolist() == [1, 0, 0] and "tool_axis:=-z" in chain.doubts[1]


def test_jaws_open_across_the_tool():
    frame = links("tcp") + joint("t", "b", "tcp", "fixed", xyz="0.1 0.009 0")
    text = bent_wrist("0 1 0", frame)
    assert load_chain(text).tool_axis.tolist() == pytest.approx([0.996, 0.0896, 0], abs=1e-3)
    jaw = links("f") + joint("jaw", "b", "f", "prismatic", axis="0 1 0", xyz="0.1 0 0")
    assert load_chain(bent_wrist("0 1 0", frame, jaw)).tool_axis.tolist() == [1, 0, 0]
    assert load_chain(text.replace("0.009", "0.004")).tool_axis.tolist() == [1, 0, 0]  # near enough to be meant


def test_tool0_points_along_z():
    def with_tool0(axis: str, rpy: str = "0 0 0"):
        frame = joint("t", "b", "arm_1/tool0", "fixed", xyz="0.1 0 0", rpy=rpy)
        return load_chain(bent_wrist(axis, links("arm_1/tool0"), frame))

    chain = with_tool0("1 0 0", "0 1.57079633 0")
    assert chain.tool_axis == pytest.approx([0, 0, 1]) and chain.wrist is Wrist.ROLL and chain.doubts == ()
    chain = with_tool0("0 1 0")
    assert chain.tool_axis.tolist() == [0, 0, 1] and "tool_axis:=x" in chain.doubts[0]
    chain = with_tool0("1 0 0")  # but for a wrist that rolls something else: old files have such a tool0
    assert chain.tool_axis.tolist() == [1, 0, 0] and "tool_axis:=z" in chain.doubts[0]


def test_a_scara_and_a_gantry_work_along_their_last_slide():
    slide = {"axis": "0 0 -1", "xyz": "0.2 0 0"}
    arms = links("base", "a", "b", "c", "d") + joint("j1", "base", "a") + joint("j2", "a", "b", xyz="0.2 0 0")
    text = urdf(arms, joint("j3", "b", "c", "prismatic", **slide), joint("j4", "c", "d", xyz="0 0 0", axis="0 0 -1"))
    chain = load_chain(text)
    assert abs(chain.tool_axis[2]) == 1.0 and chain.wrist is Wrist.ROLL and "tool_axis:=-z" in chain.doubts[0]
    axes = ("1 0 0", "0 1 0", "0 0 1")
    names = ("base", "a", "b", "c")
    slides = [joint(f"s{k}", names[k], names[k + 1], "prismatic", axis=axes[k]) for k in range(3)]
    assert load_chain(urdf(links(*names), *slides)).tool_axis.tolist() == [0, 0, 1]


def test_a_robot_without_any_length():
    joints = [
        joint(name, *ends, axis=axis, xyz="0 0 0") for name, ends, axis in (("i", "ab", "1 0 0"), ("j", "bc", "0 1 0"))
    ]
    chain = load_chain(urdf(links("a", "b", "c"), *joints))
    assert chain.reach == 0.0 and "nothing tells where the tool points" in chain.doubts[0]


@pytest.mark.parametrize("q", [[0, 0], np.zeros((5, 1)), "abc", None, [0, 0, 0, 0, np.nan], [0, 0, np.inf, 0, 0]])
def test_forward_of_nonsense(so101, q):
    with pytest.raises(errors.GoalError, match="q ="):
        so101.forward(q)
