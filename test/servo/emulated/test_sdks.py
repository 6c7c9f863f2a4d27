"""The makers' own software against our servos, which are as unkind as they come from the factory."""

from __future__ import annotations

import time

import pytest

from ik_solver_ros.servo.emulated.port import EmulatedPort
from ik_solver_ros.servo.emulated.register_servos import DynamixelEmulator, FeetechEmulator

IDS = (1, 2, 3)
PATIENCE = 10.0


@pytest.fixture
def feetech(tmp_path):
    sdk = pytest.importorskip("scservo_sdk")
    with EmulatedPort(FeetechEmulator({i: 2000 + 100 * i for i in IDS}), str(tmp_path / "port")) as port:
        line = sdk.PortHandler(port.url)
        assert line.openPort() and line.setBaudRate(1_000_000)
        yield sdk, line, sdk.PacketHandler(0), port.bus
        line.closePort()


@pytest.fixture
def dynamixel(tmp_path):
    sdk = pytest.importorskip("dynamixel_sdk")
    with EmulatedPort(DynamixelEmulator({i: 2000 + 100 * i for i in IDS}), str(tmp_path / "port")) as port:
        line = sdk.PortHandler(port.url)
        assert line.openPort() and line.setBaudRate(57_600)
        yield sdk, line, sdk.PacketHandler(2.0), port.bus
        line.closePort()


def test_feetechs_reads_and_writes(feetech):
    sdk, line, packets, _bus = feetech
    assert packets.ping(line, 2) == (777, sdk.COMM_SUCCESS, 0)
    position, result, error = packets.read2ByteTxRx(line, 2, 56)
    assert abs(position - 2200) <= 1 and (result, error) == (sdk.COMM_SUCCESS, 0)
    assert packets.write2ByteTxRx(line, 2, 42, 2300) == (sdk.COMM_SUCCESS, 0)
    assert packets.read1ByteTxRx(line, 2, 40)[0] == 1  # torque that nobody asked for
    assert packets.write1ByteTxRx(line, 2, 40, 0) == (sdk.COMM_SUCCESS, 0)


def test_feetechs_synchronous_and_waiting_writes(feetech):
    sdk, line, packets, _bus = feetech
    writer = sdk.GroupSyncWrite(line, packets, 41, 7)
    for i in IDS:
        assert writer.addParam(i, [10, 0xD0, 0x07, 0, 0, 0xE8, 0x03])
    assert writer.txPacket() == sdk.COMM_SUCCESS
    reader = sdk.GroupSyncRead(line, packets, 42, 6)
    for i in IDS:
        assert reader.addParam(i)
    assert reader.txRxPacket() == sdk.COMM_SUCCESS
    assert [(reader.getData(i, 42, 2), reader.getData(i, 46, 2)) for i in IDS] == [(2000, 1000)] * 3
    assert packets.regWriteTxRx(line, 1, 42, 2, [0x34, 0x08]) == (sdk.COMM_SUCCESS, 0)
    assert packets.read2ByteTxRx(line, 1, 42)[0] == 2000
    packets.action(line, sdk.BROADCAST_ID)
    assert packets.read2ByteTxRx(line, 1, 42)[0] == 0x0834


def test_feetechs_gives_ids_and_rates(feetech):
    sdk, line, packets, _bus = feetech
    packets.write1ByteTxRx(line, 3, 55, 0)
    packets.write1ByteTxOnly(line, 3, 5, 9)
    assert packets.ping(line, 9)[1] == sdk.COMM_SUCCESS and packets.ping(line, 3)[1] == sdk.COMM_RX_TIMEOUT
    packets.write1ByteTxOnly(line, 9, 6, 4)
    assert packets.ping(line, 9)[1] == sdk.COMM_RX_TIMEOUT
    assert line.setBaudRate(115_200)
    assert packets.ping(line, 9)[1] == sdk.COMM_SUCCESS and packets.ping(line, 1)[1] == sdk.COMM_RX_TIMEOUT


def test_dynamixels_reads_writes_and_refusals(dynamixel):
    sdk, line, packets, _bus = dynamixel
    assert packets.ping(line, 2) == (1200, sdk.COMM_SUCCESS, 0)
    found, result = packets.broadcastPing(line)
    assert result == sdk.COMM_SUCCESS and found == {i: [1200, 48] for i in IDS}
    assert packets.write4ByteTxRx(line, 2, 48, 3000) == (sdk.COMM_SUCCESS, 0)
    assert packets.write1ByteTxRx(line, 2, 64, 1) == (sdk.COMM_SUCCESS, 0)
    assert packets.write1ByteTxRx(line, 2, 11, 4) == (sdk.COMM_SUCCESS, 7)
    assert packets.write4ByteTxRx(line, 2, 116, 3500) == (sdk.COMM_SUCCESS, 4)
    assert packets.write4ByteTxRx(line, 2, 116, 2300) == (sdk.COMM_SUCCESS, 0)


def test_dynamixels_groups_and_waiting_writes(dynamixel):
    sdk, line, packets, _bus = dynamixel
    writer = sdk.GroupSyncWrite(line, packets, 116, 4)
    for i in IDS:
        assert writer.addParam(i, [0xD0, 0x07, 0, 0])
    assert writer.txPacket() == sdk.COMM_SUCCESS
    reader = sdk.GroupSyncRead(line, packets, 116, 4)
    for i in IDS:
        assert reader.addParam(i)
    assert reader.txRxPacket() == sdk.COMM_SUCCESS
    assert [reader.getData(i, 116, 4) for i in IDS] == [2000] * 3
    assert packets.regWriteTxRx(line, 1, 116, 4, [0x34, 0x08, 0, 0]) == (sdk.COMM_SUCCESS, 0)
    assert packets.read4ByteTxRx(line, 1, 116)[0] == 2000
    packets.action(line, sdk.BROADCAST_ID)
    assert packets.read4ByteTxRx(line, 1, 116)[0] == 0x0834


def again(packets, line, servo_id, success):
    deadline = time.monotonic() + PATIENCE
    while packets.ping(line, servo_id)[1] != success:
        assert time.monotonic() < deadline


def test_dynamixels_reboots_and_resets(dynamixel):
    sdk, line, packets, bus = dynamixel
    bus.servos[2].trip()
    assert packets.write1ByteTxRx(line, 2, 64, 1) == (sdk.COMM_SUCCESS, 0x80)
    assert packets.read1ByteTxRx(line, 2, 64)[0] == 0 and packets.read1ByteTxRx(line, 2, 70)[0] == 1 << 5
    assert packets.reboot(line, 2)[0] == sdk.COMM_SUCCESS
    again(packets, line, 2, sdk.COMM_SUCCESS)
    assert packets.write1ByteTxRx(line, 2, 64, 1) == (sdk.COMM_SUCCESS, 0)
    assert packets.write1ByteTxRx(line, 3, 7, 8) == (sdk.COMM_SUCCESS, 0)
    assert packets.write4ByteTxRx(line, 8, 48, 3000) == (sdk.COMM_SUCCESS, 0)
    assert packets.clearMultiTurn(line, 8)[0] == sdk.COMM_SUCCESS
    assert packets.factoryReset(line, 8, 0x01) == (sdk.COMM_SUCCESS, 0)
    again(packets, line, 8, sdk.COMM_SUCCESS)
    assert packets.read4ByteTxRx(line, 8, 48)[0] == 4095
