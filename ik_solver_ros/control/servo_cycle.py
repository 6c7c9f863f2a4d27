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
from ik_solver_ros.control.follower import Ending
from ik_solver_ros.control.follower_group import FollowerGroup, Followers
from ik_solver_ros.control.reading_gate import ReadingGate
from ik_solver_ros.control.servo_watch import SilenceWatch, without_torque
from ik_solver_ros.control.stall_clock import StallClock
from ik_solver_ros.control.tolerances import Tolerances
from ik_solver_ros.errors import ArmError, BusError, TrajectoryError, listed
from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.trajectory.trajectory import State, Trajectory

RETRY_FIRST, RETRY_LAST = 0.02, 0.15  # [s] between tries to open a port that is gone
PARK_SPEED = 0.3  # of the velocity limits
REST_PERIOD = 0.005  # [s] between setpoints on the way to rest, at the end


class Event(NamedTuple):
    """Something to tell people."""

    serious: bool
    text: str


class ServoCycle:
    """Leads servos, by the rules of docs/servos.md."""

    def __init__(self, arm: ServoArm, make_followers: Callable[[Array], Followers]) -> None:
        """make_followers: of joints measured at positions (n,)."""
        self.arm = arm
        self.connected = False
        self.enabled = False  # whether the torque is on, and shall be
        self.stopped = False  # by the emergency stop
        self.fault = ""  # why no trajectory is taken; empty where they are
        self.samples: dict[str, Sample] = {}  # the last plausible one of each joint
        self._make_followers = make_followers
        self._followers = FollowerGroup({})
        self._events: list[Event] = []
        self._endings: list[tuple[str, Ending]] = []
        self._connections = 0
        self._try_at, self._wait = 0.0, RETRY_FIRST
        self._silence_is_fault = False
        self._clock = StallClock(lambda at: self._followers.moving(at))
        self._gate = ReadingGate(arm.calibration.family.fastest)
        self._silence = SilenceWatch(arm.joint_names)

    @property
    def reconnects(self) -> int:
        """How often the arm was lost, and found again."""
        return max(self._connections - 1, 0)

    def events(self) -> list[Event]:
        """What happened since the last call."""
        out, self._events = self._events, []
        return out

    def endings(self) -> list[tuple[str, Ending]]:
        """How trajectories ended since the last call, by controller."""
        out, self._endings = self._endings + self._followers.endings(), []
        return out

    def connect(self, now: float) -> None:
        """Open the arm, for the first time or again. Raises ArmError and BusError."""
        self.arm.open()
        self.samples = self.arm.samples()
        self._connections += 1
        self.connected, self._wait = True, RETRY_FIRST
        self._clock.reset(now)
        self._gate.reset(self.samples, now)
        self._silence.reset(now)
        self._reset_followers(self._measured())
        if self.enabled and without_torque(self.samples):
            self._lose_torque(without_torque(self.samples))
        self._events.append(Event(False, f"connected: {self.arm.name}"))

    def step(self, now: float) -> Reading | None:
        """One cycle: what was measured, or None while there is nothing to be measured."""
        if not self.connected and not self._reconnected(now):
            return None
        at = self._clock.advance(now)
        try:
            fresh = self._gate.plausible(self.arm.samples(), now)
            self.samples = {**self.samples, **fresh}
            reading = self.arm.reading(fresh)
            self._watch(fresh, reading.positions, now)
            if self.enabled:
                self._write_setpoints(at)
                self._followers.supervise(at, reading.positions, reading.velocities)
        except BusError as error:
            self._lose_port(error)
            return None
        return reading

    def accept(
        self,
        controller: str,
        trajectory: Trajectory,
        now: float,
        start: float | None,
        tolerances: Tolerances | None = None,
    ) -> int:
        """Hand a trajectory to a follower, for its number. Raises TrajectoryError where that cannot be."""
        if not self.connected:
            raise TrajectoryError("the servos are away")
        if self.stopped:
            raise TrajectoryError("the emergency stop is on; release it: ~/emergency_stop with data false")
        if self.fault:
            raise TrajectoryError(self.fault)
        if not self.enabled:
            raise TrajectoryError("the torque is off; call ~/enable_torque with data true")
        return self._followers.accept(controller, trajectory, self._clock.at(now), start, tolerances)

    def setpoint(self, controller: str, now: float) -> State:
        """Where a controller's joints are led at `now`; where they were measured last while the servos are away."""
        return self._followers.setpoint(controller, self._clock.at(now))

    def hold(self, now: float, controller: str = "") -> None:
        """Come to rest as soon as the limits allow; all joints, whoever's, as half of an arm that holds is none."""
        self._followers.hold(self._clock.at(now))

    def enable(self) -> None:
        """Bring the torque on, where the joints are. Raises ArmError and BusError."""
        if not self.connected:
            raise ArmError("the servos are away")
        if self.stopped:
            raise ArmError("the emergency stop is on; release it first: ~/emergency_stop with data false")
        try:
            self.arm.enable()
            self._reset_followers(self.arm.read().positions)
        except (ArmError, BusError):
            self.enabled = False
            raise
        self.enabled = True
        self._clear_fault()

    def release(self) -> None:
        """Take the torque off. Raises BusError."""
        self.enabled = False
        if self.connected:
            self.arm.release()

    def emergency_stop(self, on: bool) -> None:
        """Stop where the joints are, at once, and take nothing more until it is released; which moves nothing."""
        self.stopped = on
        if not self.connected:
            return
        here = self._measured()
        self._reset_followers(here)
        if on and self.enabled:
            self.arm.write(here, np.zeros(len(here)))

    def end(self, how: str, park: Mapping[str, float]) -> None:
        """Leave the arm: "hold" it where it is, "park" these joints and let it go, or "release" it at once.

        Raises ArmError and BusError.
        """
        behind = time.monotonic() - self._clock.now  # our time may be simulated, and stand still by now

        def clock() -> float:
            return time.monotonic() - behind

        try:
            if not self.connected:
                return
            if self.enabled and not self.stopped:
                self._followers.hold(clock())
                self._lead_until_rest(clock)
                if how == "park":
                    self._followers.go_to(park, clock(), PARK_SPEED)
                    self._lead_until_rest(clock)
            if how in ("park", "release"):
                self.release()
        finally:
            self.arm.close()

    def _lead_until_rest(self, clock: Callable[[], float]) -> None:
        while self._followers.moving(clock()):
            self._write_setpoints(clock())
            time.sleep(REST_PERIOD)
        self._write_setpoints(clock())

    def _write_setpoints(self, at: float) -> None:
        self.arm.write(*self._followers.advance(at))

    def _measured(self) -> Array:
        return self.arm.reading(self.samples).positions

    def _reset_followers(self, positions: Array) -> None:
        """What was followed is not followed any more; the joints hold at these positions."""
        self._followers.abandon()
        self._endings += self._followers.endings()
        self._followers = FollowerGroup(self._make_followers(positions))

    # Faults

    def _reconnected(self, now: float) -> bool:
        if now < self._try_at:
            return False
        try:
            self.connect(now)
        except (ArmError, BusError) as error:
            self._try_at, self._wait = now + self._wait, min(2.0 * self._wait, RETRY_LAST)
            if not self._connections:
                self._events.append(Event(True, str(error)))
            return False
        return True

    def _lose_port(self, error: BusError) -> None:
        self.connected = False
        self._reset_followers(self._measured())
        self.arm.close()
        self._try_at, self._wait = 0.0, RETRY_FIRST
        self._events.append(Event(True, f"{error}; the trajectory is dropped, and the port is tried again"))

    def _watch(self, fresh: dict[str, Sample], positions: Array, now: float) -> None:
        """Look for servos that are silent, or have lost their torque."""
        silent, lost = self._silence.silent(fresh, now), without_torque(fresh)
        if self.enabled and lost:
            self._lose_torque(lost)
        if silent and not self.fault:
            self._set_fault(f"servos do not answer: {listed(silent)}; the others hold", silence=True)
            self.hold(now)
        elif not silent and self._silence_is_fault:
            self._clear_fault()
            self._events.append(Event(False, "all servos answer again"))
            self._reset_followers(positions)
        if not self.enabled:
            self._reset_followers(positions)  # the arm may be moved by hand

    def _lose_torque(self, joints: list[str]) -> None:
        self.enabled = False
        self._set_fault(
            f"torque lost: {listed(joints)} (a loss of power, or an overload); call ~/enable_torque with data true"
        )

    def _set_fault(self, text: str, *, silence: bool = False) -> None:
        self.fault, self._silence_is_fault = text, silence
        self._events.append(Event(True, text))

    def _clear_fault(self) -> None:
        self.fault, self._silence_is_fault = "", False
