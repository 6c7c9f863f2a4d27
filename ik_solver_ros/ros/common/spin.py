"""Run a node until it is told to stop: one way to start, one way to end, for every node."""

from __future__ import annotations

import sys
from collections.abc import Callable

import rclpy
from rclpy.exceptions import ParameterException
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node

from ik_solver_ros.errors import IkSolverError


def run(make: Callable[[], Node], args: list[str] | None = None) -> int:
    """Spin the node that `make` makes. Returns the exit status: 1 where it cannot start or go on, with the reason."""
    status = 0
    node: Node | None = None
    try:
        rclpy.init(args=args)
        node = make()
        rclpy.spin(node)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    except (IkSolverError, ParameterException, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        status = 1
    except RuntimeError:  # rclpy's own errors among them: a signal invalidates the context in the middle of a callback
        if rclpy.ok():
            raise
    try:
        if node is not None:
            node.destroy_node()
        rclpy.try_shutdown()
    except KeyboardInterrupt:  # a second Ctrl-C, in the middle of ending
        pass
    return status
