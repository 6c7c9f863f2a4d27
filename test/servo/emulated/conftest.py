from __future__ import annotations

from dataclasses import replace

import pytest

from ik_solver_ros.servo.emulated.traits import KIND
from ik_solver_ros.servo.registers import READ, WRITE, read_data, write_data


class Wire:
    """Asks an emulator what a driver would, at times that are said."""

    def __init__(self, emulator):
        self.emulator, self.codec, self.now = emulator, emulator.codec, 0.0
        emulator.advance(0.0)

    def send(self, servo_id, code, data=b""):
        replies = self.emulator.feed(self.codec.instruction(servo_id, code, data), self.now)
        return self.codec.parse_statuses(b"".join(replies))[0]

    def write(self, name, value, servo_id=1):
        """The error of the reply; None where there is none."""
        register = self.codec.registers[name]
        found = self.send(servo_id, WRITE, write_data(self.codec, register.address, register.encode(value)))
        return found[0].code if found else None

    def read(self, name, servo_id=1):
        register = self.codec.registers[name]
        found = self.send(servo_id, READ, read_data(self.codec, register.address, register.size))
        return register.decode(found[0].data) if found else None

    def wait(self, seconds):
        self.now += seconds
        self.emulator.advance(self.now)


@pytest.fixture
def wire():
    """A wire with one servo, id 1, at `at`, which is kind but for the traits named, and nothing pulls at it."""

    def make(emulator_class, at=2048.0, pull=0.0, **traits):
        emulator = emulator_class({1: at}, replace(KIND, **traits))
        emulator.servos[1].pull = pull
        return Wire(emulator), emulator.servos[1]

    return make
