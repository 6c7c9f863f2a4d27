"""The film of a demonstration, drawn by PyBullet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ik_solver_ros.arm.bullet import BulletArm
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.tools.demo.goals import Pose
from ik_solver_ros.tools.film import Caption, Film

SIZE = (480, 360)
PURSUED, REACHED, MISSED = (1.0, 0.55, 0.1, 0.9), (0.15, 0.7, 0.3, 0.9), (0.85, 0.15, 0.15, 0.9)
HIDDEN = (0.0, 0.0, 0.0, 0.0)


class Frame(NamedTuple):
    """A moment of a run."""

    joints: dict[str, float]  # by name [rad or m]
    goal: int  # which goal was pursued
    caption: str


def draw_run(
    path: Path, chain: Chain, frames: Sequence[Frame], goals: Sequence[Pose], reached: Sequence[bool]
) -> Iterator[None]:
    """Draw a run into an animated GIF, in a PyBullet of its own; yields after each frame, for a progress bar."""
    film = Film()
    with closing(BulletArm(chain.model)) as arm:
        arm.open()
        target = np.array([0.15, 0.05, 0.5]) * chain.reach
        balls = [arm.ball(goal.position, 0.035 * chain.reach, PURSUED) for goal in goals]
        for ball in balls[1:]:
            arm.recolor(ball, HIDDEN)
        shown = 0
        rest = arm.read().positions
        for number, frame in enumerate(frames, 1):
            while shown < frame.goal:
                arm.recolor(balls[shown], REACHED if reached[shown] else MISSED)
                shown += 1
                arm.recolor(balls[shown], PURSUED)
            if number == len(frames):
                arm.recolor(balls[shown], REACHED if reached[shown] else MISSED)
            arm.place(np.array([frame.joints.get(name, at) for name, at in zip(arm.joint_names, rest)]))
            pixels = arm.picture(*SIZE, target, distance=2.4 * chain.reach, yaw=50.0, pitch=-18.0)
            film.add(pixels, Caption(10, frame.caption))
            yield
    film.save(path)
