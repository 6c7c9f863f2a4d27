"""The import rule: each room knows only the rooms before it, and nothing but ros/ knows ROS."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "ik_solver_ros"

# room: the rooms that it may import from
LEAVES = {"errors", "share", "uncompiled", "pybullet_client"}
CORE = LEAVES | {"kinematics", "solvers", "trajectory", "collision"}
MAY_IMPORT = {
    "errors": set(),
    "share": set(),
    "uncompiled": {"kinematics"},
    "pybullet_client": {"errors"},
    "kinematics": {"errors", "uncompiled"},
    "solvers": {"errors", "uncompiled", "pybullet_client", "kinematics"},
    "trajectory": {"errors", "kinematics", "solvers"},
    "collision": {"errors", "kinematics", "trajectory"},
    "session": {"errors", "kinematics", "solvers", "trajectory", "collision"},
    "servo": {"errors", "kinematics"},
    "arm": {"errors", "pybullet_client", "kinematics", "servo"},
    "control": {"errors", "kinematics", "trajectory", "servo", "arm"},
    "ros": CORE | {"session", "servo", "arm", "control"},
    "tools": CORE | {"session", "servo", "arm", "control", "ros"},
    "cli": CORE | {"session", "servo", "arm", "control", "ros", "tools"},
    "nodes": {"ros"},
    "__init__": {"uncompiled", "kinematics", "solvers", "trajectory"},
    "__main__": {"cli"},
}
# outside packages that belong to a few files only
ONLY_IN = {
    "pybullet": {"pybullet_client.py"},
    "pybullet_utils": {"pybullet_client.py"},
    "casadi": {"solvers/reference/autodiff.py"},
    "ruckig": {"trajectory/plan.py"},
    "urdf_parser_py": {"kinematics/model.py"},
    "serial": {"servo/bus.py", "servo/ports.py"},
    "yaml": {"servo/calibration.py", "ros/ik_node/goal_frames.py"},
    "coal": {"collision/self_collision.py"},
    "matplotlib": {
        *("tools/plot/draw.py", "tools/plot/reachable.py", "tools/compare/figures.py"),
        "tools/calibrate/canvas.py",
    },
    "PIL": {"tools/film.py"},
    "rich": {"tools/demo/run.py", "tools/demo/results.py", "cli/compare.py", "cli/doctor.py"},
}
ROS = {
    *("rclpy", "std_msgs", "geometry_msgs", "sensor_msgs", "trajectory_msgs", "diagnostic_msgs", "std_srvs"),
    *(
        "rcl_interfaces",
        "builtin_interfaces",
        "control_msgs",
        "visualization_msgs",
        "interactive_markers",
        "tf2_ros",
        "launch",
        "launch_ros",
        "ament_index_python",
    ),
}
FILES = sorted(PACKAGE.rglob("*.py"))


def imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    return names


def test_there_are_files():
    assert len(FILES) > 20


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_one_way(path):
    relative = path.relative_to(PACKAGE)
    room = relative.parts[0].removesuffix(".py")
    for name in imported(path):
        top, *rest = name.split(".")
        if top == "ik_solver_ros" and rest:
            assert rest[0] == room or rest[0] in MAY_IMPORT[room], f"{relative} imports {name}"
        if top in ROS:
            assert room == "ros", f"{relative} imports {name}"
        if top in ONLY_IN:
            assert str(relative) in ONLY_IN[top], f"{relative} imports {name}"


def test_all_but_ros_works_without_ros_and_pybullet():
    modules = [
        "ik_solver_ros." + ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        for path in FILES
        if not {"ros", "nodes"} & set(path.parts) and path.name not in ("__init__.py", "__main__.py")
    ]
    code = f"""
import sys
for name in {sorted(ROS | {"pybullet"})!r}:
    sys.modules[name] = None
import importlib
for module in {modules!r}:
    importlib.import_module(module)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_importing_the_package_loads_nothing_heavy():
    code = "import sys, ik_solver_ros; print([n for n in ('numpy', 'scipy', 'rclpy') if n in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert out.stdout.strip() == "[]"


def test_every_public_name_exists():
    import ik_solver_ros

    for name in ik_solver_ros.__all__:
        assert getattr(ik_solver_ros, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        ik_solver_ros.nonsense  # noqa: B018
