"""The wizard that calibrates an arm: it asks for the servo, the zero, the direction and the range of every joint."""

from __future__ import annotations

from pathlib import Path

from ik_solver_ros.errors import CalibrationError
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.servo.bus import Port
from ik_solver_ros.servo.calibration import Calibration, ServoJoint, load_calibration
from ik_solver_ros.servo.families import FAMILIES, load
from ik_solver_ros.tools.calibrate.dialogue import Ask, Show
from ik_solver_ros.tools.calibrate.hand_moved import HandMoved
from ik_solver_ros.tools.calibrate.pulse_driven import PulseDriven


def calibrate(
    chain: Chain, port: Port, protocol: str, out: Path, ask: Ask, show: Show, reset_time: float = 0.0
) -> Calibration:
    """Lead somebody through the calibration of an arm on an open port, and write it to `out`.

    Servos that measure are moved by hand, their torque off; those on a board are pulsed, and have no pulse in the end.
    reset_time [s]: of a board that starts anew when its port is opened.

    Raises CalibrationError where no calibration comes of it, and BusError.
    """
    family = FAMILIES[protocol]
    bus = family.bus_on(port)
    procedure: HandMoved | PulseDriven
    if family.measures:
        procedure = HandMoved(chain, load(family.by_hand)(bus), family, ask, show)
    else:
        bus.wait_for_restart(reset_time)
        procedure = PulseDriven(chain, bus, family, ask, show)
    try:
        procedure.begin()
        calibration = Calibration(protocol, port.baud, _joints(chain, procedure, show))
        calibration.fit({j.name: (j.lower, j.upper) for j in chain.model.joints.values()}, chain.joint_names)
        calibration.dump(out)
        show(f"\nwritten to {out}")
        procedure.verify(load_calibration(out))
    finally:
        procedure.end()
    return calibration


def _joints(chain: Chain, procedure: HandMoved | PulseDriven, show: Show) -> tuple[ServoJoint, ...]:
    """The chain's joints, and of the others those that have a servo."""
    joints = []
    for name in [*chain.joint_names, *(joint.name for joint in chain.other_joints)]:
        needed = name in chain.joint_names
        if not procedure.free:
            if needed:
                raise CalibrationError(f"no servo is left for joint {name!r}", joint=name)
            break
        show(f"\n{name}")
        servo_id = procedure.choose()
        if servo_id is not None:
            procedure.free.remove(servo_id)
            joints.append(procedure.measure(name, servo_id))
        elif needed:
            raise CalibrationError(f"joint {name!r} of the chain must have a servo", joint=name)
    return tuple(joints)
