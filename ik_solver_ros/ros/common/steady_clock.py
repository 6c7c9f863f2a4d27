"""A clock that never jumps: what goes on inside a node must not follow every correction of the system's time."""

from __future__ import annotations

import time
from collections.abc import Callable

from rclpy.clock import JumpThreshold, TimeJump
from rclpy.duration import Duration
from rclpy.node import Node

LEAP = 0.2  # [s] a step of simulated time beyond this, or back, is a jump


class SteadyClock:
    """Seconds that go on evenly, and stamps of the ROS clock for them.

    By the machine's monotonic clock; with use_sim_time by simulated time, whose jumps are taken out, and told of.
    """

    def __init__(self, node: Node, jumped: Callable[[], None]) -> None:
        """jumped: called after simulated time has leapt, or begun anew."""
        self._clock = node.get_clock()
        self._simulated = bool(node.get_parameter("use_sim_time").value)
        self._jumped = jumped
        self._leapt = 0.0
        if self._simulated:
            threshold = JumpThreshold(
                min_forward=Duration(seconds=LEAP), min_backward=Duration(nanoseconds=-1), on_clock_change=False
            )
            self._handle = self._clock.create_jump_callback(threshold, post_callback=self._on_jump)

    def now(self) -> float:
        """[s] since some moment that stays the same."""
        return self._ros() - self._leapt if self._simulated else time.monotonic()

    def stamp(self, when: float) -> float:
        """The ROS time [s] of a moment of this clock."""
        return self._ros() + when - self.now()

    def moment(self, stamp: float) -> float:
        """The moment of this clock that a ROS time [s] means now."""
        return self.now() + stamp - self._ros()

    def _ros(self) -> float:
        return float(self._clock.now().nanoseconds * 1e-9)

    def _on_jump(self, jump: TimeJump) -> None:
        self._leapt += jump.delta.nanoseconds * 1e-9
        self._jumped()
