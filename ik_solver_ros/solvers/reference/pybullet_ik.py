"""PyBullet's inverse kinematics, as a baseline that nobody here wrote: damped least squares by S. R. Buss.

The chain goes to PyBullet as a robot of its own, hinge by hinge. It knows poses alone, so of an approach goal it gets
the pose with that direction that is nearest to the one at q0. It knows no limits: what lies outside is clamped by
`solve`. (It can be told of limits, and then takes them for wishes that spoil the answer: fewer goals are reached.) All
else is as PyBullet has it. Needs the extra [sim].
"""

from __future__ import annotations

import atexit
import os
import tempfile
import warnings
from functools import lru_cache
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from ik_solver_ros.errors import ArmError, MissingPackageError
from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.quaternion import from_two_vectors, multiply, rotate
from ik_solver_ros.pybullet_client import connect_pybullet
from ik_solver_ros.solvers.goal import Goal
from ik_solver_ros.solvers.reference.restarts import with_restarts
from ik_solver_ros.solvers.solution import Attempt, SolverOptions

THRESHOLD = 1e-9  # [m] residual at which it stops


class World(NamedTuple):
    """A chain in PyBullet."""

    client: Any
    body: int
    lock: Lock  # there is one posture at a time


def pybullet_ik(chain: Chain, goal: Goal, q0: Array, options: SolverOptions) -> Attempt:
    """From q0, then from random configurations. Raises MissingPackageError without pybullet."""
    world = world_of(chain)

    def descend(q: Array) -> tuple[Array, int]:
        return _asked(world, chain, goal, q, options.max_iterations), options.max_iterations

    return with_restarts(chain, goal, q0, options, descend)


def _asked(world: World, chain: Chain, goal: Goal, q: Array, iterations: int) -> Array:
    quat: Any = goal.quat_xyzw
    if goal.direction is not None:
        now = chain.forward(q)[1].tolist()
        quat = multiply(from_two_vectors(rotate(now, chain.tool_axis.tolist()), goal.direction.tolist()), now)
    turned = {} if quat is None else {"targetOrientation": [float(x) for x in quat]}
    with world.lock:
        for i, at in enumerate(q):
            world.client.resetJointState(world.body, i, float(at))
        answer = world.client.calculateInverseKinematics(
            world.body,
            chain.n,
            [float(x) for x in goal.position],
            maxNumIterations=iterations,
            residualThreshold=THRESHOLD,
            **turned,
        )
    return np.array(answer)


@lru_cache(maxsize=8)
def world_of(chain: Chain) -> World:
    """A physics server of its own for a chain. Raises MissingPackageError."""
    try:
        client = connect_pybullet(False)
    except ArmError as error:
        raise MissingPackageError("pybullet", "pybullet", error) from error
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "chain.urdf")
        with open(path, "w", encoding="utf-8") as file:
            file.write(_urdf(chain))
        body = client.loadURDF(path, useFixedBase=True)
    return World(client, body, Lock())


atexit.register(world_of.cache_clear)  # while pybullet can still be called


def _urdf(chain: Chain) -> str:
    """The chain alone, as links without shape; the tip as one more link, `chain.n`."""
    a, parts = chain.arrays, [_link(0)]
    for i in range(chain.n):
        kind = "prismatic" if a.slides[i] else "continuous" if a.endless[i] else "revolute"
        limit = f'<limit lower="{float(chain.lower[i])!r}" upper="{float(chain.upper[i])!r}" effort="1" velocity="1"/>'
        axis = f'<axis xyz="{" ".join(repr(float(x)) for x in a.axis[i])}"/>'
        parts.append(_joint(i, kind, a.origin_p[i], a.origin_q[i], axis if a.endless[i] else axis + limit))
    parts.append(_joint(chain.n, "fixed", a.tip_p, a.tip_q, ""))
    return f'<robot name="chain">{"".join(parts)}</robot>'


def _link(i: int) -> str:
    inertia = '<inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/>'
    return f'<link name="l{i}"><inertial><mass value="0.1"/>{inertia}</inertial></link>'


def _joint(i: int, kind: str, position: Array, quat: Array, rest: str) -> str:
    xyz = " ".join(repr(float(x)) for x in position)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a third angle that is free, and set to zero
        rpy = " ".join(repr(float(x)) for x in Rotation.from_quat(quat).as_euler("xyz"))
    return (
        f'<joint name="j{i}" type="{kind}"><parent link="l{i}"/><child link="l{i + 1}"/>'
        f'<origin xyz="{xyz}" rpy="{rpy}"/>{rest}</joint>{_link(i + 1)}'
    )
