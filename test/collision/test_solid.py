from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from ik_solver_ros.collision.solid import solid
from ik_solver_ros.kinematics.geometry import Shape
from ik_solver_ros.kinematics.link_frames import Frames

angle = st.floats(-3.0, 3.0)
SIZES = {"box": [0.1, 0.2, 0.3], "sphere": [0.15], "cylinder": [0.05, 0.4]}


def support(kind: str, size: np.ndarray, direction: np.ndarray) -> float:
    """How far a shape round the origin reaches in a direction: by the textbook."""
    if kind == "box":
        return float(0.5 * np.abs(direction) @ size)
    if kind == "sphere":
        return float(size[0])
    return float(size[0] * np.hypot(*direction[:2]) + 0.5 * size[1] * abs(direction[2]))


@given(st.sampled_from(sorted(SIZES)), st.tuples(angle, angle, angle), st.tuples(angle, angle, angle))
def test_the_lowest_point(kind, own, turned):
    size, own_r, link_r = np.array(SIZES[kind]), Rotation.from_euler("xyz", own), Rotation.from_euler("xyz", turned)
    one = solid(Shape("a", kind, size, own_r.as_matrix(), np.array([0.1, 0.2, 0.3])))
    frames = Frames(link_r.as_matrix()[np.newaxis], np.array([[0.0, 0.0, 1.0]]))
    down = (link_r * own_r).inv().apply([0.0, 0.0, -1.0])
    exact = 1.0 + link_r.apply([0.1, 0.2, 0.3])[2] - support(kind, size, down)
    low = one.lowest(frames)[0]
    assert exact - 0.02 * size[0] - 1e-9 <= low <= exact + 1e-9  # the polygon goes round the cylinder
    assert low >= one.centers(frames)[0, 2] - one.radius - 1e-9


@pytest.mark.parametrize("kind", sorted(SIZES))
def test_the_sphere_is_round_it(kind):
    one = solid(Shape("a", kind, np.array(SIZES[kind]), np.eye(3), np.array([1.0, 0.0, 0.0])))
    assert np.linalg.norm(one.points - one.center, axis=1).max() + one.thickness <= one.radius + 1e-12
