"""solve: joint positions for a goal."""

from __future__ import annotations

import argparse
import json
import math

from ik_solver_ros.cli.common import chain_arguments, load, tell_doubts


def add_parser(commands: argparse._SubParsersAction) -> None:
    """Declare the command's arguments."""
    parser = commands.add_parser(
        "solve",
        help="joint positions for a goal",
        description="Joint positions that bring the tip to a goal, or as near as the arm can. Exit status 0 where the "
        "goal is reached, 1 where the answer is the nearest one, 2 where the input is wrong.",
    )
    parser.add_argument(
        "--position", nargs=3, type=float, required=True, metavar=("X", "Y", "Z"), help="[m] in base_link"
    )
    direction = parser.add_mutually_exclusive_group()
    direction.add_argument(
        "--approach", nargs=3, type=float, metavar=("X", "Y", "Z"), help="where the tool shall point, in base_link"
    )
    direction.add_argument(
        "--quat", nargs=4, type=float, metavar=("X", "Y", "Z", "W"), help="orientation of the tip, in base_link"
    )
    parser.add_argument("--from", dest="q0", nargs="+", type=float, metavar="Q", help="where the joints are [rad or m]")
    chain_arguments(parser)
    parser.add_argument("--solver", default="ccdik", help="default: ccdik")
    parser.add_argument("--json", action="store_true", help="JSON alone, without the sentence")
    parser.set_defaults(run=run)


def run(parsed: argparse.Namespace) -> int:
    """Print the answer: 0 where the goal is reached, 1 where it is not."""
    from ik_solver_ros.solvers.goal import Goal
    from ik_solver_ros.solvers.solution import Status
    from ik_solver_ros.solvers.solve import solve

    chain = load(parsed)
    tell_doubts(chain)
    if parsed.approach is not None:
        goal = Goal.approach(parsed.position, parsed.approach)
    elif parsed.quat is not None:
        goal = Goal.pose(parsed.position, parsed.quat)
    else:
        goal = Goal.point(parsed.position)
    solution = solve(chain, goal, parsed.q0, solver=parsed.solver)
    joints = {name: round(float(q), 9) for name, q in zip(chain.joint_names, solution.q)}
    if not parsed.json:
        print(f"{solution.sentence()}:")
        for (name, q), kind in zip(joints.items(), (chain.model.joints[n].type for n in chain.joint_names)):
            print(f"  {name} = {q:.6f} " + ("m" if kind == "prismatic" else f"rad ({math.degrees(q):.2f} deg)"))
    print(
        json.dumps(
            {
                "status": solution.status.name,
                "joints": joints,
                "position_error_m": solution.position_error,
                "approach_error_rad": solution.approach_error,
                "roll_error_rad": solution.roll_error,
                "base_link": chain.base_link,
                "tip_link": chain.tip_link,
                "tool_axis": [round(float(x), 9) for x in chain.tool_axis],
                "iterations": solution.iterations,
                "restarts": solution.restarts,
            }
        )
    )
    return 0 if solution.status is Status.REACHED else 1
