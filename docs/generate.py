"""What the documentation has from the code, for `make docs`: reference.md, and pictures in images/."""

from __future__ import annotations

import io
import os
import sys
from contextlib import redirect_stdout
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import numpy as np
from matplotlib.figure import Figure

from ik_solver_ros import Goal, load_chain, solve
from ik_solver_ros.kinematics.link_frames import LinkFrames
from ik_solver_ros.solvers.reference.ccdik_published import ccdik_step
from ik_solver_ros.tools.plot.reachable import draw_reachable, reachable

DOCS = Path(__file__).parent
URDF = DOCS.parent / "urdf"
SWEEPS = 24


def reference() -> str:
    """Parameters of the nodes, outcomes of goals and options of the commands, from the tables that declare them."""
    from ik_solver_ros.cli.main import COMMANDS, make_parser
    from ik_solver_ros.ros.arm_node import constraints, servo_node, sim_node
    from ik_solver_ros.ros.common.joint_limits import UNITS
    from ik_solver_ros.ros.ik_node import params as ik_params
    from ik_solver_ros.session.outcome import Outcome
    from ik_solver_ros.trajectory.limits import GIVEN

    out = ["# Parameters, arguments, commands", "", "Written by `make docs` from the code.", ""]
    tables = {
        "ik_node": ik_params.PARAMS,
        "sim_node": sim_node.PARAMS,
        "servo_node": servo_node.PARAMS,
    }
    for node, table in tables.items():
        out += [f"## Parameters of {node}", "", "| name | default | | live |", "|---|---|---|---|"]
        out += [_row(param) for param in table]
        out += [""]
    out += ["## Parameters of each joint", "", "| name | |", "|---|---|"]
    out += [
        f"| `joint_limits.<joint>.{what}` | {UNITS[what.split('_')[1]]} in place of the URDF's, or of what is assumed |"
        for what in GIVEN
    ]
    out += [f"| `{param.name}` | {param.description}; of sim_node and servo_node |" for param in constraints.WHOLE]
    for what, when in constraints.EACH.items():
        out.append(f"| `constraints.<joint>.{what}` | [rad or m] that the joint may be off {when}; 0: any |")
    out += ["", "## Outcomes of goals", "", Outcome.__doc__, "", "| outcome | meaning | |", "|---|---|---|"]
    for outcome in Outcome:
        out.append(f"| `{outcome.name}` | {outcome.value} | {'the end' if outcome.is_end else 'an answer'} |")
    out += ["", "## Arguments of the launch files", "", "    ros2 launch ik_solver_ros sim.launch.py --show-args", ""]
    out += ["lists those of a file: `sim`, `servo`, `ros2_control`, `view`, `two_arms`.", "", "## Commands", ""]
    for command in ("", *COMMANDS):
        out += ["```text", _help(make_parser(), command), "```", ""]
    return "\n".join(out)


def _row(param) -> str:
    default = "" if param.default in ("", [], [""]) else f"`{param.default}`"
    text = param.description.replace("|", "\\|")
    if param.choices:
        text += f" ({', '.join(f'`{choice}`' for choice in param.choices)})"
    elif param.low is not None:
        text += f" ({param.low:g} to {param.high:g})"
    return f"| `{param.name}` | {default} | {text} | {'yes' if param.live else ''} |"


def _help(parser, command: str) -> str:
    os.environ["COLUMNS"] = "100"
    text = io.StringIO()
    with redirect_stdout(text):
        try:
            parser.parse_args([*([command] if command else []), "--help"])
        except SystemExit:
            pass
    return text.getvalue().rstrip()


def draw_ccdik(path: Path) -> None:
    """The seed arm after each sweep, and how far its tip is from the goal then."""
    chain = load_chain(URDF / "seed_arm.urdf")
    goal = Goal.point((0.55, 0.0, 0.3))
    postures = [np.array([0.0, 0.4, -0.6, -0.5, 0.0])]
    for _ in range(SWEEPS):
        postures.append(ccdik_step(chain, goal, postures[-1]))
    distances = [np.linalg.norm(chain.forward(q)[0] - goal.position) for q in postures]
    answer = solve(chain, goal, postures[0])

    figure = Figure(figsize=(11.5, 4.6), layout="constrained")
    arm, error = figure.subplots(1, 2, width_ratios=(1.1, 1.0))
    frames = LinkFrames(chain.model, chain.base_link)
    links = [chain.base_link, *(joint.child for joint in chain.model.path(chain.base_link, chain.tip_link))]
    shown = [0, 2, 4, 6, 9, SWEEPS]
    for k, i in enumerate(shown):
        at = frames.at(dict(zip(chain.joint_names, postures[i])))
        points = np.array([at[link].position[0] for link in links])
        shade = 0.15 + 0.85 * k / (len(shown) - 1)
        arm.plot(points[:, 0], points[:, 2], "o-", color="tab:blue", alpha=shade, linewidth=2.5, markersize=4)
        arm.annotate(str(i), points[-1, [0, 2]], textcoords="offset points", xytext=(6, 4), fontsize=8, color="0.3")
    arm.plot(goal.position[0], goal.position[2], "x", color="tab:red", markersize=11, markeredgewidth=2.5)
    arm.set_aspect("equal")
    arm.set_xlabel("x [m]")
    arm.set_ylabel("z [m]")
    arm.set_title("after so many sweeps", fontsize=10)
    error.semilogy(
        range(len(distances)), distances, "o-", color="tab:blue", markersize=4, label="ccdik_published: sweeps"
    )
    floor = max(answer.position_error, 1e-16)
    error.axhline(floor, color="tab:green", label=f"ccdik: {floor:.0e} m")
    error.set_xlabel("sweeps")
    error.set_ylabel("distance of the tip from the goal [m]")
    error.grid(alpha=0.3)
    error.legend(fontsize=9)
    figure.savefig(path, dpi=110)


def main() -> int:
    """Write everything."""
    images = DOCS / "images"
    (DOCS / "reference.md").write_text(reference(), encoding="utf-8")
    draw_ccdik(images / "ccdik.png")
    for name in ("so101", "seed_arm"):
        chain = load_chain(URDF / f"{name}.urdf")
        draw_reachable(chain, reachable(chain), images / f"reach_{name}.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
