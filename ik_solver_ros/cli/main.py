"""The commands of python -m ik_solver_ros. Only record and demo need ROS."""

from __future__ import annotations

import argparse
import json
import math
import os
import select
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ik_solver_ros.errors import IkSolverError

RESET_TIME = 2.0  # [s] that an Arduino takes to start anew when its port is opened
PATIENCE = 4.0  # [s] of silence before a command says what it is doing


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command. Exit status: 0 done, 1 not reached, 2 the input is wrong."""
    parsed = _parser().parse_args(arguments)
    try:
        return int(parsed.run(parsed))
    except (IkSolverError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m ik_solver_ros", description="Inverse kinematics for small arms.")
    commands = parser.add_subparsers(required=True, metavar="command")

    solve = commands.add_parser(
        "solve",
        help="joint positions for a goal",
        description="Joint positions that bring the tip to a goal, or as near as the arm can. Exit status 0 where the "
        "goal is reached, 1 where the answer is the nearest one, 2 where the input is wrong.",
    )
    solve.add_argument("urdf", help="path of a URDF")
    solve.add_argument(
        "--position", nargs=3, type=float, required=True, metavar=("X", "Y", "Z"), help="[m] in base_link"
    )
    direction = solve.add_mutually_exclusive_group()
    direction.add_argument(
        "--approach", nargs=3, type=float, metavar=("X", "Y", "Z"), help="where the tool shall point, in base_link"
    )
    direction.add_argument(
        "--quat", nargs=4, type=float, metavar=("X", "Y", "Z", "W"), help="orientation of the tip, in base_link"
    )
    solve.add_argument("--from", dest="q0", nargs="+", type=float, metavar="Q", help="where the joints are [rad or m]")
    solve.add_argument("--base-link", help="default: the root of the URDF")
    solve.add_argument("--tip-link", help="default: the end of the one serial chain")
    solve.add_argument("--tool-axis", help="where the tool points, in the tip frame: x, -z, '0 0.6 0.8'")
    solve.add_argument("--solver", default="ccdik", help="default: ccdik")
    solve.add_argument("--json", action="store_true", help="JSON alone, without the sentence")
    solve.set_defaults(run=_solve)

    doctor = commands.add_parser(
        "doctor",
        help="what a URDF is worth, and what of it looks wrong",
        description="Reads a URDF or xacro file and tells of its chain, its wrist and what that means for goals, its "
        "limits, inertias, shapes and reach. Exit status 0 where nothing looks wrong, 1 where something does, 2 where "
        "it cannot be used.",
    )
    doctor.add_argument("urdf", help="path of a URDF, or of a xacro file")
    doctor.add_argument("--base-link", help="default: the root of the URDF")
    doctor.add_argument("--tip-link", help="default: the end of the one serial chain")
    doctor.add_argument("--tool-axis", help="where the tool points, in the tip frame: x, -z, '0 0.6 0.8'")
    doctor.add_argument(
        "--plot", type=Path, metavar="FILE", help="draw where the tip can be and how freely the tool can be aimed there"
    )
    doctor.set_defaults(run=_doctor)

    compare = commands.add_parser(
        "compare",
        help="every solver on the same goals: a table and pictures (needs the [compare] extra)",
        description="Runs every solver on several arms, of 2 to 20 joints, with the same goals and the same judge, and "
        "writes a page of tables and pictures. Takes some minutes.",
    )
    compare.add_argument("--out", type=Path, default=Path("out/compare"), help="directory (default: out/compare)")
    compare.add_argument("--solvers", nargs="+", metavar="NAME", help="default: all")
    compare.add_argument("--goals", type=_count, default=60, help="an arm and a kind (default: 60)")
    compare.set_defaults(run=_compare)

    calibrate = commands.add_parser(
        "calibrate",
        help="find out which servo moves which joint, which way, from where and how far",
        description="Leads you through the joints of an arm of servos, moved by hand or, on boards, by pulses, and "
        "writes what servo_node needs to know. Or takes over a calibration of LeRobot's.",
    )
    calibrate.add_argument("urdf", help="path of a URDF")
    calibrate.add_argument("--port", help="serial port, best by /dev/serial/by-id/...")
    calibrate.add_argument(
        "--protocol", choices=("feetech", "dynamixel", "lx16a", "ssc32", "maestro"), default="feetech"
    )
    calibrate.add_argument("--baud", type=int, help="default: 1000000; lx16a and boards: 115200")
    calibrate.add_argument("--base-link", help="default: the root of the URDF")
    calibrate.add_argument("--tip-link", help="default: the end of the one serial chain")
    calibrate.add_argument("--lerobot", type=Path, help="a calibration (JSON) of LeRobot's to take over")
    calibrate.add_argument("--out", type=Path, default=Path("arm.yaml"), help="default: arm.yaml")
    calibrate.set_defaults(run=_calibrate)

    record = commands.add_parser(
        "record",
        help="write down what an arm is told and does (needs ROS 2 or the [ros] extra)",
        description="Listens to joint_states, joint_trajectory_controller/joint_trajectory and the nodes' status, and "
        "writes one JSON object a line, until Ctrl-C. The robot is a file, or the topic robot_description.",
    )
    record.add_argument("out", type=Path, help="file to write, as run.jsonl")
    record.add_argument("--urdf", default="", help="path of a URDF; default: the topic robot_description")
    record.add_argument("--base-link", default="", help="default: the root of the URDF")
    record.add_argument("--tip-link", default="", help="default: the end of the one serial chain")
    record.add_argument("--seconds", type=float, help="default: until Ctrl-C")
    record.set_defaults(run=_record)

    plot = commands.add_parser(
        "plot",
        help="draw a recorded run: joints over time, and the way of the tip (needs the [plot] extra)",
        description="Draws position, velocity and acceleration of every joint, as commanded and as measured, and the "
        "way of the tip from above and from the side.",
    )
    plot.add_argument("run_file", type=Path, metavar="run", help="file that `record` wrote")
    plot.add_argument(
        "--out", type=Path, help="PNG, PDF or SVG, or GIF for a film of it in PyBullet; default: beside the run, as PNG"
    )
    plot.add_argument("--begin", type=float, default=0.0, help="[s] into the run")
    plot.add_argument("--end", type=float, default=math.inf, help="[s] into the run")
    plot.set_defaults(run=_plot)

    demo = commands.add_parser(
        "demo",
        help="a simulated arm reaches twelve goals over DDS (needs ROS 2 or the [demo] extra)",
        description="Starts sim_node and ik_node, sends goals over goal_pose, and judges each by what the simulation "
        "measures. Exit status 0 only if every goal is reached.",
    )
    demo.add_argument("--gui", action="store_true", help="show the simulation's window")
    demo.add_argument("--goals", type=_count, default=12, help="how many (default: 12)")
    demo.add_argument("--seed", type=int, default=1, help="of the goals (default: 1)")
    demo.add_argument(
        "--arm",
        choices=("sim", "mock", "servo"),
        default="sim",
        help="what moves: a simulation, one without physics, or emulated servos on a wire",
    )
    demo.add_argument("--out", default="out", help="directory for the GIF and the logs (default: out)")
    demo.set_defaults(run=_demo)
    return parser


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number}: at least 1 is wanted")
    return number


def _solve(parsed: argparse.Namespace) -> int:
    from ik_solver_ros.kinematics.load import load_chain
    from ik_solver_ros.solvers.goal import Goal
    from ik_solver_ros.solvers.solution import Status
    from ik_solver_ros.solvers.solve import solve

    chain = load_chain(parsed.urdf, parsed.base_link, parsed.tip_link, parsed.tool_axis)
    if parsed.approach is not None:
        goal = Goal.approach(parsed.position, parsed.approach)
    elif parsed.quat is not None:
        goal = Goal.pose(parsed.position, parsed.quat)
    else:
        goal = Goal.point(parsed.position)
    patience = threading.Timer(
        PATIENCE, print, ["the solver is being compiled, this once; it takes about a minute"], {"file": sys.stderr}
    )
    patience.daemon = True
    patience.start()
    try:
        solution = solve(chain, goal, parsed.q0, solver=parsed.solver)
    finally:
        patience.cancel()
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


def _doctor(parsed: argparse.Namespace) -> int:
    from ik_solver_ros.kinematics.load import load_chain
    from ik_solver_ros.tools.doctor import examine

    chain = load_chain(parsed.urdf, parsed.base_link, parsed.tip_link, parsed.tool_axis)
    print("examining; the very first time the solver is compiled, which takes about a minute", file=sys.stderr)
    findings = examine(chain)
    for finding in findings:
        print(f"{'!' if finding.warning else ' '} {finding.text}")
    warnings = sum(finding.warning for finding in findings)
    print(f"\n{warnings} of these look wrong (!)" if warnings else "\nnothing looks wrong")
    if parsed.plot is not None:
        try:
            from rich.console import Console
            from rich.progress import Progress

            from ik_solver_ros.tools.plot.reachable import draw_reachable, reachable
        except ImportError as error:
            print(
                f"error: drawing needs more than is installed ({error}): pip install 'ik_solver_ros[plot]'",
                file=sys.stderr,
            )
            return 2
        with Progress(console=Console(stderr=True)) as progress:
            task = progress.add_task("aiming the tool", total=1.0)
            slices = reachable(chain, lambda done: progress.update(task, completed=done))
        draw_reachable(chain, slices, parsed.plot)
        print(f"drawn to {parsed.plot}")
    return 1 if warnings else 0


def _compare(parsed: argparse.Namespace) -> int:
    from ik_solver_ros.solvers.solve import SOLVERS, find_solver, solver_name

    solvers = tuple(map(solver_name, parsed.solvers or SOLVERS))
    for name in solvers:
        find_solver(name)
    try:
        from rich.console import Console
        from rich.progress import Progress

        from ik_solver_ros.tools.compare.figures import draw
        from ik_solver_ros.tools.compare.measure import measure
        from ik_solver_ros.tools.compare.report import report
    except ImportError as error:
        print(
            f"error: the comparison needs more than is installed ({error}): pip install 'ik_solver_ros[compare]'",
            file=sys.stderr,
        )
        return 2
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


def _calibrate(parsed: argparse.Namespace) -> int:
    from ik_solver_ros.kinematics.load import load_chain
    from ik_solver_ros.servo import dynamixel, feetech
    from ik_solver_ros.servo.boards import board_codec
    from ik_solver_ros.servo.bus import Port, TableBus
    from ik_solver_ros.servo.by_hand import ByHand, LxByHand, TableByHand
    from ik_solver_ros.servo.calibration import FAMILIES, from_lerobot
    from ik_solver_ros.servo.lx16a import LxBus
    from ik_solver_ros.tools.calibrate.board_wizard import calibrate_board
    from ik_solver_ros.tools.calibrate.wizard import calibrate

    chain = load_chain(parsed.urdf, parsed.base_link, parsed.tip_link)
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
        if FAMILIES[parsed.protocol].measures:
            codecs: dict[str, Any] = {"feetech": feetech, "dynamixel": dynamixel}
            servos: ByHand = LxByHand(LxBus(port))
            if parsed.protocol in codecs:
                servos = TableByHand(TableBus(port, codecs[parsed.protocol]))
            calibrate(chain, servos, parsed.protocol, parsed.out, _ask, print)
        else:
            codec = board_codec(parsed.protocol, RESET_TIME)
            calibrate_board(chain, port, codec, parsed.protocol, parsed.out, _ask, print)
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


def _record(parsed: argparse.Namespace) -> int:
    try:
        from ik_solver_ros.ros.record_node import record
    except ImportError as error:
        print(
            f"error: recording needs ROS ({error}); source a ROS 2 installation, or: pip install 'ik_solver_ros[ros]'",
            file=sys.stderr,
        )
        return 2
    parameters = {"description_file": parsed.urdf, "base_link": parsed.base_link, "tip_link": parsed.tip_link}
    print(f"recording to {parsed.out}; Ctrl-C ends it", file=sys.stderr)
    lines = record(parsed.out, parsed.seconds, parameters)
    print(f"{lines} lines in {parsed.out}; to see them: python -m ik_solver_ros plot {parsed.out}")
    return 0 if lines else 1


def _plot(parsed: argparse.Namespace) -> int:
    from ik_solver_ros.control.run_record import load_run

    run = load_run(parsed.run_file)
    out = parsed.out or parsed.run_file.with_suffix(".png")
    try:
        if out.suffix == ".gif":
            from ik_solver_ros.tools.plot.film import film_run

            for left in film_run(run, out, parsed.begin, parsed.end):
                print(f"\r{left} frames left ", end="", file=sys.stderr, flush=True)
            print(file=sys.stderr)
        else:
            from ik_solver_ros.tools.plot.draw import draw_run

            draw_run(run, out, parsed.begin, parsed.end)
    except ImportError as error:
        print(
            f"error: drawing needs more than is installed ({error}): pip install 'ik_solver_ros[plot,sim]'",
            file=sys.stderr,
        )
        return 2
    print(f"{len(run.sent)} trajectories and {len(run.times)} measurements drawn to {out}")
    return 0


def _demo(parsed: argparse.Namespace) -> int:
    try:
        from ik_solver_ros.tools.demo.demo import demo
    except ImportError as error:
        print(
            f"error: the demonstration needs more than is installed ({error}); "
            "source a ROS 2 installation, or: pip install 'ik_solver_ros[demo]'",
            file=sys.stderr,
        )
        return 2
    return demo(goals=parsed.goals, seed=parsed.seed, gui=parsed.gui, out=parsed.out, arm=parsed.arm)
