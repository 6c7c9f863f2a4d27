"""How a servo moves: motor, controller, friction, gravity and play, in steps of a few milliseconds."""

from __future__ import annotations

import math
from collections import deque
from typing import NamedTuple

from ik_solver_ros.servo.emulated.traits import Traits

SAMPLES = 60_000  # of a trace: four minutes of motion
SAMPLE_TIME = 0.004  # [s] between two of them
STEADY = 3  # samples of a servo that stands still: the first two and the newest


class Sample(NamedTuple):
    """Where a servo really was."""

    time: float  # [s]
    position: float  # [ticks] of its shaft
    torque: bool  # really on
    goal: float  # [ticks] that it pursues, in the coordinates of `position`; its position where it pursues none


class TorqueChange(NamedTuple):
    """Torque that came on or went off."""

    time: float  # [s]
    servo_id: int
    torque: bool
    why: str  # the register or command that did it, or "power up", "restart", "unloading", ...


class Drive(NamedTuple):
    """How a goal is pursued."""

    top_speed: float  # [ticks/s] of the motor
    speed: float = math.inf  # [ticks/s] of the way there, as it was told to
    acceleration: float = math.inf  # [ticks/s^2], likewise
    output: float = 1.0  # of full, at most
    stiffness: float = 1.0  # of the factory's
    integral: float = 0.0  # [1/s] share of the error that is added each second


class EmulatedServo:
    """One servo. `silent`: it neither hears nor answers; `blocked`: something holds it where it is.

    `position` [ticks] is where its shaft really is, in the coordinates in which a servo without an offset reports it,
    and without a seam. The sensors of all servos here sit on that shaft: an STS3215's and a Dynamixel's magnet, an
    LX-16A's and a hobby servo's potentiometer. `link` [ticks] is where the joint is, after the play of horn and frame.
    `pull` [ticks] is gravity: so far it stands from its goal at factory gains, negative for downwards in ticks.
    `supported`: something bears it, so that it does not fall without torque; true until its torque was on.
    `stops` [ticks]: where its joint's mechanical stops are.
    """

    turn = 4096.0  # [ticks]

    def __init__(self, servo_id: int, position: float, traits: Traits) -> None:
        self.servo_id, self.traits = servo_id, traits
        self.unit = self.turn / 4096.0  # [ticks] of a 4096th of a turn
        self.position = float(position)
        self.silent = self.blocked = False
        self.supported = True
        self.pull = -traits.sag * self.unit
        self.stops = (-math.inf, math.inf)
        self.velocity = 0.0  # [ticks/s]
        self.effort = 0.0  # of the motor's output, -1 to 1
        self.time = 0.0  # [s]
        self.away = 0.0  # [s] for which it still is without power, or boots
        self.why = "power up"  # torque changed last
        self.changes: list[TorqueChange] = []
        self.trace: deque[Sample] = deque(maxlen=SAMPLES)
        self._had_torque = False
        self._play = 0.0  # [ticks] of the link from the shaft
        self._fallen = 0.0  # [ticks] since torque was lost
        self.release()

    @property
    def energized(self) -> bool:
        """Whether its torque really is on."""
        raise NotImplementedError

    @property
    def here(self) -> bool:
        """Whether it hears and answers."""
        return not self.silent and self.away <= 0.0

    @property
    def goal(self) -> float:
        """What it pursues [ticks], in the coordinates of `position`."""
        return self._aim if self.energized and self._aim is not None else self.position

    @property
    def link(self) -> float:
        """Where the joint really is [ticks]."""
        return self.position + self._play

    def move(self, seconds: float) -> None:
        """Move for a short while. For subclasses: drive, spin or coast."""
        raise NotImplementedError

    def restart(self, seconds: float = 0.0) -> None:
        """As after a loss of power of so long."""
        self.away = seconds
        self.release()

    def release(self) -> None:
        """Forget all goals."""
        self._pending: deque[tuple[float, float]] = deque()
        self._latest: float | None = None
        self._aim: float | None = None
        self._setpoint, self._setpoint_speed, self._integral = self.position, 0.0, 0.0

    def advance(self, seconds: float) -> None:
        """Let time go on for this servo alone."""
        if seconds > 0.0:
            self.step(self.time + seconds, seconds)

    def step(self, now: float, seconds: float) -> None:
        """Let a short time go on, until `now` [s]."""
        self.time, before = now, self.position
        self.away = max(self.away - seconds, 0.0)
        self.notice()
        self.move(seconds)
        self.position = min(max(self.position, min(self.stops[0], before)), max(self.stops[1], before))
        self.velocity = (self.position - before) / seconds
        self._follow(self.position - before)
        self.notice()
        self._sample()

    def notice(self) -> None:
        """Note whether torque came or went."""
        if self.energized != self._had_torque:
            self._had_torque = not self._had_torque
            self.changes.append(TorqueChange(self.time, self.servo_id, self._had_torque, self.why))
            self.release()
            self._fallen = 0.0
            self.supported = self.supported and not self._had_torque

    def drive(self, goal: float, drive: Drive, seconds: float) -> None:
        """Pursue a goal [ticks]."""
        traits, unit = self.traits, self.unit
        aim = self._delayed(goal)
        self._profile(aim, drive, seconds)
        error = self._setpoint - self.position
        most = drive.output * traits.span * unit
        if drive.integral:
            self._integral = min(max(self._integral + drive.integral * error * seconds, -most), most)
        asked = drive.stiffness * error + self._integral
        force = min(max(asked, -most), most)
        self.effort = force / (traits.span * unit)
        net = force + self.pull
        if self.blocked or abs(net) <= traits.stiction * unit * (0.5 if self.velocity else 1.0):
            return
        fastest = drive.top_speed * seconds
        if abs(self.pull) <= most:  # it can bear that: the error, and then the motor's speed say how fast it is
            net = asked + self.pull
            fastest *= drive.output
        slow = traits.lag > drive.stiffness * seconds
        wanted = net * seconds / traits.lag if slow else net / (drive.stiffness or 1.0)
        self.position += min(max(wanted, -fastest), fastest)

    def spin(self, speed: float, effort: float, seconds: float) -> None:
        """Turn at a speed [ticks/s]."""
        self.effort = effort
        if not self.blocked:
            self.position += speed * seconds

    def coast(self, seconds: float) -> None:
        """Without torque: fall, as far as nothing bears it."""
        self.effort = 0.0
        traits, unit = self.traits, self.unit
        if self.supported or self.blocked or abs(self.pull) <= traits.stiction * unit:
            return
        way = min(traits.fall_speed * unit * seconds, traits.fall_reach * unit - self._fallen)
        self._fallen += way
        self.position += math.copysign(way, self.pull)

    def _delayed(self, goal: float) -> float:
        """What has come through to the motor."""
        if self._aim is None:  # torque has just come on
            self._aim = self._latest = goal
        if goal != self._latest:
            self._latest = goal
            self._pending.append((self.time + self.traits.dead_time, goal))
        while self._pending and self._pending[0][0] <= self.time:
            self._aim = self._pending.popleft()[1]
        return self._aim

    def _profile(self, aim: float, drive: Drive, seconds: float) -> None:
        """Move the setpoint, within the speed and acceleration that it was told."""
        way = aim - self._setpoint
        if drive.speed == drive.acceleration == math.inf:
            self._setpoint, self._setpoint_speed = aim, 0.0
            return
        fastest = drive.speed
        if drive.acceleration < math.inf:
            fastest = min(fastest, math.sqrt(2.0 * drive.acceleration * abs(way)))
            change = drive.acceleration * seconds
            wanted = math.copysign(fastest, way)
            self._setpoint_speed += min(max(wanted - self._setpoint_speed, -change), change)
        else:
            self._setpoint_speed = math.copysign(fastest, way)
        step = self._setpoint_speed * seconds
        if abs(step) >= abs(way) and step * way >= 0.0:
            self._setpoint, self._setpoint_speed = aim, 0.0
        else:
            self._setpoint += step

    def _follow(self, moved: float) -> None:
        """The play between shaft and link: gravity keeps the link on one side of it."""
        half = self.traits.backlash / 360.0 * self.turn / 2.0
        self._play = math.copysign(half, self.pull) if self.pull else min(max(self._play - moved, -half), half)

    def _sample(self) -> None:
        sample, trace = Sample(self.time, self.position, self._had_torque, self.goal), self.trace
        if len(trace) >= STEADY - 1 and trace[-1][1:] == trace[-2][1:] == sample[1:]:
            trace[-1] = sample
        elif not trace or sample.torque != trace[-1].torque or self.time - trace[-1].time >= SAMPLE_TIME - 1e-9:
            trace.append(sample)
