"""xacro files, expanded to the text of a URDF. They can read the environment and other files: trust them first."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from ik_solver_ros.errors import UrdfError, UrdfSyntaxError


def expanded(path: Path) -> str:
    """The URDF's text. Raises UrdfError where xacro is not installed, and UrdfSyntaxError that says what it says."""
    try:
        xacro = import_module("xacro")
    except ModuleNotFoundError as error:
        raise UrdfError(f"{path} is a xacro file, and xacro is not installed: pip install xacro") from error
    if not path.is_file():
        raise FileNotFoundError(f"no such file: {path}")
    try:
        return str(xacro.process_file(str(path)).toprettyxml(indent="  "))
    except Exception as error:  # its own, expat's, KeyErrors of properties, PackageNotFoundError of $(find ...)
        raise UrdfSyntaxError(f"{path}: xacro: {type(error).__name__}: {error}") from error
