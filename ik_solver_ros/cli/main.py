"""python -m ik_solver_ros: a table of commands, each a module with add_parser(commands) and run(parsed)."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from ik_solver_ros.errors import IkSolverError

# name: its module, which imports what it needs when it runs and no earlier
COMMANDS = {
    "solve": "ik_solver_ros.cli.solve",
    "doctor": "ik_solver_ros.cli.doctor",
    "compare": "ik_solver_ros.cli.compare",
    "calibrate": "ik_solver_ros.cli.calibrate",
    "record": "ik_solver_ros.cli.record",
    "plot": "ik_solver_ros.cli.plot",
    "demo": "ik_solver_ros.cli.demo",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command. Exit status: 0 done, 1 not reached, 2 the input is wrong or nobody reads the output."""
    parsed = make_parser().parse_args(arguments)
    try:
        status = int(parsed.run(parsed))
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # Python flushes once more at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2
    except (IkSolverError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def make_parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    parser = argparse.ArgumentParser(prog="python -m ik_solver_ros", description="Inverse kinematics for small arms.")
    commands = parser.add_subparsers(required=True, metavar="command")
    for module in map(import_module, COMMANDS.values()):
        module.add_parser(commands)
    return parser
