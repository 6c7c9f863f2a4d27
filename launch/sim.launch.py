"""ik_node and a simulated arm, with robot_state_publisher and RViz where they are installed.

ros2 launch ik_solver_ros sim.launch.py use_rviz:=true description_file:=/path/to/arm.urdf
"""

from pathlib import Path

from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from launch.actions import DeclareLaunchArgument, LogInfo, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from launch import LaunchDescription

SHARE = Path(__file__).resolve().parents[1]

ARGUMENTS = (
    ("description_file", str(SHARE / "urdf" / "so101.urdf"), "path of the URDF", None),
    ("base_link", "", "link that the chain starts from; empty: the root of the URDF", None),
    ("tip_link", "", "link that goals are for; empty: the end of the one serial chain", None),
    ("tool_axis", "", "where the tool points, in the tip frame: x, -z, or three numbers; empty: found by itself", None),
    ("gui", "false", "show PyBullet's window", ("true", "false")),
    ("use_rviz", "false", "start RViz, where it is installed", ("true", "false")),
)


def generate_launch_description():
    """The arguments and the nodes."""
    arguments = [
        DeclareLaunchArgument(name, default_value=default, description=description, choices=choices)
        for name, default, description, choices in ARGUMENTS
    ]
    return LaunchDescription([*arguments, OpaqueFunction(function=nodes)])


def nodes(context):
    """The nodes, once the arguments are known."""
    given = {name: LaunchConfiguration(name).perform(context) for name, *_ in ARGUMENTS}
    description = Path(given["description_file"]).read_text(encoding="utf-8")
    chain = {name: given[name] for name in ("description_file", "base_link", "tip_link", "tool_axis")}
    config = str(SHARE / "config" / "sim.yaml")
    actions = [
        Node(package="ik_solver_ros", executable="ik_node", parameters=[config, chain], output="screen"),
        Node(
            package="ik_solver_ros",
            executable="sim_node",
            parameters=[config, chain | {"gui": given["gui"] == "true"}],
            output="screen",
        ),
    ]
    if installed("robot_state_publisher"):
        actions.append(
            Node(
                package="robot_state_publisher",
                executable="robot_state_publisher",
                parameters=[{"robot_description": description}],
            )
        )
    else:
        actions.append(LogInfo(msg="robot_state_publisher is not installed: no robot_description topic and no TF"))
    if given["use_rviz"] == "true":
        if installed("rviz2"):
            rviz = ["-d", str(SHARE / "config" / "ik_solver_ros.rviz")]
            actions.append(Node(package="rviz2", executable="rviz2", arguments=rviz))
        else:
            actions.append(
                LogInfo(msg="use_rviz:=true, but rviz2 is not installed: sudo apt install ros-$ROS_DISTRO-rviz2")
            )
    return actions


def installed(package):
    """Whether the ament index knows the package."""
    try:
        get_package_prefix(package)
    except PackageNotFoundError:
        return False
    return True
