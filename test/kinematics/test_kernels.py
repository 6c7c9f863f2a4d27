from __future__ import annotations

import numpy as np
import pytest
from conftest import angle_between_quaternions, random_q, random_urdf
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from ik_solver_ros.kinematics.load import load_chain
from ik_solver_ros.kinematics.model import load_model

types = st.lists(st.sampled_from(["revolute", "continuous", "prismatic"]), min_size=1, max_size=7)
seeds = st.integers(0, 2**32 - 1)


@given(types, seeds)
def test_forward_is_the_product_of_the_urdf_transforms(types, seed):
    model = load_model(random_urdf(seed, types))
    chain = load_chain(model, tip_link=f"link{len(types) - 1}")
    q = random_q(chain, np.random.default_rng(seed))
    expected = model.transform("base", chain.tip_link, dict(zip(chain.joint_names, q)))
    p, quat = chain.forward(q)
    np.testing.assert_allclose(p, expected[:3, 3], atol=1e-12)
    np.testing.assert_allclose(Rotation.from_quat(quat).as_matrix(), expected[:3, :3], atol=1e-12)


@given(types, seeds)
def test_jacobian_is_the_derivative_of_forward(types, seed):
    chain = load_chain(random_urdf(seed, types), tip_link=f"link{len(types) - 1}")
    q = random_q(chain, np.random.default_rng(seed))
    jacobian = chain.jacobian(q)
    step = 1e-6
    for i in range(chain.n):
        d = np.zeros(chain.n)
        d[i] = step
        (p1, r1), (p0, r0) = chain.forward(q + d), chain.forward(q - d)
        turned = (Rotation.from_quat(r1) * Rotation.from_quat(r0).inv()).as_rotvec()
        np.testing.assert_allclose(jacobian[:3, i], (p1 - p0) / (2 * step), atol=1e-8)
        np.testing.assert_allclose(jacobian[3:, i], turned / (2 * step), atol=1e-8)


def test_forward_agrees_with_pybullet(chain):
    pytest.importorskip("pybullet")
    from ik_solver_ros.arm.bullet import BulletArm

    arm = BulletArm(chain.model)
    arm.open()
    rng = np.random.default_rng(3)
    try:
        for _ in range(20):
            q = random_q(chain, rng)
            positions = np.zeros(len(arm.joint_names))
            positions[[arm.joint_names.index(name) for name in chain.joint_names]] = q
            arm.place(positions)
            p, quat = arm.link_pose(chain.base_link, chain.tip_link)
            expected_p, expected_quat = chain.forward(q)
            np.testing.assert_allclose(p, expected_p, atol=1e-6)
            assert angle_between_quaternions(quat, expected_quat) < 1e-6
    finally:
        arm.close()


def test_a_planar_arm_by_hand():
    """Two links of 0.3 and 0.2 m in a plane: x = 0.3 cos a + 0.2 cos(a + b), y likewise with sines."""
    text = (
        '<robot name="planar"><link name="base"/><link name="l1"/><link name="l2"/><link name="tool"/>'
        '<joint name="a" type="continuous"><parent link="base"/><child link="l1"/><axis xyz="0 0 1"/></joint>'
        '<joint name="b" type="continuous"><parent link="l1"/><child link="l2"/><origin xyz="0.3 0 0"/>'
        '<axis xyz="0 0 1"/></joint>'
        '<joint name="t" type="fixed"><parent link="l2"/><child link="tool"/><origin xyz="0.2 0 0"/></joint></robot>'
    )
    chain = load_chain(text)
    assert chain.n == 2 and chain.tool_axis.tolist() == [1.0, 0.0, 0.0] and chain.reach == pytest.approx(0.5)
    for a, b in [(0.0, 0.0), (0.4, 1.1), (-2.0, 0.7), (3.0, -3.0)]:
        p, quat = chain.forward([a, b])
        x, y = 0.3 * np.cos(a) + 0.2 * np.cos(a + b), 0.3 * np.sin(a) + 0.2 * np.sin(a + b)
        np.testing.assert_allclose(p, [x, y, 0.0], atol=1e-15)
        np.testing.assert_allclose(
            Rotation.from_quat(quat).as_matrix()[:, 0], [np.cos(a + b), np.sin(a + b), 0.0], atol=1e-15
        )
