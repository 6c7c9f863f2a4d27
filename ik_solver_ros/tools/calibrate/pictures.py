"""Pictures of the pose in which joints are put, and of each joint's positive direction: bare lines, no meshes."""

from __future__ import annotations

import math
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.tools.calibrate.words import far_end, motion, moved, stance

VIEWS = (("from its right side", 0, 2), ("from the front", 1, 2), ("from above", 0, 1))  # and the axes, across and up
GHOST, ARM, TURNED, ARROW = "0.75", "tab:blue", "tab:orange", "tab:red"
ARC = np.linspace(0.0, math.radians(250.0), 30)


def picture_of(out: Path, what: str) -> Path:
    """Where the picture of a joint, or of "zero", is for a calibration that is written to `out`."""
    return out.with_name(f"{out.stem}_{what}.png")


def draw_pictures(chain: Chain, out: Path) -> list[Path]:
    """Draw the whole arm, and one picture for each joint. Raises ImportError without matplotlib."""
    from ik_solver_ros.tools.calibrate.canvas import new_figure

    names = [*chain.joint_names, *(joint.name for joint in chain.other_joints)]
    drawn = []
    for name in [None, *names]:
        figure, axes = new_figure(len(VIEWS))
        title = "all joints at 0; arrows: positive" if name is None else f"{name}: {motion(chain, name)}"
        figure.suptitle(title)
        for axis, view in zip(axes, VIEWS):
            _draw_room(axis, chain, view)
            _draw_arm(axis, chain, name, view)
            for joint in [name] if name else names:
                _draw_arrow(axis, chain, joint, view)
        path = picture_of(out, name or "zero")
        figure.savefig(path, dpi=90)
        drawn.append(path)
    return drawn


def shown(path: Path) -> bool:
    """Whether the system's viewer was asked to show a picture: where there is a display."""
    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return False
    try:
        import webbrowser

        return webbrowser.open(path.resolve().as_uri())
    except Exception:  # a picture that nobody sees is told of by its path
        return False


def _segments(chain: Chain, positions: dict[str, float]) -> list[tuple[str, Array]]:
    """By link, lines (2, 3) [m] in the root: from each link to those on it, and those at the ends to their far end."""
    model = chain.model
    frames = {link: model.transform(model.root, link, positions) for link in model.links}
    out = [
        (joint.parent, np.array([frames[joint.parent][:3, 3], frames[joint.child][:3, 3]]))
        for joint in model.joints.values()
    ]
    ends = [link for link in model.links if not model.joints_below(link)]
    return out + [(link, np.array([frames[link][:3, 3], far_end(model, link, positions)])) for link in ends]


def _draw_room(axis: Any, chain: Chain, view: tuple[str, int, int]) -> None:
    name, across, up = view
    size = 0.15 * chain.reach
    axis.set_title(name, fontsize=9)
    axis.set_aspect("equal", adjustable="datalim")
    axis.margins(0.15)
    if up == 2:
        axis.axhline(0.0, color="0.4", linewidth=1.0)
        axis.annotate("floor", (0.01, 0.0), xycoords=("axes fraction", "data"), fontsize=7, color="0.4", va="bottom")
    for i in (across, up):
        end = np.zeros(3)
        end[i] = size
        axis.annotate("", end[[across, up]], (0.0, 0.0), arrowprops={"arrowstyle": "->", "color": "0.3"})
        axis.annotate("xyz"[i], end[[across, up]], fontsize=9, color="0.3")
    axis.set_xlabel(f"{'xyz'[across]} [m]")
    axis.set_ylabel(f"{'xyz'[up]} [m]")
    if name == "from the front":
        axis.set_xlabel("y [m]; its left is on the right here")


def _draw_arm(axis: Any, chain: Chain, name: str | None, view: tuple[str, int, int]) -> None:
    """The arm at 0; where a joint is named, what it moves: as it was, and as it is then."""
    _, across, up = view
    before = _segments(chain, stance(chain))
    after = _segments(chain, moved(chain, name)) if name else before
    for (link, was), (_, now) in zip(before, after):
        goes = not np.allclose(was, now)
        for line, color in ((was, GHOST), (now, TURNED)) if goes else ((was, ARM),):
            axis.plot(line[:, across], line[:, up], "-", color=color, linewidth=4.0, solid_capstyle="round", alpha=0.8)
            axis.plot(line[:1, across], line[:1, up], "o", color=color, markersize=6.0)
        if name is None and view is VIEWS[0]:
            middle = was.mean(axis=0)
            axis.annotate(link, middle[[across, up]], fontsize=6, xytext=(3, 3), textcoords="offset points")


def _draw_arrow(axis: Any, chain: Chain, name: str, view: tuple[str, int, int]) -> None:
    """The positive direction, in the view that has most of it: round a hinge's axis, or along what slides."""
    _, across, up = view
    model, joint = chain.model, chain.model.joints[name]
    frame = model.transform(model.root, joint.child, stance(chain))
    direction, at, size = frame[:3, :3] @ joint.axis, frame[:3, 3], 0.07 * chain.reach
    slides = joint.type == "prismatic"
    into = [abs(direction[3 - i - j]) for _, i, j in VIEWS]  # of the axis, along the look
    if view is not VIEWS[int(np.argmin(into) if slides else np.argmax(into))]:
        return
    if slides:
        way = at + np.outer(np.linspace(0.0, 2.0 * size, 30), direction)
    else:
        one = np.cross(direction, np.eye(3)[int(np.argmin(np.abs(direction)))])
        one /= np.linalg.norm(one)
        two = np.cross(direction, one)
        way = at + size * (np.outer(np.cos(ARC), one) + np.outer(np.sin(ARC), two))
    axis.plot(way[:, across], way[:, up], color=ARROW, linewidth=1.0)
    axis.annotate("", way[-1, [across, up]], way[-4, [across, up]], arrowprops={"arrowstyle": "-|>", "color": ARROW})
    axis.annotate(name, way[0, [across, up]], fontsize=6, color=ARROW)
