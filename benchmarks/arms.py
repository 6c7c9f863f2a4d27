"""The five arms of the measurements, and goals for them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from ik_solver_ros import Chain, Goal, load_chain
from ik_solver_ros.share import share_dir

HERE = Path(__file__).parent / "arms"
URDFS = {
    "so101": share_dir() / "urdf" / "so101.urdf",
    "seed_arm": share_dir() / "urdf" / "seed_arm.urdf",
    "reactorx_150": HERE / "reactorx_150.urdf",
    "youbot": HERE / "youbot.urdf",
    "panda": HERE / "panda.urdf",
}
FIVE = ("so101", "seed_arm", "reactorx_150", "youbot")  # five joints


def arms(names=tuple(URDFS)) -> dict[str, Chain]:
    return {name: load_chain(URDFS[name]) for name in names}


def sampled(chain: Chain, rng: np.random.Generator, m: int):
    """M configurations, uniform in the limits: q (m, n), the tip's positions (m, 3) and orientations (m, 4).

    Of joints without limits over one turn.
    """
    q = rng.uniform(*chain.finite_limits, size=(m, chain.n))
    p, r = np.empty((m, 3)), np.empty((m, 4))
    for i in range(m):
        p[i], r[i] = chain.forward(q[i])
    return q, p, r / np.linalg.norm(r, axis=1)[:, None]


def tool_directions(chain: Chain, quats: np.ndarray) -> np.ndarray:
    return Rotation.from_quat(quats).as_matrix() @ chain.tool_axis


def any_directions(rng: np.random.Generator, m: int) -> np.ndarray:
    v = rng.normal(size=(m, 3))
    return v / np.linalg.norm(v, axis=1)[:, None]


def base_of(chain: Chain) -> np.ndarray:
    """The first joint's position, from which `chain.reach` counts."""
    return np.array(chain.arrays.origin_p[0])


def beyond(chain: Chain, rng: np.random.Generator, m: int) -> np.ndarray:
    """M positions out of reach: half of them 1 mm to 10 m beyond the edge, half inside the reach but in a hole of it.

    The edge is found by the nearest answer to a far point: what lies beyond the answer on the line to that point.
    """
    from benchmarks.optimiser import nearest_positions

    far = base_of(chain) + 10.0 * chain.reach * any_directions(rng, m // 2)
    q, _ = nearest_positions(chain, far, rng, starts=40)
    edge = np.array([chain.forward(row)[0] for row in q])
    out = far - edge
    out /= np.linalg.norm(out, axis=1)[:, None]
    beyond = edge + out * 10.0 ** rng.uniform(-3.0, 1.0, size=(m // 2, 1))
    inside = []
    while len(inside) < m - m // 2:
        p = base_of(chain) + chain.reach * any_directions(rng, 200) * rng.uniform(0.0, 0.8, size=(200, 1)) ** (1 / 3)
        _, distance = nearest_positions(chain, p, rng, starts=40)
        found = p[distance > 1e-3]
        if len(found) == 0:
            break  # no hole
        inside.extend(found)
    return np.vstack([beyond, np.reshape(inside, (-1, 3))[: m - m // 2]])


def goal_of(p, direction=None, quat=None) -> Goal:
    if direction is not None:
        return Goal.approach(p, direction)
    return Goal.pose(p, quat) if quat is not None else Goal.point(p)
