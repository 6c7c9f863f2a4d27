"""Two simulated arms side by side, each in a namespace of its own: goals on /left/goal_pose and /right/goal_pose.

ros2 launch ik_solver_ros two_arms.launch.py use_rviz:=true
"""

from pathlib import Path

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, GroupAction, IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from ik_solver_ros.ros.launching import installed

APART = {"left": 0.3, "right": -0.3}  # [m] along y of the world


def generate_launch_description():
    """sim.launch.py twice, and where the arms stand in the frame `world`."""
    about = {"use_rviz": ("false", "start RViz for each arm: true or false"), "backend": ("auto", "pybullet or mock")}
    actions = [DeclareLaunchArgument(a, default_value=d, description=text) for a, (d, text) in about.items()]
    source = PythonLaunchDescriptionSource(str(Path(__file__).parent / "sim.launch.py"))
    for name, y in APART.items():
        given = {"namespace": name} | {a: LaunchConfiguration(a) for a in about}
        actions.append(GroupAction([IncludeLaunchDescription(source, launch_arguments=given.items())]))
        if installed("tf2_ros"):
            place = ["--y", str(y), "--frame-id", "world", "--child-frame-id", f"{name}/base_link"]
            actions.append(Node(package="tf2_ros", executable="static_transform_publisher", arguments=place))
    return LaunchDescription(actions)
