"""solve_all: every branch once, and nothing else."""

from __future__ import annotations

import math

import numpy as np
import pytest
from conftest import MORE, joint, links, random_q, tool_direction, urdf

from ik_solver_ros import Goal, Status, load_chain, solve, solve_all


@pytest.mark.parametrize("kind", ["approach", "pose"])
def test_all_answers_of_a_waist_arm(chain, kind):
    """They hold the configuration that the goal was made from, each reaches the goal, none is there twice."""
    rng = np.random.default_rng(31)
    several = 0
    for _ in range(30):
        q = random_q(chain, rng)
        p, quat = chain.forward(q)
        goal = Goal.approach(p, tool_direction(chain, quat)) if kind == "approach" else Goal.pose(p, quat)
        answers = solve_all(chain, goal, q)
        np.testing.assert_allclose(answers[0].q, q, atol=1e-5)
        assert all(answer.status is Status.REACHED for answer in answers)
        for i, answer in enumerate(answers):
            assert all(np.abs(answer.q - other.q).max() > 0.01 for other in answers[:i])
        steps = [np.abs(answer.q - q).max() for answer in answers]
        assert steps == sorted(steps)
        several += len(answers) > 1
        # Nothing that a search from elsewhere finds is missing.
        for _ in range(10):
            found = solve(chain, goal, random_q(chain, rng))
            if kind == "pose":
                assert min(np.abs(found.q - answer.q).max() for answer in answers) < 0.02
    assert several > 3


def test_a_planar_arm_solved_by_hand():
    """Two links of 1 m, a point at 1 m: the elbow at +-120 degrees."""
    limit = '<limit lower="-3" upper="3" effort="1" velocity="1"/>'
    chain = load_chain(
        urdf(
            links("base", "a", "b", "tip"),
            joint("shoulder", "base", "a", xyz="0 0 0", limit=limit),
            joint("elbow", "a", "b", xyz="1 0 0", limit=limit),
            joint("t", "b", "tip", "fixed", xyz="1 0 0"),
        )
    )
    answers = solve_all(chain, Goal.point([1.0, 0.0, 0.0]), [0.1, 0.2])
    third = math.pi / 3.0
    found = sorted((answer.q for answer in answers), key=lambda q: q[1])
    np.testing.assert_allclose(found, [[third, -2 * third], [-third, 2 * third]], atol=1e-5)


def test_an_arm_of_seven_joints():
    """One answer a branch, though each branch is a curve of answers."""
    chain = load_chain(MORE / "panda.urdf")
    q = random_q(chain, np.random.default_rng(32), margin=0.2)
    answers = solve_all(chain, Goal.pose(*chain.forward(q)), q)
    np.testing.assert_allclose(answers[0].q, q, atol=1e-4)
    assert all(answer.status is Status.REACHED for answer in answers)


def test_where_nothing_reaches_the_goal(so101):
    answers = solve_all(so101, Goal.point([2.0, 0.0, 0.0]))
    assert len(answers) == 1 and answers[0].status is Status.NEAREST_POSITION
