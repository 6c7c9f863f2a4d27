from __future__ import annotations

import numpy as np
import pytest
from conftest import joint, links, urdf

from ik_solver_ros.kinematics.link_frames import LinkFrames
from ik_solver_ros.kinematics.model import load_model

TREE = urdf(
    links("world", "base", "arm", "slide", "left", "right", "other"),
    joint("fix", "world", "base", "fixed", rpy="0.1 0.2 0.3"),
    joint("turn", "base", "arm", "continuous", axis="1 2 3", limit="", rpy="-0.3 0 0.4"),
    joint("push", "arm", "slide", "prismatic", axis="0 1 1"),
    joint("left", "slide", "left", axis="0 1 0"),
    joint("right", "slide", "right", axis="1 0 0", extra='<mimic joint="left" multiplier="-2" offset="0.1"/>'),
    joint("aside", "world", "other"),
)


@pytest.mark.parametrize("base", ["world", "base"])
def test_all_frames_of_many_postures(base):
    model = load_model(TREE)
    frames = LinkFrames(model, base)
    assert set(frames.links) == set(model.links) - ({"world", "other"} if base == "base" else set())
    rng = np.random.default_rng(0)
    q = {name: rng.uniform(-1.0, 1.0, 7) for name in ("turn", "push")}
    found = frames.at({**q, "left": 0.3})
    for link in frames.links:
        for k in range(7):
            wanted = model.transform(base, link, {name: values[k] for name, values in q.items()} | {"left": 0.3})
            np.testing.assert_allclose(found[link].rotation[k], wanted[:3, :3], atol=1e-12)
            np.testing.assert_allclose(found[link].position[k], wanted[:3, 3], atol=1e-12)


def test_a_mimic_joint_follows_a_joint_of_many_positions():
    model = load_model(TREE)
    q = np.linspace(-0.5, 0.5, 4)
    found = LinkFrames(model, "world").at({"left": q})
    for k in range(4):
        wanted = model.transform("world", "right", {"left": q[k]})
        np.testing.assert_allclose(found["right"].rotation[k], wanted[:3, :3], atol=1e-12)
