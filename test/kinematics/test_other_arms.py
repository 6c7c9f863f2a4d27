"""Arms of other makers, as their vendors mean them: goals that they can do are done, and tip and tool are found."""

from __future__ import annotations

import numpy as np
import pytest
import yaml
from conftest import MORE, random_q, tool_direction
from scipy.spatial.transform import Rotation

from ik_solver_ros import Goal, Status, load_chain, solve
from ik_solver_ros.errors import IkSolverError, UnsupportedJointError

FOLDER = MORE / "others"
ARMS = yaml.safe_load((FOLDER / "arms.yaml").read_text())
REFUSED = {"dobot_magician": UnsupportedJointError, "dobot_magician_suction": UnsupportedJointError}
# Without names another tip is found, or another axis, or none: what load_chain is still to learn.
OTHERWISE = {
    "arx5",
    "crane_plus_v2",
    "dobot_magician_rail",
    "elfin5",
    "jaco_j2n6s300",
    "kinova_gen3_7_2f85",
    "mico_m1n4s200",
    "mypalletizer_260",
    "openarm",
    "panda_hand",
    "phantomx_pincher",
    "rx200_ar_tag",
    "sawyer",
    "turtlebot_arm",
    "vx250_ns",
    "widowx",
}


def as_its_vendor_means_it(name):
    row = ARMS[name]
    return load_chain(FOLDER / f"{name}.urdf", row["base"], row["tip"], row["tool_axis"])


def tool_at_zero(chain):
    """(where the tip is [m], where the tool points) with all joints at zero, from the root of the robot."""
    transform = chain.model.transform(chain.model.root, chain.tip_link, {})
    return transform[:3, 3], transform[:3, :3] @ chain.tool_axis


def test_every_file_has_its_row():
    assert sorted(ARMS) == sorted(path.stem for path in FOLDER.glob("*.urdf"))
    assert set(ARMS) >= OTHERWISE


@pytest.mark.parametrize("name", sorted(set(ARMS) - set(REFUSED)))
def test_goals_that_it_can_do_are_reached(name):
    """Judged by the product of the URDF's transforms."""
    chain, rng = as_its_vendor_means_it(name), np.random.default_rng(7)
    for _ in range(5):
        p, quat = chain.forward(random_q(chain, rng))
        direction = tool_direction(chain, quat)
        for goal in (Goal.point(p), Goal.approach(p, direction), Goal.pose(p, quat)):
            found = solve(chain, goal, random_q(chain, rng))
            assert found.status is Status.REACHED
            at = chain.model.transform(chain.base_link, chain.tip_link, dict(zip(chain.joint_names, found.q)))
            assert np.linalg.norm(at[:3, 3] - p) < 2e-6
            if goal.direction is not None:
                assert np.linalg.norm(at[:3, :3] @ chain.tool_axis - direction) < 2e-6
            if goal.quat_xyzw is not None:
                assert (Rotation.from_matrix(at[:3, :3]).inv() * Rotation.from_quat(quat)).magnitude() < 4e-6


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_cannot_be_had_is_refused(name):
    with pytest.raises(REFUSED[name]):
        as_its_vendor_means_it(name)


@pytest.mark.parametrize("name", sorted(set(ARMS) - set(REFUSED)))
def test_tip_and_tool_are_found_without_names(name, request):
    if name in OTHERWISE:
        request.applymarker(pytest.mark.xfail(strict=True, raises=(IkSolverError, AssertionError)))
    wanted, found = as_its_vendor_means_it(name), load_chain(FOLDER / f"{name}.urdf")
    (p, direction), (p_found, direction_found) = tool_at_zero(wanted), tool_at_zero(found)
    assert np.linalg.norm(p_found - p) < 1e-3
    assert np.linalg.norm(direction_found - direction) < np.radians(0.5)
