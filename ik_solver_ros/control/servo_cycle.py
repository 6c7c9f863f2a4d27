"""ServoCycle: what is done with the servos again and again: measure, look for faults, lead the joints.

Whatever goes wrong, the arm does not jump: trajectories are dropped while hardware is away or at fault, followers begin
anew at what the servos hold, and torque that was lost comes back only when somebody asks for it. Pure of ROS; time
[s, of one steady clock] is passed in, but for `end`, which takes its own until the arm rests.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import numpy as np

from ik_solver_ros.arm.base import Reading
from ik_solver_ros.arm.servos import Sample, ServoArm
from ik_solver_ros.control.beginning import first_samples, held_positions
from ik_solver_ros.control.follower import Ending
from ik_solver_ros.control.follower_group import FollowerGroup, Followers
from ik_solver_ros.control.reading_gate import ReadingGate
from ik_solver_ros.control.servo_faults import Event, ServoFaults
from ik_solver_ros.control.servo_watch import OFF, mask
from ik_solver_ros.control.settling import Settling
from ik_solver_ros.control.speed_guard import SpeedGuard
from ik_solver_ros.control.stall_clock import StallClock
from ik_solver_ros.control.tolerances import Tolerances
from ik_solver_ros.errors import ArmError, BusError, TrajectoryError
from ik_solver_ros.kinematics.arrays import Array, Flags
from ik_solver_ros.trajectory.trajectory import State, Trajectory

RETRY_FIRST, RETRY_LAST = 0.02, 0.15  # [s] between tries to open a port that is gone
PARK_SPEED = 0.3  # of the velocity limits
REST_PERIOD = 0.005  # [s] between setpoints on the way to rest, at the end
GIVEN_UP_AFTER = 0.5  # [s] without an answer from any servo, then

Clock = Callable[[], float]  # [s]


class ServoCycle:
    """Leads servos, by the rules of docs/servos.md."""

    def __init__(
        self,
        arm: ServoArm,
        make_followers: Callable[[Array], Followers],
        *,
        tracking_tolerance: float = OFF,
        settle: float = 0.0,
    ) -> None:
        """make_followers: of joints measured at positions (n,).

        tracking_tolerance: [rad] of a servo's turn that it may be away from where it was led; settle: by which a goal
        may be trimmed at rest, 0: by nothing.
        """
        self.arm = arm
        self.connected = False
        self.enabled = False  # whether torque was asked for, and goals are written to those servos that have it
        self.stopped = False  # by the emergency stop
        self.samples: dict[str, Sample] = {}  # the last plausible one of each joint
        self._make_followers = make_followers
        self._followers = FollowerGroup({})
        self._events: list[Event] = []
        self._endings: list[tuple[str, Ending]] = []
        self._connections = 0
        self._try_at, self._wait = 0.0, RETRY_FIRST
        self._clock = StallClock(lambda at: self._followers.moving(at))
        family = arm.calibration.family
        self._gate, self._guard = ReadingGate(family.fastest), SpeedGuard()
        per_tick = np.array([joint.per_tick for joint in arm.calibration.joints])
        self._faults = ServoFaults(arm.joint_names, tracking_tolerance / family.per_tick * per_tick)
        self._settling = Settling(settle, family.per_tick, per_tick)

    @property
    def fault(self) -> str:
        """Why no trajectory is taken; empty where they are."""
        return self._faults.text

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
        self.samples = first_samples(self.arm, self._gate, now)
        self._connections += 1
        self.connected, self._wait = True, RETRY_FIRST
        self._clock.reset(now)
        self._faults.reconnected(now)
        self._reset_followers(self._held())
        self._events.append(Event(False, f"connected: {self.arm.name}"))

    def step(self, clock: Clock) -> Reading | None:
        """One cycle by the caller's clock: what was measured, or None while there is nothing to be measured."""
        now = clock()
        if not self.connected and not self._reconnected(now):
            return None
        try:
            fresh = self._gate.plausible(self.arm.samples(), now)
            self.samples = {**self.samples, **fresh}
            reading = self.arm.reading(fresh)
            self._watch(fresh, reading.positions, now)
            if self.enabled and fresh:  # else the motion waits
                self._lead(clock, reading, fresh)
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
        """Bring the torque on, where the joints are. Raises ArmError naming the servos that refuse, and BusError."""
        if not self.connected:
            raise ArmError("the servos are away")
        if self.stopped:
            raise ArmError("the emergency stop is on; release it first: ~/emergency_stop with data false")
        held = self.arm.enable(self._followers.fastest)
        self._reset_followers(held)
        self._faults.clear()
        self.enabled = True

    def release(self) -> None:
        """Take the torque off. Raises ArmError where some of it may still be on, and BusError."""
        self.enabled = False
        if not self.connected:
            raise ArmError("the servos are away: their torque stays as it is; ask again when they are back")
        self.arm.release()

    def emergency_stop(self, on: bool) -> None:
        """Stop where the joints are, at once, and take nothing more until it is released; which moves nothing."""
        begins = on and not self.stopped
        self.stopped = on
        if not (begins and self.connected):
            return
        # What is at rest holds its goal: the measured position is lower, and the next would be lower still.
        here = self._measured() if self._followers.moving(self._clock.now) else self._held()
        self._reset_followers(here)
        if self.enabled:
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
                self._followers.hold(self._clock.at(clock()))
                self._lead_until_rest(clock)
                if how == "park" and not self.fault:
                    self._followers.go_to(park, self._clock.at(clock()), PARK_SPEED)
                    self._lead_until_rest(clock)
            if how in ("park", "release"):
                self.release()
        finally:
            self.arm.close()

    def _lead_until_rest(self, clock: Clock) -> None:
        last, gone_on = self._clock.now, time.monotonic()
        while self.connected and self._followers.moving(self._clock.at(clock())):
            self.step(clock)
            if self._clock.now > last:
                last, gone_on = self._clock.now, time.monotonic()
            elif time.monotonic() - gone_on > GIVEN_UP_AFTER:
                return
            time.sleep(REST_PERIOD)
        if self.connected:
            self.step(clock)

    def _lead(self, clock: Clock, reading: Reading, fresh: dict[str, Sample]) -> None:
        """Write where the joints are to be now, which is some replies later than the cycle began."""
        before = self._clock.now
        at = self._clock.advance(clock())
        positions, velocities = self._followers.advance(at)
        if not self.fault:
            moving = self._followers.moving(at)
            self._settling.advance(at - before, moving, positions - reading.positions)
        answering = mask(self.arm.joint_names, fresh)
        farthest = self._followers.fastest * (at - before)
        led = self._guard.no_faster(positions + self._settling.trim, farthest, answering)
        self.arm.write(led, velocities)
        self._faults.tracking.lead(at, led)
        self._followers.supervise(at, reading.positions, reading.velocities)

    def _measured(self) -> Array:
        return self.arm.reading(self.samples).positions

    def _held(self) -> Array:
        return held_positions(self.arm, self.samples)

    def _reset_followers(self, positions: Array) -> None:
        """What was followed is not followed any more; the joints hold at these positions."""
        self._followers.abandon()
        self._endings += self._followers.endings()
        self._followers = FollowerGroup(self._make_followers(positions))
        self._guard.reset()
        self._settling.reset()
        self._faults.tracking.reset()

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
        """Look for servos that are silent, in trouble or held up, and stop for them."""
        found = self._faults.look(fresh, positions, now, self.enabled)
        self._events += found.events
        if not self.enabled:
            self._reset_followers(positions)  # the arm may be moved by hand
        elif found.give_way.any():
            self._give_way(now, found.give_way, positions)
        elif found.hold:
            self.hold(now)
        elif found.answering.any():
            self._give_way(now, found.answering, self._held())

    def _give_way(self, now: float, joints: Flags, positions: Array) -> None:
        """Have these joints (n,) [bool] at rest at `positions` (n,), and the others come to rest."""
        self._settling.reset(joints)
        self._followers.give_way(self._clock.at(now), joints, positions)
        self._faults.tracking.reset(joints)
