"""What is watched of servos: whether they answer, have their torque and their goals, and are where they are led."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ik_solver_ros.arm.servos import Sample
from ik_solver_ros.kinematics.arrays import Array, Flags

SILENT_AFTER = 0.1  # [s] without a reply a servo counts as silent...
SILENT_CYCLES = 3  # ...if it was asked as often in that time: when this computer stalls, nobody is
TWICE = 2  # samples in a row that must say so: one reply may be damaged, and its check be right all the same
FORGOTTEN = 500  # samples after which a fault is: an STS clears its overload with each new goal, and has it again later
LAG = 0.11  # [s] that a servo may be late: an STS3215 is by 0.06 to 0.12, as several people measured
OFF = 0.08  # [rad] of a servo's turn that it may be away from all that; it sags by 0.02 to 0.05

GRACE = 0.2  # [s] for which it is let come to where it begins to be led


class SilenceWatch:
    """Remembers when each joint's servo answered last, and how often it has not since."""

    def __init__(self, joint_names: Sequence[str]) -> None:
        self._joint_names = joint_names
        self._answered: dict[str, float] = {}
        self._missed: dict[str, int] = {}

    def reset(self, now: float) -> None:
        """All have answered."""
        self._answered = dict.fromkeys(self._joint_names, now)
        self._missed = dict.fromkeys(self._joint_names, 0)

    def silent(self, samples: Mapping[str, Sample], now: float) -> list[str]:
        """The joints that are silent at `now`, when these samples came."""
        for name in self._joint_names:
            if name in samples:
                self._answered[name], self._missed[name] = now, 0
            else:
                self._missed[name] += 1
        return [
            name
            for name in self._joint_names
            if self._missed[name] >= SILENT_CYCLES and now - self._answered[name] > SILENT_AFTER
        ]


class TroubleWatch:
    """What servos say of themselves, twice in a row: that they have no torque, goals of somebody else's, or a fault."""

    def __init__(self) -> None:
        self._said: dict[tuple[str, str], int] = {}  # how often, by joint and trouble...
        self._not_since: dict[tuple[str, str], int] = {}  # ...and for how many samples not

    def troubles(self, samples: Mapping[str, Sample]) -> dict[str, dict[str, str]]:
        """By trouble and joint, a few words: "torque" is lost, "goal" is not from here, a "fault"."""
        out: dict[str, dict[str, str]] = {"torque": {}, "goal": {}, "fault": {}}
        for name, sample in samples.items():
            found = {}
            if not sample.torque:
                found["torque"] = "no torque"
            elif not sample.obeys:
                found["goal"] = f"goal {sample.goal}"
            if sample.stopping:
                found["fault"] = ", ".join(sample.stopping)
            for what, joints in out.items():
                key, patience = (name, what), FORGOTTEN if what == "fault" else 1
                self._not_since[key] = 0 if what in found else self._not_since.get(key, 0) + 1
                if self._not_since[key] >= patience:
                    self._said[key] = 0
                elif what in found:
                    self._said[key] = self._said.get(key, 0) + 1
                    if self._said[key] >= TWICE:
                        joints[name] = found[what]
        return out


class TrackingWatch:
    """Whether joints are where they were led in the last moments."""

    def __init__(self, tolerance: Array) -> None:
        """tolerance: (n,) [rad or m] that a joint may be off all that."""
        self._tolerance = tolerance
        self._led: deque[tuple[float, Array]] = deque()  # when and where, nan for joints that began anew since
        self._began = np.full(len(tolerance), np.nan)  # when each joint was led first since then

    def reset(self, joints: Flags | slice = slice(None)) -> None:
        """Forget where these joints (n,) [bool] were led, or all: they begin anew."""
        for _, where in self._led:
            where[joints] = np.nan
        self._began[joints] = np.nan

    def lead(self, now: float, positions: Array) -> None:
        """Remember that the joints were led to `positions` (n,)."""
        before = self._led[-1][0] if self._led else now
        while len(self._led) > 1 and self._led[1][0] <= before - LAG:  # and as much earlier as the last cycle took
            self._led.popleft()
        self._led.append((now, positions.copy()))
        self._began = np.where(np.isnan(self._began), now, self._began)

    def behind(self, positions: Array) -> Flags:
        """Which of the joints, measured at `positions` (n,), are away from where they were led: (n,) [bool]."""
        if not self._led:
            return np.zeros(len(positions), dtype=bool)
        led = np.array([where for _, where in self._led])
        away = np.maximum(np.fmin.reduce(led) - positions, positions - np.fmax.reduce(led))
        return np.asarray((away > self._tolerance) & (self._led[-1][0] - self._began >= GRACE))


def worded(joints: Mapping[str, str]) -> str:
    """Joints with a few words each."""
    return "; ".join(f"{name} ({words})" for name, words in joints.items())


def mask(joint_names: Sequence[str], chosen: Iterable[str]) -> Flags:
    """Which of the joints are chosen: (n,) [bool]."""
    names = set(chosen)
    return np.array([name in names for name in joint_names])
