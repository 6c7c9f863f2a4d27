"""Parameters as tables: every node lists what it declares, with descriptions and ranges that tools can show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor, SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter


@dataclass(frozen=True)
class Param:
    """One parameter. `live` ones can be set while the node runs."""

    name: str
    default: Any
    description: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    live: bool = False

    def descriptor(self) -> ParameterDescriptor:
        """What `ros2 param describe` and rqt show."""
        out = ParameterDescriptor(description=self.description, read_only=not self.live)
        if self.choices:
            out.additional_constraints = "one of: " + ", ".join(self.choices)
        if self.low is not None and self.high is not None:
            if isinstance(self.default, int):
                out.integer_range = [IntegerRange(from_value=int(self.low), to_value=int(self.high), step=1)]
            else:
                out.floating_point_range = [FloatingPointRange(from_value=self.low, to_value=self.high, step=0.0)]
        return out


def declare(node: Node, table: Sequence[Param], changed: Callable[[], None] | None = None) -> None:
    """Declare all of `table`; `changed` is called after any was set. Values that are no choice are refused."""
    choices = {param.name: param.choices for param in table if param.choices}

    def check(parameters: list[Parameter]) -> SetParametersResult:
        for parameter in parameters:
            allowed = choices.get(parameter.name)
            if allowed and parameter.value not in allowed:
                reason = f"{parameter.name} = {parameter.value!r}: one of {', '.join(allowed)} is wanted"
                return SetParametersResult(successful=False, reason=reason)
        return SetParametersResult(successful=True)

    node.add_on_set_parameters_callback(check)
    for param in table:
        default = Parameter.Type.DOUBLE_ARRAY if param.default == [] else param.default
        node.declare_parameter(param.name, default, param.descriptor())
    if changed is not None:
        node.add_post_set_parameters_callback(lambda _: changed())


def warn_of_unknown(node: Node) -> None:
    """Warn of parameters that were given to the node and are none of its own: a typing error would go unnoticed."""
    for name in node._parameter_overrides:
        if not node.has_parameter(name):
            near = get_close_matches(name, node._parameters, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            node.get_logger().warning(f"unknown parameter {name!r} is ignored{hint}")


def value(node: Node, name: str) -> Any:
    """The value of a parameter; an unset list is empty."""
    got = node.get_parameter_or(name).value
    return [] if got is None else got


DESCRIPTION_PARAMS = (
    Param("robot_description", "", "the URDF's text; without it, description_file, else the topic robot_description"),
    Param("description_file", "", "path of a URDF"),
    Param("base_link", "", "link that the chain starts from and goals refer to; empty: the root of the URDF"),
    Param("tip_link", "", "link that goals are for; empty: the end of the one serial chain there is"),
    Param("tool_axis", "", "where the tool points, in the tip frame: x, -z, or three numbers; empty: found by itself"),
)
FRAME_PREFIX = Param("frame_prefix", "", "of the robot's frames in messages and tf2, as robot_state_publisher has it")
