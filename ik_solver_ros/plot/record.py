"""A run on record: what was sent to an arm and what it was measured to do, one JSON object a line.

    {"kind": "robot", "urdf": "<robot ...", "base_link": "base", "tip_link": "tool", "tool_axis": [0, 0, 1]}
    {"kind": "state", "t": 12.5, "names": [...], "position": [...], "velocity": [...]}
    {"kind": "trajectory", "t": 12.5, "start": 12.52, "names": [...], "times": [...], "positions": [[...]], ...}
    {"kind": "event", "t": 12.5, "source": "ik_node", "outcome": "REACHED", "message": "..."}

Times are seconds of one clock. A line that was cut off, as by a kill, is left out.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np

from ik_solver_ros.errors import RecordError
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.kernels import Array
from ik_solver_ros.kinematics.load import load_chain
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

    def trajectory(self, t: float, start: float, trajectory: Trajectory) -> None:
        """A trajectory that was sent at `t` and begins at `start`."""
        table = {
            what: None if getattr(trajectory, what) is None else getattr(trajectory, what).tolist()
            for what in ("times", "positions", "velocities", "accelerations")
        }
        self._write(kind="trajectory", t=t, start=start, names=list(trajectory.joint_names), **table)

    def event(self, t: float, source: str, outcome: str, message: str) -> None:
        """What a node said of a goal or of a trajectory."""
        self._write(kind="event", t=t, source=source, outcome=outcome, message=message)

    def _write(self, **line: Any) -> None:
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()
        self.lines += 1


@dataclass(frozen=True, eq=False)
class Sent:
    """A trajectory and when it begins [s]."""

    start: float
    trajectory: Trajectory  # of the chain's joints, in their order


@dataclass(frozen=True, eq=False)
class Run:
    """A run, read back. Times are seconds from its beginning."""

    chain: Chain
    times: Array  # (m,) of the measurements
    positions: Array  # (m, n) measured
    velocities: Array  # (m, n) measured, nan where they were not
    sent: list[Sent] = field(default_factory=list)
    events: list[tuple[float, str, str]] = field(default_factory=list)  # when, outcome, message

    def commanded(self, times: Array) -> State:
        """What the joints were told to do at `times` (k,): each trajectory until the next one begins, (k, n) each.

        nan before the first.
        """
        out = State(*(np.full((len(times), self.chain.n), np.nan) for _ in range(3)))
        first = self.positions[0] if len(self.positions) else self.chain.mid
        origin = State.at_rest(first)
        for i, sent in enumerate(self.sent):
            until = self.sent[i + 1].start if i + 1 < len(self.sent) else np.inf
            now = (times >= sent.start) & (times < until)
            for column, part in zip(out, sent.trajectory.states(times[now] - sent.start, origin)):
                column[now] = part
            if np.isfinite(until):
                origin = sent.trajectory.state(until - sent.start, origin)
        return out


def load_run(path: Path) -> Run:
    """Read a run. Raises RecordError for what is none, naming the line, and OSError."""
    chain: Chain | None = None
    rows: list[tuple[float, list[float], list[float]]] = []
    sent: list[Sent] = []
    events: list[tuple[float, str, str]] = []
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
                    sent.append(Sent(line["start"], _trajectory(line, chain)))
            elif line["kind"] == "event":
                events.append((line["t"], line["outcome"], line["message"]))
        except json.JSONDecodeError as error:
            if number < len(lines):
                raise RecordError(f"{path}, line {number}: not JSON ({error}); is this the record of a run?") from error
        except (KeyError, TypeError, IndexError) as error:
            raise RecordError(f"{path}, line {number}: not of a run: {error} is missing") from error
    if chain is None or not (rows or sent):
        raise RecordError(f"{path}: nothing of an arm is on record there")
    began = min([row[0] for row in rows] + [one.start for one in sent])
    return Run(
        chain,
        np.array([row[0] for row in rows]) - began,
        np.array([row[1] for row in rows]).reshape(-1, chain.n),
        np.array([row[2] for row in rows]).reshape(-1, chain.n),
        sorted((Sent(one.start - began, one.trajectory) for one in sent), key=lambda one: one.start),
        [(t - began, outcome, message) for t, outcome, message in events],
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
