"""What the launch files share: their arguments, ik_node, robot_state_publisher and RViz. Needs launch_ros."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, LogInfo, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from ik_solver_ros.share import share_dir


class Argument(NamedTuple):
    """An argument of a launch file."""

    name: str
    default: str
    description: str
    choices: tuple[str, ...] | None = None


SWITCH = ("true", "false")
ARM = (
    Argument("description_file", str(share_dir() / "urdf" / "so101.urdf"), "path of the URDF"),
    Argument("base_link", "", "link that the chain starts from; empty: the root of the URDF"),
    Argument("tip_link", "", "link that goals are for; empty: the end of the one serial chain"),
    Argument(
        "tool_axis", "", "where the tool points, in the tip frame: x, -z, or three numbers; empty: found by itself"
    ),
    Argument("use_rviz", "false", "start RViz, where it is installed", SWITCH),
)


def described(arguments: Sequence[Argument], nodes: Callable[[dict[str, str]], list[Any]]) -> LaunchDescription:
    """A launch description of these arguments, and of the nodes that `nodes` makes of their values."""
    declared = [
        DeclareLaunchArgument(a.name, default_value=a.default, description=a.description, choices=a.choices)
        for a in arguments
    ]

    def made(context: Any) -> list[Any]:
        given = {a.name: LaunchConfiguration(a.name).perform(context) for a in arguments}
        return [*nodes(given), *watching(given)]

    return LaunchDescription([*declared, OpaqueFunction(function=made)])


def own(executable: str, config: str, given: dict[str, str], **parameters: Any) -> Any:
    """A node of this package, with a file of config/ and the arm's parameters."""
    chain = {name: given[name] for name in ("description_file", "base_link", "tip_link", "tool_axis")}
    files = [str(share_dir() / "config" / config), chain | parameters]
    return Node(package="ik_solver_ros", executable=executable, parameters=files, output="screen")


def watching(given: dict[str, str]) -> list[Any]:
    """robot_state_publisher and RViz, where they are installed; else a word about it."""
    actions: list[Any] = []
    if installed("robot_state_publisher"):
        description = {"robot_description": Path(given["description_file"]).read_text(encoding="utf-8")}
        publisher = "robot_state_publisher"
        actions.append(Node(package=publisher, executable=publisher, parameters=[description]))
    else:
        actions.append(LogInfo(msg="robot_state_publisher is not installed: no robot_description topic and no TF"))
    if given["use_rviz"] == "true":
        if installed("rviz2"):
            rviz = ["-d", str(share_dir() / "config" / "ik_solver_ros.rviz")]
            actions.append(Node(package="rviz2", executable="rviz2", arguments=rviz))
        else:
            actions.append(
                LogInfo(msg="use_rviz:=true, but rviz2 is not installed: sudo apt install ros-$ROS_DISTRO-rviz2")
            )
    return actions


def installed(package: str) -> bool:
    """Whether the ament index knows the package."""
    try:
        get_package_prefix(package)
    except PackageNotFoundError:
        return False
    return True
