"""ServoFaults: what is wrong with servos that are led, in words, and what is to be done about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ik_solver_ros.arm.servos import Sample
from ik_solver_ros.control.servo_watch import SilenceWatch, TrackingWatch, TroubleWatch, mask, worded
from ik_solver_ros.errors import listed
from ik_solver_ros.kinematics.arrays import Array, Flags

ASK = "call ~/enable_torque with data true"


class Event(NamedTuple):
    """Something to tell people."""

    serious: bool
    text: str


class Verdict(NamedTuple):
    """What a look has found."""

    events: list[Event]
    hold: bool  # all joints are to come to rest
    give_way: Flags  # (n,) [bool] joints that are to rest where they are measured
    answering: Flags  # (n,) [bool] joints whose servos were silent and answer again


class ServoFaults:
    """Silence passes by itself; whatever else is wrong stays a fault until somebody has asked for the torque."""

    def __init__(self, joint_names: Sequence[str], tolerance: Array) -> None:
        """tolerance: (n,) [rad or m] that a joint may be away from where it was led in the last moments."""
        self._joint_names = joint_names
        self._silence = SilenceWatch(joint_names)
        self.tracking = TrackingWatch(tolerance)
        self.clear()

    @property
    def text(self) -> str:
        """Why no trajectory is taken; empty where they are."""
        return self._latched or self._silent

    def clear(self) -> None:
        """Somebody has seen to it."""
        self._latched = self._silent = ""
        self._missing: set[str] = set()  # joints whose servos have not answered since the others were told to hold
        self._told: set[tuple[str, str]] = set()  # troubles and joints
        self._troubles = TroubleWatch()
        self.tracking.reset()

    def reconnected(self, now: float) -> None:
        """All servos have just answered."""
        self._silent, self._missing = "", set()
        self._silence.reset(now)
        self.tracking.reset()

    def look(self, fresh: Mapping[str, Sample], positions: Array, now: float, led: bool) -> Verdict:
        """Look at the samples of this cycle, and where the joints are measured, (n,). led: whether they are."""
        events: list[Event] = []
        silent = self._silence.silent(fresh, now)
        hold, answering = False, mask(self._joint_names, ())
        self._missing |= set(silent)
        if silent and not self._silent:
            self._silent = f"servos do not answer: {listed(silent)}; the others hold"
            events.append(Event(True, self._silent))
            hold = True
        elif not silent and self._silent:
            answering = mask(self._joint_names, self._missing)
            self._silent, self._missing = "", set()
            events.append(Event(False, "all servos answer again"))
        give_way = np.zeros(len(self._joint_names), dtype=bool)
        if led:
            events += (found := self._troubled(fresh, give_way))
            hold = hold or bool(found)
            # What has a fault is named for that, which it says twice, and is why it is not where it was led.
            obedient = [name for name, sample in fresh.items() if sample.obeys and not sample.stopping]
            behind = self.tracking.behind(positions) & mask(self._joint_names, obedient)
            names = [name for name, one in zip(self._joint_names, behind) if one]
            if any(("behind", name) not in self._told for name in names):
                self._told |= {("behind", name) for name in names}
                events.append(self._latch(f"held up on the way, or pushed: {listed(names)}; held where it is"))
            give_way |= behind
        return Verdict(events, hold, give_way, answering)

    def _troubled(self, fresh: Mapping[str, Sample], give_way: Flags) -> list[Event]:
        """Tell of troubles that are new; joints whose servos overload or have another fault give way."""
        events = []
        for what, joints in self._troubles.troubles(fresh).items():
            new = {name: words for name, words in joints.items() if (what, name) not in self._told}
            if not new:
                continue
            self._told |= {(what, name) for name in new}
            if what == "torque":
                events.append(self._latch(f"torque lost: {listed(new)} (a loss of power, or an overload)"))
            elif what == "goal":
                events.append(self._latch(f"goals from elsewhere: {worded(new)}; restarted, or another program writes"))
            else:
                events.append(self._latch(f"{worded(new)}; held where it is"))
                give_way |= mask(self._joint_names, new)
        return events

    def _latch(self, text: str) -> Event:
        self._latched = f"{self._latched.removesuffix(ASK)}{text}; {ASK}"
        return Event(True, f"{text}; {ASK}")
