"""What /diagnostics has of servos: the arm as a whole, and each servo's temperature, voltage, load and faults."""

from __future__ import annotations

from collections.abc import Mapping

from ik_solver_ros.arm.servos import Sample
from ik_solver_ros.control.servo_cycle import ServoCycle
from ik_solver_ros.errors import listed
from ik_solver_ros.ros.common.health import Tell
from ik_solver_ros.session.reply import Level

SLOW = 14.0  # [ms] from a request to its replies: warn; FTDI's adapters wait for 16 by default
HOT = 60  # deg C: warn before the servo gives up at 70


def torque_text(cycle: ServoCycle) -> str:
    """Who has torque, as the servos have said it themselves."""
    on = [name for name, sample in cycle.samples.items() if sample.torque]
    if len(on) == len(cycle.arm.joint_names):
        return "torque on" if cycle.enabled else "torque on, though not led; call ~/enable_torque"
    return f"torque on {listed(on)} only; call ~/enable_torque" if on else "torque off; call ~/enable_torque"


def arm_condition(cycle: ServoCycle, latency: float) -> tuple[Level, str]:
    """Level and sentence for the arm, the worst that there is. latency: of its replies [ms]."""
    if not cycle.connected:
        return Level.ERROR, f"{cycle.arm.name}: away"
    if cycle.fault:
        return Level.ERROR, cycle.fault
    if cycle.stopped:
        return Level.WARN, "emergency stop"
    torque = torque_text(cycle)
    if latency > SLOW:
        return Level.WARN, f"{torque}; replies take {latency:.0f} ms: an FTDI adapter's latency_timer?"
    return Level.OK, torque


def tell_of_servos(tell: Tell, cycle: ServoCycle, samples: Mapping[str, Sample], time_outs: Mapping[int, int]) -> None:
    """Tell of each servo that was heard. time_outs: of each, ever."""
    for joint in cycle.arm.calibration.joints:
        sample = samples.get(joint.name)
        if sample is None:
            continue
        level, text = Level.OK, "ok"
        if sample.temperature >= HOT:
            level, text = Level.WARN, f"hot: {sample.temperature} deg C"
        if sample.faults:
            level, text = Level.ERROR, listed(sample.faults)
        tell(
            level,
            joint.name,
            text,
            id=joint.id,
            temperature_c=sample.temperature,
            voltage_v=sample.voltage,
            load=sample.load,
            torque=sample.torque,
            time_outs=time_outs.get(joint.id, 0),
        )
