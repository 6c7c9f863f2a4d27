"""The goals of the demonstration: the same whatever moves, and never into the floor or the arm."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from ik_solver_ros.arm.mock import MockArm
from ik_solver_ros.pybullet_client import connect_pybullet
from ik_solver_ros.solvers.goal import Goal
from ik_solver_ros.solvers.solve import solve
from ik_solver_ros.tools.demo.goals import APART, reachable_poses


def drawn(chain, arm, count, seed):
    arm.open()
    poses = reachable_poses(chain, arm, count, seed)
    arm.close()
    return poses


def test_they_lie_apart_and_the_seed_decides(so101):
    poses = drawn(so101, MockArm(so101.model), 6, seed=2)
    assert len(poses) == 6
    assert min(np.linalg.norm(a.position - b.position) for a, b in itertools.pairwise(poses)) > APART
    again = drawn(so101, MockArm(so101.model), 6, seed=2)
    other = drawn(so101, MockArm(so101.model), 6, seed=3)
    assert all((a.position == b.position).all() for a, b in zip(poses, again))
    assert any((a.position != b.position).any() for a, b in zip(poses, other))


def test_pybullet_has_the_same_goals_and_nothing_touches_on_the_way(so101):
    pybullet = pytest.importorskip("pybullet")
    from ik_solver_ros.arm.bullet import BulletArm

    poses = drawn(so101, MockArm(so101.model), 12, seed=1)
    for pose, other in zip(poses, drawn(so101, BulletArm(so101.model), 12, seed=1)):
        np.testing.assert_allclose(pose.position, other.position, atol=1e-6)
    # PyBullet's own collision check, on a robot that it loads from a file of ours
    world = connect_pybullet(gui=False)
    floor = world.createMultiBody(0.0, world.createCollisionShape(pybullet.GEOM_PLANE))
    body = world.loadURDF(
        str(so101.model.directory / "so101.urdf"),
        useFixedBase=True,
        flags=pybullet.URDF_USE_SELF_COLLISION | pybullet.URDF_USE_SELF_COLLISION_EXCLUDE_ALL_PARENTS,
    )
    index = {world.getJointInfo(body, i)[1].decode(): i for i in range(world.getNumJoints(body))}
    q = np.clip(np.zeros(so101.n), so101.lower, so101.upper)
    ways = 0
    for pose in poses:
        target = solve(so101, Goal.pose(*pose), q).q
        for fraction in np.linspace(0.0, 1.0, 40):
            for name, position in zip(so101.joint_names, q + fraction * (target - q)):
                world.resetJointState(body, index[name], position)
            world.performCollisionDetection()
            assert not [c for c in world.getClosestPoints(body, floor, 0.002) if c[3] != -1]
            assert not [c for c in world.getContactPoints(body, body) if c[8] < -1e-4]
        q, ways = target, ways + 1
    world.disconnect()
    assert ways == 12
