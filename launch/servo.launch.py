"""ik_node and an arm of serial servos, with robot_state_publisher and RViz where they are installed.

ros2 launch ik_solver_ros servo.launch.py port:=/dev/serial/by-id/... config:=/path/to/arm.yaml
ros2 launch ik_solver_ros servo.launch.py protocol:=emulated:feetech       # without an arm
"""

from pathlib import Path

from ik_solver_ros.ros.launching import ARM, Argument, described, frame_prefix, own, rviz, state_publisher

ARGUMENTS = (
    *ARM,
    Argument("port", "", "serial port, best by /dev/serial/by-id/..., or a URL of pyserial's"),
    Argument(
        "config", "", "path of the arm's calibration (YAML); python -m ik_solver_ros calibrate writes it", kind=Path
    ),
    Argument("protocol", "", "empty: the calibration's; emulated:feetech or emulated:dynamixel: without an arm"),
    Argument("baud", "0", "of the port; 0: the calibration's", kind=int),
    Argument("speed_scale", "0.3", "share of the velocity limits to use; begin slowly", kind=float),
)


def generate_launch_description():
    """The arguments and the nodes."""
    return described(__file__, ARGUMENTS, nodes)


def nodes(given, robot):
    """ik_node, servo_node, and what shows them."""
    servos = {"port": given["port"], "calibration": given["config"], "protocol": given["protocol"]}
    return [
        own(
            "ik_node",
            "servo.yaml",
            given,
            calibration=given["config"],
            speed_scale=float(given["speed_scale"]),
            frame_prefix=frame_prefix(given),
        ),
        own("servo_node", "servo.yaml", given, baud=int(given["baud"]), **servos),
        *state_publisher(given, robot),
        *rviz(given, robot.chain.base_link),
    ]
