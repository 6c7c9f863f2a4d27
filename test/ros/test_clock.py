from __future__ import annotations

import time

import pytest
import rclpy
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import qos_profile_system_default
from rosgraph_msgs.msg import Clock

from ik_solver_ros.ros.common import convert
from ik_solver_ros.ros.common.steady_clock import SteadyClock


class Simulated:
    """A node on simulated time, and the one that publishes it."""

    def __init__(self) -> None:
        self.publisher = rclpy.create_node("simulator", namespace="/clock_test")
        self.clock = self.publisher.create_publisher(Clock, "/clock_test/clock", qos_profile_system_default)
        self.node = Node(
            "follower",
            namespace="/clock_test",
            parameter_overrides=[Parameter("use_sim_time", value=True)],
            cli_args=["--ros-args", "-r", "/clock:=/clock_test/clock"],
        )
        self.leaps = 0
        self.steady = SteadyClock(self.node, self._leapt)

    def _leapt(self) -> None:
        self.leaps += 1

    def be(self, seconds: float) -> None:
        deadline = time.monotonic() + 10.0
        while abs(self.node.get_clock().now().nanoseconds * 1e-9 - seconds) > 1e-6:
            assert time.monotonic() < deadline
            self.clock.publish(Clock(clock=convert.time_msg(seconds)))
            rclpy.spin_once(self.node, timeout_sec=0.05)


@pytest.fixture
def simulated():
    out = Simulated()
    yield out
    out.node.destroy_node()
    out.publisher.destroy_node()


def test_simulated_time_goes_on_and_its_leaps_are_taken_out(simulated):
    simulated.be(10000.0)
    leaps = simulated.leaps  # the first time is a leap from nothing
    before = simulated.steady.now()
    simulated.be(10000.1)
    assert simulated.steady.now() - before == pytest.approx(0.1) and simulated.leaps == leaps
    for leap in (3600.0, -3600.0, 0.5):
        now = simulated.steady.now()
        simulated.be(10000.1 + leap)
        assert simulated.steady.now() == pytest.approx(now) and simulated.leaps > leaps
        leaps = simulated.leaps
        simulated.be(10000.15 + leap)
        assert simulated.steady.now() == pytest.approx(now + 0.05) and simulated.leaps == leaps
        stamp = simulated.steady.stamp(simulated.steady.now() + 1.0)
        assert stamp == pytest.approx(10001.15 + leap)
        assert simulated.steady.moment(stamp) == pytest.approx(simulated.steady.now() + 1.0)
        simulated.be(10000.1)
        leaps = simulated.leaps


def test_wall_time_is_the_monotonic_clock():
    node = rclpy.create_node("wall")
    try:
        steady = SteadyClock(node, lambda: None)
        before, now, after = time.monotonic(), steady.now(), time.monotonic()
        assert before <= now <= after
        assert steady.stamp(now) == pytest.approx(time.time(), abs=1.0)
    finally:
        node.destroy_node()
