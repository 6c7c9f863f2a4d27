"""The scenes in examples/ play: each begins at its goal, and what moves does not race."""

from __future__ import annotations

import itertools
import math
import sys
from pathlib import Path

import numpy as np
import pytest

from ik_solver_ros import Goal, load_chain
from ik_solver_ros.solvers.reference.ccdik_published import ccdik_step

EXAMPLES = Path(__file__).parents[1] / "examples"
sys.path.insert(0, str(EXAMPLES))
pytest.importorskip("PIL")
import scenes  # noqa: E402
import skeleton  # noqa: E402


@pytest.mark.parametrize("name", scenes.SCENES)
def test_a_scene_plays(name):
    pytest.importorskip("pybullet")
    moments = list(itertools.islice(scenes.SCENES[name](), 8))
    assert len(moments) == 8
    for moment in moments:
        assert moment.pixels.dtype == np.uint8 and moment.pixels.std() > 5.0  # something is to be seen
        assert moment.speed < 8.0 and (moment.error < 0.02 or name == "hinges")


def test_a_block_is_pushed():
    pytest.importorskip("pybullet")
    from ik_solver_ros.arm.bullet import BulletArm
    from ik_solver_ros.share import share_dir

    chain = load_chain(share_dir() / "urdf" / "so101.urdf")
    arm = BulletArm(chain.model)
    arm.open()
    block = arm.block((0.4, 0.0, 0.5), (0.02, 0.02, 0.02), 0.1, (1.0, 0.0, 0.0, 1.0))
    for _ in range(120):
        arm.advance()
    assert arm.where(block)[2] < 0.5  # it has mass: it falls
    arm.close()


def test_two_free_hinges_stay_calm_below_a_goal_out_of_their_plane():
    """One sweep a frame and no restarts: the motion is bounded, and the tip ends below the goal."""
    bones = [skeleton.Bone(n, "0 0 1", (0.4, 0, 0), 0, 0, "continuous") for n in "ab"]
    chain = load_chain(skeleton.skeleton("free", bones, (0.0, 0.0, 0.3)))
    rng = np.random.default_rng(81)
    for _ in range(20):
        angle, radius = rng.uniform(-math.pi, math.pi), rng.uniform(0.2, 0.7)
        goal = Goal.point([radius * math.cos(angle), radius * math.sin(angle), rng.uniform(-1.0, 1.5)])
        q = rng.uniform(-math.pi, math.pi, 2)
        for k in range(400):
            after = ccdik_step(chain, goal, q)
            assert np.abs(after - q).max() <= math.pi + 1e-9  # never farther than round to the other side
            if k > 300:
                assert np.abs(after - q).max() < 0.02
            q = after
        np.testing.assert_allclose(chain.forward(q)[0][:2], goal.position[:2], atol=5e-3)
