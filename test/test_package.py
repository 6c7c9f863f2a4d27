"""What is installed is what ROS and people look for."""

from __future__ import annotations

import configparser
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from sysconfig import get_path
from xml.etree import ElementTree

import pytest

import ik_solver_ros
from ik_solver_ros.ros.processes import MODULES
from ik_solver_ros.share import share_dir

ROOT = Path(__file__).parents[1]
NODES = ("ik_node", "servo_node", "sim_node")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    out = tmp_path_factory.mktemp("wheel")
    source = out / "source"
    ignore = shutil.ignore_patterns(".git", ".venv*", "build", "*.egg-info", "out", "__pycache__", "*.so")
    shutil.copytree(ROOT, source, ignore=ignore)
    setup = source / "setup.py"  # what is compiled is asked here, and not how fast it is
    setup.write_text(setup.read_text().replace('"-O2"', '"-O0"'))
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(out), str(source)]
    subprocess.run(command, check=True)
    return zipfile.ZipFile(next(out.glob("*.whl")))


def test_the_wheel_has_what_ros_looks_for(wheel):
    names = {name.split(".data/data/")[-1]: name for name in wheel.namelist()}
    wanted = [
        "share/ament_index/resource_index/packages/ik_solver_ros",
        "share/ik_solver_ros/package.xml",
        "share/ik_solver_ros/launch/sim.launch.py",
        "share/ik_solver_ros/launch/servo.launch.py",
        "share/ik_solver_ros/config/servo.yaml",
        "share/ik_solver_ros/config/so101_feetech.yaml",
        "share/ik_solver_ros/urdf/so101.urdf",
        "share/ik_solver_ros/urdf/seed_arm.urdf",
        "share/ik_solver_ros/config/sim.yaml",
        "share/ik_solver_ros/config/fastdds_localhost.xml",
        "ik_solver_ros/py.typed",
        *(f"lib/ik_solver_ros/{node}" for node in NODES),
    ]
    assert [name for name in wanted if name not in names] == []
    for node in NODES:
        assert wheel.getinfo(names[f"lib/ik_solver_ros/{node}"]).external_attr >> 16 & 0o111, (
            f"{node} is not executable"
        )
    assert not [name for name in names if name.startswith(("test/", "benchmarks/"))]


def test_what_has_c_types_is_compiled(wheel):
    """Where there is a compiler; the .pxd and the plain file come along in any case."""
    names = set(wheel.namelist())
    sources = {path.relative_to(ROOT) for path in (ROOT / "ik_solver_ros").rglob("*.pxd")}
    assert {str(path) for path in sources} <= names
    assert {str(path.with_suffix(".py")) for path in sources} <= names
    if shutil.which(os.environ.get("CC", "cc")) is None or not (Path(get_path("include")) / "Python.h").exists():
        pytest.skip("no C compiler, or no headers")
    inlined = {"__init__", "quaternion", "plane", "shapes"}
    for path in sources:
        compiled = [name for name in names if name.startswith(f"{path.with_suffix('')}.") and name.endswith(".so")]
        assert len(compiled) == (path.stem not in inlined), path


def test_one_version_everywhere():
    package = ElementTree.parse(ROOT / "package.xml").getroot()
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    assert package.findtext("version") == config["metadata"]["version"] == ik_solver_ros.__version__
    assert ik_solver_ros.__version__ in (ROOT / "CHANGELOG.rst").read_text()


def test_package_xml_says_how_to_build():
    package = ElementTree.parse(ROOT / "package.xml").getroot()
    assert package.get("format") == "3" and package.findtext("export/build_type") == "ament_python"
    assert re.fullmatch(r"[\w.+-]+@[\w-]+(\.[\w-]+)+", package.find("maintainer").get("email"))
    assert package.findtext("license") == "Apache-2.0"


def test_every_message_package_that_the_nodes_import_is_declared():
    declared = {e.text for e in ElementTree.parse(ROOT / "package.xml").getroot().findall("exec_depend")}
    text = "".join(path.read_text() for path in (ROOT / "ik_solver_ros" / "ros").rglob("*.py"))
    used = set(re.findall(r"^from (\w+)\.(?:msg|srv) import", text, re.MULTILINE))
    assert used and used <= declared


@pytest.mark.parametrize("node", NODES)
def test_the_executables_are_found_by_the_nodes_names(node):
    script = ROOT / "scripts" / node
    assert script.stat().st_mode & 0o111 and MODULES[node] in script.read_text()


def test_share_is_found():
    assert (share_dir() / "urdf" / "so101.urdf").is_file()


def test_colcon_can_read_setup_py():
    """It reads the options as Python literals, and what setuptools makes of python_requires in setup.cfg is none."""
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    assert "python_requires" not in config["options"]
    assert 'python_requires=">=3.10"' in (ROOT / "setup.py").read_text()
