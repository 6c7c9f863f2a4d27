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
from ik_solver_ros.tools.calibrate.kept import Kept
from ik_solver_ros.tools.calibrate.pictures import picture_of
from ik_solver_ros.tools.calibrate.pulse_driven import PulseDriven
from ik_solver_ros.tools.calibrate.words import motion, pose


def calibrate(
    chain: Chain, port: Port, protocol: str, out: Path, ask: Ask, show: Show, reset_time: float = 0.0
) -> Calibration:
    """Lead somebody through the calibration of an arm on an open port, and write it to `out`.

    Servos that measure are moved by hand, their torque off; those on a board are pulsed, and have no pulse in the end.
    After each joint the answers are kept beside `out`, and a wizard that is started again goes on from there.
    reset_time [s]: of a board that starts anew when its port is opened.

    Raises CalibrationError where no calibration comes of it, ArmError where no board answers, and BusError.
    """
    family = FAMILIES[protocol]
    bus = family.bus_on(port)
    procedure: HandMoved | PulseDriven
    if family.measures:
        procedure = HandMoved(chain, load(family.by_hand)(bus), family, ask, show)
    else:
        bus.begin(reset_time)
        procedure = PulseDriven(chain, bus, family, ask, show)
    try:
        procedure.begin()
        show(f"\n{pose(chain)}")
        kept = Kept(out, protocol, port.baud)
        joints = _Joints(chain, procedure, out, show).all(kept, kept.before(ask, show))
        calibration = Calibration(protocol, port.baud, joints)
        calibration.fit({j.name: (j.lower, j.upper) for j in chain.model.joints.values()}, chain.joint_names)
        calibration.dump(out)
        kept.drop()
        show(f"\nwritten to {out}")
        procedure.verify(load_calibration(out))
    finally:
        procedure.end()
    return calibration


class _Joints:
    """One joint after another."""

    def __init__(self, chain: Chain, procedure: HandMoved | PulseDriven, out: Path, show: Show) -> None:
        self._chain, self._procedure, self._out, self._show = chain, procedure, out, show

    def all(self, kept: Kept, before: dict[str, ServoJoint]) -> tuple[ServoJoint, ...]:
        """The chain's joints, and of the others those that have a servo; before: what is known of them already."""
        chain, procedure = self._chain, self._procedure
        joints: tuple[ServoJoint, ...] = ()
        for name in [*chain.joint_names, *(joint.name for joint in chain.other_joints)]:
            if name in before and procedure.knows(before[name]):
                found: ServoJoint | None = before[name]
                self._show(f"\n{name}: servo {before[name].id}, as before")
            else:
                found = self._asked(name, needed=name in chain.joint_names)
            if found is not None:
                if found.id in procedure.free:
                    procedure.free.remove(found.id)
                joints = (*joints, found)
                kept.save(joints)
        return joints

    def _asked(self, name: str, needed: bool) -> ServoJoint | None:
        procedure = self._procedure
        if not procedure.free:
            if needed:
                raise CalibrationError(f"no servo is left for joint {name!r}", joint=name)
            return None
        picture = picture_of(self._out, name)
        self._show(f"\n{name}: {motion(self._chain, name)}" + (f"\n  picture: {picture}" if picture.exists() else ""))
        servo_id = procedure.choose()
        if servo_id is not None:
            return procedure.measure(name, servo_id)
        if needed:
            raise CalibrationError(f"joint {name!r} of the chain must have a servo", joint=name)
        return None
