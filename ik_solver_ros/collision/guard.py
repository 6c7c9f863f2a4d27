"""CollisionGuard: whether a motion would put a link through the floor, or through the arm itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ik_solver_ros.collision.bodies import Bodies
from ik_solver_ros.collision.solid import Solid, point, solid
from ik_solver_ros.errors import CollisionError, GoalError, listed
from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.geometry import Shape, collision_shapes
from ik_solver_ros.kinematics.link_frames import Frames, LinkFrames
from ik_solver_ros.trajectory.trajectory import State, Trajectory

if TYPE_CHECKING:
    from ik_solver_ros.collision.self_collision import SelfCollision

MARGIN = 2e-3  # [m] that links keep from each other; it covers what lies between two samples as well
STEP = 0.03  # [rad or m] of the fastest joint between two samples of a motion
GRACE = 1e-3  # [m] that a link may be below the floor
POSTURES = 200  # random ones, to find the links that always touch


class CollisionGuard:
    """Checks motions of a chain against the collision geometry of the whole robot.

    `notes` are sentences on what cannot be checked, and what is left out.
    """

    def __init__(
        self,
        chain: Chain,
        *,
        floor_height: float = np.nan,
        margin: float = MARGIN,
        ignored: Sequence[str] = (),
    ) -> None:
        """floor_height [m] in base_link; nan: at the lowest point of what does not move, or zero without such.
        margin [m]: what links keep from each other. ignored: pairs of links that may touch, each as "one:other".

        Raises GoalError for links that the robot does not have.
        """
        self._chain = chain
        self._frames = LinkFrames(chain.model, chain.base_link)
        bodies = Bodies(chain)
        shapes, self.notes = collision_shapes(chain.model)
        links = self._frames.links
        allowed = _pairs(ignored, links)
        solids, self._self_collision = self._read([s for s in shapes if s.link in links], bodies, allowed, margin)
        if not any(bodies.moves(one.link) for one in solids):
            self.notes.append("no moving link has collision geometry: only the links' frames are kept above the floor")
            solids += [point(link) for link in links if link != chain.tip_link]
        solids.append(point(chain.tip_link))
        self._above = [one for one in solids if bodies.moves(one.link)]
        still = [one for one in solids if not bodies.moves(one.link) and one.radius > 0.0]
        if np.isnan(floor_height):
            frames = self._at(chain.mid[np.newaxis], {})
            floor_height = min((float(one.lowest(frames[one.link])[0]) for one in still), default=0.0)
        self.floor_height = float(floor_height)

    def check(self, trajectory: Trajectory, start: State, others: Mapping[str, float] | None = None) -> None:
        """Raise CollisionError where the motion from `start` along `trajectory` would touch anything.

        others: positions of joints off the chain [rad or m], where known. What touches at the start may go on so, but
        not come nearer still.
        """
        q = _sampled(trajectory, start)
        frames = self._at(q, others or {})
        for one in self._above:
            allowed = self.floor_height - GRACE
            deep = np.flatnonzero(one.centers(frames[one.link])[:, 2] - one.radius < allowed)
            if len(deep) == 0:
                continue
            low = one.lowest(Frames(*(part[deep] for part in frames[one.link])))
            if deep[0] == 0:
                allowed = min(allowed, low[0] - GRACE)
            if low.min() < allowed:
                fraction = float(deep[np.argmax(low < allowed)]) / (len(q) - 1)
                raise CollisionError(
                    f"link {one.link!r} would go {1e3 * (self.floor_height - low.min()):.3g} mm below the floor, which "
                    f"is at {self.floor_height:.4g} m of {self._chain.base_link!r}",
                    (one.link, "floor"),
                    fraction,
                )
        touch = self._self_collision.first_touch(frames) if self._self_collision else None
        if touch is not None:
            fraction, pair = touch[0] / (len(q) - 1), touch[1]
            when = f"{100.0 * fraction:.0f} % into the motion"
            raise CollisionError(f"links {pair[0]!r} and {pair[1]!r} would collide, {when}", pair, fraction)

    def _at(self, q: Array, others: Mapping[str, float]) -> dict[str, Frames]:
        return self._frames.at({**others, **dict(zip(self._chain.joint_names, np.transpose(q)))})

    def _read(
        self, shapes: list[Shape], bodies: Bodies, allowed: set[frozenset[str]], margin: float
    ) -> tuple[list[Solid], SelfCollision | None]:
        try:
            from ik_solver_ros.collision.self_collision import SelfCollision, part_of
        except ImportError:
            self.notes.append(
                "coal is not installed: the arm is guarded against the floor, without its meshes, and not against "
                "itself; pip install 'ik_solver_ros[collision]'"
            )
            return [solid(shape) for shape in shapes if shape.kind != "mesh"], None
        parts = []
        for shape in shapes:
            try:
                parts.append(part_of(shape))
            except ValueError as error:  # noqa: PERF203
                self.notes.append(f"link {shape.link!r}: a <collision> is left out: {error}")
        random = np.random.default_rng(0).uniform(*self._chain.finite_limits, (POSTURES, self._chain.n))
        watch = SelfCollision(parts, bodies, allowed, margin, self._at(random, {}))
        self.notes.extend(f"links {one!r} and {other!r} always touch, so they may" for one, other in watch.always)
        return [part.solid for part in parts], watch


def _sampled(trajectory: Trajectory, start: State) -> Array:
    """Positions (m, n) along a motion, no joint going much farther than STEP between them."""
    assert trajectory.velocities is not None and trajectory.accelerations is not None
    times = np.concatenate([[0.0], trajectory.times])
    x, v, a = (
        np.concatenate([first[np.newaxis], rest])
        for first, rest in zip(start, (trajectory.positions, trajectory.velocities, trajectory.accelerations))
    )
    # At rest in all its points, a motion is faster between them: by 1.875, as quintics go.
    fastest = max(np.abs(v).max(), 1.875 * (np.abs(np.diff(x, axis=0)) / np.diff(times)[:, np.newaxis]).max())
    return np.asarray(_quintics(times, x, v, a, int(np.ceil(trajectory.duration * fastest / STEP)) + 2))


def _quintics(times: Array, x: Array, v: Array, a: Array, count: int) -> Array:
    """Positions (count, n), evenly in time, through states x, v, a (k, n) at times (k,): trajectory.py's quintics."""
    t = np.linspace(0.0, times[-1], count)
    i = np.clip(np.searchsorted(times, t, side="left") - 1, 0, len(times) - 2)
    duration = np.diff(times)[i][:, np.newaxis]
    s = np.minimum((t - times[i])[:, np.newaxis] / duration, 1.0)
    d = x[i + 1] - x[i]
    v0, v1 = v[i] * duration, v[i + 1] * duration
    a0, a1 = a[i] * duration**2, a[i + 1] * duration**2
    c3 = 10.0 * d - 6.0 * v0 - 4.0 * v1 - 1.5 * a0 + 0.5 * a1
    c4 = -15.0 * d + 8.0 * v0 + 7.0 * v1 + 1.5 * a0 - a1
    c5 = 6.0 * d - 3.0 * (v0 + v1) - 0.5 * (a0 - a1)
    return np.asarray(x[i] + s * (v0 + s * (0.5 * a0 + s * (c3 + s * (c4 + s * c5)))))


def _pairs(ignored: Sequence[str], links: Sequence[str]) -> set[frozenset[str]]:
    out = set()
    for text in ignored:
        one, _, other = text.partition(":")
        if one not in links or other not in links:
            raise GoalError("collision_ignored", text, f"two links are wanted as 'one:other', of {listed(links)}")
        out.add(frozenset((one, other)))
    return out
