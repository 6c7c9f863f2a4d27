from __future__ import annotations

import numpy as np
import pytest
from conftest import tool_direction

from ik_solver_ros import Goal, SolverOptions, solve
from ik_solver_ros.errors import GoalError
from ik_solver_ros.solvers.path import LARGEST_STEP, solve_path


def swept(chain, seed, count=150, share=0.15):
    """Tip poses of a gentle motion of the joints, which is an answer for them."""
    rng = np.random.default_rng(seed)
    t = np.linspace(0.0, 1.0, count)[:, np.newaxis]
    wave = np.sin(2 * np.pi * t + rng.uniform(0, 2 * np.pi, chain.n)) * rng.uniform(0.3, 1.0, chain.n)
    q = chain.mid + share * (chain.upper - chain.lower) * wave
    poses = [chain.forward(row) for row in q]
    return q, np.array([p for p, _ in poses]), np.array([quat for _, quat in poses])


@pytest.mark.parametrize("seed", range(6))
def test_a_path_that_can_be_gone_is_gone_to_its_end(chain, seed):
    q, p, quats = swept(chain, seed)
    found = solve_path(chain, p, quats_xyzw=quats, q0=q[0])
    assert found.complete and found.fraction == 1.0 and found.reason == ""
    off = [np.linalg.norm(chain.forward(row)[0] - goal) for row, goal in zip(found.q, p)]
    assert max(off) < 1e-3
    assert np.abs(np.diff(found.q, axis=0)).max() <= LARGEST_STEP


def test_directions_and_points_too(chain):
    q, p, quats = swept(chain, 1)
    directions = np.array([tool_direction(chain, quat) for quat in quats])
    assert solve_path(chain, p, directions=directions, q0=q[0]).complete
    assert solve_path(chain, p, q0=q[0]).complete


def test_a_path_that_leaves_the_reach_says_how_far_it_goes(chain):
    q0 = 0.7 * chain.mid + 0.3 * chain.upper
    start = np.array(chain.forward(q0)[0])
    away = start / np.linalg.norm(start)
    p = start + np.linspace(0.0, 2.0 * chain.reach, 400)[:, np.newaxis] * away
    found = solve_path(chain, p, q0=q0)
    assert 0.0 < found.fraction < 0.7 and not found.complete
    assert "out of reach" in found.reason or "singular" in found.reason
    last = np.array(chain.forward(found.q[-1])[0])
    assert np.linalg.norm(last - p[len(found.q) - 1]) < 1e-3


def test_a_jump_is_not_taken_for_a_path(so101):
    a = solve(so101, Goal.point([0.2, 0.15, 0.1])).q
    p = [so101.forward(a)[0], [0.2, -0.15, 0.1]]
    found = solve_path(so101, p, q0=a)
    assert not found.complete and "singular" in found.reason and "shoulder_pan" in found.reason


def test_what_is_no_path_is_refused(so101):
    with pytest.raises(GoalError, match="positions"):
        solve_path(so101, [0.1, 0.2, 0.3])
    with pytest.raises(GoalError, match="directions"):
        solve_path(so101, [[0.1, 0.2, 0.3]], directions=[[1.0, 0.0]])
    with pytest.raises(GoalError, match="pose 1"):
        solve_path(so101, [so101.forward(so101.mid)[0], [0.1, np.nan, 0.3]])


@pytest.mark.parametrize("directed", [False, True])
def test_joints_do_not_tremble_along_a_line(so101, directed):
    """The third differences of a smooth path over 2 mm steps are tiny; those of answers that wander are not."""
    start = solve(so101, Goal.approach([0.2, -0.1, 0.03], [0.0, 0.0, -1.0])).q
    y = np.linspace(-0.1, 0.1, 101)
    positions = np.column_stack([np.full(101, 0.2), y, np.full(101, 0.03)])
    directions = np.tile([0.0, 0.0, -1.0], (101, 1)) if directed else None
    found = solve_path(so101, positions, directions, q0=start, options=SolverOptions())
    assert found.complete
    assert np.abs(np.diff(found.q, n=3, axis=0)).max() < 1e-4
