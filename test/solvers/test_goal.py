from __future__ import annotations

import numpy as np
import pytest
from conftest import tool_direction
from scipy.spatial.transform import Rotation

from ik_solver_ros import Goal, SolverOptions, Status
from ik_solver_ros.errors import GoalError

BAD = [
    (lambda: Goal.point([0.1, 0.2]), "position", r"shape \(3,\)"),
    (lambda: Goal.point([0.1, 0.2, np.nan]), "position", "finite"),
    (lambda: Goal.point("here"), "position", "3 numbers"),
    (lambda: Goal.approach([0, 0, np.inf], [0, 0, 1]), "position", "finite"),
    (lambda: Goal.approach([0, 0, 0], [0, 0, 0]), "direction", "length"),
    (lambda: Goal.approach([0, 0, 0], [0, np.nan, 1]), "direction", "finite"),
    (lambda: Goal.pose([0, 0, 0], [0, 0, 0, 0]), "quat_xyzw", "norm is 0"),
    (lambda: Goal.pose([0, 0, 0], [0, 0, 0, 1.01]), "quat_xyzw", "norm is 1.01"),
    (lambda: Goal.pose([0, 0, 0], [0, 0, 0, np.nan]), "quat_xyzw", "finite"),
    (lambda: Goal.pose([0, 0, 0], [0, 0, 1]), "quat_xyzw", r"shape \(4,\)"),
    (lambda: SolverOptions(position_tolerance=0.0), "position_tolerance", "positive"),
    (lambda: SolverOptions(orientation_tolerance=np.nan), "orientation_tolerance", "positive"),
    (lambda: SolverOptions(max_restarts=-1), "max_restarts", "at least 0"),
    (lambda: SolverOptions(max_iterations=0), "max_iterations", "at least 1"),
    (lambda: SolverOptions(seed=1.5), "seed", "whole number"),
    (lambda: SolverOptions(roll_slack=-0.1), "roll_slack", "at least 0"),
    (lambda: SolverOptions(hysteresis=np.inf), "hysteresis", "at least 0"),
    (lambda: SolverOptions(elbow="sideways"), "elbow", "nearest, up, down"),
]


@pytest.mark.parametrize(("make", "argument", "wanted"), BAD)
def test_bad_goals_and_options(make, argument, wanted):
    with pytest.raises(GoalError, match=wanted) as info:
        make()
    assert info.value.argument == argument


def test_nearly_unit_quaternions_and_any_direction_are_normalised():
    assert np.linalg.norm(Goal.pose([0, 0, 0], [0, 0, 0, 1.0009]).quat_xyzw) == pytest.approx(1.0, abs=1e-15)
    assert Goal.approach([0, 0, 0], [0, 0, -5]).direction.tolist() == [0, 0, -1]
    assert Goal.approach([0, 0, 0], [0, 3e200, 4e200]).direction.tolist() == pytest.approx([0, 0.6, 0.8])


def test_inputs_are_copied():
    position = np.array([0.1, 0.2, 0.3])
    goal = Goal.point(position)
    position[0] = 9.0
    assert goal.position[0] == 0.1


def test_direction_targets_of_a_pose(chain):
    position, quat = chain.forward(chain.mid)
    tool, wanted = Goal.pose(position, quat).directions(chain)
    np.testing.assert_allclose(tool @ tool.T, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(wanted @ wanted.T, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(wanted[0], tool_direction(chain, quat), atol=1e-12)
    assert Goal.point(position).directions(chain)[1].shape == (0, 3)
    assert Goal.approach(position, [0, 0, -2]).directions(chain)[1].tolist() == [[0, 0, -1]]


def test_a_goal_from_a_matrix():
    turn = Rotation.from_rotvec([0.3, -0.5, 0.2])
    transform = np.eye(4)
    transform[:3, :3], transform[:3, 3] = turn.as_matrix(), [0.1, 0.2, 0.3]
    goal = Goal.from_matrix(transform)
    assert goal.position.tolist() == [0.1, 0.2, 0.3]
    assert (Rotation.from_quat(goal.quat_xyzw).inv() * turn).magnitude() < 1e-12
    mirrored = np.diag([1.0, 1.0, -1.0, 1.0])
    for bad in (np.eye(3), 2.0 * np.eye(4), mirrored, np.full((4, 4), np.nan)):
        with pytest.raises(GoalError, match="transform"):
            Goal.from_matrix(bad)


def test_a_goal_cannot_be_changed():
    goal = Goal.point([0.1, 0.2, 0.3])
    goal.position[0] = 9.0  # a copy
    assert goal.position[0] == 0.1 and hash(goal) == hash(Goal.point([0.1, 0.2, 0.3]))
    with pytest.raises(AttributeError):
        goal.targets = 2


def test_statuses():
    assert {s.name for s in Status} == {"REACHED", "NEAREST_ORIENTATION", "NEAREST_POSITION", "INVALID_GOAL"}
