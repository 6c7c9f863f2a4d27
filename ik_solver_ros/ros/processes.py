"""Nodes as child processes that never outlive their parent: for the demonstration, the tests and the benchmarks."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from ik_solver_ros.errors import ArmError
from ik_solver_ros.share import share_dir

MODULES = {
    "ik_node": "ik_solver_ros.ros.ik_node.node",
    "sim_node": "ik_solver_ros.ros.arm_node.sim_node",
    "servo_node": "ik_solver_ros.ros.arm_node.servo_node",
}
STOP_WITHIN = 5.0  # [s] to end by itself after SIGINT


def isolated_environment(domain_id: int) -> dict[str, str]:
    """Environment variables that keep DDS on this machine's loopback interface, with quick discovery."""
    profile = str(share_dir() / "config" / "fastdds_localhost.xml")
    return {
        "ROS_DOMAIN_ID": str(domain_id),
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
        "RMW_IMPLEMENTATION": "rmw_fastrtps_cpp",
        "FASTRTPS_DEFAULT_PROFILES_FILE": profile,
        "FASTDDS_DEFAULT_PROFILES_FILE": profile,
    }


class NodeProcess:
    """A node of this package as a child process, its output in a log file. Use it in a `with` statement."""

    def __init__(self, node: str, log: Path, parameters: Mapping[str, Any], *remaps: str) -> None:
        """node: one of MODULES; remaps: more ROS arguments, as "__ns:=/left"."""
        self.node, self.log = node, log
        arguments = ["--ros-args"]
        for name, value in parameters.items():
            arguments += ["-p", f"{name}:={_yaml(value)}"]
        for remap in remaps:
            arguments += ["-r", remap]
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("w") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", MODULES[node], *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C reaches the parent alone, which ends its children in order
                preexec_fn=_die_with_parent,
            )

    def check(self) -> None:
        """Raise ArmError, with the end of its log, where the node has ended."""
        if self.process.poll() is not None:
            tail = "\n".join(self.log.read_text(errors="replace").splitlines()[-8:])
            raise ArmError(f"{self.node} ended with status {self.process.returncode}; its log says:\n{tail}")

    def stop(self) -> int:
        """End the node as Ctrl-C would, and by force where that takes too long. Returns its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(STOP_WITHIN)
            except subprocess.TimeoutExpired:
                self.process.kill()
        return self.process.wait()

    def __enter__(self) -> NodeProcess:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.stop()


def _die_with_parent() -> None:
    """On Linux, have the kernel end this process when its parent is gone, even by SIGKILL."""
    if sys.platform == "linux":
        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGTERM)


def _yaml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_yaml(v) for v in value) + "]"
    if isinstance(value, (str, os.PathLike)):
        return "'" + str(value).replace("'", "''") + "'"
    return repr(value)
