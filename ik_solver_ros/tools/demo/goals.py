"""The goals of the demonstration: poses that the tip of an arm was measured at, with a free way to each."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ik_solver_ros.arm.base import SimulatedArm
from ik_solver_ros.arm.bullet import BulletArm
from ik_solver_ros.collision.guard import CollisionGuard
from ik_solver_ros.errors import CollisionError
from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.solvers.goal import Goal
from ik_solver_ros.solvers.solution import Status
from ik_solver_ros.solvers.solve import solve
from ik_solver_ros.trajectory.limits import MotionLimits
from ik_solver_ros.trajectory.plan import plan
from ik_solver_ros.trajectory.trajectory import State

APART = 0.05  # [m] between the positions of neighbouring goals
MARGIN = 0.008  # [m] that the arm keeps from itself and the floor on the way
SPAN = 0.5  # of its range that every joint covers over all goals


class Pose(NamedTuple):
    """Where the tip was measured to be, in base_link."""

    position: Array  # (3,) [m]
    quat_xyzw: Array  # (4,)


def reachable_poses(chain: Chain, arm: SimulatedArm, count: int, seed: int) -> list[Pose]:
    """Poses of the tip that `arm` measures at random joint positions, each with a way there from the one before.

    Every joint spans over half its range (for six goals and more), and neighbours lie over 5 cm apart. The way is the
    motion that ik_node will make, and it is judged by ik_node's own guard, with room to spare: what is asked for is
    possible whatever moves the arm. A pose that the solver misses is asked for all the same.
    """
    rng = np.random.default_rng(seed)
    rest = arm.read().positions
    index = [arm.joint_names.index(name) for name in chain.joint_names]
    lower, upper = np.maximum(chain.lower, -np.pi), np.minimum(chain.upper, np.pi)
    is_free = _free_way(chain)
    while True:
        strata = np.array([rng.permutation(count) for _ in range(chain.n)]).T  # a Latin hypercube: every joint roams
        last = rest[index]
        found: list[tuple[Array, Pose]] = []
        for row in strata:
            for attempt in range(300):
                u = (row + rng.random(chain.n)) / count if attempt < 100 else rng.random(chain.n)
                q = lower + (0.03 + 0.94 * u) * (upper - lower)
                positions = rest.copy()
                positions[index] = q
                pose = tip_at(chain, arm, positions)
                if found and np.linalg.norm(pose.position - found[-1][1].position) < APART:
                    continue
                answer = solve(chain, Goal.pose(*pose), last)
                target = answer.q if answer.status is Status.REACHED else q
                if is_free(last, target):
                    found.append((target, pose))
                    last = target
                    break
        spans = np.ptp([q for q, _ in found], axis=0) / (upper - lower) if found else 0.0
        if len(found) == count and (count < 6 or np.min(spans) > SPAN):
            return [pose for _, pose in found]


def tip_at(chain: Chain, arm: SimulatedArm, positions: Array) -> Pose:
    """Where `arm` measures the tip with its joints at `positions`, all that it has, in its order [rad or m]."""
    if isinstance(arm, BulletArm):
        arm.place(positions)
    else:
        arm.write(positions, np.zeros(len(positions)))
        arm.advance()
    return Pose(*arm.link_pose(chain.base_link, chain.tip_link))


def _free_way(chain: Chain) -> Callable[[Array, Array], bool]:
    """Whether an arm can go from rest at one place (n,) to another and keep MARGIN from itself and the floor."""
    limits = MotionLimits.from_urdf(chain.joint_names, chain.lower, chain.upper, chain.velocity_limit)
    floor = CollisionGuard(chain).floor_height
    guard = CollisionGuard(chain, floor_height=floor + MARGIN, margin=MARGIN)

    def is_free(start: Array, end: Array) -> bool:
        origin = State.at_rest(start)
        try:
            guard.check(plan(origin, end, limits), origin)
        except CollisionError:
            return False
        return True

    return is_free
