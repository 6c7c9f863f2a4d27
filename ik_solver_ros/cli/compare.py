"""compare: every solver on the same goals."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ik_solver_ros.cli.common import count, requires


def add_parser(commands: argparse._SubParsersAction) -> None:
    """Declare the command's arguments."""
    parser = commands.add_parser(
        "compare",
        help="every solver on the same goals: a table and pictures (needs the [compare] extra)",
        description="Runs every solver on several arms, of 2 to 20 joints, with the same goals and the same judge, and "
        "writes a page of tables and pictures. Takes some minutes.",
    )
    parser.add_argument("--out", type=Path, default=Path("out/compare"), help="directory (default: out/compare)")
    parser.add_argument("--solvers", nargs="+", metavar="NAME", help="default: all")
    parser.add_argument("--goals", type=count, default=60, help="an arm and a kind (default: 60)")
    parser.set_defaults(run=run)


def run(parsed: argparse.Namespace) -> int:
    """Write the page and its pictures: 2 where no solver could be run."""
    from ik_solver_ros.solvers.solve import SOLVERS, find_solver, solver_name

    solvers = tuple(map(solver_name, parsed.solvers or SOLVERS))
    for name in solvers:
        find_solver(name)
    with requires("compare", "the comparison needs more than is installed"):
        from rich.console import Console
        from rich.progress import Progress

        from ik_solver_ros.tools.compare.figures import draw
        from ik_solver_ros.tools.compare.measure import measure
        from ik_solver_ros.tools.compare.report import report
    with Progress(console=Console(stderr=True)) as progress:
        task = progress.add_task("comparing", total=1.0)
        results = measure(
            lambda what, done: progress.update(task, description=what, completed=done), solvers, parsed.goals
        )
        progress.update(task, description="compared", completed=1.0)
    for package in sorted(set(results.missing.values())):
        print(f"{package} is not installed: pip install 'ik_solver_ros[compare]' to compare all", file=sys.stderr)
    if not results.starts:
        return 2
    parsed.out.mkdir(parents=True, exist_ok=True)
    page = parsed.out / "comparison_measured.md"
    page.write_text(report(results), encoding="utf-8")
    pictures = draw(results, parsed.out / "images")
    print(f"{page}, and {len(pictures)} pictures in {parsed.out / 'images'}")
    return 0
