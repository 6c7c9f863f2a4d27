from __future__ import annotations

import numpy as np
import pytest
from conftest import urdf
from scipy.spatial.transform import Rotation

from ik_solver_ros.kinematics.geometry import collision_shapes, mesh_path
from ik_solver_ros.kinematics.model import load_model


def link(geometry: str, origin: str = "") -> str:
    return urdf(f'<link name="a"><collision>{origin}<geometry>{geometry}</geometry></collision></link>')


@pytest.mark.parametrize(
    "geometry, kind, size",
    [
        ('<box size="1 2 3"/>', "box", [1.0, 2.0, 3.0]),
        ('<sphere radius="0.5"/>', "sphere", [0.5]),
        ('<cylinder radius="0.5" length="2"/>', "cylinder", [0.5, 2.0]),
    ],
)
def test_shapes(geometry, kind, size):
    (shape,), notes = collision_shapes(load_model(link(geometry, '<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/>')))
    assert (shape.link, shape.kind, shape.size.tolist(), notes) == ("a", kind, size, [])
    np.testing.assert_allclose(shape.position, [1.0, 2.0, 3.0])
    np.testing.assert_allclose(shape.rotation, Rotation.from_euler("xyz", [0.1, 0.2, 0.3]).as_matrix())


@pytest.mark.parametrize(
    "geometry, said",
    [
        ('<box size="1 2"/>', "'1 2' where 3 finite numbers"),
        ('<box size="1 2 nan"/>', "finite"),
        ('<box size="1 2 -3"/>', "positive lengths"),
        ('<sphere radius="x"/>', "could not convert"),
        ("<sphere/>", "where 1 finite numbers"),
        ('<torus radius="1"/>', "torus; box, sphere, cylinder, mesh are known"),
        ("", "nothing"),
        ('<mesh filename="nowhere.stl"/>', "'nowhere.stl' is not to be found"),
    ],
)
def test_shapes_that_cannot_be_used_are_named(geometry, said):
    shapes, (note,) = collision_shapes(load_model(link(geometry)))
    assert shapes == [] and note.startswith("link 'a': ") and said in note


def test_where_meshes_are(tmp_path, monkeypatch):
    for where in ("arm_description/meshes", "prefix/share/other/meshes"):
        (tmp_path / where).mkdir(parents=True)
        (tmp_path / where / "m.stl").touch()
    here = tmp_path / "arm_description" / "urdf"
    here.mkdir()
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "prefix"))
    own = tmp_path / "arm_description" / "meshes" / "m.stl"
    assert mesh_path("../meshes/m.stl", here) == own
    assert mesh_path(f"file://{own}", None) == own
    assert mesh_path("package://arm_description/meshes/m.stl", here) == own
    assert mesh_path("package://other/meshes/m.stl", here) == tmp_path / "prefix/share/other/meshes/m.stl"
    assert mesh_path("package://third/meshes/m.stl", here) is None
