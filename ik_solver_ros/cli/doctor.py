"""doctor: what a URDF is worth, and what of it looks wrong."""

from __future__ import annotations

import argparse
from pathlib import Path

from ik_solver_ros.cli.common import as_arguments, chain_arguments, load, requires


def add_parser(commands: argparse._SubParsersAction) -> None:
    """Declare the command's arguments."""
    parser = commands.add_parser(
        "doctor",
        help="what a URDF is worth, and what of it looks wrong",
        description="Reads a URDF or xacro file and tells of its chain, its wrist and what that means for goals, its "
        "limits, inertias, shapes and reach. Exit status 0 where nothing looks wrong, 1 where something does, 2 where "
        "it cannot be used.",
    )
    chain_arguments(parser)
    parser.add_argument(
        "--plot", type=Path, metavar="FILE", help="draw where the tip can be and how freely the tool can be aimed there"
    )
    parser.set_defaults(run=run)


def run(parsed: argparse.Namespace) -> int:
    """Print the findings: 0 where nothing looks wrong, 1 where something does."""
    from ik_solver_ros.tools.doctor import examine

    chain = load(parsed)
    findings = examine(chain)
    for finding in findings:
        print(f"{'!' if finding.warning else ' '} {as_arguments(finding.text)}")
    warnings = sum(finding.warning for finding in findings)
    print(f"\n{warnings} of these look wrong (!)" if warnings else "\nnothing looks wrong")
    if parsed.plot is not None:
        with requires("plot"):
            from rich.console import Console
            from rich.progress import Progress

            from ik_solver_ros.tools.plot.reachable import draw_reachable, reachable
        with Progress(console=Console(stderr=True)) as progress:
            task = progress.add_task("aiming the tool", total=1.0)
            slices = reachable(chain, lambda done: progress.update(task, completed=done))
        draw_reachable(chain, slices, parsed.plot)
        print(f"drawn to {parsed.plot}")
    return 1 if warnings else 0
