"""FABRIK: bones keep their lengths, balls their cones, and what hinges cost is said."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import random_q, random_urdf
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from ik_solver_ros import Goal, SolverOptions, Status, load_chain, solve
from ik_solver_ros.solvers.reference.fabrik import bones_of, fabrik
from ik_solver_ros.tools.compare.chains import chain_of


@settings(max_examples=50)
@given(st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_points_and_bones_are_the_chain_s(n, seed):
    """Hinges that slid along their axes move the tip as before."""
    chain = load_chain(random_urdf(seed, ["revolute"] * n), tip_link=f"link{n - 1}")
    bones, q = bones_of(chain), random_q(chain, np.random.default_rng(seed))
    p, r = np.array(bones.base), Rotation.identity()
    for i in range(n):
        a = chain.arrays
        r = r * Rotation.from_quat(a.origin_q[i]) * Rotation.from_rotvec(q[i] * np.array(a.axis[i]))
        p = p + r.as_matrix() @ bones.bone[i]
    np.testing.assert_allclose(p, chain.forward(q)[0], atol=1e-12)


def test_balls_reach_and_never_leave_a_hinge():
    chain = chain_of("zyx" * 4, (-3.1, 3.1))
    rng = np.random.default_rng(61)
    for _ in range(40):
        goal = Goal.point(rng.uniform(-0.5, 0.5, 3))
        attempt = fabrik(chain, goal, random_q(chain, rng), SolverOptions())
        assert np.linalg.norm(chain.forward(attempt.q)[0] - goal.position) < 1e-6
        assert attempt.off_hinges < 1e-5


def bends(q):
    """How far [rad] each of four balls is bent."""
    turned = Rotation.from_euler("ZYX", np.reshape(q, (4, 3))).as_matrix()
    return np.arccos(np.clip(turned[:, 0, 0], -1.0, 1.0))


@pytest.mark.parametrize("cone", [0.3, 0.8])
def test_cones_are_kept(cone):
    chain = chain_of("zyx" * 4, (-3.1, 3.1))
    rng, reached, without = np.random.default_rng(62), 0, 0.0
    for _ in range(30):
        q = rng.uniform(-0.7 * cone, 0.7 * cone, 12)
        goal = Goal.point(chain.forward(q)[0])
        solution = solve(chain, goal, solver="fabrik", options=SolverOptions(1e-4, ball_cone=cone))
        assert bends(solution.q).max() <= cone + 1e-9
        reached += solution.status is Status.REACHED
        without = max(without, bends(solve(chain, goal, rng.uniform(-1, 1, 12), solver="fabrik").q).max())
    assert reached > 20 and without > cone


def test_hinges_alone_in_their_plane_cost_nothing_and_across_it_they_do():
    chain = chain_of("zyyy", (-3.0, 3.0))
    rng = np.random.default_rng(63)
    planar = chain_of("yyy", (-3.0, 3.0))
    for _ in range(20):
        goal = Goal.point(planar.forward(random_q(planar, rng))[0])
        assert solve(planar, goal, random_q(planar, rng), solver="fabrik").status is Status.REACHED
    off = [
        fabrik(
            chain,
            Goal.point(chain.forward(random_q(chain, rng))[0]),
            random_q(chain, rng),
            SolverOptions(max_iterations=3, max_restarts=0),
        ).off_hinges
        for _ in range(20)
    ]
    assert max(off) > 1e-3
