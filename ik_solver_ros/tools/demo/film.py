"""The film of a demonstration, drawn by PyBullet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ik_solver_ros.arm.bullet import BulletArm
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.kernels import Array

FPS, SIZE = 10, (480, 360)
LAST_FRAME = 1500  # [ms] the film stands still before it begins again
WAITING, REACHED, MISSED = (1.0, 0.55, 0.1, 0.9), (0.15, 0.7, 0.3, 0.9), (0.85, 0.15, 0.15, 0.9)
HIDDEN = (0.0, 0.0, 0.0, 0.0)


class Pose(NamedTuple):
    """Where the tip was measured to be, in base_link."""

    position: Array  # (3,) [m]
    quat_xyzw: Array  # (4,)


class Frame(NamedTuple):
    """A moment of a run, for the film."""

    joints: dict[str, float]  # by name [rad or m]
    goal: int  # which goal was pursued
    caption: str


def write_gif(
    path: Path, chain: Chain, frames: Sequence[Frame], goals: Sequence[Pose], reached: Sequence[bool]
) -> Iterator[None]:
    """Draw a run into an animated GIF, in a PyBullet of its own; yields after each frame, for a progress bar."""
    from PIL import Image, ImageDraw

    arm = BulletArm(chain.model)
    arm.open()
    target = np.array([0.15, 0.05, 0.5]) * chain.reach
    balls = [arm.ball(goal.position, 0.035 * chain.reach, WAITING) for goal in goals]
    for ball in balls[1:]:
        arm.recolor(ball, HIDDEN)
    images: list[Any] = []
    shown = 0
    rest = arm.read().positions
    for number, frame in enumerate(frames, 1):
        while shown < frame.goal:
            arm.recolor(balls[shown], REACHED if reached[shown] else MISSED)
            shown += 1
            arm.recolor(balls[shown], WAITING)
        if number == len(frames):
            arm.recolor(balls[shown], REACHED if reached[shown] else MISSED)
        arm.place(np.array([frame.joints.get(name, at) for name, at in zip(arm.joint_names, rest)]))
        image = Image.fromarray(arm.picture(*SIZE, target, distance=2.4 * chain.reach, yaw=50.0, pitch=-18.0))
        ImageDraw.Draw(image).text((12, 10), frame.caption, fill=(20, 20, 20))
        images.append(image.quantize(64))
        yield
    arm.close()
    path.parent.mkdir(parents=True, exist_ok=True)
    durations = [1000 // FPS] * (len(images) - 1) + [LAST_FRAME]
    images[0].save(path, save_all=True, append_images=images[1:], duration=durations, loop=0, optimize=True)
