"""The plain files behind the compiled ones: the same answers, to the last bit, and a debugger goes into them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ik_solver_ros.uncompiled import is_compiled

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "ik_solver_ros"

ANSWERS = """
import json, sys
import numpy as np
from ik_solver_ros import Goal, SolverOptions, load_chain, solve

rng, out = np.random.default_rng(3), []
for path in sys.argv[1:]:
    chain = load_chain(path)
    for solver in ("ccdik", "ccdik_published", "dls"):
        options = SolverOptions(max_restarts=2 if solver == "ccdik" else 0, max_iterations=20)
        for _ in range(2):
            p, quat = chain.forward(rng.uniform(*chain.finite_limits))
            goals = Goal.point(3.0 * p), Goal.approach(p, rng.normal(size=3)), Goal.pose(p, quat)
            out += [[x.hex() for x in solve(chain, goal, solver=solver, options=options).q] for goal in goals]
print(json.dumps(out))
"""
STUDENT = f"""
from ik_solver_ros import Goal, load_chain, solve
print(solve(load_chain({str(ROOT / "urdf/so101.urdf")!r}), Goal.point([0.2, 0.0, 0.2]), solver="ccdik_published"))
"""
ARMS = [str(ROOT / path) for path in ("urdf/so101.urdf", "urdf/seed_arm.urdf", "benchmarks/arms/panda.urdf")]


def run(code, arguments=(), **environment):
    """A process of its own, that finds the package first in this folder."""
    variables = {name: value for name, value in os.environ.items() if name != "IK_PLAIN"}
    variables = variables | {"PYTHONPATH": str(ROOT)} | environment
    command = [sys.executable, *(["-c", code] if code else []), *arguments]
    return subprocess.run(command, env=variables, cwd="/", capture_output=True, text=True, timeout=300, check=True)


@pytest.fixture(scope="module")
def plain():
    return run(ANSWERS, ARMS, IK_PLAIN="1")


def test_compiled_and_plain_answer_alike(plain):
    compiled = run(ANSWERS, ARMS)
    assert json.loads(compiled.stdout) == json.loads(plain.stdout)
    assert plain.stderr == "", "who asked for it need not be told"
    if is_compiled():
        assert compiled.stderr == ""


def test_without_compiled_files_one_line_says_so(plain, tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "ik_solver_ros", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    found = run(ANSWERS, ARMS, PYTHONPATH=str(tmp_path))
    assert json.loads(found.stdout) == json.loads(plain.stdout)
    (line,) = found.stderr.splitlines()
    assert "not compiled" in line and "C compiler" in line and "slower" in line


def test_a_debugger_steps_through_a_solver():
    source = PACKAGE / "solvers" / "reference" / "ccdik_published.py"
    line = 1 + next(i for i, text in enumerate(source.read_text().splitlines()) if "Enforce the hinge" in text)
    commands = [f"b {source}:{line + 1}", "c", "p 'at joint', i", "n", "p 'turned', rotation", "cl 1", "c", "q"]
    arguments = ["-m", "pdb", *(part for command in commands for part in ("-c", command))]
    program = Path(os.environ["TEST_SCRATCH"]) / "student.py"
    program.write_text(STUDENT)
    out = run("", [*arguments, str(program)], IK_PLAIN="1").stdout
    assert "('at joint', 4)" in out and "'turned', (" in out and "Status." in out


def test_the_inlined_functions_are_those_of_the_plain_files(tmp_path):
    pytest.importorskip("setuptools")
    shutil.copytree(PACKAGE, tmp_path / "ik_solver_ros", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    for name in ("setup.py", "setup.cfg", "pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, tmp_path)
    for name in ("quaternion", "plane"):
        (tmp_path / "ik_solver_ros" / "kinematics" / f"{name}.pxd").unlink()
    subprocess.run([sys.executable, "setup.py", "-q", "inline"], cwd=tmp_path, check=True)
    for name in ("quaternion", "plane"):
        written = Path("ik_solver_ros") / "kinematics" / f"{name}.pxd"
        assert (tmp_path / written).read_text() == (ROOT / written).read_text(), "run `python setup.py inline`"
