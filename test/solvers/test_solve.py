"""solve: it checks what comes in and judges what comes out, whatever the solver claims."""

from __future__ import annotations

import math
import sys
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType

import numpy as np
import pytest
from conftest import joint, links, random_q, tool_direction, urdf
from scipy.spatial.transform import Rotation

from ik_solver_ros import SOLVERS, Goal, SolverOptions, Status, load_chain, solve, solve_batch
from ik_solver_ros.errors import GoalError, UnknownSolverError
from ik_solver_ros.kinematics.kernels import Row
from ik_solver_ros.solvers.problem import Problem, pose_errors, prepare
from ik_solver_ros.solvers.solution import Attempt
from ik_solver_ros.solvers.solve import find_solver


def test_an_unknown_solver_is_answered_with_the_known_ones(so101):
    with pytest.raises(UnknownSolverError, match="'magic' is unknown; there are: ccdik, ccdik_published"):
        solve(so101, Goal.point([0, 0, 0]), solver="magic")


def test_the_old_name_of_a_solver_goes_on_working(so101):
    goal = Goal.point(so101.forward(so101.mid + 0.1)[0])
    new = solve(so101, goal, solver="ccdik_published")
    with pytest.warns(DeprecationWarning, match="'ccdik_seed' is now called 'ccdik_published'"):
        old = solve(so101, goal, solver="ccdik_seed")
    assert old.solver == "ccdik_published" and old.q.tobytes() == new.q.tobytes()
    with pytest.warns(DeprecationWarning):
        assert solve_batch(so101, [goal.position], solver="ccdik_seed").q.tobytes() == new.q.tobytes()
    assert "ccdik_seed" not in SOLVERS and len(set(SOLVERS.values())) == len(SOLVERS)


@pytest.mark.parametrize("q0", [[0.0] * 4, [0.0] * 4 + [math.nan], "home", [[0.0] * 5]])
def test_bad_q0(so101, q0):
    with pytest.raises(GoalError, match="q0"):
        solve(so101, Goal.point([0.2, 0, 0.2]), q0)


def test_a_start_outside_the_limits_is_answered_inside(chain):
    q0 = np.where(np.isfinite(chain.upper), chain.upper, 0.0) + math.radians(3.0)
    solution = solve(chain, Goal.point(chain.forward(chain.mid)[0]), q0)
    assert (solution.q >= chain.lower).all() and (solution.q <= chain.upper).all()


@pytest.fixture
def liar(monkeypatch):
    """A solver that can be told what to answer."""
    module = ModuleType("a_liar")
    monkeypatch.setitem(sys.modules, "a_liar", module)
    monkeypatch.setitem(SOLVERS, "liar", "a_liar:lie")

    def says(q):
        module.lie = lambda chain, goal, q0, options: Attempt(np.asarray(q, dtype=float), 0, 0)

    return says


def test_no_solver_grades_itself(so101, liar):
    goal = Goal.point(so101.forward(so101.mid)[0])
    liar(so101.upper + 1.0)  # outside the limits
    solution = solve(so101, goal, solver="liar")
    np.testing.assert_array_equal(solution.q, so101.upper)
    assert solution.status is Status.NEAREST_POSITION
    for nonsense in (np.full(5, np.nan), np.zeros(3)):
        liar(nonsense)
        assert np.isfinite(solve(so101, goal, solver="liar").q).all()


def test_a_solver_s_failure_is_not_called_the_arm_s(so101):
    """Only the default looks for the nearest answer."""
    goal = Goal.approach(so101.forward(so101.mid)[0], [0.0, 1.0, 0.0])
    for name in ("ccdik_published", "ccd"):
        solution = solve(so101, goal, so101.mid, solver=name, options=SolverOptions(1e-3, max_restarts=0))
        assert f"({name} came no nearer, which may be its own fault)" in solution.sentence()
        assert "nearest this arm can do" not in solution.sentence()
    assert "nearest this arm can do" in solve(so101, goal).sentence()


def test_solvers_are_loaded_when_first_asked_for():
    assert all(":" in where for where in SOLVERS.values())
    assert find_solver("ccdik") is find_solver("ccdik")


def test_continuous_joints_take_the_nearest_turn():
    chain = load_chain(
        urdf(
            links("a", "b", "tool"),
            joint("j", "a", "b", "continuous", xyz="0 0 0", limit=""),
            joint("t", "b", "tool", "fixed", xyz="1 0 0"),
        )
    )
    for turns in (-3, 0, 5):
        q0 = [2.0 * math.pi * turns + 0.1]
        solution = solve(chain, Goal.point([math.cos(0.4), math.sin(0.4), 0.0]), q0)
        assert solution.q[0] == pytest.approx(2.0 * math.pi * turns + 0.4, abs=1e-5)


def test_errors_in_degrees_that_one_can_check(seed_arm):
    q = seed_arm.mid
    p, quat = seed_arm.forward(q)
    axis = seed_arm.tool_axis
    rolled = Rotation.from_quat(quat) * Rotation.from_rotvec(0.3 * axis)
    asked = Goal.pose(p + np.array([0.01, 0, 0]), rolled.as_quat())
    position, approach, roll = pose_errors(prepare(Problem(), seed_arm.body, asked, q, SolverOptions()), Row(q))
    assert (position, approach, roll) == pytest.approx((0.01, 0.0, 0.3), abs=1e-7)
    side = np.cross(axis, [0.0, 0.0, 1.0])
    tipped = rolled * Rotation.from_rotvec(0.2 * side / np.linalg.norm(side))
    asked = Goal.pose(p, tipped.as_quat())
    _, approach, _ = pose_errors(prepare(Problem(), seed_arm.body, asked, q, SolverOptions()), Row(q))
    assert approach == pytest.approx(0.2, abs=1e-9)


def test_batches_answer_as_single_goals_do(chain):
    rng = np.random.default_rng(22)
    poses = [chain.forward(random_q(chain, rng)) for _ in range(12)]
    positions, quats = np.array([p for p, _ in poses]), np.array([q for _, q in poses])
    directions = np.array([tool_direction(chain, q) for q in quats])
    for given, make in (
        ({}, lambda i: Goal.point(positions[i])),
        ({"directions": directions}, lambda i: Goal.approach(positions[i], directions[i])),
        ({"quats_xyzw": quats}, lambda i: Goal.pose(positions[i], quats[i])),
    ):
        batch = solve_batch(chain, positions, **given)
        for i in range(len(positions)):
            single = solve(chain, make(i))
            assert batch.q[i].tobytes() == single.q.tobytes() and batch.status[i] is single.status


def test_bad_rows_of_a_batch_do_not_stop_the_others(so101):
    good = so101.forward(so101.mid)[0]
    batch = solve_batch(so101, [good, [np.nan, 0, 0], good], directions=[[0, 0, 1], [0, 0, 1], [0, 0, 0]])
    assert [s is Status.INVALID_GOAL for s in batch.status] == [False, True, True]
    assert np.isnan(batch.q[1:]).all() and np.isfinite(batch.q[0]).all()


def test_batches_of_the_wrong_shape(so101):
    for bad in ({"positions": [0, 0, 0]}, {"positions": [[0, 0, 0]], "directions": [[1, 0]]}):
        with pytest.raises(GoalError, match="shape"):
            solve_batch(so101, **bad)
    with pytest.raises(GoalError, match="not both"):
        solve_batch(so101, [[0, 0, 0]], [[0, 0, 1]], [[0, 0, 0, 1]])


def test_batches_are_the_same_on_any_number_of_threads(chain):
    """Also from several threads of Python at once, and with a row whose start is not finite."""
    rng = np.random.default_rng(23)
    positions = np.array([chain.forward(random_q(chain, rng))[0] for _ in range(300)])
    directions, starts = rng.normal(size=(300, 3)), np.array([random_q(chain, rng) for _ in range(300)])
    starts[7, 2] = np.nan

    def run(threads):
        return solve_batch(chain, positions, directions, q0=starts, threads=threads)

    with ThreadPoolExecutor(3) as pool:
        batches = list(pool.map(run, (1, 2, 5)))
    assert batches[0].status[7] is Status.INVALID_GOAL and batches[0].status.count(Status.INVALID_GOAL) == 1
    assert all(batch.q.tobytes() == batches[0].q.tobytes() for batch in batches)
    assert solve(chain, Goal.approach(positions[8], directions[8]), starts[8]).q.tobytes() == batches[0].q[8].tobytes()


def test_a_measured_joint_beyond_its_limit(arm):
    """3 degrees beyond: the answer is inside, and no other joint moves."""
    rng = np.random.default_rng(24)
    for i in range(60):
        q, joint = random_q(arm, rng), rng.integers(arm.n)
        q[joint] = arm.upper[joint] if i % 2 else arm.lower[joint]
        measured = q.copy()
        measured[joint] += math.radians(3.0) * (1 if i % 2 else -1)
        solution = solve(arm, Goal.pose(*arm.forward(q)), measured)
        np.testing.assert_allclose(solution.q, q, atol=1e-5)
        assert (solution.q >= arm.lower).all() and (solution.q <= arm.upper).all()


@pytest.mark.parametrize("size", [1e9, 1e160, 1e300])
def test_no_distance_is_too_far(arm, size):
    for goal in (Goal.point([size, 0, -size]), Goal.approach([size, 0, 0], [0, 0, 1])):
        solution = solve(arm, goal)
        assert solution.status is Status.NEAREST_POSITION and np.isfinite(solution.q).all()
