"""What the demonstration shows: goals that a PyBullet arm was seen to reach, and a film of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ik_solver_ros.arm.arm import SimulatedArm
from ik_solver_ros.arm.bullet import BulletArm
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.kernels import Array

APART = 0.05  # [m] between the positions of neighbouring goals
MARGIN = 0.008  # [m] between the arm, itself and the floor, at the goals and on the straight way there
SPAN = 0.5  # share of its range that every joint covers over all goals
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


def reachable_poses(chain: Chain, arm: SimulatedArm, count: int, seed: int) -> list[Pose]:
    """Poses of the tip that `arm` measures at random joint positions, each at rest clear of the floor and itself.

    Every joint spans over half its range (for six goals and more), neighbours lie over 5 cm apart, and the straight
    way in joint space between them is free. With an arm that cannot look (the mock), the way is not looked at.
    """
    rng = np.random.default_rng(seed)
    index = [arm.joint_names.index(name) for name in chain.joint_names]
    lower, upper = np.maximum(chain.lower, -np.pi), np.minimum(chain.upper, np.pi)
    rest = arm.read().positions
    while True:
        strata = np.array([rng.permutation(count) for _ in range(chain.n)]).T  # a Latin hypercube: every joint roams
        last = rest[index]
        found: list[tuple[Array, Pose]] = []
        for row in strata:
            for attempt in range(300):
                u = (row + rng.random(chain.n)) / count if attempt < 100 else rng.random(chain.n)
                q = lower + (0.03 + 0.94 * u) * (upper - lower)
                pose = _measured(chain, arm, rest, index, q)
                if found and np.linalg.norm(pose.position - found[-1][1].position) < APART:
                    continue
                if _clear(arm, rest, index, last, q):
                    found.append((q, pose))
                    last = q
                    break
        spans = np.ptp([q for q, _ in found], axis=0) / (upper - lower) if found else 0.0
        if len(found) == count and (count < 6 or np.min(spans) > SPAN):
            return [pose for _, pose in found]


def _measured(chain: Chain, arm: SimulatedArm, rest: Array, index: list[int], q: Array) -> Pose:
    positions = rest.copy()
    positions[index] = q
    if isinstance(arm, BulletArm):
        arm.place(positions)
    else:
        arm.write(positions, np.zeros(len(positions)))
        arm.advance()
    return Pose(*arm.link_pose(chain.base_link, chain.tip_link))


def _clear(arm: SimulatedArm, rest: Array, index: list[int], start: Array, end: Array) -> bool:
    if not isinstance(arm, BulletArm):
        return True
    positions = rest.copy()
    for share in np.linspace(1.0, 0.0, 24):
        positions[index] = end + share * (start - end)
        arm.place(positions)
        if arm.touches(MARGIN if share < 1.0 else 0.0):
            return False
    return True


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
