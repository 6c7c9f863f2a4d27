"""What the launch files share: their arguments, our nodes, robot_state_publisher and RViz. Needs launch_ros."""

from __future__ import annotations

import math
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, LogInfo, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from ik_solver_ros.errors import IkSolverError, listed
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.geometry import mesh_path
from ik_solver_ros.kinematics.load import load_chain
from ik_solver_ros.share import share_dir


class Argument(NamedTuple):
    """An argument of a launch file."""

    name: str
    default: str
    description: str
    choices: tuple[str, ...] | None = None
    kind: type = str  # str, float, int, or Path: the path of a file that there must be


SWITCH = ("true", "false")
CHAIN = (
    Argument("base_link", "", "link that the chain starts from; empty: the root of the URDF"),
    Argument("tip_link", "", "link that goals are for; empty: the end of the one serial chain"),
    Argument(
        "tool_axis", "", "where the tool points, in the tip frame: x, -z, or three numbers; empty: found by itself"
    ),
)
EVERY = (
    Argument("namespace", "", "of all nodes and topics, and the prefix of all frames; for several arms"),
    Argument("use_sim_time", "false", "take the time from /clock", SWITCH),
    Argument("rviz_config", str(share_dir() / "config" / "ik_solver_ros.rviz"), "path of RViz's config", kind=Path),
    Argument("log_level", "info", "of our nodes", ("debug", "info", "warn", "error", "fatal")),
)
RVIZ = Argument("use_rviz", "false", "start RViz, where it is installed", SWITCH)
MOVING = (
    *CHAIN,
    *EVERY,
    RVIZ,
    Argument("params_file", "", "path of a YAML file of parameters, over those of config/", kind=Path),
)
ARM = (
    Argument(
        "description_file", str(share_dir() / "urdf" / "so101.urdf"), "path of the URDF, or of a xacro file", kind=Path
    ),
    *MOVING,
)


class Robot(NamedTuple):
    """The robot of description_file."""

    text: str  # of the URDF
    chain: Chain


def described(
    file: str, arguments: Sequence[Argument], nodes: Callable[[dict[str, str], Robot | None], list[Any]]
) -> LaunchDescription:
    """The launch description of `file`: these arguments, and what `nodes` makes of their values and the robot.

    Where an argument does not exist or does not fit, the launch ends with a sentence that says which.
    """
    declared = [
        DeclareLaunchArgument(a.name, default_value=a.default, description=a.description, choices=a.choices)
        for a in arguments
    ]

    def made(context: Any) -> list[Any]:
        _refuse_unknown(file, arguments)
        given = {a.name: LaunchConfiguration(a.name).perform(context) for a in arguments}
        for argument in arguments:
            _check(argument, given[argument.name])
        return nodes(given, _robot(given))

    return LaunchDescription([*declared, OpaqueFunction(function=made)])


def own(executable: str, config: str, given: dict[str, str], **parameters: Any) -> Any:
    """A node of this package, with a file of config/ and the arm's parameters."""
    chain = {name: given[name] for name in ("description_file", "base_link", "tip_link", "tool_axis") if name in given}
    every = {"use_sim_time": given["use_sim_time"] == "true"}
    files = [str(share_dir() / "config" / config), chain | every | parameters]
    if given["params_file"]:
        files.append(given["params_file"])
    return Node(
        package="ik_solver_ros",
        executable=executable,
        namespace=given["namespace"],
        parameters=files,
        ros_arguments=["--log-level", given["log_level"]],
        output="screen",
    )


def state_publisher(given: dict[str, str], robot: Robot | None) -> list[Any]:
    """robot_state_publisher, where it is installed; else a word about it."""
    assert robot is not None
    package = "robot_state_publisher"
    if not installed(package):
        return [LogInfo(msg=f"{package} is not installed: no robot_description topic and no TF")]
    parameters = {
        "robot_description": robot.text,
        "frame_prefix": frame_prefix(given),
        "use_sim_time": given["use_sim_time"] == "true",
    }
    return [Node(package=package, executable=package, namespace=given["namespace"], parameters=[parameters])]


def rviz(given: dict[str, str], base_link: str) -> list[Any]:
    """RViz, where it is installed and wanted; else a word about it."""
    if given.get("use_rviz", "true") != "true":
        return []
    if not installed("rviz2"):
        return [LogInfo(msg="RViz is wanted, but not installed: sudo apt install ros-$ROS_DISTRO-rviz2")]
    config, prefix = given["rviz_config"], frame_prefix(given)
    if prefix:
        config = _prefixed(config, prefix)
    parameters = [{"use_sim_time": given["use_sim_time"] == "true"}]
    arguments = ["-d", config, "-f", prefix + base_link]
    return [
        Node(
            package="rviz2",
            executable="rviz2",
            namespace=given["namespace"],
            arguments=arguments,
            parameters=parameters,
        )
    ]


def frame_prefix(given: dict[str, str]) -> str:
    """Of all frames, as robot_state_publisher and our nodes want it."""
    namespace = given["namespace"].strip("/")
    return f"{namespace}/" if namespace else ""


def installed(package: str) -> bool:
    """Whether the ament index knows the package."""
    try:
        get_package_prefix(package)
    except PackageNotFoundError:
        return False
    return True


def _refuse_unknown(file: str, arguments: Sequence[Argument]) -> None:
    """Launch takes any argument and says nothing; where it was given on the command line of `file`, we do."""
    if not any(Path(word).name == Path(file).name for word in sys.argv):
        return  # included by another launch file, whose arguments these are
    known = [argument.name for argument in arguments]
    for word in sys.argv:
        name = re.match(r"(\w+):=", word)
        if name and name[1] not in known:
            near = get_close_matches(name[1], known, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are: {listed(known)}"
            raise RuntimeError(f"unknown launch argument {name[1]!r}; {hint}")


def _check(argument: Argument, given: str) -> None:
    if argument.kind is Path:
        if given and not Path(given).is_file():
            raise RuntimeError(f"{argument.name}:={given}: there is no such file")
    elif argument.kind is not str:
        try:
            number = argument.kind(given)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            what = "a whole number" if argument.kind is int else "a number"
            raise RuntimeError(f"{argument.name}:={given}: {what} is wanted")


def _robot(given: dict[str, str]) -> Robot | None:
    if not given.get("description_file"):
        return None
    names = [given.get(argument.name) or None for argument in CHAIN]
    try:
        chain = load_chain(given["description_file"], *names)
    except (IkSolverError, OSError) as error:
        raise RuntimeError(f"description_file:={given['description_file']}: {error}") from error
    return Robot(_with_whole_paths(chain.model.text, chain.model.directory), chain)


def _with_whole_paths(text: str, directory: Path | None) -> str:
    """Meshes by URIs that RViz finds: it knows nothing of where the URDF was."""

    def whole(match: re.Match[str]) -> str:
        path = None if "://" in match[2] else mesh_path(match[2], directory)
        return match[0] if path is None else f"{match[1]}{path.as_uri()}{match[3]}"

    return re.sub(r"""(<mesh[^>]*?filename\s*=\s*["'])([^"']+)(["'])""", whole, text)


def _prefixed(config: str, prefix: str) -> str:
    """The path of a copy of RViz's config for a robot whose frames have a prefix."""
    text = Path(config).read_text(encoding="utf-8").replace('TF Prefix: ""', f"TF Prefix: {prefix.rstrip('/')}")
    with tempfile.NamedTemporaryFile("w", suffix=".rviz", prefix="ik_solver_ros_", delete=False) as file:
        file.write(text)
    return file.name
