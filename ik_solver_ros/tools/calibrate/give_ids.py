"""Ids: servos come from the shop with id 1, all of them; each gets its own, one servo on the wire at a time."""

from __future__ import annotations

from ik_solver_ros.errors import BusError, CalibrationError, listed
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.servo.by_hand import ByHand, other_rate
from ik_solver_ros.tools.calibrate.connect import rates
from ik_solver_ros.tools.calibrate.dialogue import Ask, Show

SEARCHED = range(1, 31)  # ids


def give_ids(chain: Chain, servos: ByHand, baud: int, ask: Ask, show: Show) -> None:
    """Number the servos from 1 on in the order of the joints, and have all answer at `baud`.

    What is typed instead of Enter: a number, another id; 's', leave that joint's servo as it is; 'q', no more of them.
    Raises BusError where the port does not come back.
    """
    names = [*chain.joint_names, *(joint.name for joint in chain.other_joints)]
    show(
        "Take all servos off the adapter. Their torque will be off while they get their ids: they need no arm yet.\n"
        "Take the power off before you plug or unplug a servo."
    )
    new = 1
    for name in names:
        while True:
            answer = ask(
                f"{name}: connect its servo alone, switch on, and press Enter for id {new} (another number, 's' skips, "
                f"'q' ends): ",
                None,
            ).strip()
            if answer in ("s", "q"):
                break
            if answer and not (answer.isdigit() and 1 <= int(answer) <= SEARCHED[-1]):
                show(f"  {answer!r}: an id from 1 to {SEARCHED[-1]} is wanted")
                continue
            wanted = int(answer or new)
            try:
                _give(servos, wanted, baud, show)
            except (CalibrationError, BusError) as error:
                show(f"  {error}")
                continue
            new = wanted + 1
            break
        if answer == "q":
            break
    other_rate(servos.port, baud)


def _give(servos: ByHand, new: int, baud: int, show: Show) -> None:
    """Renumber the one servo that is there. Raises CalibrationError where it is none or several."""
    damaged = False
    for rate in rates(servos.port.baud, servos.family):
        other_rate(servos.port, rate)
        ids = servos.found(SEARCHED)
        if len(ids) > 1:
            raise CalibrationError(f"servos {listed(ids)} answer: connect one alone")
        if not ids:
            came, received = servos.asked(1)
            damaged = damaged or bool(received and not came)
            continue
        if ids[0] == new and rate == baud:
            show(f"  it has id {new} already")
            return
        servos.release(ids)
        servos.renumber(ids[0], new, baud)
        show(f"  id {ids[0]} at {rate} baud: now id {new} at {baud} baud, read back")
        return
    if damaged:
        raise CalibrationError(
            "what comes back from id 1 is damaged: several servos with that id answer at once (connect one alone), or "
            "a cable is loose"
        )
    raise CalibrationError("no servo answers: is it powered, and its cable in?")
