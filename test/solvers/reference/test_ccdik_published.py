"""The literal algorithm: that it is what it says, and that joints never wrap."""

from __future__ import annotations

import math

import numpy as np
import pytest
from conftest import joint, links, random_q, tool_direction, urdf
from scipy.spatial.transform import Rotation

from ik_solver_ros import Goal, SolverOptions, Status, load_chain, solve
from ik_solver_ros.errors import GoalError
from ik_solver_ros.solvers.reference.ccdik_published import ccdik_step, serves
from ik_solver_ros.solvers.reference.constants import APPROACH, POSITION, ROLL


def by_hand(chain, goal, q):
    """One sweep as in the source, with scipy's rotations, forward kinematics anew for each joint, and no tricks."""
    q, (tool, wanted) = np.array(q), goal.directions(chain)
    for i in reversed(range(chain.n)):
        frames, parent, origin = [], Rotation.identity(), np.zeros(3)
        for k in range(chain.n):
            origin = origin + parent.as_matrix() @ chain.arrays.origin_p[k]
            parent = parent * Rotation.from_quat(chain.arrays.origin_q[k])
            frames.append((origin, parent))
            parent = parent * Rotation.from_rotvec(chain.arrays.axis[k] * q[k])
        effector = origin + parent.as_matrix() @ chain.arrays.tip_p
        tip = parent * Rotation.from_quat(chain.arrays.tip_q)
        origin, parent = frames[i]
        rotation = parent * Rotation.from_rotvec(chain.arrays.axis[i] * q[i])
        target = serves(i, chain.n, goal.targets)
        if target == POSITION:
            a, b = effector - origin, goal.position - origin
        else:
            k = {APPROACH: 0, ROLL: 1}[target]
            a, b = tip.as_matrix() @ tool[k], wanted[k]
        rotation = from_to(a, b) * rotation
        hinge = parent.as_matrix() @ chain.arrays.axis[i]
        rotation = from_to(rotation.as_matrix() @ chain.arrays.axis[i], hinge) * rotation
        turned = float((parent.inv() * rotation).as_rotvec() @ chain.arrays.axis[i])
        turned += 2.0 * math.pi * round((q[i] - turned) / (2.0 * math.pi))
        q[i] = np.clip(turned, chain.lower[i], chain.upper[i])
    return q


def from_to(a, b):
    axis = np.cross(a, b)
    angle = math.atan2(np.linalg.norm(axis), np.dot(a, b))
    return Rotation.from_rotvec(angle * axis / max(np.linalg.norm(axis), 1e-300))


@pytest.mark.parametrize("kind", ["point", "approach", "pose"])
def test_a_sweep_is_the_source_s(chain, kind):
    rng = np.random.default_rng(5)
    for _ in range(25):
        q, (p, quat) = random_q(chain, rng), chain.forward(random_q(chain, rng))
        goal = {
            "point": Goal.point(p),
            "approach": Goal.approach(p, tool_direction(chain, quat)),
            "pose": Goal.pose(p, quat),
        }[kind]
        np.testing.assert_allclose(ccdik_step(chain, goal, q), by_hand(chain, goal, q), atol=1e-6)


def test_on_five_joints_the_last_two_serve_the_direction():
    p, a, r = POSITION, APPROACH, ROLL
    assert [serves(i, 5, 1) for i in range(5)] == [p, p, p, a, a]
    assert [serves(i, 5, 0) for i in range(5)] == [p, p, p, p, p]
    assert [serves(i, 6, 2) for i in range(6)] == [p, p, p, a, a, r]
    assert [serves(i, 3, 2) for i in range(3)] == [p, p, p]


def test_steps_stay_inside_and_mostly_come_near(chain):
    """Without restarts CCD can come to rest clamped at a limit, so that not every goal is approached."""
    rng = np.random.default_rng(6)
    near = 0
    for _ in range(40):
        q = random_q(chain, rng)
        goal = Goal.point(chain.forward(random_q(chain, rng))[0])
        first = np.linalg.norm(chain.forward(q)[0] - goal.position)
        for _ in range(50):
            q = ccdik_step(chain, goal, q)
            assert (q >= chain.lower).all() and (q <= chain.upper).all()
        near += np.linalg.norm(chain.forward(q)[0] - goal.position) < 0.1 * first
    assert near > 20


def hinge(lower: float, upper: float):
    limit = f'<limit lower="{lower}" upper="{upper}" effort="1" velocity="1"/>'
    return load_chain(
        urdf(
            links("base", "arm", "tool"),
            joint("j", "base", "arm", xyz="0 0 0", limit=limit),
            joint("t", "arm", "tool", "fixed", xyz="1 0 0"),
        )
    )


def towards(degrees: float) -> Goal:
    return Goal.point([math.cos(math.radians(degrees)), math.sin(math.radians(degrees)), 0.0])


@pytest.mark.parametrize(
    ("lower", "upper", "at", "goal", "expected"),
    [
        (-180, 180, 175, -175, 180),  # the short way leads past the limit: stop there, do not go the long way round
        (-180, 180, -175, 175, -180),
        (-200, 200, 175, -175, 185),  # beyond half a turn
        (-720, 720, 350, 20, 380),  # beyond a whole turn
        (-720, 720, -700, 0, -720),
        (100, 260, 120, -110, 250),  # zero is not in the range at all
        (-90, 90, 0, 179, 90),
    ],
)
def test_no_wrapping_at_half_a_turn_or_beyond(lower, upper, at, goal, expected):
    chain = hinge(math.radians(lower), math.radians(upper))
    q = ccdik_step(chain, towards(goal), [math.radians(at)])
    assert math.degrees(q[0]) == pytest.approx(expected, abs=1e-4)


def test_an_exactly_opposite_goal_does_not_break_the_hinge():
    q = ccdik_step(hinge(-3.5, 3.5), Goal.point([-1.0, 0.0, 0.0]), [0.0])
    assert np.isfinite(q).all()


def test_a_sliding_joint_goes_as_far_as_the_goal_is_off():
    limit = '<limit lower="0" upper="0.4" effort="1" velocity="1"/>'
    chain = load_chain(urdf(links("a", "b"), joint("j", "a", "b", "prismatic", xyz="0 0 0", limit=limit)))
    assert ccdik_step(chain, Goal.point([0.0, 0.3, 0.25]), [0.1])[0] == pytest.approx(0.25)
    assert ccdik_step(chain, Goal.point([0.0, 0.3, 0.9]), [0.1])[0] == pytest.approx(0.4)


def test_it_reaches_points(chain):
    rng = np.random.default_rng(7)
    options = SolverOptions(1e-3, math.radians(0.5), max_iterations=200, max_restarts=20)
    reached = 0
    for _ in range(50):
        goal = Goal.point(chain.forward(random_q(chain, rng))[0])
        solution = solve(chain, goal, solver="ccdik_published", options=options)
        assert (solution.q >= chain.lower).all() and (solution.q <= chain.upper).all()
        reached += solution.status is Status.REACHED
    assert reached >= 48


def test_restarts_are_seeded_and_help(seed_arm):
    rng = np.random.default_rng(8)
    goals = []
    for _ in range(40):
        p, quat = seed_arm.forward(random_q(seed_arm, rng))
        goals.append(Goal.approach(p, tool_direction(seed_arm, quat)))

    def run(restarts, seed=0):
        options = SolverOptions(1e-3, math.radians(0.5), max_restarts=restarts, seed=seed)
        return [solve(seed_arm, goal, solver="ccdik_published", options=options) for goal in goals]

    def reached(answers):
        return sum(a.status is Status.REACHED for a in answers)

    without, first, again = run(0), run(20), run(20)
    assert reached(first) > reached(without)
    assert all((a.q == b.q).all() for a, b in zip(first, again))
    assert any((a.q != b.q).any() for a, b in zip(first, run(20, seed=1)))


def test_a_step_from_nonsense(so101):
    with pytest.raises(GoalError, match="q ="):
        ccdik_step(so101, Goal.point([0, 0, 0]), [0, 0, 0, 0, math.nan])
