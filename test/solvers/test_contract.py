"""What every solver keeps, on every arm that it supports."""

from __future__ import annotations

import math
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from conftest import URDF, random_q, tool_direction
from scipy.spatial.transform import Rotation

from ik_solver_ros import SOLVERS, Goal, SolverOptions, Status, load_chain, solve
from ik_solver_ros.errors import MissingPackageError, UnsupportedChainError
from ik_solver_ros.tools.compare.chains import chain_of, hinges

LOOSE = SolverOptions(1e-3, math.radians(0.5), max_restarts=3)
ARMS = {
    "so101": load_chain(URDF / "so101.urdf"),
    "seed_arm": load_chain(URDF / "seed_arm.urdf"),
    "leg": chain_of("yy"),
    "slider": chain_of("szyyy"),
    "balls": chain_of("zyxzyx"),
    "ten": hinges(10),
}
REFUSED = {("fabrik", "slider"), *(("analytic", arm) for arm in ("seed_arm", "slider", "balls", "ten"))}
# Of 20 points on so101, each from a random start: so many are reached at the least.
REACHED = dict.fromkeys(SOLVERS, 14) | {
    "ccdik": 20,
    "analytic": 20,
    "autodiff": 20,
    "scipy": 20,
    "fabrik": 2,
    "jacobian_transpose_fixed": 2,
    "pybullet": 1,
}
every_solver, every_arm = pytest.mark.parametrize("name", SOLVERS), pytest.mark.parametrize("arm", ARMS)


@pytest.fixture(autouse=True)
def installed(request):
    """Two solvers need more than the package does, and PyBullet has no wheel for the newest Pythons."""
    name = request.node.callspec.params["name"]
    if name in ("pybullet", "autodiff") and "missing" not in request.node.name:
        pytest.importorskip({"pybullet": "pybullet", "autodiff": "casadi"}[name])


def goals(chain, rng):
    p, quat = chain.forward(random_q(chain, rng))
    yield Goal.point(p)
    yield Goal.approach(p, tool_direction(chain, quat))
    yield Goal.pose(p, quat)
    yield Goal.pose(p, Rotation.random(random_state=int(rng.integers(2**31))).as_quat())  # mostly out of reach
    yield Goal.point(3.0 * chain.reach * np.array([0.6, 0.0, 0.8]))


def measured(chain, goal, q):
    """(position [m], orientation [rad]) errors, by other means than those of `solve`."""
    p, quat = chain.forward(q)
    r = Rotation.from_quat(quat).as_matrix()
    tools, wanted = goal.directions(chain)
    angles = [
        math.atan2(np.linalg.norm(np.cross(r @ tool, direction)), (r @ tool) @ direction)
        for tool, direction in zip(tools[:1], wanted[:1])
    ]
    if goal.targets == 2:
        angles.append((Rotation.from_quat(goal.quat_xyzw).inv() * Rotation.from_quat(quat)).magnitude())
    return np.linalg.norm(p - goal.position), max(angles, default=0.0)


@every_solver
@every_arm
def test_limits_status_inputs_and_sameness(name, arm):
    chain, rng = ARMS[arm], np.random.default_rng(41)
    for goal in goals(chain, rng):
        q0 = random_q(chain, rng)
        kept = q0.copy()
        if (name, arm) in REFUSED:
            with pytest.raises(
                UnsupportedChainError, match=f"solver '{name}' cannot work on <Chain .*: .*; ccdik takes any"
            ):
                solve(chain, goal, q0, solver=name, options=LOOSE)
            continue
        solution = solve(chain, goal, q0, solver=name, options=LOOSE)
        again = solve(chain, goal, q0, solver=name, options=LOOSE)
        assert solution.q.tobytes() == again.q.tobytes()
        assert q0.tobytes() == kept.tobytes()
        assert (solution.q >= chain.lower).all() and (solution.q <= chain.upper).all()
        position, angle = measured(chain, goal, solution.q)
        assert solution.position_error == pytest.approx(position, abs=1e-12)
        reached = position <= LOOSE.position_tolerance and angle <= LOOSE.orientation_tolerance + 1e-9
        if abs(angle - LOOSE.orientation_tolerance) > 2e-3:  # the roll is counted beyond the approach
            assert (solution.status is Status.REACHED) == reached
        assert (solution.status is Status.NEAREST_POSITION) == (position > LOOSE.position_tolerance)
        assert solution.restarts <= LOOSE.max_restarts


@every_solver
def test_most_solve_most(name, so101):
    rng = np.random.default_rng(42)
    reached = 0
    for _ in range(20):
        goal = Goal.point(so101.forward(random_q(so101, rng))[0])
        reached += solve(so101, goal, random_q(so101, rng), solver=name, options=LOOSE).status is Status.REACHED
    assert reached >= REACHED[name]


@every_solver
def test_where_the_arm_is_already(name, so101):
    """Nothing is moved without need."""
    q = random_q(so101, np.random.default_rng(43), margin=0.2)
    solution = solve(so101, Goal.point(so101.forward(q)[0]), q, solver=name, options=LOOSE)
    np.testing.assert_allclose(solution.q, q, atol=1e-3)


@pytest.mark.parametrize(("name", "package"), [("autodiff", "casadi"), ("pybullet", "pybullet")])
def test_a_package_that_is_missing(name, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackageError, match=rf"solver '{name}' needs {package} .*: pip install 'ik_solver_ros\["):
        solve(chain_of("zyy"), Goal.point([0.5, 0.0, 0.1]), solver=name)


@every_solver
def test_several_threads_at_once(name, so101):
    """Nothing that a solver keeps between calls is shared by two of them."""
    rng = np.random.default_rng(44)
    goals = [Goal.point(so101.forward(random_q(so101, rng))[0]) for _ in range(12)]
    options = SolverOptions(1e-3, 1e-2, max_iterations=20, max_restarts=1)

    def answer(goal):
        return solve(so101, goal, solver=name, options=options).q.tobytes()

    alone = [answer(goal) for goal in goals]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(answer, goals)) == alone
