"""ServoCycle: what is done with the servos again and again: measure, look for faults, lead the joints.

Whatever goes wrong, the arm does not jump: trajectories are dropped while hardware is away or at fault, followers begin
anew where the joints are measured to be, and torque that was lost comes back only when somebody asks for it. Pure of
ROS; time [s, of one steady clock] is passed in, but for `end`, which takes its own until the arm rests.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from ik_solver_ros.arm.base import Reading
from ik_solver_ros.arm.servos import Sample, ServoArm
from ik_solver_ros.control.follower import Ending, TrajectoryFollower
from ik_solver_ros.control.tolerances import Tolerances
from ik_solver_ros.errors import ArmError, BusError, TrajectoryError, listed
from ik_solver_ros.kinematics.kernels import Array
from ik_solver_ros.trajectory.plan import plan
from ik_solver_ros.trajectory.trajectory import State, Trajectory

RETRY_FIRST, RETRY_LAST = 0.02, 0.15  # [s] between tries to open a port that is gone
SILENT_AFTER = 0.1  # [s] without a reply a servo counts as silent
GATE_TICKS = 40  # by which a reading may be off, and by what the servo can turn meanwhile
PARK_SPEED = 0.3  # share of the velocity limits
PERIOD = 0.01  # [s] that a cycle may always need
STALL = 3.0  # times as long as usual
GATE_TRIES = 3  # readings that agree with each other are believed in the end

Followers = Mapping[str, tuple[TrajectoryFollower, list[int]]]  # and which of the arm's joints they lead


class Told(NamedTuple):
    """Something to tell people."""

    serious: bool
    text: str


class ServoCycle:
    """Leads servos. `followers` are None while there is nothing to lead."""

    def __init__(self, arm: ServoArm, make_followers: Callable[[Array], Followers]) -> None:
        """make_followers: of joints measured at positions (n,)."""
        self.arm = arm
        self.followers: Followers | None = None
        self.enabled = False  # whether the torque is on, and shall be
        self.stopped = False  # by the emergency stop
        self.fault = ""  # why no trajectory is taken; empty where they are
        self.samples: dict[str, Sample] = {}
        self.reconnects = 0
        self._make = make_followers
        self._told: list[Told] = []
        self._endings: list[tuple[str, Ending]] = []
        self._connected = False
        self._now = self._late = 0.0  # the followers' time of the last cycle, and how late that was
        self._usual = PERIOD  # [s] that a cycle takes
        self._try_at, self._wait = 0.0, RETRY_FIRST
        self._believed: dict[str, tuple[float, int]] = {}  # when, and how many ticks, by joint
        self._doubted: dict[str, list[int]] = {}
        self._heard: dict[str, float] = {}  # when each joint's servo answered last

    def told(self) -> list[Told]:
        """What there is to tell since the last call."""
        out, self._told = self._told, []
        return out

    def connect(self, now: float) -> None:
        """Open the arm, for the first time or again. Raises ArmError and BusError."""
        self.arm.open()
        samples = self.arm.samples()
        if self._connected:
            self.reconnects += 1
        self._connected, self._wait = True, RETRY_FIRST
        self._now, self._late = now, 0.0
        self._believed = {name: (now, sample.ticks) for name, sample in samples.items()}
        self._heard = dict.fromkeys(self.arm.joint_names, now)
        self._doubted = {}
        self.samples = samples
        self._begin_anew(self.arm.reading(samples).positions)
        if self.enabled and not all(sample.torque for sample in samples.values()):
            self._lose_torque(samples)
        self._told.append(Told(False, f"connected: {self.arm.name}"))

    def step(self, now: float) -> Reading | None:
        """One cycle: what was measured, or None while there is nothing to be measured."""
        if self.followers is None and not self._reconnected(now):
            return None
        self._go_on(now)
        try:
            fresh = self._gated(self.arm.samples(), now)
            self.samples = {**self.samples, **fresh}
            reading = self.arm.reading(fresh)
            self._watch(fresh, reading.positions, now)
            if self.enabled and self.followers is not None:
                self._lead(self._now)
                for follower, index in self.followers.values():
                    follower.supervise(self._now, reading.positions[index], reading.velocities[index])
        except BusError as error:
            self._drop(f"{error}; the trajectory is dropped, and the port is tried again")
            return None
        return reading

    def endings(self) -> list[tuple[str, Ending]]:
        """How trajectories ended since the last call, by controller."""
        for controller, (follower, _) in (self.followers or {}).items():
            self._endings.extend((controller, ending) for ending in follower.endings())
        out, self._endings = self._endings, []
        return out

    def accept(
        self,
        controller: str,
        trajectory: Trajectory,
        now: float,
        start: float | None,
        tolerances: Tolerances | None = None,
    ) -> int:
        """Hand a trajectory to a follower, for its number. Raises TrajectoryError where that cannot be."""
        if self.followers is None:
            raise TrajectoryError("the servos are away")
        if self.stopped:
            raise TrajectoryError("the emergency stop is on; release it: ~/emergency_stop with data false")
        if self.fault:
            raise TrajectoryError(self.fault)
        if not self.enabled:
            raise TrajectoryError("the torque is off; call ~/enable_torque with data true")
        return self.followers[controller][0].accept(trajectory, self._follow_time(now), start, tolerances)

    def desired(self, controller: str, now: float) -> State:
        """Where a controller's joints are led at `now`; where they are while there is nothing to lead."""
        if self.followers is not None:
            return self.followers[controller][0].desired(self._follow_time(now))
        return State.at_rest(self._here())

    def hold(self, now: float) -> None:
        """Come to rest as soon as the limits allow."""
        for follower, _ in (self.followers or {}).values():
            follower.hold(self._follow_time(now))

    def enable(self) -> None:
        """Bring the torque on, where the joints are. Raises ArmError and BusError."""
        if self.followers is None:
            raise ArmError("the servos are away")
        if self.stopped:
            raise ArmError("the emergency stop is on; release it first: ~/emergency_stop with data false")
        try:
            self.arm.enable()
            self._begin_anew(self.arm.read().positions)
        except (ArmError, BusError):
            self.enabled = False
            raise
        self.enabled, self.fault = True, ""

    def release(self) -> None:
        """Take the torque off. Raises BusError."""
        self.enabled = False
        if self.followers is not None:
            self.arm.release()

    def emergency_stop(self, on: bool) -> None:
        """Stop where the joints are, at once, and take nothing more until it is released; which moves nothing."""
        self.stopped = on
        if self.followers is None:
            return
        here = self._here()
        self._begin_anew(here)
        if on and self.enabled:
            self.arm.write(here, np.zeros(len(here)))

    def end(self, how: str, park: Mapping[str, float]) -> None:
        """Leave the arm: "hold" it where it is, "park" these joints and let it go, or "release" it at once.

        Raises ArmError and BusError.
        """
        behind = time.monotonic() - self._now  # our time may be simulated, and stand still by now
        self._late = 0.0

        def clock() -> float:
            return time.monotonic() - behind

        try:
            if self.followers is None:
                return
            if self.enabled and not self.stopped:
                self.hold(clock())
                self._lead_until_rest(clock)
            if how == "park" and self.enabled and not self.stopped:
                for follower, _ in self.followers.values():
                    state = follower.desired(clock())
                    target = np.array([park.get(n, q) for n, q in zip(follower.joint_names, state.position)])
                    follower.accept(plan(state, target, follower.limits.scaled(PARK_SPEED)), clock())
                self._lead_until_rest(clock)
            if how in ("park", "release"):
                self.release()
        finally:
            self.arm.close()

    def _go_on(self, now: float) -> None:
        """Let the followers' time go on until `now`, but no farther than in some cycles.

        After a stall of a busy machine the motion is late, until it has come to rest, and does not jump to make up.
        """
        took = max(now - (self._now + self._late), 0.0)
        self._now = self._follow_time(now)
        self._late = now - self._now
        self._usual += 0.2 * (min(took, STALL * self._usual) - self._usual)

    def _follow_time(self, now: float) -> float:
        late = now - self._late
        if not any(follower.moving(late) for follower, _ in (self.followers or {}).values()):
            return now
        return min(late, self._now + STALL * max(self._usual, PERIOD))

    def _lead_until_rest(self, clock: Callable[[], float]) -> None:
        while any(follower.moving(clock()) for follower, _ in (self.followers or {}).values()):
            self._lead(clock())
            time.sleep(0.005)
        self._lead(clock())

    def _reconnected(self, now: float) -> bool:
        if now < self._try_at:
            return False
        try:
            self.connect(now)
        except (ArmError, BusError) as error:
            self._try_at, self._wait = now + self._wait, min(2.0 * self._wait, RETRY_LAST)
            if not self._connected:
                self._told.append(Told(True, str(error)))
            return False
        return True

    def _drop(self, why: str) -> None:
        self._give_up()
        self.followers = None
        self.arm.close()
        self._try_at, self._wait = 0.0, RETRY_FIRST
        self._told.append(Told(True, why))

    def _gated(self, samples: dict[str, Sample], now: float) -> dict[str, Sample]:
        """The samples that can be true: a servo goes no faster than it can."""
        out = {}
        for name, sample in samples.items():
            when, ticks = self._believed.get(name, (now, sample.ticks))
            most = GATE_TICKS + self.arm.calibration.family.fastest * (now - when)
            doubted = self._doubted.setdefault(name, [])
            if abs(sample.ticks - ticks) > most:
                doubted.append(sample.ticks)
                agree = len(doubted) >= GATE_TRIES and max(doubted[-GATE_TRIES:]) - min(doubted[-GATE_TRIES:]) <= most
                if not agree:
                    continue
            doubted.clear()
            self._believed[name] = (now, sample.ticks)
            out[name] = sample
        return out

    def _watch(self, fresh: dict[str, Sample], positions: Array, now: float) -> None:
        """Look for servos that are silent, have lost their torque, or complain."""
        for name in fresh:
            self._heard[name] = now
        silent = [name for name in self.arm.joint_names if now - self._heard[name] > SILENT_AFTER]
        lost = [name for name, sample in fresh.items() if not sample.torque]
        if self.enabled and lost:
            self._lose_torque(fresh)
        if silent and not self.fault:
            self.fault = f"servos do not answer: {listed(silent)}; the others hold"
            self._told.append(Told(True, self.fault))
            self.hold(now)
        elif not silent and self.fault.startswith("servos do not answer"):
            self.fault = ""
            self._told.append(Told(False, "all servos answer again"))
            self._begin_anew(positions)
        if not self.enabled:
            self._begin_anew(positions)  # the arm may be moved by hand

    def _lose_torque(self, samples: dict[str, Sample]) -> None:
        lost = [name for name, sample in samples.items() if not sample.torque]
        self.enabled = False
        self.fault = (
            f"torque lost: {listed(lost)} (a loss of power, or an overload); call ~/enable_torque with data true"
        )
        self._told.append(Told(True, self.fault))

    def _lead(self, now: float) -> None:
        assert self.followers is not None
        n = len(self.arm.joint_names)
        positions, velocities = np.full(n, np.nan), np.zeros(n)
        for follower, index in self.followers.values():
            state = follower.state(now)
            positions[index], velocities[index] = state.position, state.velocity
        self.arm.write(positions, velocities)

    def _here(self) -> Array:
        return self.arm.reading(self.samples).positions

    def _begin_anew(self, positions: Array) -> None:
        self._give_up()
        self.followers = self._make(positions)

    def _give_up(self) -> None:
        """What was followed is not followed any more."""
        for controller, (follower, _) in (self.followers or {}).items():
            follower.abandon()
            self._endings.extend((controller, ending) for ending in follower.endings())
