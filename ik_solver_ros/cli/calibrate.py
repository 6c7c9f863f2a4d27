"""calibrate: from a box of servos to a calibrated arm."""

from __future__ import annotations

import argparse
import contextlib
import select
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ik_solver_ros.cli.common import chain_arguments, load
from ik_solver_ros.servo.families import FAMILIES
from ik_solver_ros.servo.families import load as load_part

if TYPE_CHECKING:
    from ik_solver_ros.kinematics.chain import Chain
    from ik_solver_ros.servo.bus import Port

RESET_TIME = 2.0  # [s] that an Arduino takes to start anew when its port is opened
SAMPLED, SHOWN = 0.02, 0.2  # [s] from one look at the servos to the next, and from one line of it to the next


def add_parser(commands: argparse._SubParsersAction) -> None:
    """Declare the command's arguments."""
    parser = commands.add_parser(
        "calibrate",
        help="find out which servo moves which joint, which way, from where and how far",
        description="Leads you from a box of servos to a calibrated arm: port, baud and ids, then every joint, moved "
        "by hand or, on boards, by pulses, with pictures of what is meant. Writes what servo_node needs to know. Or "
        "takes over a calibration of LeRobot's, writes one, or compares one with the servos.",
    )
    parser.add_argument("--port", help="serial port, best by /dev/serial/by-id/...; default: you are asked")
    parser.add_argument("--protocol", choices=tuple(FAMILIES), help="default: feetech, or that of --check's file")
    parser.add_argument("--baud", type=int, help="default: where servos answer")
    chain_arguments(parser, tool_axis=False)
    parser.add_argument("--out", type=Path, default=Path("arm.yaml"), help="default: arm.yaml")
    parser.add_argument("--no-pictures", action="store_true", help="tell poses and directions in words only")
    instead = parser.add_argument_group("instead of calibrating").add_mutually_exclusive_group()
    instead.add_argument("--ids", action="store_true", help="give servos their ids, one at a time on the adapter")
    instead.add_argument(
        "--check", type=Path, metavar="FILE", help="compare a calibration with the URDF and the servos"
    )
    instead.add_argument("--lerobot", type=Path, metavar="FILE", help="take over a calibration (JSON) of LeRobot's")
    instead.add_argument(
        "--to-lerobot", type=Path, nargs=2, metavar=("FILE", "JSON"), help="write a calibration of ours as LeRobot's"
    )
    more = parser.add_argument_group("what LeRobot's file does not say (asked for on a terminal)")
    more.add_argument("--zero", action="append", default=[], metavar="JOINT=TICKS", help="where the URDF's 0 is")
    more.add_argument("--flip", action="append", default=[], metavar="JOINT", help="a joint that counts the other way")
    more.add_argument("--gripper-closed", choices=("min", "max"), default="", help="the end where it is closed")
    parser.set_defaults(run=run)


def run(parsed: argparse.Namespace) -> int:
    """Calibrate, or what is done instead: 1 where it was given up or does not fit, 2 for what cannot be used."""
    chain = load(parsed)
    try:
        if parsed.lerobot is not None:
            return _take_over(parsed, chain)
        if parsed.to_lerobot is not None:
            return _hand_over(parsed, chain)
        if parsed.check is not None:
            return _check(parsed, chain)
        return _calibrate(parsed, chain)
    except (KeyboardInterrupt, EOFError):
        print("\nnothing more is written; what was answered is kept where it was said", file=sys.stderr)
        return 1


def _calibrate(parsed: argparse.Namespace, chain: Chain) -> int:
    from ik_solver_ros.tools.calibrate.give_ids import give_ids
    from ik_solver_ros.tools.calibrate.wizard import calibrate

    protocol = parsed.protocol or "feetech"
    family = FAMILIES[protocol]
    if parsed.ids and not family.measures:
        print(f"error: {protocol} boards have channels, not ids", file=sys.stderr)
        return 2
    with _opened(parsed, protocol) as port:
        if parsed.ids:
            servos = load_part(family.by_hand)(family.bus_on(port))
            give_ids(chain, servos, parsed.baud or family.baud, _ask, print)
            return 0
        if not parsed.no_pictures:
            _draw(chain, parsed.out)
        calibrate(chain, port, protocol, parsed.out, _ask, print, RESET_TIME)
    return 0


@contextlib.contextmanager
def _opened(parsed: argparse.Namespace, protocol: str) -> Iterator[Port]:
    """The port of the arm, at the rate that its servos have."""
    from ik_solver_ros.servo.bus import Port
    from ik_solver_ros.servo.ports import serial_ports
    from ik_solver_ros.tools.calibrate.connect import choose_port, find_rate

    family = FAMILIES[protocol]
    url = parsed.port or choose_port(serial_ports, _ask, print)
    port = Port(url, parsed.baud or family.baud)
    port.open()
    try:
        if not parsed.baud and not parsed.ids and parsed.check is None:
            find_rate(port, family, print, RESET_TIME)
        yield port
    finally:
        port.close()


def _draw(chain: Chain, out: Path) -> None:
    """The pictures, and the first of them on the screen where there is one; words where there is no matplotlib."""
    from ik_solver_ros.tools.calibrate.pictures import draw_pictures, shown

    try:
        drawn = draw_pictures(chain, out)
    except ImportError:
        print("no pictures without matplotlib: pip install 'ik_solver_ros[plot]'; it goes on in words")
        return
    print(f"pictures of the arm at 0, and of each joint's positive direction: {drawn[0]} and {len(drawn) - 1} more")
    shown(drawn[0])


def _take_over(parsed: argparse.Namespace, chain: Chain) -> int:
    from ik_solver_ros.tools.calibrate.take_over import Given, TakeOver

    zeros = {}
    for text in parsed.zero:
        name, _, ticks = text.rpartition("=")
        if not name or not ticks.lstrip("-").isdigit():
            print(f"error: --zero {text!r}: a joint and its ticks are wanted, as elbow_flex=2048", file=sys.stderr)
            return 2
        zeros[name] = int(ticks)
    ask = _ask if sys.stdin.isatty() else None
    given = Given(zeros, tuple(parsed.flip), parsed.gripper_closed)
    protocol = parsed.protocol or "feetech"
    if parsed.port is None:
        found = TakeOver(chain, given, ask, print).take(parsed.lerobot, protocol)
    else:
        with _opened(parsed, protocol) as port:
            servos = load_part(FAMILIES[protocol].by_hand)(FAMILIES[protocol].bus_on(port))
            found = TakeOver(chain, given, ask, print, servos).take(parsed.lerobot, protocol)
            found = replace(found, baud=port.baud)
    found.dump(parsed.out)
    print(
        f"written to {parsed.out}. LeRobot's file does not say where the URDF has the joints at 0, nor which way they "
        f"count: look at them with --check, and move each a little first"
    )
    return 0


def _hand_over(parsed: argparse.Namespace, chain: Chain) -> int:
    from ik_solver_ros.servo.calibration import load_calibration
    from ik_solver_ros.servo.lerobot import to_lerobot

    source, target = parsed.to_lerobot
    found = load_calibration(source)
    limits = {joint.name: (joint.lower, joint.upper) for joint in chain.model.joints.values()}
    found.fit(limits, chain.joint_names)
    for note in to_lerobot(found, target, limits):
        print(note)
    print(
        f"written to {target}; LeRobot looks for it in ~/.cache/huggingface/lerobot/calibration/robots/<type>/<id>.json"
    )
    return 0


def _check(parsed: argparse.Namespace, chain: Chain) -> int:
    from ik_solver_ros.servo.calibration import load_calibration
    from ik_solver_ros.tools.calibrate.check import check, table

    found = load_calibration(parsed.check)
    if parsed.port is None or not found.family.measures:
        rows = check(found, chain, None)
        print(f"{table(rows)}\nthe servos were not asked" + (": --port is wanted for that" * found.family.measures))
    else:
        parsed.baud = parsed.baud or found.baud
        with _opened(parsed, found.protocol) as port:
            rows = check(found, chain, load_part(found.family.by_hand)(found.family.bus_on(port)))
        print(table(rows))
    wrong = sum(bool(row.wrong) for row in rows)
    print(f"\n{wrong} of {len(rows)} joints do not fit (!)" if wrong else "\nnothing looks wrong")
    return 1 if wrong else 0


def _ask(question: str, live: Callable[[], str] | None) -> str:
    """Ask on the terminal; meanwhile look at what goes on fifty times a second, and show it below five times."""
    print(question, end="\n" if live is not None else "", flush=True)
    printed = 0.0
    while live is not None and not select.select([sys.stdin], [], [], SAMPLED)[0]:
        text = live()
        if time.monotonic() - printed >= SHOWN:
            print(f"\r{text}\x1b[K", end="", flush=True)
            printed = time.monotonic()
    answer = sys.stdin.readline()
    if not answer:
        raise EOFError
    return answer.rstrip("\n")
