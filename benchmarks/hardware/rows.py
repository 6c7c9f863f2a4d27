"""The rows: what may happen to servos, again and again. Each returns a Verdict."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import numpy as np

from benchmarks.hardware.rig import REST, SPEED, Rig, Verdict
from ik_solver_ros.errors import ArmError
from ik_solver_ros.servo.emulated import judge
from ik_solver_ros.servo.emulated.faults import OldReplies, UnseenDamage
from ik_solver_ros.servo.families import load

REPORTED = 1.0  # [s] within which a fault is told
LEAD = 0.35  # [rad] that a goal may be ahead of a servo
SUNK = 1.0  # [deg]
STEP = 0.04  # [rad] of one cycle at the limit


def brown_outs(rig: Rig, trials: int) -> Verdict:
    """One, some or all servos lose their power in motion, for 20 to 500 ms."""
    out = Verdict()
    for _ in range(trials):
        out.trials += 1
        out.must(rig.enable(), f"no torque: {rig.events[-1:]}")
        rig.go()
        began = time.monotonic()
        rig.run(rig.rng.uniform(0.1, 0.6))
        n = len(rig.servos)
        chosen = rig.rng.choice(n, rig.rng.choice([1, rig.rng.integers(2, n), n]), replace=False)
        since = time.monotonic()
        with rig.port.lock:
            for i in chosen:
                rig.servos[i].restart(rig.rng.uniform(0.02, 0.5))
        out.must(rig.run(REPORTED + 0.5, lambda: "torque lost" in rig.cycle.fault), f"not told: {rig.cycle.fault!r}")
        out.note("told after [s]", time.monotonic() - since, REPORTED)
        rig.run(REST)
        rig.look(out, began)
        with rig.port.lock:
            on = [one.servo_id for one in judge.torque_on(rig.plant, since)]
        out.must(not on, f"torque came on again: {on}")
    return out


def blocked(rig: Rig, trials: int) -> Verdict:
    """Something holds a joint on its way, and lets it go later."""
    out = Verdict()
    for _ in range(trials):
        out.trials += 1
        out.must(rig.enable(), f"no torque: {rig.events[-1:]}")
        rig.run(0.2)
        rig.go(0.9)
        rig.run(rig.rng.uniform(0.05, 0.3))
        since = time.monotonic()
        servo = rig.servos[rig.rng.integers(len(rig.servos))]
        with rig.port.lock:
            servo.blocked = True
        told = rig.run(2.0, lambda: bool(rig.cycle.fault))
        took = time.monotonic() - since
        rig.run(0.5)
        with rig.port.lock:
            lead = judge.greatest_lead(rig.plant, since).value * rig.tick
            held_up = abs(servo.goal - servo.position) * rig.tick
            servo.blocked = False
        freed = time.monotonic()
        out.note("goal ahead [rad]", lead, LEAD)
        if told:
            out.note("told after [s]", took, REPORTED)
        out.must(told or held_up < 0.1, f"not told, and its goal is {held_up:.2f} rad away")
        rig.run(REST)
        rig.look(out, since)
        with rig.port.lock:
            snap = judge.fastest_motion(rig.plant, begin=freed).value * rig.tick / SPEED
        out.note("freed, speed / limit", snap, 1.0)
    return out


def sinks(rig: Rig, trials: int) -> Verdict:
    """So many reconnects, emergency stops, and silences of another servo: all joints sag."""
    out = Verdict()
    out.must(rig.enable(), "no torque")
    rig.run(1.0)
    for what in ("reconnects", "emergency stops", "silences"):
        before = rig.truth()
        for i in range(trials):
            out.trials += 1
            if what == "reconnects":
                rig.port.unplug()
                rig.run(0.03)
                rig.port.plug()
                rig.run(5.0, lambda: rig.cycle.connected)
            elif what == "emergency stops":
                rig.cycle.emergency_stop(True)
                rig.run(0.05)
                rig.cycle.emergency_stop(False)
            else:
                servo = rig.servos[i % len(rig.servos)]
                servo.silent = True
                rig.run(1.0, lambda: bool(rig.cycle.fault))
                servo.silent = False
                rig.run(5.0, lambda: not rig.cycle.fault)
            rig.run(0.05)
        rig.run(REST)
        sunk = np.degrees(np.abs(rig.truth() - before).max() * rig.tick)
        out.note(f"{what}: sunk [deg]", sunk, SUNK)
    return out


def restarts(rig: Rig, trials: int) -> Verdict:
    """servo_node ends, holding, and starts anew while a joint is 9 ticks beyond its range, or a servo silent."""
    out = Verdict()
    out.must(rig.enable(), "no torque")
    rig.run(0.5)
    for i in range(trials):
        out.trials += 1
        rig.cycle.end("hold", {})
        chosen, joint = rig.servos[i % 6], rig.calibration.joints[i % 6]
        with rig.port.lock:
            if i % 2:
                chosen.silent = True
            else:  # it held its end, and sags beyond
                chosen.set("goal_position", joint.min)
                chosen.position, chosen.blocked = joint.min - 9.0, True
        time.sleep(0.1)
        since = time.monotonic()
        rig.cycle = rig.another_cycle()
        try:
            rig.cycle.connect(time.monotonic())
            rig.cycle.enable()
        except ArmError as error:
            rig.events.append(str(error))
        rig.run(0.2) if rig.cycle.connected else time.sleep(0.2)
        with rig.port.lock:
            off = [change.servo_id for change in rig.plant.changes if change.time > since and not change.torque]
            chosen.silent = chosen.blocked = False
        out.must(not off, f"torque went off: {off}")
        rig.look(out, since)
        out.must(rig.enable(), f"no torque: {rig.events[-1:]}")
        rig.run(0.2)
    return out


def stalls(rig: Rig, trials: int) -> Verdict:
    """The process that leads the servos is stopped for 1 to 5 s in motion, and goes on."""
    out = Verdict()
    with _leader(rig) as leader:
        time.sleep(3.0)
        for _ in range(trials):
            out.trials += 1
            since = time.monotonic()
            time.sleep(rig.rng.uniform(0.3, 1.5))
            leader.send_signal(signal.SIGSTOP)
            time.sleep(rig.rng.uniform(1.0, 5.0))
            with rig.port.lock:
                before = len(rig.plant.writes)
            leader.send_signal(signal.SIGCONT)
            time.sleep(1.0)
            first: dict[int, float] = {}
            with rig.port.lock:
                for write in rig.plant.writes[before:]:
                    first.setdefault(write.servo_id, abs(write.target - write.position) * rig.tick)
            out.note("first goal from the servo [rad]", max(first.values(), default=0.0), STEP + 20 * rig.tick)
            rig.look(out, since)
    return out


def busy_machine(rig: Rig, trials: int, processes: int = 30) -> Verdict:
    """Three seconds of motions on a machine with so many busy processes; the servos themselves are not slowed."""
    out = Verdict()
    with _leader(rig) as leader:
        time.sleep(3.0)
        others = [
            subprocess.Popen(["chrt", "--other", "0", sys.executable, "-c", "while True: pass"])
            for _ in range(processes)
        ]
        try:
            for _ in range(trials):
                out.trials += 1
                since = time.monotonic()
                time.sleep(3.0)
                rig.look(out, since)
                with rig.port.lock:
                    lead = judge.greatest_written_lead(rig.plant, since).value * rig.tick
                out.note("goal ahead [rad]", lead, LEAD)
            out.must(leader.poll() is None, "it has ended")
        finally:
            for other in others:
                other.kill()
    return out


@contextmanager
def _leader(rig: Rig) -> Iterator[subprocess.Popen[bytes]]:
    """A process of its own that leads the servos; ours has them, and goes before all others."""
    with suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    protocol = rig.calibration.protocol
    command = [sys.executable, "-m", "benchmarks.hardware.leader", rig.url, protocol]
    leader = subprocess.Popen(["chrt", "--other", "0", *command], stdout=subprocess.DEVNULL)
    rig.asked.append((time.monotonic(), np.inf))
    try:
        yield leader
    finally:
        leader.kill()
        leader.wait()
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def wrong_replies(rig: Rig, trials: int) -> Verdict:
    """Old replies, and damaged ones whose check is right, at and after torque-on, the arm elsewhere each time."""
    out, framing = Verdict(), load(rig.calibration.family.codec).FRAMING
    for i in range(trials):
        out.trials += 1
        rig.port.faults = None
        rig.run(10.0, lambda: rig.cycle.connected)
        rig.cycle.release()
        with rig.port.lock:
            for servo, joint in zip(rig.servos, rig.calibration.joints):
                servo.supported = True
                servo.position = rig.rng.uniform(joint.min + 200, joint.max - 200)
        rig.run(0.1)
        rig.port.faults = [OldReplies(i, framing, 0.1), UnseenDamage(i, framing, 0.1)][i % 2]
        since = time.monotonic()
        enabled = rig.enable()
        rig.run(0.2)
        with rig.port.lock:
            lead = judge.greatest_written_lead(rig.plant, since).value * rig.tick
        out.note("goal from the servo [rad]", lead, 20 * rig.tick)
        out.note("without torque", float(not enabled))
    rig.port.faults = None
    return out


def settings(rig: Rig, trials: int) -> Verdict:
    """What other programs may have left in the servos: limits, modes, offsets, speeds, gains."""
    out = Verdict()
    rng = rig.rng
    for _ in range(trials):
        out.trials += 1
        rig.cycle.arm.close()
        with rig.port.lock:
            for servo, joint in zip(rig.servos, rig.calibration.joints):
                servo.supported = True
                servo.set("torque_enable", 0)
                for name, value in servo.factory().items():
                    servo.set(name, value)
                for name, value in (("operating_mode", 0), ("homing_offset", 0), ("goal_velocity", 0)):
                    servo.set(name, value)
                servo.position = rng.uniform(joint.min + 100, joint.max - 100)
            servo = rig.servos[rng.integers(6)]
            for name, value in _left(rng).items():
                servo.set(name, value)
            for one in rig.servos:
                one.refresh()
                one.notice()
        rig.cycle = rig.another_cycle()
        since = time.monotonic()
        before = rig.truth()
        try:
            rig.cycle.connect(time.monotonic())
            rig.enable(1)
            rig.run(0.15)
        except ArmError as error:
            rig.events.append(str(error))
            out.note("refused", 1.0)
            time.sleep(0.05)
        sag = 35.0  # [ticks] that it sags when torque comes on, at half the gain of the factory
        out.note("moved at torque-on [rad]", np.abs(rig.truth() - before).max() * rig.tick, sag * rig.tick)
        with rig.port.lock:
            lead = judge.greatest_lead(rig.plant, since).value * rig.tick
            out.note("goal from the servo [rad]", lead, sag * rig.tick)
        rig.look(out, since)
    return out


def adapters(rig: Rig, trials: int) -> Verdict:
    """Motions over whatever adapter the rig has: that they are done, and at what rate."""
    out = Verdict()
    out.must(rig.enable(), f"no torque: {rig.events[-1:]}")
    for _ in range(trials):
        out.trials += 1
        since, cycles = time.monotonic(), rig.cycles
        rig.go(0.6)
        rig.run(2.0)
        out.must(not rig.cycle.fault, f"a fault: {rig.cycle.fault}")
        rig.look(out, since)
        out.note("cycles/s", (rig.cycles - cycles) / (time.monotonic() - since))
        out.note("told of latency [ms]", rig.cycle.arm.health()["latency_ms"])
    return out


def settles(rig: Rig, seconds: int, first_seconds: float = 15.0) -> Verdict:
    """A motion's end under gravity, stiction and play: where the joints rest, and whether they go to and fro."""
    out = Verdict()
    out.must(rig.enable(), "no torque")
    rig.go(0.6)
    rig.run(2.0)
    wanted = np.array(
        [j.ticks(q) for j, q in zip(rig.calibration.joints, rig.cycle.setpoint("arm", time.monotonic()).position)]
    )
    first = np.abs(rig.truth() - wanted)
    rig.run(first_seconds)
    turns, last, way = np.zeros(6), rig.truth(), np.zeros(6)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        rig.run(0.2)
        here = rig.truth()
        step = here - last
        turns += (np.abs(step) > 2.0) & (np.sign(step) == -np.sign(way))
        way = np.where(np.abs(step) > 2.0, step, way)
        last = here
    out.trials = 1
    tips = [rig.tip_error(error) for error in (first, np.abs(last - wanted))]
    out.note("rest error [ticks]", np.abs(last - wanted).max(), 5.0 if rig.settle else np.inf)
    out.note("before [ticks]", first.max())
    out.note("tip [mm], and at the motion's end", tips[1])
    out.note("[mm]", tips[0])
    out.note("turned back, times", turns.max(), 2.0)
    return out


def _left(rng: np.random.Generator) -> dict[str, int]:
    """One to three settings of some other program's."""
    every = {
        "goal_velocity": int(rng.integers(0, 3000)),
        "acceleration": int(rng.integers(0, 255)),
        "torque_limit": int(rng.integers(0, 1001)),
        "operating_mode": int(rng.integers(0, 4)),
        "phase": int(rng.choice([0x0C, 0x1C, 0x04, 0x00])),
        "homing_offset": int(rng.integers(-2047, 2048)),
        "min_position": int(rng.integers(0, 2000)),
        "max_position": int(rng.integers(2100, 4096)),
        "status_level": int(rng.integers(0, 2)),
        "p_gain": int(rng.integers(16, 64)),
        "goal_time": int(rng.integers(0, 2000)),
        "goal_position": int(rng.integers(0, 4096)),
    }
    names = rng.choice(list(every), rng.integers(1, 4), replace=False)
    return {str(name): every[str(name)] for name in names}
