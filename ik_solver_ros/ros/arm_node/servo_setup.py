"""What servo_node's parameters make: the calibration, the arm on its port or emulated, and where it is parked."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from rclpy.node import Node

from ik_solver_ros.arm.servos import ServoArm, servo_arm
from ik_solver_ros.errors import CalibrationError, ParameterError, listed
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.ros.arm_node.controllers import Controller, named_positions
from ik_solver_ros.ros.common.parameters import value
from ik_solver_ros.servo.bus import Port
from ik_solver_ros.servo.calibration import Calibration, load_calibration
from ik_solver_ros.servo.emulated.calibration import emulated_calibration
from ik_solver_ros.servo.emulated.port import emulate
from ik_solver_ros.servo.emulated.traits import PRECISE, UNKIND
from ik_solver_ros.servo.families import EMULATED, FAMILIES


def calibration_of(node: Node, chain: Chain) -> Calibration:
    """The calibration that the parameters name, which fits the chain. Raises CalibrationError and OSError."""
    path, protocol = value(node, "calibration"), value(node, "protocol")
    if path:
        found = load_calibration(Path(path))
        if protocol and protocol.removeprefix(EMULATED) != found.protocol:
            raise CalibrationError(f"{path}: protocol {found.protocol!r}, but {protocol!r} was asked for")
    elif protocol.startswith(EMULATED) and protocol.removeprefix(EMULATED) in FAMILIES:
        found = emulated_calibration(chain, protocol.removeprefix(EMULATED))
    else:
        raise CalibrationError(
            "no calibration was given: without it nobody knows which servo moves which joint; "
            "set the parameter calibration, or try protocol: emulated:feetech"
        )
    limits = {joint.name: (joint.lower, joint.upper) for joint in chain.model.joints.values()}
    found.fit(limits, chain.joint_names)
    return found


def servo_arm_of(node: Node, chain: Chain, calibration: Calibration, resources: ExitStack) -> ServoArm:
    """The arm on the port that the parameters name, or on one with emulated servos, which end with `resources`.

    Raises ParameterError where there is none.
    """
    url, reset_time = value(node, "port"), float(value(node, "reset_time"))
    if value(node, "protocol").startswith(EMULATED):
        folder = resources.enter_context(TemporaryDirectory(prefix="ik_solver_ros_"))
        initial = named_positions(chain, "initial_positions", value(node, "initial_positions"))
        traits = {"unkind": UNKIND, "precise": PRECISE}[value(node, "emulation")]
        url = resources.enter_context(emulate(calibration, initial, str(Path(folder) / "port"), traits)).url
    if not url:
        raise ParameterError(
            "port", "", "the serial port of the arm is wanted, or protocol: emulated:feetech without one"
        )
    port = Port(url, value(node, "baud") or calibration.baud)
    start = named_positions(chain, "start_pose", value(node, "start_pose"))
    return servo_arm(calibration, port, start=start, reset_time=reset_time)


def park_positions_of(node: Node, chain: Chain, controllers: Sequence[Controller]) -> dict[str, float]:
    """Where the chain's joints are left [rad or m]. Raises ParameterError where that cannot be."""
    park = named_positions(chain, "park_positions", value(node, "park_positions"))
    if not park and value(node, "on_shutdown") == "park":
        raise ParameterError("park_positions", [], f"positions of {listed(chain.joint_names)} are wanted to park")
    for limits in (controller.limits for controller in controllers):
        for name, lower, upper in zip(limits.joint_names, limits.lower, limits.upper):
            if not lower <= park.get(name, lower) <= upper:
                raise ParameterError("park_positions", park[name], f"{name} can go from {lower:.4g} to {upper:.4g}")
    return park
