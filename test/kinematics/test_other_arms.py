"""Arms of other makers, as their vendors mean them: goals that they can do are done, and tip and tool are found."""

from __future__ import annotations

import re

import numpy as np
import pytest
import yaml
from conftest import MORE, random_q, tool_direction
from scipy.spatial.transform import Rotation

from ik_solver_ros import Goal, Status, load_chain, solve
from ik_solver_ros.errors import AmbiguousTipError, UnsupportedJointError

FOLDER = MORE / "others"
ARMS = yaml.safe_load((FOLDER / "arms.yaml").read_text())
REFUSED = {"dobot_magician": UnsupportedJointError, "dobot_magician_suction": UnsupportedJointError}
# What nobody can tell from the URDF alone. That is said, and what the vendor means is among what is offered instead.
DOUBTFUL = {"dobot_magician_rail", "mycobot_320_gripper", "phantomx_pincher", "turtlebot_arm", "widowx"}
# No frame between the fingers, or nothing that tells where the tool points: right, and said to be a guess.
GUESSED = {"al5d", "arx5", "braccio", "koch_low_cost", "mypalletizer_260", "panda_hand", "piper", "so_arm100"}


def as_its_vendor_means_it(name):
    row = ARMS[name]
    return load_chain(FOLDER / f"{name}.urdf", row["base"], row["tip"], row["tool_axis"])


def tool_at_zero(chain):
    """(where the tip is [m], where the tool points) with all joints at zero, from the root of the robot."""
    transform = chain.model.transform(chain.model.root, chain.tip_link, {})
    return transform[:3, 3], transform[:3, :3] @ chain.tool_axis


def test_what_the_documentation_says_of_them():
    said = " ".join((FOLDER.parents[2] / "docs" / "your_urdf.md").read_text().split())
    assert f"Of {len(ARMS)} arms" in said
    assert f"{len(ARMS) - len(REFUSED) - len(DOUBTFUL)} are found as their vendors mean them" in said


def test_every_file_has_its_row():
    assert sorted(ARMS) == sorted(path.stem for path in FOLDER.glob("*.urdf"))
    assert set(ARMS) >= DOUBTFUL | GUESSED


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


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_nor_without_names(name):
    with pytest.raises(REFUSED[name], match="name a tip_link before it, such as 'magician_link_3'"):
        load_chain(FOLDER / f"{name}.urdf")


@pytest.mark.parametrize("name", sorted(DOUBTFUL))
def test_what_is_doubtful_is_said(name):
    row = ARMS[name]
    try:
        doubts = load_chain(FOLDER / f"{name}.urdf").doubts
    except AmbiguousTipError as error:
        assert row["tip"] in error.candidates
    else:
        offered = re.findall("(?:tip_link|tool_axis):=([^ ,]+)", " ".join(doubts))
        assert row["tip"] in offered or row["tool_axis"] in offered


def test_a_frame_at_the_place_of_the_palm_but_turned_is_offered():
    found = load_chain(FOLDER / "panda_hand.urdf")
    assert found.tip_link == "panda_hand" and "tip_link:=panda_link8 or" in found.doubts[0]


@pytest.mark.parametrize("name", sorted(set(ARMS) - set(REFUSED) - DOUBTFUL))
def test_tip_and_tool_are_found_without_names(name):
    wanted, found = as_its_vendor_means_it(name), load_chain(FOLDER / f"{name}.urdf")
    (p, direction), (p_found, direction_found) = tool_at_zero(wanted), tool_at_zero(found)
    assert np.linalg.norm(p_found - p) < 1e-3
    assert np.linalg.norm(direction_found - direction) < np.radians(0.5)
    assert bool(found.doubts) == (name in GUESSED)
