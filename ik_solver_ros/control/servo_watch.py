"""What is watched of servos: whether they answer, and whether they have their torque."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ik_solver_ros.arm.servos import Sample

SILENT_AFTER = 0.1  # [s] without a reply a servo counts as silent


class SilenceWatch:
    """Remembers when each joint's servo answered last."""

    def __init__(self, joint_names: Sequence[str]) -> None:
        self._joint_names = joint_names
        self._answered: dict[str, float] = {}

    def reset(self, now: float) -> None:
        """All have answered."""
        self._answered = dict.fromkeys(self._joint_names, now)

    def silent(self, samples: Mapping[str, Sample], now: float) -> list[str]:
        """The joints that are silent at `now`, when these samples came."""
        self._answered.update(dict.fromkeys(samples, now))
        return [name for name in self._joint_names if now - self._answered[name] > SILENT_AFTER]


def without_torque(samples: Mapping[str, Sample]) -> list[str]:
    """The joints whose servos tell that their torque is off."""
    return [name for name, sample in samples.items() if not sample.torque]
