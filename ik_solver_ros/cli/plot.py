"""plot: draw a recorded run."""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path

from ik_solver_ros.cli.common import requires


def add_parser(commands: argparse._SubParsersAction) -> None:
    """Declare the command's arguments."""
    parser = commands.add_parser(
        "plot",
        help="draw a recorded run: joints over time, and the way of the tip (needs the [plot] extra)",
        description="Draws position, velocity and acceleration of every joint, as commanded and as measured, and the "
        "way of the tip from above and from the side.",
    )
    parser.add_argument("run_file", type=Path, metavar="run", help="file that `record` wrote")
    parser.add_argument(
        "--out", type=Path, help="PNG, PDF or SVG, or GIF for a film of it in PyBullet; default: beside the run, as PNG"
    )
    parser.add_argument("--begin", type=float, default=0.0, help="[s] into the run")
    parser.add_argument("--end", type=float, default=math.inf, help="[s] into the run")
    parser.set_defaults(run=run)


def run(parsed: argparse.Namespace) -> int:
    """Draw the run into a picture or a film."""
    from ik_solver_ros.control.run_record import load_run

    run = load_run(parsed.run_file)
    out = parsed.out or parsed.run_file.with_suffix(".png")
    with requires("plot,sim"):
        if out.suffix == ".gif":
            from ik_solver_ros.tools.plot.film import film_run

            for remaining in film_run(run, out, parsed.begin, parsed.end):
                print(f"\r{remaining} frames remain ", end="", file=sys.stderr, flush=True)
            print(file=sys.stderr)
        else:
            from ik_solver_ros.tools.plot.draw import draw_run

            draw_run(run, out, parsed.begin, parsed.end)
    print(f"{len(run.sent)} trajectories and {len(run.times)} measurements drawn to {out}")
    return 0
