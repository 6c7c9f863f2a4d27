"""A film of a run, drawn in PyBullet: the arm as it was measured, the goals, and what was said of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np

from ik_solver_ros.arm.bullet import BulletArm
from ik_solver_ros.control.run_record import Run
from ik_solver_ros.errors import RecordError
from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.session.outcome import Outcome
from ik_solver_ros.tools.film import FPS, INK, Caption, Film

SIZE = (640, 480)
GOAL, OLD, HIDDEN, TRAIL = (1.0, 0.55, 0.1, 1.0), (0.6, 0.6, 0.6, 0.5), (0.0, 0.0, 0.0, 0.0), (0.1, 0.35, 0.8, 0.8)
RED, GREEN = (170, 20, 20), (15, 110, 40)
COLORS = {Outcome.REFUSED.name: RED, Outcome.MISSED.name: RED, Outcome.EXECUTED.name: GREEN}
SAID_FOR = 3.0  # [s] that a sentence is shown
TRAIL_LENGTH = 25  # frames


def film_run(run: Run, path: Path, begin: float = 0.0, end: float = np.inf) -> Iterator[int]:
    """Draw a run into an animated GIF; yields how many frames remain, after each. Raises RecordError, ArmError."""
    seen = run.times[(run.times >= begin) & (run.times <= end)]
    if len(seen) < 2:
        raise RecordError("nothing was measured then, so there is nothing to film")
    moments = np.arange(seen[0], seen[-1], 1.0 / FPS)
    film = Film()
    with closing(BulletArm(run.chain.model)) as arm:
        arm.open()
        scene = _Scene(run, arm)
        for remaining, now in zip(reversed(range(len(moments))), moments):
            scene.set(now)
            captions = [Caption(10, f"{now - moments[0]:5.1f} s")]
            for row, (outcome, message) in enumerate(_said(run, now)):
                lines = wrap(f"{outcome}: {message}", 96)
                captions.append(Caption(30 + 32 * row, "\n".join(lines[:2]), COLORS.get(outcome, INK)))
            film.add(scene.picture(), *captions)
            yield remaining
    film.save(path)


class _Scene:
    """The arm, its goals and the last of the tip's way."""

    def __init__(self, run: Run, arm: BulletArm) -> None:
        self._run, self._arm = run, arm
        self._rest = arm.read().positions
        self._index = [arm.joint_names.index(name) for name in run.chain.joint_names]
        reach = run.chain.reach
        self._target = np.array([0.3, 0.0, 0.15]) * reach
        self._goals: list[int] = []
        self._old: list[int] = []
        self._shown = 0
        self._trail = [arm.ball(np.array([0.0, 0.0, -9.0]), 0.008 * reach, TRAIL) for _ in range(TRAIL_LENGTH)]
        self._next = 0

    def set(self, now: float) -> None:
        run, arm = self._run, self._arm
        i = min(int(np.searchsorted(run.times, now)), len(run.times) - 1)
        positions = self._rest.copy()
        positions[self._index] = run.positions[i]
        arm.place(positions)
        while self._shown < len(run.goals) and run.goals[self._shown][0] <= now:
            for handle in self._old:
                arm.recolor(handle, HIDDEN)
            for handle in self._goals:
                arm.recolor(handle, OLD)
            self._old = self._goals
            places = run.goals[self._shown][1]
            radius = (0.025 if len(places) == 1 else 0.012) * run.chain.reach
            self._goals = [arm.ball(self._in_root(place), radius, GOAL) for place in places]
            self._shown += 1
        tip, _ = arm.link_pose(run.chain.model.root, run.chain.tip_link)
        arm.move_ball(self._trail[self._next % TRAIL_LENGTH], tip)
        self._next += 1

    def picture(self) -> Any:
        """The scene, from the front and above."""
        return self._arm.picture(*SIZE, self._target, distance=1.7 * self._run.chain.reach, yaw=50.0, pitch=-25.0)

    def _in_root(self, position: Array) -> Array:
        chain = self._run.chain
        transform = chain.model.transform(chain.model.root, chain.base_link, {})
        return np.asarray(transform[:3, :3] @ position + transform[:3, 3])


def _said(run: Run, now: float) -> list[tuple[str, str]]:
    """The last two things that were said of goals."""
    silent = ("ACCEPTED", Outcome.REPLACED.name)
    return [(o, m) for t, o, m in run.events if now - SAID_FOR <= t <= now and o not in silent][-2:]
