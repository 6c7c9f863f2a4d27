"""demo: a simulated arm reaches goals over DDS."""

from __future__ import annotations

import argparse

from ik_solver_ros.cli.common import OR_ROS, count, requires


def add_parser(commands: argparse._SubParsersAction) -> None:
    """Declare the command's arguments."""
    parser = commands.add_parser(
        "demo",
        help="a simulated arm reaches twelve goals over DDS (needs ROS 2 or the [demo] extra)",
        description="Starts sim_node and ik_node, sends goals over goal_pose, and judges each by what the simulation "
        "measures. Exit status 0 only if every goal is reached.",
    )
    parser.add_argument("--gui", action="store_true", help="show the simulation's window")
    parser.add_argument("--goals", type=count, default=12, help="how many (default: 12)")
    parser.add_argument("--seed", type=int, default=1, help="of the goals (default: 1)")
    parser.add_argument(
        "--arm",
        choices=("sim", "mock", "servo"),
        default="sim",
        help="what moves: a simulation, one without physics, or emulated servos on a wire",
    )
    parser.add_argument("--out", default="out", help="directory for the GIF and the logs (default: out)")
    parser.set_defaults(run=run)


def run(parsed: argparse.Namespace) -> int:
    """Run the demonstration: 0 where every goal is reached."""
    with requires("demo", "the demonstration needs more than is installed", OR_ROS):
        from ik_solver_ros.tools.demo.run import demo

        return demo(goals=parsed.goals, seed=parsed.seed, gui=parsed.gui, out=parsed.out, arm=parsed.arm)
