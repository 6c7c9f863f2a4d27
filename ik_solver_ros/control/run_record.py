"""A run on record: what was sent to an arm and what it was measured to do, one JSON object a line.

    {"kind": "robot", "urdf": "<robot ...", "base_link": "base", "tip_link": "tool", "tool_axis": [0, 0, 1]}
    {"kind": "state", "t": 12.5, "names": [...], "position": [...], "velocity": [...]}
    {"kind": "trajectory", "t": 12.5, "stamp": 12.52, "names": [...], "times": [...], "positions": [[...]], ...}
    {"kind": "goal", "t": 12.5, "positions": [[0.2, 0.0, 0.1], ...]}
    {"kind": "event", "t": 12.5, "source": "ik_node", "outcome": "REACHED", "message": "..."}

Times are seconds of one clock. A line that was cut off, as by a kill, is left out.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from ik_solver_ros.control.follower import TrajectoryFollower
from ik_solver_ros.errors import RecordError, TrajectoryError
from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.load import load_chain
from ik_solver_ros.trajectory.limits import MotionLimits
from ik_solver_ros.trajectory.trajectory import State, Trajectory


class Recorder:
    """Writes a run, line by line, so that nothing is lost where it ends suddenly."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file
        self.lines = 0

    def robot(self, chain: Chain) -> None:
        """The arm that the rest is about."""
        self._write(
            kind="robot",
            urdf=chain.model.text,
            base_link=chain.base_link,
            tip_link=chain.tip_link,
            tool_axis=chain.tool_axis.tolist(),
        )

    def state(self, t: float, names: list[str], position: list[float], velocity: list[float]) -> None:
        """Joints as measured."""
        self._write(kind="state", t=t, names=names, position=position, velocity=velocity)

    def trajectory(self, t: float, stamp: float, trajectory: Trajectory) -> None:
        """A trajectory that came at `t`, and its stamp; 0 means at once."""
        table = {
            what: None if getattr(trajectory, what) is None else getattr(trajectory, what).tolist()
            for what in ("times", "positions", "velocities", "accelerations")
        }
        self._write(kind="trajectory", t=t, stamp=stamp, names=list(trajectory.joint_names), **table)

    def goal(self, t: float, positions: list[list[float]]) -> None:
        """Where the tip was asked to go, in base_link: one place, or those of a path."""
        self._write(kind="goal", t=t, positions=positions)

    def event(self, t: float, source: str, outcome: str, message: str) -> None:
        """What a node said of a goal or of a trajectory."""
        self._write(kind="event", t=t, source=source, outcome=outcome, message=message)

    def _write(self, **line: Any) -> None:
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()
        self.lines += 1


class Sent(NamedTuple):
    """A trajectory, when it came [s], and when it begins; None for at once."""

    t: float
    start: float | None
    trajectory: Trajectory


@dataclass(frozen=True, eq=False)
class Run:
    """A run, read back. Times are seconds from its beginning."""

    chain: Chain
    times: Array  # (m,) of the measurements
    positions: Array  # (m, n) measured
    velocities: Array  # (m, n) measured, nan where they were not
    sent: list[Sent]  # in the order of their coming
    events: list[tuple[float, str, str]]  # when, outcome, message
    goals: list[tuple[float, Array]]  # when, positions (k, 3) in base_link

    @property
    def duration(self) -> float:
        """Until everything is over [s]."""
        ends = [one.trajectory.duration + (one.t if one.start is None else one.start) for one in self.sent]
        return float(max([*ends, *self.times[-1:].tolist()]))

    def commanded(self, times: Array) -> State:
        """What a follower within the URDF's limits makes of it all at `times` (k,), increasing; (k, n) each."""
        chain = self.chain
        limits = MotionLimits.from_urdf(chain.joint_names, chain.lower, chain.upper, chain.velocity_limit)
        follower = TrajectoryFollower(limits, self.positions[0] if len(self.positions) else chain.mid)
        waiting, rows = list(self.sent), []
        for now in times:
            while waiting and waiting[0].t <= now:
                one = waiting.pop(0)
                with suppress(TrajectoryError):  # what is refused changes nothing
                    follower.accept(one.trajectory, one.t, one.start)
            rows.append(follower.advance(float(now)))
        return State(*(np.array(column) for column in zip(*rows)))


def load_run(path: Path) -> Run:
    """Read a run. Raises RecordError for what is none, naming the line, and OSError."""
    chain: Chain | None = None
    rows: list[tuple[float, list[float], list[float]]] = []
    sent: list[Sent] = []
    events: list[tuple[float, str, str]] = []
    goals: list[tuple[float, Array]] = []
    lines = path.read_text(encoding="utf-8").split("\n")
    for number, text in enumerate(lines, 1):
        if not text:
            continue
        try:
            line = json.loads(text)
            if line["kind"] == "robot":
                chain = load_chain(line["urdf"], line["base_link"], line["tip_link"], line["tool_axis"])
            elif chain is None:
                raise KeyError("the robot, which must come first")
            elif line["kind"] == "state":
                position, velocity = (dict(zip(line["names"], line[what])) for what in ("position", "velocity"))
                if all(name in position for name in chain.joint_names):
                    names = chain.joint_names
                    rows.append((line["t"], [position[n] for n in names], [velocity.get(n, np.nan) for n in names]))
            elif line["kind"] == "trajectory":
                if set(line["names"]) == set(chain.joint_names) and line["times"]:
                    sent.append(Sent(line["t"], line["stamp"] or None, _trajectory(line, chain)))
            elif line["kind"] == "goal":
                goals.append((line["t"], np.array(line["positions"], dtype=float).reshape(-1, 3)))
            elif line["kind"] == "event":
                events.append((line["t"], line["outcome"], line["message"]))
        except json.JSONDecodeError as error:
            if number < len(lines):
                raise RecordError(f"{path}, line {number}: not JSON ({error}); is this the record of a run?") from error
        except (KeyError, TypeError, IndexError) as error:
            raise RecordError(f"{path}, line {number}: not of a run: {error} is missing") from error
    if chain is None or not (rows or sent):
        raise RecordError(f"{path}: nothing of an arm is on record there")
    began = min([row[0] for row in rows] + [one.t for one in sent])
    return Run(
        chain,
        np.array([row[0] for row in rows]) - began,
        np.array([row[1] for row in rows]).reshape(-1, chain.n),
        np.array([row[2] for row in rows]).reshape(-1, chain.n),
        [Sent(t - began, None if start is None else start - began, what) for t, start, what in sent],
        [(t - began, outcome, message) for t, outcome, message in events],
        [(t - began, positions) for t, positions in goals],
    )


def _trajectory(line: dict[str, Any], chain: Chain) -> Trajectory:
    order = [line["names"].index(name) for name in chain.joint_names]

    def table(what: str) -> Array | None:
        return None if line[what] is None else np.array(line[what], dtype=float)[:, order]

    positions = table("positions")
    assert positions is not None
    return Trajectory(
        chain.joint_names, np.array(line["times"]), positions, table("velocities"), table("accelerations")
    )
