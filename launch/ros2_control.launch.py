"""ik_node for an arm that ros2_control leads: its joint_state_broadcaster and joint_trajectory_controller run already.

ros2 launch ik_solver_ros ros2_control.launch.py
ros2 launch ik_solver_ros ros2_control.launch.py controller:=arm_controller tip_link:=tool0
"""

from pathlib import Path

from launch_ros.actions import SetRemap

from ik_solver_ros.ros.launching import MOVING, Argument, described, frame_prefix, own, rviz

ARGUMENTS = (
    Argument("description_file", "", "path of the URDF; empty: the topic robot_description", kind=Path),
    *MOVING,
    Argument("controller", "joint_trajectory_controller", "name of the joint_trajectory_controller"),
    Argument("speed_scale", "1.0", "share of the velocity limits to use", kind=float),
)


def generate_launch_description():
    """The arguments and the nodes."""
    return described(__file__, ARGUMENTS, nodes)


def nodes(given, robot):
    """ik_node, and RViz where it is wanted."""
    scale = float(given["speed_scale"])
    topic = "joint_trajectory_controller/joint_trajectory"
    base_link = robot.chain.base_link if robot else given["base_link"] or "base_link"
    return [
        SetRemap(src=topic, dst=f"{given['controller']}/joint_trajectory"),
        own("ik_node", "ros2_control.yaml", given, speed_scale=scale, frame_prefix=frame_prefix(given)),
        *rviz(given, base_link),
    ]
