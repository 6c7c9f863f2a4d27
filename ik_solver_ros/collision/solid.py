"""Solids: collision shapes as clouds of points with a radius, and the spheres round them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.kinematics.geometry import Shape
from ik_solver_ros.kinematics.link_frames import Frames

AROUND = 16  # points on the rim of a cylinder


@dataclass(frozen=True, eq=False)
class Solid:
    """A shape of a link; all in the link's frame."""

    link: str
    points: Array  # (k, 3) [m]: the shape is the convex hull of these...
    thickness: float  # [m] ...and whatever is nearer to it than this
    center: Array  # (3,) [m] of a sphere round it
    radius: float  # [m]

    def lowest(self, frames: Frames) -> Array:
        """The height [m] of its lowest point, in each of m postures (m,)."""
        return (
            np.asarray((frames.rotation[:, 2, :] @ self.points.T).min(axis=1) + frames.position[:, 2]) - self.thickness
        )

    def centers(self, frames: Frames) -> Array:
        """Where the sphere round it is in each of m postures, (m, 3)."""
        return np.asarray((frames.rotation.reshape(-1, 3) @ self.center).reshape(-1, 3) + frames.position)


def solid(shape: Shape, vertices: Array | None = None) -> Solid:
    """The solid of a shape; of a mesh by its vertices (k, 3) [m], scaled."""
    thickness = 0.0
    if shape.kind == "box":
        local = 0.5 * shape.size * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    elif shape.kind == "sphere":
        local, thickness = np.zeros((1, 3)), float(shape.size[0])
    elif shape.kind == "cylinder":
        angle = np.linspace(0.0, 2.0 * np.pi, AROUND, endpoint=False)
        # a little more than the cylinder: the polygon goes round it
        rim = shape.size[0] / np.cos(np.pi / AROUND) * np.column_stack([np.cos(angle), np.sin(angle)])
        half = 0.5 * shape.size[1]
        local = np.vstack([np.column_stack([rim, np.full(AROUND, z)]) for z in (-half, half)])
    else:
        assert vertices is not None
        local = vertices
    points = local @ shape.rotation.T + shape.position
    center = 0.5 * (points.min(axis=0) + points.max(axis=0))
    radius = float(np.linalg.norm(points - center, axis=1).max()) + thickness
    return Solid(shape.link, points, thickness, center, radius)


def point(link: str) -> Solid:
    """The origin of a link that has no shape."""
    return Solid(link, np.zeros((1, 3)), 0.0, np.zeros(3), 0.0)
