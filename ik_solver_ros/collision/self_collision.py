"""SelfCollision: how near the links of a robot come to each other along a motion (coal).

Between two samples no point of a link goes farther than its sphere does and turns; where two shapes are some distance
apart, as many samples can be passed over as it takes them to cover that distance (conservative advancement: Mirtich,
Impulse-based Dynamic Simulation, 1996).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import coal
import numpy as np

from ik_solver_ros.collision.bodies import Bodies
from ik_solver_ros.collision.solid import Solid, solid
from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.kinematics.geometry import Shape
from ik_solver_ros.kinematics.link_frames import Frames

SPARE = 1e-3  # [m] by which links that touch from the start may come nearer
ALWAYS = 0.95  # fraction of all postures: links that touch in more of them always do, by the way the URDF draws them


class Part(NamedTuple):
    """A solid, and what coal knows of it."""

    solid: Solid
    convex: Any  # the shape, or the convex hull of its mesh
    mesh: Any  # None where the shape is convex itself
    rotation: Array  # (3, 3) of the geometry in the link's frame
    position: Array  # (3,) [m]


def part_of(shape: Shape) -> Part:
    """The shape as coal has it. Raises ValueError for a mesh that cannot be read."""
    mesh = vertices = None
    if shape.kind == "box":
        convex = coal.Box(*shape.size)
    elif shape.kind == "sphere":
        convex = coal.Sphere(shape.size[0])
    elif shape.kind == "cylinder":
        convex = coal.Cylinder(*shape.size)
    else:
        try:
            mesh = coal.MeshLoader().load(str(shape.path), shape.size)
            mesh.buildConvexHull(True, "Qt")
        except Exception as error:  # whatever the loader's own library raises
            raise ValueError(f"the mesh {str(shape.path)!r} cannot be read: {error}") from error
        convex = mesh.convex
        vertices = np.array(convex.points())
    return Part(solid(shape, vertices), convex, mesh, shape.rotation, shape.position)


class SelfCollision:
    """Watches the pairs of links that can collide and do not always touch; `always` has those that do."""

    def __init__(
        self,
        parts: list[Part],
        bodies: Bodies,
        ignored: set[frozenset[str]],
        margin: float,
        postures: Mapping[str, Frames],
    ) -> None:
        """Watch links that shall keep `margin` [m] from each other; postures: the links' frames in random ones."""
        self._parts, self._margin = parts, margin
        self._radii = np.array([part.solid.radius for part in parts])
        self.always: list[tuple[str, str]] = []
        by_link: dict[str, list[int]] = {}
        for i, part in enumerate(parts):
            by_link.setdefault(part.solid.link, []).append(i)
        everywhere = _Motion(parts, postures, margin)
        watched: list[tuple[int, int]] = []
        for one, other in bodies.watched(list(by_link)):
            if frozenset((one, other)) in ignored:
                continue
            pairs = [(a, b) for a in by_link[one] for b in by_link[other]]
            near = self._near(everywhere, pairs)
            touching = [
                any(near[p, k] and everywhere.distance(a, b, k) < margin for p, (a, b) in enumerate(pairs))
                for k in range(near.shape[1])
            ]
            if np.mean(touching) > ALWAYS:
                self.always.append((one, other))
            else:
                watched.extend(pairs)
        self._watched = watched

    def first_touch(self, frames: Mapping[str, Frames]) -> tuple[int, tuple[str, str]] | None:
        """The first of m samples in which two links touch, and their names; None where none do."""
        if not self._watched:
            return None
        motion = _Motion(self._parts, frames, self._margin)
        best: tuple[int, tuple[str, str]] | None = None
        near = self._near(motion, self._watched)
        for p in np.flatnonzero(near.any(axis=1)):
            a, b = self._watched[p]
            i = self._first_touch(motion, a, b, np.flatnonzero(near[p]))
            if i is not None and (best is None or i < best[0]):
                best = i, (self._parts[a].solid.link, self._parts[b].solid.link)
        return best

    def _near(self, motion: _Motion, pairs: list[tuple[int, int]]) -> Any:
        """(p, m) whether the spheres round the parts of each pair are nearer than the margin, in each sample."""
        a, b = np.transpose(pairs)
        limits = self._radii[a] + self._radii[b] + self._margin
        return _nearer(motion.centers, a, b, limits)

    def _first_touch(self, motion: _Motion, a: int, b: int, near: Any) -> int | None:
        """The first of the samples `near` at which two parts are nearer than the margin; None where they never are.

        Parts that are so from the start may not come nearer still.
        """
        gone = motion.gone(a) + motion.gone(b)
        allowed = self._margin
        if near[0] == 0:
            allowed = min(allowed, motion.distance(a, b, 0) - SPARE)
        k = 0
        while (at := int(np.searchsorted(near, k))) < len(near):
            k = int(near[at])
            distance = motion.distance(a, b, k)
            if distance < allowed:
                return k
            k = max(k + 1, int(np.searchsorted(gone, gone[k] + distance - allowed)))
        return None


def _nearer(centers: Array, a: Any, b: Any, limits: Array) -> Any:
    """(p, m) whether centers (parts, m, 3) of the pairs a, b (p,) are nearer to each other than limits (p,)."""
    between = centers[a] - centers[b]
    return np.einsum("pmi,pmi->pm", between, between) <= (limits**2)[:, np.newaxis]


class _Motion:
    """Parts along a motion of m samples."""

    def __init__(self, parts: list[Part], frames: Mapping[str, Frames], margin: float) -> None:
        self._parts, self._frames, self._margin = parts, frames, margin
        self._gone: dict[int, Array] = {}
        #: (parts, m, 3) [m] centers of the spheres round them
        self.centers = np.array([part.solid.centers(frames[part.solid.link]) for part in parts])

    def gone(self, i: int) -> Array:
        """(m,) [m] that no point of a part has gone farther than since the first sample."""
        if i not in self._gone:
            part = self._parts[i]
            # |R - R'| (Frobenius) is sqrt(2) times the way of a point at distance 1 from the axis of the turn.
            turned = np.linalg.norm(np.diff(self._frames[part.solid.link].rotation, axis=0), axis=(1, 2)) / np.sqrt(2.0)
            steps = np.linalg.norm(np.diff(self.centers[i], axis=0), axis=1) + part.solid.radius * turned
            self._gone[i] = np.concatenate([[0.0], np.cumsum(steps)])
        return self._gone[i]

    def distance(self, a: int, b: int, k: int) -> float:
        """[m] that two parts are apart in sample k, or a little less; where they are in each other, minus how deep.

        Of meshes that are nearer than the margin it is 0: hulls may touch where what is in them does not.
        """
        one, other = self._parts[a], self._parts[b]
        places = self._place(one, k), self._place(other, k)
        apart = coal.DistanceResult()
        coal.distance(one.convex, places[0], other.convex, places[1], _DISTANCE, apart)
        if apart.min_distance >= self._margin or (one.mesh is None and other.mesh is None):
            return float(apart.min_distance)
        touch = coal.CollisionResult()
        _COLLISION.security_margin = self._margin
        coal.collide(one.mesh or one.convex, places[0], other.mesh or other.convex, places[1], _COLLISION, touch)
        return 0.0 if touch.isCollision() else self._margin + max(0.0, float(touch.distance_lower_bound))

    def _place(self, part: Part, k: int) -> Any:
        frames = self._frames[part.solid.link]
        rotation = frames.rotation[k]
        return coal.Transform3s(rotation @ part.rotation, rotation @ part.position + frames.position[k])


_DISTANCE = coal.DistanceRequest()
_COLLISION = coal.CollisionRequest()
