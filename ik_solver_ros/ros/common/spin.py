"""Run a node until it is told to stop: one way to start, one way to end, for every node."""

from __future__ import annotations

import sys
from collections.abc import Callable

import rclpy
from rclpy.context import Context
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
        shut_down()
    except KeyboardInterrupt:  # a second Ctrl-C, in the middle of ending
        pass
    return status


def shut_down(context: Context | None = None) -> None:
    """Shut rclpy down, unless somebody did.

    rclpy's handler of signals does so in a thread of its own, and `try_shutdown` raises where that thread comes between
    its look and its step: in 80 of 3,000 ends that followed a SIGINT within 0.3 ms.
    """
    try:
        rclpy.try_shutdown(context=context)
    except RuntimeError:  # RCLError, whose class rclpy keeps to itself
        if rclpy.ok(context=context):
            raise
