"""The port of an arm, and the rate at which its servos answer."""

from __future__ import annotations

import time
from collections.abc import Callable

from ik_solver_ros.errors import CalibrationError, listed
from ik_solver_ros.servo.bus import Port
from ik_solver_ros.servo.by_hand import ByHand, other_rate
from ik_solver_ros.servo.families import Family, load
from ik_solver_ros.servo.pulse_bus import PulseBus
from ik_solver_ros.tools.calibrate.dialogue import Ask, Show

SEARCHED = range(1, 11)  # ids that are asked for at each rate


def choose_port(ports: Callable[[], dict[str, str]], ask: Ask, show: Show) -> str:
    """The port that somebody says is the arm's. ports: those there are now, and what they say of themselves."""
    while not (there := ports()):
        ask("no serial port is there: plug the adapter of the arm in, and press Enter: ", None)
    names = list(there)
    for row, name in enumerate(names):
        show(f"  {row + 1}: {name} ({there[name]})")
    while True:
        answer = ask("which port is the arm's? A number [1], or 'u' to find it by unplugging: ", None).strip()
        if answer == "u":
            return _unplugged(ports, ask, show)
        if (answer or "1").isdigit() and 1 <= int(answer or 1) <= len(names):
            return names[int(answer or 1) - 1]
        show(f"{answer!r}: a number from 1 to {len(names)} is wanted")


def _unplugged(ports: Callable[[], dict[str, str]], ask: Ask, show: Show) -> str:
    while True:
        ask("have the adapter plugged in, and press Enter: ", None)
        before = set(ports())
        ask("unplug it, and press Enter: ", None)
        gone = sorted(before - set(ports()))
        ask("plug it in again, and press Enter: ", None)
        if len(gone) == 1 and gone[0] in ports():
            show(f"it is {gone[0]}")
            return gone[0]
        show(f"{listed(gone)} went away: one port should")


def rates(first: int, family: Family) -> list[int]:
    """All rates at which servos of a family are found, beginning with one."""
    return [first, *(rate for rate in family.bauds if rate != first)]


def find_rate(port: Port, family: Family, show: Show, reset_time: float = 0.0) -> None:
    """Leave a port open at the first rate at which something answers.

    reset_time [s]: of a board that starts anew when its port is opened. Raises CalibrationError where nothing answers,
    and BusError.
    """
    bus = family.bus_on(port)
    if not family.measures:
        _find_boards_rate(bus, family, show, reset_time)
        return
    servos: ByHand = load(family.by_hand)(bus)
    noise: list[int] = []
    for rate in family.bauds:
        other_rate(port, rate)
        servos.found(())
        for servo_id in SEARCHED:
            answers, received = servos.asked(servo_id)
            if answers:
                show(f"servos answer at {rate} baud")
                return
            if received and rate not in noise:
                noise.append(rate)
    hint = f"; damaged replies at {listed(noise)}: several servos of one id (give ids: --ids), a loose cable" * bool(
        noise
    )
    raise CalibrationError(
        f"no servo with an id from {SEARCHED[0]} to {SEARCHED[-1]} answers on {port.url} at {listed(family.bauds)} "
        f"baud{hint}; is it powered, and is --protocol right?"
    )


def _find_boards_rate(bus: PulseBus, family: Family, show: Show, reset_time: float) -> None:
    for rate in family.bauds:
        other_rate(bus.port, rate)
        if bus.codec.restarts:
            time.sleep(reset_time)
        if bus.ask(bus.codec.question, bus.codec.status) is not None:
            show(f"the board answers at {rate} baud")
            return
    raise CalibrationError(f"{bus.silence()} (asked at {listed(family.bauds)} baud)")
