"""calibrate: which servo moves which joint, which way, from where and how far."""

from __future__ import annotations

import argparse
import select
import sys
from collections.abc import Callable
from pathlib import Path

from ik_solver_ros.cli.common import chain_arguments, load
from ik_solver_ros.servo.families import FAMILIES

RESET_TIME = 2.0  # [s] that an Arduino takes to start anew when its port is opened


def add_parser(commands: argparse._SubParsersAction) -> None:
    """Declare the command's arguments."""
    parser = commands.add_parser(
        "calibrate",
        help="find out which servo moves which joint, which way, from where and how far",
        description="Leads you through the joints of an arm of servos, moved by hand or, on boards, by pulses, and "
        "writes what servo_node needs to know. Or takes over a calibration of LeRobot's.",
    )
    parser.add_argument("--port", help="serial port, best by /dev/serial/by-id/...")
    parser.add_argument("--protocol", choices=tuple(FAMILIES), default="feetech")
    parser.add_argument("--baud", type=int, help="default: 1000000; lx16a and boards: 115200")
    chain_arguments(parser, tool_axis=False)
    parser.add_argument("--lerobot", type=Path, help="a calibration (JSON) of LeRobot's to take over")
    parser.add_argument("--out", type=Path, default=Path("arm.yaml"), help="default: arm.yaml")
    parser.set_defaults(run=run)


def run(parsed: argparse.Namespace) -> int:
    """Write a calibration: 1 where it was given up, 2 without a port."""
    from ik_solver_ros.servo.bus import Port
    from ik_solver_ros.servo.calibration import from_lerobot
    from ik_solver_ros.tools.calibrate.wizard import calibrate

    chain = load(parsed)
    if parsed.lerobot is not None:
        found = from_lerobot(parsed.lerobot)
        found.fit({joint.name: (joint.lower, joint.upper) for joint in chain.model.joints.values()}, chain.joint_names)
        found.dump(parsed.out)
        print(f"written to {parsed.out}; zero is the middle of each range: is that where the URDF has the joints at 0?")
        return 0
    if parsed.port is None:
        print("error: --port is wanted, the serial port of the arm", file=sys.stderr)
        return 2
    port = Port(parsed.port, parsed.baud or FAMILIES[parsed.protocol].baud)
    port.open()
    try:
        calibrate(chain, port, parsed.protocol, parsed.out, _ask, print, RESET_TIME)
    except (KeyboardInterrupt, EOFError):
        print("\nnothing more is written", file=sys.stderr)
        return 1
    finally:
        port.close()
    return 0


def _ask(question: str, live: Callable[[], str] | None) -> str:
    """Ask on the terminal; meanwhile show what goes on below, five times a second."""
    print(question, end="\n" if live is not None else "", flush=True)
    while live is not None and not select.select([sys.stdin], [], [], 0.2)[0]:
        print(f"\r{live()}", end="", flush=True)
    answer = sys.stdin.readline()
    if not answer:
        raise EOFError
    return answer.rstrip("\n")
