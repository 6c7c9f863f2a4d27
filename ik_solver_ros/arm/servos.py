"""Arms of servos, whether these can be measured or not: what all of them do, and the one that fits a calibration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from ik_solver_ros.arm.base import Arm, Reading
from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.servo.bus import Port
from ik_solver_ros.servo.calibration import Calibration
from ik_solver_ros.servo.families import load

VOLTAGE = "voltage"


class Sample(NamedTuple):
    """One servo, as it told of itself."""

    ticks: int
    velocity: float  # [ticks/s]
    torque: bool
    load: int  # the servo's own units
    voltage: float  # [V]
    temperature: int  # deg C
    faults: list[str]
    goal: int | None = None  # [ticks] that it pursues, where it tells
    obeys: bool = False  # its torque is on, and its goal is from here: it may be given the next one

    @property
    def stopping(self) -> list[str]:
        """The faults that end a motion: a voltage may be beyond its limits and the servo turn all the same."""
        return [fault for fault in self.faults if fault != VOLTAGE]


class ServoArm(Arm, Protocol):
    """An arm of servos on a port; one thread owns it. Its methods raise BusError where the port is gone."""

    calibration: Calibration
    name: str  # for people
    port: Port
    time_outs: dict[int, int]  # of each servo, ever

    def health(self) -> dict[str, float]:
        """Numbers on the wire, by name."""

    def samples(self) -> dict[str, Sample]:
        """What there is to know of every servo that answers, by joint."""

    def reading(self, samples: dict[str, Sample]) -> Reading:
        """The joints by these samples; as before where there is none."""

    def enable(self, fastest: Array) -> Array:
        """Bring the torque on, every servo where it is; those that have it keep what they hold. Where that is (n,).

        fastest: (n,) that the joints are to move [per s], where servos can be told so. Raises ArmError that names
        each that refuses, and why; torque that was on before stays on, and no other.
        """

    def release(self) -> None:
        """Take the torque off. Raises ArmError where some of it may still be on."""


def servo_arm(
    calibration: Calibration, port: Port, *, start: Mapping[str, float] = {}, reset_time: float = 0.0
) -> ServoArm:
    """The arm of a calibration's servos on a port, not opened yet.

    For boards that cannot measure, start: where the joints are held to be before the first pulse, by name [rad or m],
    0 where it is not said; reset_time [s]: of a board that starts anew when its port is opened.
    """
    family = calibration.family
    declared = () if family.measures else (start, reset_time)
    arm: ServoArm = load(family.arm)(calibration, family.bus_on(port), *declared)
    return arm
