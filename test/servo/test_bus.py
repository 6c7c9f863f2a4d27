"""The bus against emulated servos on a real pseudo-terminal, and other people's software against the same servos."""

from __future__ import annotations

import os
import pty
import time
import tty
from dataclasses import replace
from types import SimpleNamespace

import pytest

from ik_solver_ros.errors import BusError
from ik_solver_ros.servo import dynamixel, feetech
from ik_solver_ros.servo.bus import WRITE_TIMEOUT, Port, RegisterBus
from ik_solver_ros.servo.emulated.faults import Faults
from ik_solver_ros.servo.emulated.port import EmulatedPort
from ik_solver_ros.servo.emulated.traits import KIND
from ik_solver_ros.servo.families import FAMILIES, load

from .conftest import BAUD, IDS


def test_read_and_write(plugged, codec):
    emulated, bus = plugged(codec)
    assert bus.ping(3) and not bus.ping(77)
    assert bus.read(2, codec.registers["position"]) == 2248
    assert bus.sync_read(codec.registers["position"], IDS) == {i: 2048 + 100 * i for i in IDS}
    assert bus.write(2, codec.registers["torque_enable"], 1)
    assert emulated.bus.servos[2].get("torque_enable") == 1
    bus.sync_write(codec.registers["goal_position"], {1: 2000, 2: 2400})
    assert bus.read(2, codec.registers["goal_position"]) == 2400
    assert [(w.servo_id, w.goal) for w in emulated.bus.writes] == [(1, 2000), (2, 2400)]


def test_servos_go_to_their_goals_while_their_torque_is_on(plugged, codec):
    _, bus = plugged(codec)
    bus.write(1, codec.registers["goal_position"], 2200)
    time.sleep(0.05)
    assert bus.read(1, codec.registers["position"]) == 2148
    bus.write(1, codec.registers["torque_enable"], 1)
    bus.write(1, codec.registers["goal_position"], 2200)
    deadline = time.monotonic() + 10.0
    while bus.read(1, codec.registers["position"]) != 2200:
        assert time.monotonic() < deadline


def test_a_silent_servo_does_not_silence_the_others(plugged, codec):
    emulated, bus = plugged(codec)
    emulated.bus.servos[4].silent = True
    assert set(bus.sync_read(codec.registers["position"], IDS)) == set(IDS) - {4}
    assert bus.time_outs == {4: 1} and bus.read(4, codec.registers["position"]) is None


def test_the_error_bits_of_a_reply_are_kept(plugged, codec):
    emulated, bus = plugged(codec)
    emulated.bus.servos[5].set("hardware_error", 1 << 5)
    bus.sync_read(codec.registers["position"], IDS)
    assert bus.errors[5] and not bus.errors[4]


def test_a_bad_cable(plugged, codec):
    """Replies damaged, cut, repeated, late or lost: what is read is true, and most of the good ones are."""
    emulated, bus = plugged(codec, Faults(seed=1, fraction=0.05))
    good = total = 0
    for _ in range(150):
        seen = bus.sync_read(codec.registers["position"], IDS)
        truth = emulated.bus.positions
        assert all(seen[i] == truth[i] for i in seen)
        good, total = good + len(seen), total + len(IDS)
    assert good > 0.9 * total


def test_unplugged_and_plugged_in_again(plugged, codec):
    emulated, bus = plugged(codec)
    for _ in range(5):
        emulated.unplug()
        with pytest.raises(BusError, match="is gone|cannot be opened|is closed"):
            for _ in range(50):
                bus.read(1, codec.registers["position"])
        assert not bus.port.is_open
        with pytest.raises(BusError, match="is closed"):
            bus.read(1, codec.registers["position"])
        with pytest.raises(BusError, match="cannot be opened.*ports there are"):
            bus.port.open()
        emulated.plug()
        bus.port.open()
        assert bus.ping(1)


def test_a_port_has_one_owner(plugged):
    emulated, _ = plugged(feetech)
    with pytest.raises(BusError, match="another program has it"):
        Port(emulated.url, BAUD).open()


def test_what_pyserial_opens_by_url():
    port = Port("loop://", BAUD)
    port.open()
    port.write(b"abc")
    assert port.read(time.monotonic() + 1.0) == b"abc"
    port.close()
    port.close()
    with pytest.raises(BusError, match="'nonsense://' cannot be opened|nonsense:// cannot be opened"):
        Port("nonsense://", BAUD).open()


def test_feetechs_own_software_finds_our_servos_as_ours_does(plugged):
    sdk = pytest.importorskip("scservo_sdk")
    emulated, bus = plugged(feetech)
    bus.port.close()
    port = sdk.PortHandler(emulated.url)
    assert port.openPort() and port.setBaudRate(BAUD)
    packets = sdk.PacketHandler(0)
    try:
        model, result, error = packets.ping(port, 3)
        assert (model, result, error) == (777, sdk.COMM_SUCCESS, 0)
        assert packets.read2ByteTxRx(port, 2, 56) == (2248, sdk.COMM_SUCCESS, 0)
        assert packets.write2ByteTxRx(port, 2, 42, 3000) == (sdk.COMM_SUCCESS, 0)
        assert emulated.bus.servos[2].get("goal_position") == 3000
        group = sdk.GroupSyncWrite(port, packets, 42, 2)
        for i in (1, 6):
            assert group.addParam(i, [0xD0, 0x07])
        assert group.txPacket() == sdk.COMM_SUCCESS
        assert packets.read2ByteTxRx(port, 6, 42)[0] == 2000
        reader = sdk.GroupSyncRead(port, packets, 56, 2)
        for i in IDS:
            assert reader.addParam(i)
        assert reader.txRxPacket() == sdk.COMM_SUCCESS
        assert [reader.getData(i, 56, 2) for i in IDS] == [2048 + 100 * i for i in IDS]
    finally:
        port.closePort()


def test_dynamixels_own_software_finds_our_servos_as_ours_does(plugged):
    sdk = pytest.importorskip("dynamixel_sdk")
    emulated, bus = plugged(dynamixel)
    bus.port.close()
    port = sdk.PortHandler(emulated.url)
    assert port.openPort() and port.setBaudRate(BAUD)
    packets = sdk.PacketHandler(2.0)
    try:
        assert packets.ping(port, 3) == (1200, sdk.COMM_SUCCESS, 0)
        assert packets.read4ByteTxRx(port, 2, 132) == (2248, sdk.COMM_SUCCESS, 0)
        assert packets.write4ByteTxRx(port, 2, 116, 0xFFFDFFFF) == (sdk.COMM_SUCCESS, 0)  # needs stuffing
        assert packets.read4ByteTxRx(port, 2, 116)[0] == 0xFFFDFFFF
        group = sdk.GroupSyncWrite(port, packets, 116, 4)
        for i in (1, 6):
            assert group.addParam(i, [0xD0, 0x07, 0, 0])
        assert group.txPacket() == sdk.COMM_SUCCESS
        assert packets.read4ByteTxRx(port, 6, 116)[0] == 2000
        reader = sdk.GroupSyncRead(port, packets, 132, 4)
        for i in IDS:
            assert reader.addParam(i)
        assert reader.txRxPacket() == sdk.COMM_SUCCESS
        assert [reader.getData(i, 132, 4) for i in IDS] == [2048 + 100 * i for i in IDS]
    finally:
        port.closePort()


def test_a_computer_that_stalls_while_it_writes(plugged, monkeypatch):
    """All has been written, only late: the port is not gone. (pyserial's write_timeout says it is.)"""
    _, bus = plugged(feetech)
    write = os.write

    def late(file, data):
        count = write(file, data)
        time.sleep(2 * WRITE_TIMEOUT)
        return count

    monkeypatch.setattr("serial.serialposix.os", SimpleNamespace(**vars(os) | {"write": late}))
    bus.port.write(b"\xff\xff")
    assert bus.port.is_open


def test_a_port_that_takes_nothing():
    """Nobody reads what is written: some of it fits, then an error comes, and no end of waiting."""
    hands_off, ours = pty.openpty()
    tty.setraw(ours)
    port = Port(os.ttyname(ours), BAUD)
    port.open()
    try:
        with pytest.raises(BusError, match="takes no more bytes"):
            port.write(bytes(1_000_000))
        assert not port.is_open
    finally:
        os.close(hands_off)
        os.close(ours)


def test_an_adapter_that_echoes(tmp_path, codec):
    """Its TX and RX are tied: a READ of two bytes comes back as if a servo were at 568."""
    servos = load(FAMILIES[codec.name].emulator)({3: 2048}, replace(KIND, echo=True))
    with EmulatedPort(servos, str(tmp_path / "port")) as emulated:
        port = Port(emulated.url, BAUD)
        port.open()
        bus, torque = RegisterBus(port, codec), codec.registers["torque_enable"]
        assert [i for i in range(1, 8) if bus.ping(i)] == [3]
        assert bus.read(2, codec.registers["position"]) is None
        assert bus.read(3, codec.registers["position"]) == 2048
        assert bus.write(3, torque, 1) and not bus.write(2, torque, 1)
        bus.sync_write(codec.registers["goal_position"], {3: 2048})
        assert bus.sync_read(codec.registers["goal_position"], [2, 3]) == {3: 2048}
        port.close()
