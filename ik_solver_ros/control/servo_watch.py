"""What is watched of servos: whether they answer, and whether they have their torque."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ik_solver_ros.arm.servos import Sample

SILENT_AFTER = 0.1  # [s] without a reply a servo counts as silent...
SILENT_CYCLES = 3  # ...if it was asked as often in that time: when this computer stalls, nobody is


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


def without_torque(samples: Mapping[str, Sample]) -> list[str]:
    """The joints whose servos tell that their torque is off."""
    return [name for name, sample in samples.items() if not sample.torque]
