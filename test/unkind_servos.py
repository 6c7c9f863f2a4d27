"""Servos as their makers and users report them, on a port without a wire, and somebody who calibrates them by hand.

A shaft's position is continuous and true; what a servo says of it wraps, is offset, and is kept behind a lock.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ik_solver_ros.kinematics.load import load_chain
from ik_solver_ros.servo import dynamixel, feetech, lx16a
from ik_solver_ros.servo.registers import BROADCAST, PING, READ, SYNC_WRITE, WRITE

TURN = 4096
SPEED = 4000.0  # [ticks/s]


class UnkindServo:
    """What both families have: a table of registers, of which some are kept, and goals within limits."""

    codec = feetech
    volatile_from = 40  # the first address that is not kept

    def __init__(self, servo_id, position, baud=1_000_000):
        self.position, self.silent, self.blocked = float(position), False, False
        self.registers, self.memory = self.codec.registers, bytearray(256)
        self.set("id", servo_id)
        self.set("baud_rate", self.codec.BAUDS.index(baud))
        self.set("max_position", TURN - 1)
        self.begin()
        self.measure()

    def begin(self):
        pass

    def get(self, name):
        register = self.registers[name]
        return register.decode(bytes(self.memory[register.address : register.address + register.size]))

    def set(self, name, value):
        register = self.registers[name]
        self.memory[register.address : register.address + register.size] = register.encode(value)

    @property
    def baud(self):
        return self.codec.BAUDS[self.get("baud_rate")]

    def says(self):
        """Present_Position."""
        raise NotImplementedError

    def may_keep(self):
        raise NotImplementedError

    def written(self, address, data):
        if address < self.volatile_from and not self.may_keep():
            return
        torque = self.get("torque_enable")
        self.memory[address : address + len(data)] = data
        self.after(address, torque)

    def after(self, address, torque):
        pass

    def advance(self, seconds):
        if self.get("torque_enable") and not self.blocked:
            low, high = self.get("min_position"), self.get("max_position")
            way = min(max(self.get("goal_position"), low), high) - self.says()
            self.position += min(max(way, -SPEED * seconds), SPEED * seconds)
        self.measure()

    def measure(self):
        self.set("position", self.says())


class UnkindFeetech(UnkindServo):
    def begin(self):
        self.set("lock", 1)

    def says(self):
        counted = round(self.position) - self.get("homing_offset")
        return counted if self.get("phase") & 0x10 else counted % TURN

    def may_keep(self):
        return not self.get("lock")

    def after(self, address, torque):
        # a goal elsewhere brings the torque on by itself
        if address == self.registers["goal_position"].address and self.get("goal_position") != self.says():
            self.set("torque_enable", 1)


class UnkindDynamixel(UnkindServo):
    codec = dynamixel
    volatile_from = 64

    def begin(self):
        self.set("operating_mode", 3)
        self.turns = self.position // TURN * TURN

    def offset(self):
        offset = self.get("homing_offset")
        return 0 if self.get("operating_mode") == 3 and abs(offset) > 1024 else offset

    def says(self):
        return round(self.position - self.turns) + self.offset()

    def may_keep(self):
        return not self.get("torque_enable")

    def after(self, address, torque):
        if self.get("torque_enable") > torque and self.get("operating_mode") == 3:
            self.turns = self.position // TURN * TURN


class UnkindLx16a:
    """LX-16A servos by id: where they are [ticks], limits, modes, torque."""

    def __init__(self, positions):
        self.positions, self.torque = dict(positions), dict.fromkeys(positions, False)
        self.limits, self.modes = dict.fromkeys(positions, (0, 1000)), dict.fromkeys(positions, 0)

    def advance(self, now):
        pass

    def feed(self, data, now):
        packets, _ = lx16a.parse(data)
        return [
            lx16a.frame(i, command, answer) for i, command, data in packets for answer in self.obey(i, command, data)
        ]

    def obey(self, servo_id, command, data):
        """The data of the answer, if there is one."""
        if servo_id not in self.positions:
            return []
        pair = tuple(int.from_bytes(data[at : at + 2], "little") for at in (0, 2))
        if command == lx16a.LIMITS_WRITE:
            self.limits[servo_id] = pair
        elif command == lx16a.MODE_WRITE:
            self.modes[servo_id] = data[0]
        elif command == lx16a.TORQUE_WRITE:
            self.torque[servo_id] = bool(data[0])
        elif command == lx16a.ID_WRITE:
            for table in (self.positions, self.torque, self.limits, self.modes):
                table[data[0]] = table.pop(servo_id)
            return []
        answers = {
            lx16a.LIMITS_READ: b"".join(limit.to_bytes(2, "little") for limit in self.limits[servo_id]),
            lx16a.MODE_READ: bytes([self.modes[servo_id], 0, 0, 0]),
            lx16a.POSITION_READ: round(self.positions[servo_id]).to_bytes(2, "little", signed=True),
            lx16a.TORQUE_READ: bytes([self.torque[servo_id]]),
        }
        return [answers[command]] if command in answers else []


class Board:
    """One that answers the question of its protocol."""

    def __init__(self, codec, answer):
        self.codec, self.answer = codec, answer

    def advance(self, now):
        pass

    def feed(self, data, now):
        return [self.answer] * (data == self.codec.question)


class UnkindEmulator:
    """Register servos on a wire; two may have one id. Time is passed in."""

    def __init__(self, servos):
        self.all, self.codec, self._time = list(servos), servos[0].codec, 0.0

    def advance(self, now):
        for servo in self.all:
            servo.advance(now - self._time)
        self._time = now

    def feed(self, data, now, baud=1_000_000):
        """The replies of those that have this rate."""
        packets, _ = self.codec.parse_instructions(data)
        return [reply for packet in packets for servo in self.all for reply in self._replies(servo, packet, baud)]

    def _replies(self, servo, packet, baud):
        number, wide = servo.get("id"), self.codec.address_size
        if servo.silent or servo.baud != baud or packet.servo_id not in (number, BROADCAST):
            return []
        address, size = (int.from_bytes(packet.data[at : at + wide], "little") for at in (0, wide))
        out = b""
        if packet.code == READ:
            out = bytes(servo.memory[address : address + size])
        elif packet.code == WRITE:
            servo.written(address, packet.data[wide:])
        elif packet.code == SYNC_WRITE:
            rows = packet.data[2 * wide :]
            for at in range(0, len(rows), size + 1):
                if rows[at] == number:
                    servo.written(address, rows[at + 1 : at + 1 + size])
        elif packet.code != PING:
            raise AssertionError(f"instruction {packet.code}")
        return [] if packet.servo_id == BROADCAST else [self.codec.status(number, 0, out)]


class DirectPort:
    """A port whose servos answer at once, where they have its rate; `echoes`: and what is sent comes back first."""

    def __init__(self, servos, baud=1_000_000, echoes=False):
        self.servos, self.baud, self.echoes = servos, baud, echoes
        self.url, self.is_open, self.low_latency = "/dev/bench", True, True
        self.now, self._received = 0.0, b""

    def open(self):
        self.is_open = True

    def close(self):
        self.is_open = False

    def flush(self):
        self._received = b""

    def write(self, data):
        self.now += 1e-3
        self.servos.advance(self.now)
        registers = isinstance(self.servos, UnkindEmulator)
        replies = self.servos.feed(data, self.now, self.baud) if registers else self.servos.feed(data, self.now)
        if len(replies) > 1:  # two of one id talk at once
            replies = [bytes(byte ^ 0x24 for byte in replies[0])]
        self._received += data * self.echoes + b"".join(replies)

    def read(self, deadline):
        received, self._received = self._received, b""
        return received


@dataclass
class Joint:
    """The truth of a joint [ticks of the shaft, continuous]."""

    zero: float
    sign: int
    low: float
    high: float

    def angle(self, shaft):
        return self.sign * (shaft - self.zero) * 2.0 * np.pi / TURN


class Person:
    """Answers the wizard's questions, and moves the joint that is asked about; believes their eyes."""

    def __init__(self, port, servo, joint, rng, answers=None):
        self.port, self.servo, self.joint, self.rng = port, servo, joint, rng
        self.answers = {"shall servo": "y", "change that": "y", "open them": "y", "once more": "n"} | (answers or {})
        self.said, self.asked, self.path = [], [], []
        advance = servo.advance

        def watched(seconds):
            advance(seconds)
            if servo.get("torque_enable"):
                self.path.append(servo.position)

        servo.advance = watched

    def ask(self, question, live):
        self.asked.append(question)
        joint = self.joint
        if "URDF has it at" in question:
            self.lead(joint.zero, live)
        elif "positive direction" in question:
            room = joint.high - joint.zero if joint.sign > 0 else joint.zero - joint.low
            way = room * self.rng.uniform(0.7, 0.95)
            if way < 70.0:  # it stands at that end
                self.lead(joint.zero - joint.sign * 70.0, live)
                return "-"
            self.lead(joint.zero + joint.sign * way, live)
        elif "whole range" in question:
            ends = [joint.low, joint.high]
            self.rng.shuffle(ends)
            for end in (*ends, self.rng.uniform(joint.low, joint.high)):
                self.lead(end, live)
        elif "away from the ends" in question:
            self.lead((joint.low + joint.high) / 2.0, live)
        elif "shall servo" in question:
            self.path.clear()
        elif "did it go" in question:
            return "y" if joint.sign * max(np.subtract(self.path, self.path[0]), key=abs) > 0.0 else "n"
        elif live is not None:
            live()
        return next((answer for words, answer in self.answers.items() if words in question), "")

    def lead(self, to, live):
        """By hand, at up to 300 ticks from one look to the next, and a moment's rest at the end."""
        while self.servo.position != to:
            step = self.rng.uniform(60.0, 300.0)
            self.servo.position += min(max(to - self.servo.position, -step), step)
            if live is not None:
                live()
        if live is not None:
            live()
            live()


def unkind(protocol, positions, baud=1_000_000):
    """Servos at positions [ticks] by id, on a wire."""
    kind = {"feetech": UnkindFeetech, "dynamixel": UnkindDynamixel}[protocol]
    return UnkindEmulator([kind(i, position, baud) for i, position in positions])


def robot(low, high):
    """A joint with these limits [rad]."""
    return load_chain(
        f"""<robot name="one"><link name="base"/><link name="arm"/><link name="tip"/>
        <joint name="joint" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
        <limit lower="{low}" upper="{high}" effort="1" velocity="1"/></joint>
        <joint name="end" type="fixed"><parent link="arm"/><child link="tip"/><origin xyz="0.3 0 0"/></joint></robot>"""
    )
