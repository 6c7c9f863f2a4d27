"""What several commands share: the arguments that name a chain, and the extras that some need."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ik_solver_ros.errors import IkSolverError

if TYPE_CHECKING:
    from ik_solver_ros.kinematics.chain import Chain

OR_ROS = "; source a ROS 2 installation, or"


def chain_arguments(parser: argparse.ArgumentParser, *, tool_axis: bool = True) -> None:
    """Declare the arguments that `load` reads; tool_axis: whether the command depends on where the tool points."""
    parser.add_argument("urdf", help="path of a URDF, or of a xacro file")
    parser.add_argument("--base-link", help="default: the root of the URDF")
    parser.add_argument("--tip-link", help="default: the end of the one serial chain")
    if tool_axis:
        parser.add_argument("--tool-axis", help="where the tool points, in the tip frame: x, -z, '0 0.6 0.8'")
    else:
        parser.set_defaults(tool_axis=None)


def load(parsed: argparse.Namespace) -> Chain:
    """The chain that these arguments name. Raises UrdfError, GoalError and OSError."""
    from ik_solver_ros.kinematics.load import load_chain

    return load_chain(parsed.urdf, parsed.base_link, parsed.tip_link, parsed.tool_axis)


def tell_doubts(chain: Chain) -> None:
    """Say on stderr what of a chain was guessed, and which argument would name it."""
    for doubt in chain.doubts:
        print(f"note: {as_arguments(doubt)}", file=sys.stderr)


def as_arguments(doubt: str) -> str:
    """A chain's doubt with a command's arguments instead of ROS 2's."""
    return doubt.replace("tip_link:=", "--tip-link=").replace("tool_axis:=", "--tool-axis=")


def count(text: str) -> int:
    """The type of an argument that is a whole number from 1 on."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number}: at least 1 is wanted")
    return number


@contextmanager
def requires(extra: str, need: str = "drawing needs more than is installed", remedy: str = "") -> Iterator[None]:
    """Around imports that need an extra of the package. Raises IkSolverError, which says how to install it.

    need: what needs it, the message's beginning. remedy: what else would do.
    """
    try:
        yield
    except ImportError as error:
        raise IkSolverError(f"{need} ({error}){remedy}: pip install 'ik_solver_ros[{extra}]'") from error
