"""Compiled code is cached, and an edit of any compiled file makes all of it anew."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ik_solver_ros.kinematics import kernels

PACKAGE = Path(__file__).parents[1] / "ik_solver_ros"
CODE = """
import numpy as np
from ik_solver_ros import load_chain
from ik_solver_ros.kinematics.kernels import jacobian

chain = load_chain(SOURCE)
print(chain.jacobian(np.zeros(chain.n))[0, 0], sum(jacobian.stats.cache_hits.values()))
"""


@pytest.fixture
def copy(tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "ik_solver_ros", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "package.xml").write_text("<package/>")
    return tmp_path


def run(copy, cache) -> tuple[float, int]:
    urdf = PACKAGE.parent / "urdf" / "so101.urdf"
    environment = os.environ | {"PYTHONPATH": str(copy), "NUMBA_CACHE_DIR": str(cache)}
    code = CODE.replace("SOURCE", repr(str(urdf)))
    out = subprocess.run(
        [sys.executable, "-P", "-c", code], check=True, capture_output=True, text=True, cwd=copy, env=environment
    )
    value, hits = out.stdout.split()
    return float(value), int(hits)


def test_an_edited_callee_in_another_file_is_seen(copy, tmp_path):
    cache = tmp_path / "cache"
    before, hits = run(copy, cache)
    assert hits == 0
    again, hits = run(copy, cache)
    assert again == before and hits >= 1
    quaternion = copy / "ik_solver_ros" / "kinematics" / "quaternion.py"
    edited = quaternion.read_text().replace(
        "return a[1] * b[2] - a[2] * b[1],", "return 7.0 + a[1] * b[2] - a[2] * b[1],"
    )
    assert edited != quaternion.read_text()
    quaternion.write_text(edited)
    after, hits = run(copy, cache)
    assert hits == 0 and abs(after - before) > 1.0


def test_an_index_that_cannot_be_read_counts_as_empty():
    """As after an upgrade that moved a class which the old index names."""
    dispatcher = kernels.tip_frame
    file = dispatcher._cache._cache_file
    path = Path(file._index_path)
    path.parent.mkdir(parents=True, exist_ok=True)
    kept = path.read_bytes() if path.exists() else None
    path.write_bytes(pickle.dumps(file._version) + b"cno_such_module\nThing\n.")
    try:
        assert file._load_index() == {}
    finally:
        path.unlink()
        if kept is not None:
            path.write_bytes(kept)
