from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from ik_solver_ros.kinematics import quaternion as Q

component = st.floats(-1.0, 1.0, allow_nan=False)
vectors = st.tuples(component, component, component).filter(lambda v: np.linalg.norm(v) > 1e-3)
units = vectors.map(lambda v: tuple(np.array(v) / np.linalg.norm(v)))
angles = st.floats(-3.0 * math.pi, 3.0 * math.pi)
quats = st.tuples(component, component, component, component).filter(lambda q: np.linalg.norm(q) > 1e-2)
rotations = quats.map(lambda q: tuple(np.array(q) / np.linalg.norm(q)))


@given(rotations, rotations, rotations)
def test_group(a, b, c):
    np.testing.assert_allclose(Q.multiply(Q.multiply(a, b), c), Q.multiply(a, Q.multiply(b, c)), atol=1e-12)
    np.testing.assert_allclose(Q.multiply(a, Q.conjugate(a)), (0, 0, 0, 1), atol=1e-12)
    np.testing.assert_allclose(Q.multiply(a, (0.0, 0.0, 0.0, 1.0)), a, atol=1e-15)


@given(rotations, rotations, vectors)
def test_like_scipy(a, b, v):
    A, B = Rotation.from_quat(a), Rotation.from_quat(b)
    np.testing.assert_allclose(Q.rotate(a, v), A.apply(v), atol=1e-12)
    np.testing.assert_allclose(Q.rotate(Q.multiply(a, b), v), (A * B).apply(v), atol=1e-12)


@given(units, angles, vectors)
def test_axis_and_angle(z, angle, v):
    q = Q.from_axis_angle(z, angle)
    np.testing.assert_allclose(Q.rotate(q, v), Rotation.from_rotvec(angle * np.array(z)).apply(v), atol=1e-11)
    np.testing.assert_allclose(Q.turn(v, z, angle), Q.rotate(q, v), atol=1e-11)
    turns = (Q.angle_about(q, z) - angle) / (2.0 * math.pi)
    assert abs(turns - round(turns)) < 1e-9


@given(vectors, vectors)
def test_from_two_vectors_turns_one_onto_the_other(u, v):
    q = Q.from_two_vectors(u, v)
    assert math.isclose(np.linalg.norm(q), 1.0, abs_tol=1e-12)
    turned = np.array(Q.rotate(q, u)) / np.linalg.norm(u)
    np.testing.assert_allclose(turned, np.array(v) / np.linalg.norm(v), atol=2e-6)


@given(units, units)
def test_both_formulas_agree_and_are_the_shortest(a, b):
    assume(1.0 + np.dot(a, b) > 1e-6)
    robust, simple = np.array(Q.from_two_vectors(a, b)), np.array(Q.from_unit_vectors(a, b))
    np.testing.assert_allclose(simple, robust, atol=1e-8)
    angle = 2.0 * math.atan2(np.linalg.norm(robust[:3]), robust[3])
    assert math.isclose(angle, Q.angle_between(a, b), abs_tol=1e-7)
    assert abs(np.dot(robust[:3], a)) < 1e-9  # about an axis perpendicular to both


@given(units)
def test_antiparallel_vectors_turn_by_half_a_turn(a):
    b = tuple(-x for x in a)
    q = np.array(Q.from_two_vectors(a, b))
    assert math.isclose(np.linalg.norm(q), 1.0, abs_tol=1e-12) and abs(q[3]) < 1e-6
    np.testing.assert_allclose(Q.rotate(q, a), b, atol=1e-9)


@given(units, st.floats(1e-12, 1e-5))
def test_nearly_antiparallel_vectors(a, epsilon):
    side = np.cross(a, np.eye(3)[np.argmin(np.abs(a))])
    b = -np.array(a) + epsilon * side / np.linalg.norm(side)
    b /= np.linalg.norm(b)
    np.testing.assert_allclose(Q.rotate(Q.from_two_vectors(a, b), a), b, atol=3e-6)


@given(units, st.floats(0.0, 1e-7))
def test_nearly_equal_vectors_hardly_turn(a, epsilon):
    b = np.array(a) + epsilon * np.array([1.0, -1.0, 0.5])
    for q in (Q.from_two_vectors(a, b), Q.from_unit_vectors(a, tuple(b / np.linalg.norm(b)))):
        assert math.isclose(np.linalg.norm(q), 1.0, abs_tol=1e-12)
        assert Q.angle_between(Q.rotate(q, a), b) < 1e-12


@given(vectors)
def test_a_zero_vector_gives_no_rotation(v):
    assert Q.from_two_vectors((0.0, 0.0, 0.0), v) == (0.0, 0.0, 0.0, 1.0)
    assert Q.from_two_vectors(v, (0.0, 0.0, 0.0)) == (0.0, 0.0, 0.0, 1.0)


def test_the_simple_formula_says_where_it_ends():
    with pytest.raises(ZeroDivisionError):
        Q.from_unit_vectors((1.0, 0.0, 0.0), (-1.0, 0.0, 0.0))


@given(units, st.floats(0.0, math.pi))
def test_angle_between_is_accurate_everywhere(a, angle):
    side = np.cross(a, np.eye(3)[np.argmin(np.abs(a))])
    b = np.cos(angle) * np.array(a) + np.sin(angle) * side / np.linalg.norm(side)
    assert math.isclose(Q.angle_between(a, b), angle, abs_tol=1e-14 + 1e-13 * angle)
