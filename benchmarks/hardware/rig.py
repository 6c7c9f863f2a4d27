"""The six servos of an SO-101 with all traits on, on a pseudo-terminal, and a cycle that leads them."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np

from ik_solver_ros.arm.servos import servo_arm
from ik_solver_ros.control.follower import TrajectoryFollower
from ik_solver_ros.control.servo_cycle import ServoCycle
from ik_solver_ros.errors import ArmError, TrajectoryError
from ik_solver_ros.kinematics.load import load_chain
from ik_solver_ros.servo.bus import Port
from ik_solver_ros.servo.emulated import judge
from ik_solver_ros.servo.emulated.calibration import emulated_calibration
from ik_solver_ros.servo.emulated.port import emulate
from ik_solver_ros.servo.emulated.traits import UNKIND, Traits
from ik_solver_ros.share import share_dir
from ik_solver_ros.trajectory.limits import MotionLimits
from ik_solver_ros.trajectory.plan import plan
from ik_solver_ros.trajectory.trajectory import State

SPEED = 2.0  # [rad/s] limit of all joints
PERIOD = 0.01  # [s] of the cycle, as servo_node has it
JITTER = 0.002  # [s] from a goal's computation to the wire, and to the emulators' thread in this process
REST = 0.5  # [s] after a motion until a servo with dead time and lag rests


@dataclass
class Verdict:
    """What a row has found, over all its trials."""

    trials: int = 0
    bad: list[str] = field(default_factory=list)  # sentences
    worst: dict[str, float] = field(default_factory=dict)  # by what it is of

    def note(self, what: str, value: float, most: float = np.inf) -> None:
        """A figure, of which the greatest is kept; beyond `most` it is bad."""
        self.worst[what] = max(self.worst.get(what, -np.inf), float(value))
        if value > most:
            self.bad.append(f"trial {self.trials}: {what} {value:.3g}, at most {most:.3g} is wanted")

    def must(self, holds: bool, otherwise: str) -> None:
        """Something that must be so."""
        if not holds:
            self.bad.append(f"trial {self.trials}: {otherwise}")

    def __str__(self) -> str:
        figures = ", ".join(f"{what} {value:.3g}" for what, value in self.worst.items())
        return f"{self.trials} trials, {len(self.bad)} bad; at most: {figures}" + "".join(
            f"\n    {text}" for text in self.bad[:5]
        )


class Rig:
    """Use it in a `with` statement."""

    def __init__(
        self, url: str, protocol: str = "feetech", traits: Traits = UNKIND, *, settle: float = 0.0, seed: int = 0
    ) -> None:
        chain = load_chain(share_dir() / "urdf" / "so101.urdf")
        self.chain, self.calibration = chain, emulated_calibration(chain, protocol)
        self.names = tuple(joint.name for joint in self.calibration.joints)
        self.url, self.settle = url, settle
        self.port = emulate(self.calibration, {}, url, traits)
        self.plant = self.port.bus
        self.servos = list(self.plant.servos.values())
        lower, upper = (np.array([getattr(chain.model.joints[n], w) for n in self.names]) for w in ("lower", "upper"))
        self.limits = MotionLimits.from_urdf(self.names, lower, upper, np.full(len(self.names), SPEED))
        self.rng = np.random.default_rng(seed)
        self.events: list[str] = []
        self.cycles = 0
        self.asked: list[tuple[float, float]] = []  # when torque was asked for
        self.cycle = self.another_cycle()

    def another_cycle(self) -> ServoCycle:
        """As of a servo_node that was started anew."""
        arm = servo_arm(self.calibration, Port(self.url, self.calibration.baud))
        return ServoCycle(
            arm,
            lambda q: {"arm": (TrajectoryFollower(self.limits, q), list(range(len(self.names))))},
            settle=self.settle,
        )

    def __enter__(self) -> Rig:
        self.port.plug()
        return self

    def __exit__(self, *_: object) -> None:
        self.cycle.arm.close()
        self.port.unplug()

    @property
    def tick(self) -> float:
        """[rad] of a servo's."""
        return self.calibration.family.per_tick

    def run(self, seconds: float, until: Callable[[], bool] | None = None) -> bool:
        """Lead the servos for so long, or until something is so: whether it was."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            began = time.monotonic()
            self.cycle.step(time.monotonic)
            self.cycles += 1
            self.events += [event.text for event in self.cycle.events() if event.serious]
            if until is not None and until():
                return True
            time.sleep(max(0.0, began + PERIOD - time.monotonic()))
        return until is None

    def enable(self, tries: int = 20) -> bool:
        """Connect and bring the torque on, as somebody does who lifts the arm, and asks until it is on."""
        began = time.monotonic()
        try:
            return self._enable(tries)
        finally:
            self.asked.append((began, time.monotonic()))

    def _enable(self, tries: int) -> bool:
        if not self.run(10.0, lambda: self.cycle.connected):
            return False
        for _ in range(tries):
            if self._asks():
                return True
            self.run(0.1)
        return False

    def _asks(self) -> bool:
        with self.port.lock:
            for servo, joint in zip(self.servos, self.calibration.joints):
                servo.supported = True
                if not servo.energized:
                    servo.position = min(max(servo.position, joint.min), joint.max)
        try:
            self.cycle.enable()
        except ArmError as error:
            self.events.append(str(error))
            return False
        self.support(False)
        return True

    def support(self, held: bool) -> None:
        """Whether somebody holds the arm, so that it does not fall without torque."""
        with self.port.lock:
            for servo in self.servos:
                servo.supported = held

    def go(self, share: float = 0.4) -> None:
        """Towards somewhere else, as fast as the limits allow."""
        here = self.cycle.setpoint("arm", time.monotonic()).position
        target = self.rng.uniform(share * self.limits.lower, share * self.limits.upper)
        with suppress(TrajectoryError):
            self.cycle.accept("arm", plan(State.at_rest(here), target, self.limits), time.monotonic(), None)

    def truth(self) -> np.ndarray:
        """Where the servos' shafts really are [ticks]."""
        with self.port.lock:
            return np.array([servo.position for servo in self.servos])

    def tip_error(self, ticks: np.ndarray) -> float:
        """How far the tip is off [mm] where the joints are by so much, where the arm is."""
        q = self.cycle.setpoint("arm", time.monotonic()).position[: self.chain.n]
        signs = np.array([joint.direction for joint in self.calibration.joints])[: self.chain.n]
        there, _ = self.chain.forward(q)
        here, _ = self.chain.forward(q - signs * ticks[: self.chain.n] * self.tick)
        return 1e3 * float(np.linalg.norm(np.subtract(here, there)))

    def look(self, verdict: Verdict, since: float, fastest: float = 1.2) -> None:
        """What must never happen, since a moment: torque unasked, motion or goals beyond the limits.

        fastest: times the velocity limit that a servo may turn.
        """
        with self.port.lock:
            for one in judge.unasked_torque(self.plant, since):
                if any(began <= one.time <= ended + 0.05 for began, ended in self.asked[-3:]):
                    continue
                verdict.must(False, f"servo {one.servo_id} had torque by {one.why}, unasked, and went {one.moved:.0f}")
            moved = judge.fastest_motion(self.plant, begin=since).value * self.tick
            told = judge.fastest_command(self.plant, begin=since).value * self.tick
        verdict.note("speed / limit", moved / SPEED, fastest)
        most = (2.0 * self.tick / SPEED + JITTER) / judge.WINDOW
        verdict.note("50 ms on the wire / limit", told / SPEED, 1.0 + most)
