"""Seven scenes of inverse kinematics in PyBullet, each filmed into a GIF:

python examples/scenes.py                 # all of them, into out/scenes
python examples/scenes.py walk push       # some

Every scene solves a goal 60 times a second, each time from the answer before, and says how far the tip was from its
goal.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image, ImageDraw
from skeleton import Bone, skeleton

from ik_solver_ros import Chain, Goal, SolverOptions, load_chain, solve
from ik_solver_ros.arm.bullet import BulletArm
from ik_solver_ros.share import share_dir
from ik_solver_ros.solvers.reference.ccdik_published import ccdik_step

RATE, STEPS, FPS = 60, 4, 10  # [Hz] of goals, steps of physics for each, pictures a second
SIZE = (400, 320)
GOAL = (1.0, 0.55, 0.1, 1.0)

Solver = Callable[[Chain, Goal, np.ndarray], np.ndarray]


class View(NamedTuple):
    """Where the camera looks."""

    target: tuple[float, float, float]
    distance: float
    yaw: float
    pitch: float = -20.0


class Moment(NamedTuple):
    """What a scene says of a picture."""

    pixels: Any
    error: float  # [m] of the tip from its goal, as PyBullet measures it
    speed: float  # [rad/s or m/s] of the fastest joint since the last picture, as commanded


def with_solver(name: str, **options: Any) -> Solver:
    """A solver by its name, for `played`."""
    chosen = SolverOptions(1e-4, 1e-3, **options)
    return lambda chain, goal, q: solve(chain, goal, q, solver=name, options=chosen).q


def played(
    chain: Chain,
    solver: Solver,
    goal_at: Callable[[float], Goal],
    seconds: float,
    q: np.ndarray,
    view: View,
    **world: Any,
) -> Iterator[Moment]:
    """Follow goal_at(t) for so long, beginning at its start's answer from q; a picture every tenth of a second."""
    q = solver(chain, goal_at(0.0), q)
    start = dict(zip(chain.joint_names, q))
    arm = BulletArm(chain.model, start, 1.0 / (RATE * STEPS))
    arm.open()
    try:
        if "prepare" in world:
            world["prepare"](arm)
        ball = arm.ball(goal_at(0.0).position, world.get("ball", 0.03), GOAL)
        index = [arm.joint_names.index(name) for name in chain.joint_names]
        command, fastest = arm.read().positions, 0.0
        for tick in range(int(seconds * RATE)):
            goal = goal_at(tick / RATE)
            before = command.copy()
            command[index] = solver(chain, goal, command[index])
            fastest = max(fastest, float(np.max(np.abs(command - before))) * RATE)
            arm.write(command, (command - before) * RATE)
            for _ in range(STEPS):
                arm.advance()
            arm.move_ball(ball, goal.position)
            if tick % (RATE // FPS) == 0:
                tip, _ = arm.link_pose(chain.base_link, chain.tip_link)
                pixels = arm.picture(*SIZE, np.array(view.target), view.distance, view.yaw, view.pitch)
                yield Moment(pixels, float(np.linalg.norm(tip - goal.position)), fastest)
                fastest = 0.0
    finally:
        arm.close()


def circle(middle: tuple[float, float, float], a: tuple[float, ...], b: tuple[float, ...], seconds: float) -> Any:
    """A point that goes round: middle + a cos + b sin."""

    def at(t: float) -> np.ndarray:
        angle = 2.0 * math.pi * t / seconds
        return np.array(middle) + np.array(a) * math.cos(angle) + np.array(b) * math.sin(angle)

    return at


def hinges() -> Iterator[Moment]:
    """Two hinges without limits and a goal that leaves their plane, one sweep of CCDIK a frame, no restarts."""
    bones = [Bone("a", "0 0 1", (0.4, 0, 0), 0, 0, "continuous"), Bone("b", "0 0 1", (0.35, 0, 0), 0, 0, "continuous")]
    chain = load_chain(skeleton("hinges", bones, (0.0, 0.0, 0.3)))
    way = circle((0.05, 0.0, 0.3), (0.5, 0.0, 0.25), (0.0, 0.5, 0.0), 6.0)
    view = View((0.0, 0.0, 0.3), 1.6, 30.0, -30.0)
    return played(chain, ccdik_step, lambda t: Goal.point(way(t)), 6.0, np.array([-0.6, 1.2]), view)


def slider() -> Iterator[Moment]:
    """A sliding joint under three hinges."""
    bones = [
        Bone("rail", "0 1 0", (0, 0, 0.1), -0.5, 0.5, "prismatic"),
        Bone("waist", "0 0 1", (0, 0, 0.1), -3.0, 3.0),
        Bone("shoulder", "0 1 0", (0, 0, 0.3), -1.9, 1.9),
        Bone("elbow", "0 1 0", (0, 0, 0.3), -2.5, 2.5),
    ]
    chain = load_chain(skeleton("slider", bones, (0.0, 0.0, 0.05)))
    way = circle((0.35, 0.0, 0.35), (0.0, 0.7, 0.0), (0.1, 0.0, 0.15), 6.0)
    view = View((0.1, 0.0, 0.3), 2.2, 60.0)
    return played(chain, with_solver("ccdik"), lambda t: Goal.point(way(t)), 6.0, np.array([0.4, 0.3, 0.6, 1.2]), view)


def human() -> Iterator[Moment]:
    """A left arm from the shoulder to the wrist, with the ranges that people have; restarts on.

    Ranges: American Academy of Orthopaedic Surgeons, "Joint motion: method of measuring and recording" (1965).
    """
    d = math.radians
    bones = [
        Bone("shoulder_flexion", "0 -1 0", (0, 0, 0), d(-60), d(180)),
        Bone("shoulder_abduction", "1 0 0", (0, 0, 0), d(-45), d(180)),
        Bone("shoulder_rotation", "0 0 1", (0, 0, -0.3), d(-90), d(70)),
        Bone("elbow", "0 -1 0", (0, 0, -0.26), d(0), d(150)),
        Bone("forearm", "0 0 1", (0, 0, 0), d(-80), d(80)),
        Bone("wrist_flexion", "0 -1 0", (0, 0, 0), d(-70), d(80)),
        Bone("wrist_deviation", "1 0 0", (0, 0, -0.12), d(-30), d(20)),
    ]
    chain = load_chain(skeleton("arm", bones, (0.0, 0.0, 0.9), 0.03), tip_link="tip", tool_axis="-z")
    way = circle((0.35, 0.05, 1.0), (0.1, 0.3, 0.1), (0.0, 0.1, 0.3), 6.0)
    start = np.array([0.8, 0.3, 0.0, 0.6, 0.0, 0.0, 0.0])
    view = View((0.2, 0.1, 0.95), 1.6, 40.0, -15.0)
    return played(chain, with_solver("ccdik", max_restarts=64), lambda t: Goal.point(way(t)), 6.0, start, view)


def direction() -> Iterator[Moment]:
    """The arm of five joints goes round and keeps its tool at a spot on the ground."""
    chain = load_chain(share_dir() / "urdf" / "seed_arm.urdf")
    way, spot = circle((0.38, 0.0, 0.3), (0.0, 0.14, 0.0), (0.1, 0.0, 0.08), 6.0), np.array([0.42, 0.0, 0.0])

    def goal_at(t: float) -> Goal:
        return Goal.approach(way(t), spot - way(t))

    def marked(arm: BulletArm) -> None:
        arm.ball(spot, 0.02, (0.1, 0.6, 0.9, 1.0))

    start = solve(chain, goal_at(0.0)).q
    view = View((0.2, 0.0, 0.3), 1.5, 40.0)
    return played(chain, with_solver("ccdik", track=True), goal_at, 6.0, start, view, ball=0.02, prepare=marked)


def walk() -> Iterator[Moment]:
    """A leg of two bones in closed form: the foot pushes back along the ground and swings forward."""
    bones = [
        Bone("hip", "0 1 0", (0, 0, -0.42), -1.5, 1.0),
        Bone("knee", "0 1 0", (0, 0, -0.4), 0.0, 2.4),
    ]
    chain = load_chain(skeleton("leg", bones, (0.0, 0.0, 0.8), 0.035))
    return played(
        chain,
        with_solver("analytic"),
        lambda t: Goal.point(step(t)),
        4.8,
        np.array([-0.5, 0.7]),
        View((0.0, 0.0, 0.45), 2.0, 0.0, -5.0),
    )


def step(t: float, period: float = 1.6) -> np.ndarray:
    """Where the foot is: on the ground for 60 % of the time, then through the air, without a kink of its speed in x."""
    phase = t / period % 1.0
    if phase < 0.6:
        return np.array([0.25 - 0.5 * phase / 0.6, 0.0, 0.03])
    u = (phase - 0.6) / 0.4
    return np.array(
        [
            -0.25 + 0.5 * (u - math.sin(2.0 * math.pi * u) / (2.0 * math.pi)),
            0.0,
            0.03 + 0.15 * math.sin(math.pi * u) ** 2,
        ]
    )


def elbows() -> Iterator[Moment]:
    """The same goals in closed form, with the elbow up and with it down."""
    bones = [
        Bone("waist", "0 0 1", (0, 0, 0.1), -3.0, 3.0),
        Bone("shoulder", "0 1 0", (0, 0, 0.3), -1.0, 3.0),
        Bone("elbow", "0 1 0", (0, 0, 0.3), -2.6, 2.6),
    ]
    chain = load_chain(skeleton("elbows", bones, (0.0, 0.0, 0.35)))
    way = circle((0.38, 0.0, 0.5), (0.0, 0.22, 0.0), (0.08, 0.0, 0.12), 6.0)
    view = View((0.15, 0.0, 0.45), 1.6, 20.0)
    pair = []
    for elbow in ("up", "down"):
        solver = with_solver("analytic", elbow=elbow)
        pair.append(played(chain, solver, lambda t: Goal.point(way(t)), 6.0, chain.mid, view))
    for up, down in zip(*pair):
        yield Moment(np.hstack([up.pixels, down.pixels]), max(up.error, down.error), max(up.speed, down.speed))


def push() -> Iterator[Moment]:
    """The tool comes down behind a block and pushes it along the floor."""
    chain = load_chain(share_dir() / "urdf" / "so101.urdf")
    places = np.array(
        [[0.18, -0.15, 0.07], [0.18, -0.15, 0.03], [0.22, 0.12, 0.03], [0.20, 0.08, 0.03], [0.2, 0.05, 0.07]]
    )
    times = np.array([0.0, 1.0, 4.0, 4.6, 5.8])

    def goal_at(t: float) -> Goal:
        k = min(int(np.searchsorted(times, t, side="right")) - 1, len(times) - 2)
        u = min((t - times[k]) / (times[k + 1] - times[k]), 1.0)
        u = u * u * (3.0 - 2.0 * u)
        return Goal.approach(places[k] + u * (places[k + 1] - places[k]), (0.0, 0.0, -1.0))

    blocks: list[tuple[BulletArm, int]] = []

    def with_block(arm: BulletArm) -> None:
        blocks.append((arm, arm.block((0.185, -0.09, 0.026), (0.025, 0.025, 0.025), 0.05, (0.75, 0.2, 0.2, 1.0))))

    start = solve(chain, goal_at(0.0)).q
    view = View((0.15, 0.0, 0.1), 0.85, 60.0, -25.0)
    moved = 0.0
    for moment in played(
        chain, with_solver("ccdik", track=True), goal_at, 6.0, start, view, ball=0.006, prepare=with_block
    ):
        arm, block = blocks[0]
        moved = arm.where(block)[1] + 0.09
        yield moment
    print(f"push: the block was moved by {100 * moved:.1f} cm")


SCENES = {f.__name__: f for f in (hinges, slider, human, direction, walk, elbows, push)}


def film(name: str, path: Path) -> None:
    """Play a scene into a GIF, and say how it went."""
    images, errors, speeds = [], [], []
    for moment in SCENES[name]():
        image = Image.fromarray(moment.pixels)
        ImageDraw.Draw(image).text((10, 8), f"{1e3 * moment.error:5.1f} mm off", fill=(20, 20, 20))
        images.append(image.quantize(48))
        errors.append(moment.error)
        speeds.append(moment.speed)
        print(f"\r{name}: {len(images)} pictures", end="", flush=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    images[0].save(path, save_all=True, append_images=images[1:], duration=1000 // FPS, loop=0, optimize=True)
    print(
        f"\r{name}: {len(images)} pictures, tip off by {1e3 * np.median(errors):.1f} mm (median; at most "
        f"{1e3 * max(errors):.1f}), fastest joint {max(speeds[1:]):.1f} per s: {path}"
    )


def main() -> None:
    """Film the scenes that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenes", nargs="*", choices=[[], *SCENES], metavar="SCENE", help=f"of {', '.join(SCENES)}")
    parser.add_argument("--out", type=Path, default=Path("out/scenes"))
    parsed = parser.parse_args()
    for name in parsed.scenes or SCENES:
        film(name, parsed.out / f"scene_{name}.gif")


if __name__ == "__main__":
    main()
