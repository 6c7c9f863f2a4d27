"""record: write down what an arm is told and does."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ik_solver_ros.cli.common import OR_ROS, requires


def add_parser(commands: argparse._SubParsersAction) -> None:
    """Declare the command's arguments."""
    parser = commands.add_parser(
        "record",
        help="write down what an arm is told and does (needs ROS 2 or the [ros] extra)",
        description="Listens to joint_states, joint_trajectory_controller/joint_trajectory and the nodes' status, and "
        "writes one JSON object a line, until Ctrl-C. The robot is a file, or the topic robot_description.",
    )
    parser.add_argument("out", type=Path, help="file to write, as run.jsonl")
    parser.add_argument("--urdf", default="", help="path of a URDF; default: the topic robot_description")
    parser.add_argument("--base-link", default="", help="default: the root of the URDF")
    parser.add_argument("--tip-link", default="", help="default: the end of the one serial chain")
    parser.add_argument("--seconds", type=float, help="default: until Ctrl-C")
    parser.set_defaults(run=run)


def run(parsed: argparse.Namespace) -> int:
    """Record until the end: 1 where nothing was recorded."""
    with requires("ros", "recording needs ROS", OR_ROS):
        from ik_solver_ros.ros.record_node import record
    parameters = {"description_file": parsed.urdf, "base_link": parsed.base_link, "tip_link": parsed.tip_link}
    print(f"recording to {parsed.out}; Ctrl-C ends it", file=sys.stderr)
    lines = record(parsed.out, parsed.seconds, parameters)
    print(f"{lines} lines in {parsed.out}; to see them: python -m ik_solver_ros plot {parsed.out}")
    return 0 if lines else 1
