"""Shared by all tests: the two arms, robots made up at random, and an environment that disturbs nobody."""

from __future__ import annotations

import os
import tempfile

# Before anything of ROS is imported: own domain on the loopback interface.
# TEST_SCRATCH is shared: by the parts of `make test`, and by the workers of pytest-xdist.
if "TEST_SCRATCH" not in os.environ:
    _scratch = tempfile.TemporaryDirectory(prefix="ik_solver_ros_test_")
    os.environ["TEST_SCRATCH"] = _scratch.name
# Two workers have the two cores: a second thread of one's linear algebra would wait for the other's, spinning.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ["ROS_LOG_DIR"] = os.path.join(os.environ["TEST_SCRATCH"], "ros")

from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from scipy.spatial.transform import Rotation

from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.load import load_chain
from ik_solver_ros.ros.processes import isolated_environment

# Domains 1 to 101 have their ports below those that Linux hands out to anybody. Workers that run side by side have
# one each.
_worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
_run = os.getppid() if "PYTEST_XDIST_WORKER" in os.environ else os.getpid()
os.environ.update(isolated_environment(domain_id=1 + (10 * _run + _worker) % 101))

settings.register_profile("suite", deadline=None, max_examples=100, derandomize=True)
settings.load_profile("suite")

URDF = Path(__file__).parents[1] / "urdf"
ARMS = ("so101", "seed_arm")
MORE = Path(__file__).parents[1] / "benchmarks" / "arms"
WAIST_ARMS = [URDF / "so101.urdf", URDF / "seed_arm.urdf", MORE / "reactorx_150.urdf", MORE / "youbot.urdf"]


@pytest.fixture(scope="session", params=ARMS)
def chain(request) -> Chain:
    """Each of the two arms."""
    return load_chain(URDF / f"{request.param}.urdf")


@pytest.fixture(scope="session", params=WAIST_ARMS, ids=lambda path: path.stem)
def arm(request) -> Chain:
    """Each of four arms with a waist, three parallel hinges and a last hinge."""
    return load_chain(request.param)


@pytest.fixture(scope="session")
def so101() -> Chain:
    return load_chain(URDF / "so101.urdf")


@pytest.fixture(scope="session")
def seed_arm() -> Chain:
    return load_chain(URDF / "seed_arm.urdf")


def urdf(*elements: str, name: str = "test") -> str:
    return f'<robot name="{name}">' + "".join(elements) + "</robot>"


def links(*names: str) -> str:
    return "".join(f'<link name="{name}"/>' for name in names)


def joint(
    name: str,
    parent: str,
    child: str,
    type: str = "revolute",
    *,
    xyz="0 0 0.1",
    rpy="0 0 0",
    axis="0 0 1",
    limit='<limit lower="-1" upper="1" effort="1" velocity="1"/>',
    extra="",
) -> str:
    return (
        f'<joint name="{name}" type="{type}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="{axis}"/>{limit if type != "fixed" else ""}{extra}</joint>'
    )


def random_urdf(seed: int, types: list[str]) -> str:
    """A serial robot of these joint types with random frames, axes and limits; fixed joints between some of them."""
    rng = np.random.default_rng(seed)
    names = ["base"]
    parts = []
    for i, type in enumerate(types):
        xyz = " ".join(f"{v:.6f}" for v in rng.uniform(-0.3, 0.3, 3))
        rpy = " ".join(f"{v:.6f}" for v in rng.uniform(-np.pi, np.pi, 3))
        axis = " ".join(f"{v:.6f}" for v in rng.normal(size=3))
        low, high = np.sort(rng.uniform(-2.5, 2.5, 2))
        limit = "" if type == "continuous" else f'<limit lower="{low}" upper="{high}" effort="1" velocity="1"/>'
        names.append(f"link{i}")
        parts.append(joint(f"joint{i}", names[-2], names[-1], type, xyz=xyz, rpy=rpy, axis=axis, limit=limit))
    return urdf(links(*names), *parts)


def random_q(chain: Chain, rng: np.random.Generator, margin: float = 0.0) -> np.ndarray:
    """A configuration inside the limits; continuous joints anywhere within a turn of zero."""
    lower = np.where(np.isfinite(chain.lower), chain.lower, -np.pi)
    upper = np.where(np.isfinite(chain.upper), chain.upper, np.pi)
    edge = margin * (upper - lower)
    return rng.uniform(lower + edge, upper - edge)


def tool_direction(chain: Chain, quat: np.ndarray) -> np.ndarray:
    return Rotation.from_quat(quat).as_matrix() @ chain.tool_axis


def angle_between_quaternions(a: np.ndarray, b: np.ndarray) -> float:
    return float((Rotation.from_quat(a).inv() * Rotation.from_quat(b)).magnitude())
