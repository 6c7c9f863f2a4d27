"""Clocks leap by an hour, forth and back, while the arm moves: what its joints do.

The system's clock: both nodes run with a library before libc's that adds to CLOCK_REALTIME what a file says, which
needs a C compiler. Simulated time: the bench publishes it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path

import numpy as np
from rclpy.qos import qos_profile_sensor_data
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState

from benchmarks.stage import URDF, ik_node, peer
from ik_solver_ros.kinematics.load import load_chain
from ik_solver_ros.ros.common import convert
from ik_solver_ros.ros.processes import NodeProcess

HOUR = 3600
DOWN = np.array([1.0, 0.0, 0.0, 0.0])
SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

static volatile long *leap(void) {
    static volatile long *seconds;
    if (!seconds) {
        int file = open(getenv("LEAP_FILE"), O_RDONLY);
        seconds = mmap(0, sizeof(long), PROT_READ, MAP_SHARED, file, 0);
    }
    return seconds;
}

int clock_gettime(clockid_t which, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int status = real(which, now);
    if (which == CLOCK_REALTIME) now->tv_sec += *leap();
    return status;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    now->tv_sec = t.tv_sec;
    now->tv_usec = t.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *out) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    if (out) *out = t.tv_sec;
    return t.tv_sec;
}
"""


def measure(seconds: float = 20.0) -> None:
    if shutil.which("cc") is None:
        print("no C compiler here: leaps of the system's clock are not measured")
    else:
        system_time(seconds)
    simulated_time(seconds)


def system_time(seconds: float) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        library, leap = Path(scratch) / "leap.so", Path(scratch) / "leap"
        leap.write_bytes((0).to_bytes(8, "little", signed=True))
        command = ["cc", "-shared", "-fPIC", "-O1", "-o", str(library), "-x", "c", "-", "-ldl"]
        subprocess.run(command, input=SOURCE, text=True, check=True)
        os.environ.update(LD_PRELOAD=str(library), LEAP_FILE=str(leap))

        def leapt(by: int) -> None:
            leap.open("r+b").write(by.to_bytes(8, "little", signed=True))

        with ExitStack() as stack:
            try:
                bench, ik = started(stack, scratch)
            finally:
                del os.environ["LD_PRELOAD"]
            run("the system's clock", bench(), ik, leapt, seconds)


def simulated_time(seconds: float) -> None:
    with tempfile.TemporaryDirectory() as scratch, ExitStack() as stack:
        make, ik = started(stack, scratch, use_sim_time=True)
        bench = make()
        clock = bench.create_publisher(Clock, "/clock", 10)
        by = [0]
        bench.create_timer(0.004, lambda: clock.publish(Clock(clock=convert.time_msg(time.time() + by[0]))))
        run("simulated time", bench, ik, lambda leap: by.__setitem__(0, leap), seconds)


def started(stack: ExitStack, scratch: str, **parameters):
    """Both nodes, and what makes their peer: after them, as a process should fork before DDS has threads."""
    sim = {"description_file": str(URDF), "backend": "mock"} | parameters
    stack.enter_context(NodeProcess("sim_node", Path(scratch) / "sim.log", sim))
    ik = stack.enter_context(ik_node(goal_mode="approach", **parameters))
    return lambda: stack.enter_context(peer()), ik


def run(what: str, bench, ik, leapt, seconds: float) -> None:
    chain = load_chain(URDF)
    states: list[tuple[float, JointState]] = []
    bench.create_subscription(
        JointState, "joint_states", lambda state: states.append((time.monotonic(), state)), qos_profile_sensor_data
    )
    bench.until(lambda: "ready for goals" in ik.log.read_text(), 300.0)
    bench.until(lambda: bench.goals.get_subscription_count() and states)
    rng, until, leaps = np.random.default_rng(0), time.monotonic() + seconds, 0
    while time.monotonic() < until:
        place = np.array([rng.uniform(0.18, 0.25), rng.uniform(-0.15, 0.15), 0.06])
        bench.goals.publish(convert.pose_msg(place, DOWN, chain.base_link, bench.get_clock().now().to_msg()))
        moment = time.monotonic() + rng.uniform(0.05, 0.6)
        bench.until(lambda moment=moment: time.monotonic() > moment)
        leaps += 1
        leapt([HOUR, 0, -HOUR, 0][leaps % 4])
    positions = np.array([[dict(zip(s.name, s.position))[name] for name in chain.joint_names] for _, s in states])
    moved = np.abs(np.diff(positions, axis=0))
    stamps = [convert.seconds(state.header.stamp) for _, state in states]
    seen = sum(abs(b - a) > 0.5 * HOUR for a, b in pairwise(stamps))
    way = np.diff(stamps)
    way -= HOUR * np.round(way / HOUR)  # joint_states are stamped by the clock that leaps
    # The mock goes in steps of 1/240 s, and after a delay it catches up: then stamps are closer than its steps.
    way = np.maximum(way + 1.0 / 240.0, 3.0 / 240.0)[:, np.newaxis]
    speeds = moved / way
    refused = sum("refused" in answer.message for answer in bench.answers)
    ends = [pair.value for answer in bench.answers for pair in answer.values if pair.key == "outcome"]
    print(f"{leaps} leaps of {what} by an hour, {seen} of them seen in joint_states' stamps:")
    beyond = int((speeds > 1.05 * chain.velocity_limit).sum())
    print(f"  steps of a joint beyond its velocity limit: {beyond}, of {len(states)} samples")
    print(f"  the fastest that a joint went: {speeds.max():.2f} rad/s; goals refused: {refused}")
    print(
        f"  goals executed {ends.count('EXECUTED')}, replaced {ends.count('REPLACED')}, missed {ends.count('MISSED')}"
    )
