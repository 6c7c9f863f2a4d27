"""Run the measurements named on the command line, or all of them."""

from __future__ import annotations

import os
import platform
import sys

from ik_solver_ros.ros.processes import isolated_environment

os.environ.update(isolated_environment(domain_id=20 + os.getpid() % 80))

from benchmarks import (
    ablation,
    bars,
    circle,
    clicks,
    clocks,
    first_goals,
    hardware,
    idle,
    killed,
    latency,
    motion,
    servos,
    solvers,
    startup,
    streaming,
)

ALL = {
    "bars": bars.measure,
    "ablation": ablation.measure,
    "solvers": solvers.measure,
    "latency": latency.measure,
    "idle": idle.measure,
    "startup": startup.measure,
    "motion": motion.measure,
    "streaming": streaming.measure,
    "clicks": clicks.measure,
    "servos": servos.measure,
    "hardware": hardware.measure,
    "killed": killed.measure,
    "circle": circle.measure,
    "clocks": clocks.measure,
    "first_goals": first_goals.measure,
}


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in ALL]
    if unknown:
        print(f"error: no measurement {', '.join(unknown)}; there are: {', '.join(ALL)}", file=sys.stderr)
        return 2
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}\n")
    for name in names or ALL:
        print(f"## {name}\n", flush=True)
        ALL[name]()
        print(flush=True)
    return 0


sys.exit(main(sys.argv[1:]))
