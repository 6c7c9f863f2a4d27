"""What every backend must do, on every backend; and what PyBullet's must do besides."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from importlib.util import find_spec

import numpy as np
import pytest
from conftest import URDF, angle_between_quaternions, joint, links, random_q, urdf

from ik_solver_ros.arm.backends import BACKENDS, simulated_arm
from ik_solver_ros.arm.bullet import BulletArm
from ik_solver_ros.errors import ArmError
from ik_solver_ros.kinematics.load import load_chain
from ik_solver_ros.kinematics.model import load_model

needs_pybullet = pytest.mark.skipif(find_spec("pybullet") is None, reason="PyBullet has no wheel for this Python")
NEEDS = {"pybullet": [needs_pybullet]}


@pytest.fixture(params=[pytest.param(name, marks=NEEDS.get(name, [])) for name in BACKENDS])
def make(request):
    return partial(simulated_arm, request.param)


@pytest.fixture
def arm(make, chain):
    arm = make(chain.model)
    arm.open()
    yield arm
    arm.close()


def settle(arm, target, seconds=3.0):
    start = arm.read().positions
    steps = int(seconds / arm.time_step)
    for i in range(steps):
        share = min(1.0, i / (0.6 * steps))
        arm.write(start + share * (target - start), np.zeros(len(target)))
        arm.advance()


def target_of(arm, chain, rng):
    joints = [chain.model.joints[name] for name in arm.joint_names]
    return np.array([rng.uniform(0.3 * j.lower, 0.3 * j.upper) for j in joints])


def test_it_has_the_joints_that_can_be_commanded(arm, chain):
    assert set(arm.joint_names) == {*chain.joint_names, *(j.name for j in chain.other_joints)}


def test_it_starts_at_rest_at_zero(arm):
    reading = arm.read()
    assert reading.positions == pytest.approx(0.0, abs=1e-9) and reading.velocities == pytest.approx(0.0, abs=1e-9)
    assert reading.measured is True


def test_it_goes_where_it_is_led_and_the_tip_is_there(arm, chain):
    target = target_of(arm, chain, np.random.default_rng(1))
    settle(arm, target)
    np.testing.assert_allclose(arm.read().positions, target, atol=2e-3)
    position, quat = arm.link_pose(chain.base_link, chain.tip_link)
    known = dict(zip(arm.joint_names, arm.read().positions))
    expected_p, expected_quat = chain.forward([known[name] for name in chain.joint_names])
    np.testing.assert_allclose(position, expected_p, atol=1e-5)
    assert angle_between_quaternions(quat, expected_quat) < 1e-5


def test_a_pose_between_two_links(arm, chain):
    position, quat = arm.link_pose(chain.tip_link, chain.base_link)
    expected = np.linalg.inv(chain.model.transform(chain.base_link, chain.tip_link, {}))
    np.testing.assert_allclose(position, expected[:3, 3], atol=1e-5)
    assert len(quat) == 4


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_is_refused_and_the_arm_holds(arm, chain, bad):
    target = target_of(arm, chain, np.random.default_rng(2))
    settle(arm, target)
    command = target.copy()
    command[1] = bad
    for positions, velocities in ((command, np.zeros(len(target))), (target, command)):
        with pytest.raises(ArmError, match=f"{arm.joint_names[1]}.*{bad}"):
            arm.write(positions, velocities)
    for _ in range(100):
        arm.advance()
    np.testing.assert_allclose(arm.read().positions, target, atol=2e-3)


def test_a_command_of_the_wrong_size_is_refused(arm):
    with pytest.raises(ArmError, match=f"one number for each of {len(arm.joint_names)} joints"):
        arm.write(np.zeros(2), np.zeros(2))


def test_a_closed_arm_says_so(make, chain):
    arm = make(chain.model)
    for use in (arm.read, arm.advance, lambda: arm.link_pose("a", "b")):
        with pytest.raises(ArmError, match="open"):
            use()
    arm.open()
    arm.close()
    arm.close()
    with pytest.raises(ArmError, match="open"):
        arm.read()


def test_initial_positions(make, so101):
    arm = make(so101.model, {"elbow_flex": 0.5})
    arm.open()
    assert arm.read().positions[arm.joint_names.index("elbow_flex")] == pytest.approx(0.5)
    arm.close()
    with pytest.raises(ArmError, match=r"'nose'.*shoulder_pan"):
        make(so101.model, {"nose": 0.0})
    with pytest.raises(ArmError, match=r"9 of 'elbow_flex' is outside its limits \[-1.69, 1.69\]"):
        make(so101.model, {"elbow_flex": 9})


def test_a_range_without_zero_starts_at_its_end(make):
    limit = '<limit lower="0.4" upper="1" effort="1" velocity="1"/>'
    arm = make(load_model(urdf(links("a", "b"), joint("j", "a", "b", limit=limit))))
    arm.open()
    assert arm.read().positions.tolist() == pytest.approx([0.4])
    arm.close()


def test_mimic_joints_follow(make):
    finger = joint("right", "b", "r", "prismatic", axis="1 0 0", extra='<mimic joint="left" multiplier="-1"/>')
    text = urdf(
        links("a", "b", "l", "r"), joint("j", "a", "b"), joint("left", "b", "l", "prismatic", axis="1 0 0"), finger
    )
    arm = make(load_model(text))
    assert arm.joint_names == ("j", "left")
    arm.open()
    settle(arm, np.array([0.0, 0.05]))
    assert arm.link_pose("b", "l")[0][0] == pytest.approx(0.05, abs=2e-3)
    assert arm.link_pose("b", "r")[0][0] == pytest.approx(-0.05, abs=2e-3)
    arm.close()


def test_auto_is_physics_where_there_is_any(seed_arm, monkeypatch):
    assert simulated_arm("auto", seed_arm.model).name == ("PyBullet" if find_spec("pybullet") else "kinematic mock")
    monkeypatch.setattr("ik_solver_ros.arm.backends.find_spec", lambda name: None)
    arm = simulated_arm("auto", seed_arm.model, gui=True, floor=False)
    arm.open()
    assert arm.name == "kinematic mock" and "PyBullet is not installed" in arm.notes[0]


def test_an_unknown_backend(seed_arm):
    with pytest.raises(ArmError, match="back-end 'gazebo' is unknown; there are: auto, pybullet, mock"):
        simulated_arm("gazebo", seed_arm.model)


@needs_pybullet
class TestBullet:
    def test_gravity_is_on_and_the_motors_hold(self, so101):
        arm = BulletArm(so101.model)
        arm.open()
        for _ in range(480):
            arm.advance()
        assert np.abs(arm.read().positions).max() < 2e-3
        arm.close()

    def test_a_motor_is_only_as_strong_as_the_urdf_says(self, so101):
        model = load_model(so101.model.text.replace('effort="1.9"', 'effort="0.02"'))
        arm = BulletArm(model)
        arm.open()
        for _ in range(480):
            arm.advance()
        assert np.abs(arm.read().positions).max() > 0.1  # it falls
        arm.close()

    def test_links_without_mass_are_given_little_and_it_is_said(self):
        arm = BulletArm(
            load_model(urdf(links("a", "b", "c"), joint("j", "a", "b"), joint("k", "b", "c", axis="0 1 0")))
        )
        arm.open()
        assert any("without <inertial>" in note and "b, c" in note for note in arm.notes)
        for _ in range(240):
            arm.advance()
        assert np.abs(arm.read().positions).max() < 2e-3
        arm.close()

    def test_missing_meshes_efforts_and_other_noise(self, tmp_path):
        text = (
            '<robot name="r"><link name="a"><visual><geometry><mesh filename="package://no/where.stl"/></geometry>'
            '</visual></link><link name="b"><collision><geometry><mesh filename="gone.obj"/></geometry></collision>'
            "</link>"
            + joint("j", "a", "b", limit='<limit lower="-1" upper="1" effort="0" velocity="1"/>')
            + "<transmission/><gazebo/></robot>"
        )
        path = tmp_path / "r.urdf"
        path.write_text(text)
        arm = BulletArm(load_model(path))
        arm.open()
        notes = " ".join(arm.notes)
        assert "where.stl" in notes and "gone.obj" in notes and "no effort for j" in notes
        arm.close()

    def test_a_very_long_line_and_a_mesh_beside_the_file(self, tmp_path):
        mesh = "v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nv 0 0 0.1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
        (tmp_path / "meshes").mkdir()
        (tmp_path / "meshes" / "t.obj").write_text(mesh)
        visual = '<visual><geometry><mesh filename="meshes/t.obj"/></geometry></visual>'
        n = 400
        parts = [f'<link name="l{i}">{visual * 2}</link>' for i in range(n)]
        parts += [joint(f"j{i}", f"l{i}", f"l{i + 1}", "fixed", xyz="0 0 0.001") for i in range(n - 2)]
        parts.append(joint("turn", f"l{n - 2}", f"l{n - 1}"))
        path = tmp_path / "long.urdf"
        path.write_text(urdf(*parts))
        assert path.stat().st_size > 100_000 and "\n" not in path.read_text()
        arm = BulletArm(load_model(path))
        arm.open()
        assert arm.joint_names == ("turn",)
        assert not [note for note in arm.notes if "mesh" in note]
        arm.close()

    def test_a_base_whose_mass_is_off_its_frame(self, seed_arm):
        text = seed_arm.model.text.replace('<origin xyz="0 0 0.05"/>', '<origin xyz="0.1 -0.2 0.05" rpy="0.3 0 0.5"/>')
        assert text != seed_arm.model.text
        chain = load_chain(text)
        arm = BulletArm(chain.model)
        arm.open()
        np.testing.assert_allclose(arm.link_pose("base_link", "tip_link")[0], chain.forward(np.zeros(5))[0], atol=1e-6)
        arm.close()

    def test_a_window_without_a_display_is_an_error_and_not_the_end(self, so101, monkeypatch):
        monkeypatch.delenv("DISPLAY", raising=False)
        monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
        with pytest.raises(ArmError, match="DISPLAY is not set"):
            BulletArm(so101.model, gui=True).open()

    def test_its_c_code_does_not_write_to_our_output(self):
        code = "from ik_solver_ros.arm.bullet import BulletArm; from ik_solver_ros.kinematics.model import load_model\n"
        code += f"arm = BulletArm(load_model({str(URDF / 'so101.urdf')!r})); arm.open(); arm.close()"
        done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
        assert (done.stdout, done.stderr) == ("", "")

    def test_place_and_forward_agree_over_the_whole_range(self, chain):
        arm = BulletArm(chain.model)
        arm.open()
        q = random_q(chain, np.random.default_rng(4))
        positions = arm.read().positions
        positions[[arm.joint_names.index(name) for name in chain.joint_names]] = q
        arm.place(positions)
        np.testing.assert_allclose(arm.link_pose(chain.base_link, chain.tip_link)[0], chain.forward(q)[0], atol=1e-6)
        arm.close()


def test_a_broken_joint_stands_still_in_pybullet_too():
    from ik_solver_ros.arm.bullet_urdf import for_bullet

    jaw = (
        '<link name="a"/><link name="b"/><joint name="jaw" type="revolute"><parent link="a"/><child link="b"/></joint>'
    )
    text, _ = for_bullet(load_model(f'<robot name="r">{jaw}</robot>'))
    assert '<joint name="jaw" type="fixed">' in text
