"""ReadingGate: readings that cannot be true, because no servo turns that fast, are kept out."""

from __future__ import annotations

from collections.abc import Mapping

from ik_solver_ros.arm.servos import Sample

SLACK_TICKS = 40  # that a true reading may be off, besides what the servo can turn meanwhile
AGREEING = 3  # readings that agree with each other are believed in the end


class ReadingGate:
    """Compares every servo's reading with the last one that was believed."""

    def __init__(self, fastest: float) -> None:
        """fastest: [ticks/s] that a servo can turn."""
        self._fastest = fastest
        self._believed: dict[str, tuple[float, int | None]] = {}  # when, and how many ticks, by joint
        self._doubted: dict[str, list[int]] = {}

    def reset(self) -> None:
        """Believe nothing: the first readings of a servo must agree with each other."""
        self._believed = {}
        self._doubted = {}

    def plausible(self, samples: Mapping[str, Sample], now: float) -> dict[str, Sample]:
        """Those of the samples, by joint, that can be true."""
        return {name: sample for name, sample in samples.items() if self._believes(name, sample.ticks, now)}

    def _believes(self, name: str, ticks: int, now: float) -> bool:
        when, before = self._believed.get(name, (now, None))
        most = SLACK_TICKS + self._fastest * (now - when)
        doubted = self._doubted.setdefault(name, [])
        if before is None or abs(ticks - before) > most:
            doubted.append(ticks)
            last = doubted[-AGREEING:]
            if len(last) < AGREEING or max(last) - min(last) > most:
                return False
        doubted.clear()
        self._believed[name] = now, ticks
        return True
