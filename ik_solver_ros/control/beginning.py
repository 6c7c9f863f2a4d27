"""How leading servos begins: with readings that agree, at what the servos hold."""

from __future__ import annotations

import time

from ik_solver_ros.arm.measured_servos import HOLDING
from ik_solver_ros.arm.servos import Sample, ServoArm
from ik_solver_ros.control.reading_gate import ReadingGate
from ik_solver_ros.errors import ArmError
from ik_solver_ros.kinematics.arrays import Array

LOOKS, LOOK_EVERY = 30, 0.005  # at servos that have just been connected, so far apart [s]


def first_samples(arm: ServoArm, gate: ReadingGate, now: float) -> dict[str, Sample]:
    """A sample of every servo with which its next ones agree, by joint; the gate knows them then.

    Raises ArmError where a servo has none, with the arm closed, and BusError.
    """
    gate.reset()
    out: dict[str, Sample] = {}
    for _ in range(LOOKS):
        out |= gate.plausible(arm.samples(), now)
        if len(out) == len(arm.joint_names):
            return out
        time.sleep(LOOK_EVERY)
    arm.close()
    missing = ", ".join(name for name in arm.joint_names if name not in out)
    raise ArmError(f"servos do not answer, or never twice alike: {missing}")


def held_positions(arm: ServoArm, samples: dict[str, Sample]) -> Array:
    """Where the servos hold the joints, (n,): at their goals where they have torque and are near; else as measured.

    What is measured is lower, as servos sag: an arm that were led from there again and again would sink.
    """
    out, near = arm.reading(samples).positions, HOLDING / arm.calibration.family.per_tick
    for i, joint in enumerate(arm.calibration.joints):
        sample = samples.get(joint.name)
        if sample and sample.torque and sample.goal is not None and abs(sample.goal - sample.ticks) <= near:
            out[i] = joint.position(sample.goal)
    return out
