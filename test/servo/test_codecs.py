"""Frames by the book, and parsing of whatever a wire brings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ik_solver_ros.servo import dynamixel, feetech
from ik_solver_ros.servo.families import FAMILIES, load
from ik_solver_ros.servo.registers import BROADCAST, READ, WRITE, Register, read_data, write_data

from .conftest import REGISTER_FAMILIES

CODECS = {name: load(FAMILIES[name].codec) for name in REGISTER_FAMILIES}
frames = st.lists(st.tuples(st.integers(0, 252), st.integers(0, 127), st.binary(max_size=40)), max_size=6)


def goal(codec, value):
    register = codec.registers["goal_position"]
    return write_data(codec, register.address, register.encode(value))


@pytest.mark.parametrize(
    "frame, golden",
    [
        (feetech.instruction(1, WRITE, goal(feetech, 3000)), "ff ff 01 05 03 2a b8 0b 09"),
        (feetech.instruction(1, READ, read_data(feetech, 56, 2)), "ff ff 01 04 02 38 02 be"),
        (feetech.instruction(1, WRITE, write_data(feetech, 40, b"\0")), "ff ff 01 04 03 28 00 cf"),
        (
            feetech.instruction(1, WRITE, write_data(feetech, 42, bytes.fromhex("00080000e803"))),
            "ff ff 01 09 03 2a 00 08 00 00 e8 03 d5",
        ),
        (dynamixel.instruction(1, WRITE, goal(dynamixel, 3000)), "ff ff fd 00 01 09 00 03 74 00 b8 0b 00 00 48 e9"),
        (dynamixel.instruction(1, READ, read_data(dynamixel, 132, 4)), "ff ff fd 00 01 07 00 02 84 00 04 00 1d 15"),
        (dynamixel.instruction(1, WRITE, write_data(dynamixel, 64, b"\0")), "ff ff fd 00 01 06 00 03 40 00 00 de e6"),
        # ROBOTIS' e-Manual, the examples of Ping and Sync Read
        (dynamixel.instruction(1, 1), "ff ff fd 00 01 03 00 01 19 4e"),
        (
            dynamixel.instruction(BROADCAST, 0x82, read_data(dynamixel, 132, 4, [1, 2])),
            "ff ff fd 00 fe 09 00 82 84 00 04 00 01 02 ce fa",
        ),
    ],
)
def test_golden_frames(frame, golden):
    assert frame.hex(" ") == golden


@pytest.mark.parametrize("name", CODECS)
@given(frames, st.binary(max_size=12), st.data())
def test_packets_are_found_however_they_come(name, packets, noise, data):
    """Whole packets are found, in order, whatever stands before them and however they are cut into pieces."""
    codec = CODECS[name]
    stream = noise + b"".join(codec.status(*packet) for packet in packets)
    found, rest, at = [], b"", 0
    while at < len(stream):
        size = data.draw(st.integers(1, 30))
        more, rest = codec.parse_statuses(rest + stream[at : at + size])
        found, at = found + more, at + size
    # Noise may look like the beginning of a packet that is never finished; what follows is found with the next one.
    more, _ = codec.parse_statuses(rest + b"\0" * 300)
    seen = [tuple(packet) for packet in found + more]
    if noise == b"":
        assert seen == packets
    elif codec is dynamixel:  # one in 256 pieces of noise has the right sum for Feetech's
        assert seen[len(seen) - len(packets) :] == packets


@pytest.mark.parametrize("name", CODECS)
@given(st.integers(0, 252), st.binary(min_size=1, max_size=20), st.data())
def test_a_damaged_bit_makes_no_packet(name, servo_id, payload, data):
    codec = CODECS[name]
    frame = bytearray(codec.status(servo_id, 0, payload))
    bit = data.draw(st.integers(0, 8 * len(frame) - 1))
    frame[bit // 8] ^= 1 << bit % 8
    packets, _ = codec.parse_statuses(bytes(frame) + b"\0" * 300)
    assert packets == [] or all(len(packet.data) < len(payload) for packet in packets)


@pytest.mark.parametrize("name", CODECS)
@given(st.binary(max_size=200))
def test_noise_never_raises(name, noise):
    codec = CODECS[name]
    for parse in (codec.parse_statuses, codec.parse_instructions):
        packets, rest = parse(noise)
        assert len(rest) <= len(noise) and all(packet.servo_id <= BROADCAST for packet in packets)


@given(st.integers(-32767, 32767))
def test_signs(value):
    assert (r := Register(0, 2, sign_bit=15)).decode(r.encode(value)) == value
    assert (r := Register(0, 4, signed=True)).decode(r.encode(value)) == value


@pytest.mark.parametrize(
    "register, value", [(Register(0, 1), 256), (Register(0, 1), -1), (Register(0, 2, sign_bit=11), 2048)]
)
def test_values_that_do_not_fit_are_refused(register, value):
    with pytest.raises(ValueError, match=f"{value} does not fit"):
        register.encode(value)


def test_faults_in_words(codec):
    assert codec.faults(0) == [] and codec.faults(1 << 5 | 1) == ["voltage", "overloaded"]
