"""What a servo with a table of registers must be set to, asked when an arm is opened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ik_solver_ros.errors import ArmError
from ik_solver_ros.servo.bus import RegisterBus
from ik_solver_ros.servo.calibration import ServoJoint


def checked_settings(bus: RegisterBus, joint: ServoJoint) -> ServoJoint:
    """The joint, its range cut to the servo's own limits.

    Raises ArmError where the servo is set to something else than positions as calibrated, and BusError.
    """
    limits = ("min_position", "max_position")
    names = ["homing_offset", *limits, *(must.register for must in bus.codec.musts)]
    found = _registers(bus, joint, names)
    if joint.homing_offset is not None and found["homing_offset"] != joint.homing_offset:
        raise ArmError(
            f"servo of {joint.name!r} (id {joint.id}) has the homing offset {found['homing_offset']}, the calibration "
            f"{joint.homing_offset}: it is another servo, or was calibrated since; calibrate again"
        )
    for must in bus.codec.musts:
        if found[must.register] & must.mask not in must.values:
            raise ArmError(
                f"servo of {joint.name!r} (id {joint.id}) has {must.register} {found[must.register]}; {must.wanted} is "
                "wanted: another program has set it; calibrate again, which sets it right"
            )
    low, high = (found[name] for name in limits)
    if low >= high:  # both 0 is no limit
        return joint
    narrowed = replace(joint, min=max(joint.min, low), max=min(joint.max, high))
    if narrowed.min >= narrowed.max:
        raise ArmError(
            f"servo of {joint.name!r} (id {joint.id}) goes from {low} to {high} by its own limits, and from "
            f"{joint.min} to {joint.max} by the calibration; calibrate again"
        )
    return narrowed


def _registers(bus: RegisterBus, joint: ServoJoint, names: Sequence[str]) -> dict[str, int]:
    """Registers of a servo, in one request. Raises ArmError where it does not answer, and BusError."""
    registers = [bus.codec.registers[name] for name in names]
    first = min(register.address for register in registers)
    size = max(register.address + register.size for register in registers) - first
    data = bus.read_block(joint.id, first, size)
    if data is None:
        raise ArmError(f"servo of {joint.name!r} (id {joint.id}) does not answer any more")
    return {name: r.decode(data[r.address - first :]) for name, r in zip(names, registers)}
