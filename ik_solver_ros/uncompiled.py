"""What compiled modules need where they are not: a stand-in for `cython`, IK_PLAIN, and a word on what it costs."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

# Of the module `cython`, as plain Python sees it.
compiled = False
nogil = nullcontext()

PACKAGE = Path(__file__).parent


class _PlainFinder(MetaPathFinder):
    """Finds the package's .py files though there are compiled ones beside them."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith("ik_solver_ros.") or path is None:
            return None
        found = PathFinder.find_spec(fullname, path, target)
        if found is None or found.origin is None or found.origin.endswith(".py"):
            return found
        plain = Path(found.origin).parent / f"{fullname.rpartition('.')[2]}.py"
        return spec_from_file_location(fullname, plain)


def take_plain_files() -> None:
    """Import what is not imported yet as plain Python, to be stepped through with a debugger."""
    if not any(isinstance(finder, _PlainFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _PlainFinder())


def is_compiled() -> bool:
    """Whether the solver runs compiled."""
    from ik_solver_ros.kinematics import kernels

    return not str(kernels.__file__).endswith(".py")


def note() -> None:
    """Say once, in a line, that the solver is not compiled, where nobody asked for that."""
    if not is_compiled() and not any(isinstance(finder, _PlainFinder) for finder in sys.meta_path):
        logging.getLogger("ik_solver_ros").warning(
            "ik_solver_ros is not compiled and solves some 100 times slower, an answer in 0.1 to 100 ms: "
            "install a C compiler and Python's headers (Debian, Ubuntu: gcc and python3-dev), then install it again"
        )
