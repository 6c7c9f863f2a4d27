from __future__ import annotations

import pytest

from ik_solver_ros.servo import dynamixel, feetech
from ik_solver_ros.servo.bus import Port, TableBus
from ik_solver_ros.servo.emulated import EmulatedBus, EmulatedPort, EmulatedServo

BAUD = 1_000_000
IDS = (1, 2, 3, 4, 5, 6)


@pytest.fixture(params=[feetech, dynamixel], ids=lambda codec: codec.name)
def codec(request):
    return request.param


@pytest.fixture
def plugged(tmp_path):
    """Six emulated servos on a port, and a bus on it: made by (codec, faults)."""
    opened = []

    def make(codec, faults=None, baud=None):
        servos = [EmulatedServo(codec, i, 2048 + 100 * i, model=777 if codec is feetech else 1200) for i in IDS]
        emulated = EmulatedPort(EmulatedBus(codec, servos), str(tmp_path / "port"), faults=faults, baud=baud)
        emulated.plug()
        port = Port(emulated.url, BAUD)
        port.open()
        opened.append((emulated, port))
        return emulated, TableBus(port, codec)

    yield make
    for emulated, port in opened:
        port.close()
        emulated.unplug()
