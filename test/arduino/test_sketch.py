"""The sketch, compiled by Debian's AVR tools and run in simavr: its serial port is real bytes, its pins are measured.

Needs gcc-avr, avr-libc, arduino-core-avr, libsimavr-dev and libelf-dev; skipped where one is missing.
"""

from __future__ import annotations

import shutil
import subprocess
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from ik_solver_ros.arm.servos import servo_arm
from ik_solver_ros.servo import ssc32
from ik_solver_ros.servo.bus import Port
from ik_solver_ros.servo.calibration import Calibration, ServoJoint
from ik_solver_ros.servo.families import FAMILIES

HERE = Path(__file__).parent
SKETCH = HERE.parents[1] / "arduino" / "ssc32_servos" / "ssc32_servos.ino"
CORE = Path("/usr/share/arduino/hardware/arduino/avr")
TOOLS = [shutil.which(tool) for tool in ("avr-g++", "avr-gcc", "cc")]
pytestmark = pytest.mark.skipif(
    not all(TOOLS) or not CORE.is_dir() or not Path("/usr/include/simavr/sim_avr.h").is_file(),
    reason="the AVR tools, the Arduino core or simavr are not installed",
)
PINS = (3, 5, 6, 9, 10, 11, 2, 4, 7, 8, 12, 13, *range(14, 20))  # 14 is A0
US = FAMILIES["ssc32"].per_tick


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The sketch for an Arduino Uno, and the program that runs it."""
    out = tmp_path_factory.mktemp("sketch")
    board = ["-mmcu=atmega328p", "-DF_CPU=16000000UL", "-DARDUINO=10819", "-DARDUINO_AVR_UNO", "-DARDUINO_ARCH_AVR"]
    common = [*board, "-Os", "-w", "-ffunction-sections", "-fdata-sections"]
    common += [f"-I{CORE}/cores/arduino", f"-I{CORE}/variants/standard"]
    objects = []
    source = out / "sketch.cpp"
    # As the Arduino IDE does: functions are declared before they are used.
    text = SKETCH.read_text()
    head, _, rest = text.partition("void setup()")
    declarations = "void pulse(const uint8_t *, uint8_t);\nvoid listen();\nbool obey();\nfloat width(long);\n"
    declarations += "bool moving();\nlong number(const char *&);\nbool move(const char *);\n"
    source.write_text(head + declarations + "void setup()" + rest)
    files = [source, *sorted((CORE / "cores/arduino").glob("*.c*")), CORE / "cores/arduino/wiring_pulse.S"]
    for file in files:
        target = out / f"{file.name}.o"
        compiler = ["avr-g++", "-std=gnu++11", "-fno-exceptions", "-fno-threadsafe-statics", "-DDECIMAL_DIG=17"]
        if file.suffix != ".cpp":
            compiler = ["avr-gcc"] if file.suffix == ".c" else ["avr-gcc", "-x", "assembler-with-cpp"]
        subprocess.run([*compiler, *common, "-c", str(file), "-o", str(target)], check=True)
        objects.append(str(target))
    elf = out / "sketch.elf"
    subprocess.run(
        ["avr-gcc", "-mmcu=atmega328p", "-Os", "-Wl,--gc-sections", *objects, "-lm", "-o", str(elf)], check=True
    )
    host = out / "host"
    subprocess.run(["cc", "-O2", str(HERE / "host.c"), "-o", str(host), "-lsimavr", "-lelf", "-lm"], check=True)
    return elf, host


class Board:
    """A running sketch: its port, and the last pulses on its pins."""

    def __init__(self, elf, host):
        self.process = subprocess.Popen([str(host), str(elf)], stdout=subprocess.PIPE, text=True)
        self.pulses: list[tuple[int, float, float]] = []  # pin, us, s
        # simavr has things to say of its own
        self.url = next(line.split()[1] for line in self.process.stdout if line.startswith("port "))
        self.port = Port(self.url, 115200)
        self.port.open()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        for line in self.process.stdout:
            if len(fields := line.split()) == 3:
                self.pulses.append((int(fields[0]), float(fields[1]), float(fields[2])))

    def ask(self, command):
        self.port.flush()
        self.port.write(command)
        reply = b""
        while part := self.port.read(time.monotonic() + (0.05 if reply else 0.5)):
            reply += part
        return reply

    def width(self, pin):
        seen = len(self.pulses)
        deadline = time.monotonic() + 10.0
        while not any(p == pin for p, _, _ in self.pulses[seen:]):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        return next(w for p, w, _ in reversed(self.pulses) if p == pin)

    def end(self):
        self.port.close()
        self.process.kill()
        self.process.wait()


def until(condition):
    deadline = time.monotonic() + 20.0
    while not condition():
        assert time.monotonic() < deadline


@pytest.fixture
def board(built):
    made = Board(*built)
    until(lambda: made.ask(b"VER\r"))
    yield made
    made.end()


def test_it_tells_its_version_and_pulses_nothing_by_itself(board):
    assert board.ask(b"VER\r") == b"SSC32-ARDUINO-1.1\r"
    assert board.ask(b"Q\r") == b"." and board.pulses == []


def test_pulses_are_as_long_as_they_should_be(board):
    board.port.write(b"#0P1500#5P2000\r")
    assert board.width(3) == pytest.approx(1500.0, abs=12.0)
    assert board.width(11) == pytest.approx(2000.0, abs=12.0)
    assert board.ask(b"QP0\r") == bytes([150])
    frames = np.diff([when for pin, _, when in board.pulses if pin == 3])
    assert np.median(frames) == pytest.approx(0.02, abs=1e-3)
    board.port.write(b"#0P0\r")
    time.sleep(0.3)
    seen = len(board.pulses)
    time.sleep(0.3)
    assert {pin for pin, _, _ in board.pulses[seen:]} == {11}


def test_no_pulse_changes_faster_than_it_may(board):
    board.port.write(b"#1P1000\r")
    board.width(5)
    board.port.write(b"#1P2000S1000\r")
    until(lambda: board.ask(b"Q\r") == b".")
    widths = [w for pin, w, _ in board.pulses if pin == 5]
    assert max(np.abs(np.diff(widths))) <= 1000.0 * 0.02 + 15.0
    assert board.width(5) == pytest.approx(2000.0, abs=12.0)


def test_without_commands_it_holds(board):
    board.port.write(b"#2P1000\r")
    board.width(6)
    board.port.write(b"#2P2400S400\r")
    time.sleep(2.5)
    held = board.width(6)
    assert 1200.0 < held < 1700.0  # a second's way, and no more
    time.sleep(0.3)
    assert board.width(6) == pytest.approx(held, abs=12.0)


@pytest.mark.parametrize(
    "nonsense",
    [b"QX\r", b"STOP18\r", b"#0P99999\r", b"#18P1500\r", b"#0P1700X3\r", b"P1700\r", b"#0P1700#\r", b"#" * 300 + b"\r"],
)
def test_nonsense_moves_nothing(board, nonsense):
    board.port.write(b"#0P1500\r")
    board.width(3)
    board.port.write(nonsense)
    assert board.ask(b"Q\r") == b"!" and board.ask(b"Q\r") == b"."
    board.port.write(nonsense)
    assert board.ask(b"VER\r") == b"SSC32-ARDUINO-1.1\r"
    assert board.width(3) == pytest.approx(1500.0, abs=12.0)


WIDTHS = (
    [1500] * 18,
    [2500] * 18,
    [500] * 18,
    [2500 - 40 * i for i in range(18)],  # all of a group would end at once, had they begun in this order
    [700 + (i * 617) % 1700 for i in range(18)],
)


@pytest.mark.parametrize("widths", WIDTHS)
def test_eighteen_channels_fit_into_a_frame(board, widths):
    board.port.write(ssc32.pulses(dict(enumerate(widths))))
    until(lambda: board.ask(b"QU17\r") == f"{widths[17]}\r".encode())
    board.width(PINS[17])
    seen = len(board.pulses)
    until(lambda: sum(pin == PINS[17] for pin, _, _ in board.pulses[seen:]) >= 10)
    found = board.pulses[seen:]
    for pin, width in zip(PINS, widths):
        mine = np.array([(us - width, when) for p, us, when in found if p == pin])
        assert len(mine) >= 9 and abs(np.median(mine[:, 0])) <= 12.0, pin
        assert abs(mine[:, 0]).max() <= 25.0, pin  # interrupts of the clock and of serial bytes
        assert np.median(np.diff(mine[:, 1])) == pytest.approx(0.02, abs=1e-3), pin
    assert board.ask(b"Q\r") == b"."


def test_it_tells_that_it_has_started_anew(built):
    fresh = Board(*built)
    until(lambda: fresh.ask(b"Q\r") == b".")
    assert fresh.ask(b"QU0\r") == b"*\r"
    assert fresh.ask(b"VER\r") and fresh.ask(b"QU0\r") == b"0\r" and fresh.ask(b"QU99\r") == b"0\r"
    fresh.end()


def test_the_drivers_own_arm_leads_it(board):
    board.port.close()
    joints = tuple(ServoJoint(f"j{i}", i, 1, 1500, 700, 2300, US) for i in range(len(PINS)))
    arm = servo_arm(Calibration("ssc32", 115_200, joints), board.port)
    arm.open()
    arm.enable(np.ones(len(arm.joint_names)))
    assert board.width(9) == pytest.approx(1500.0, abs=12.0)
    for share in np.linspace(0.0, 1.0, 50):
        arm.write(np.full(len(PINS), 0.5 * share), np.zeros(len(PINS)))
        assert not any(sample.faults for sample in arm.samples().values())
        time.sleep(0.02)
    time.sleep(0.3)
    for pin in PINS:
        assert board.width(pin) == pytest.approx(1500.0 + 0.5 / US, abs=15.0)
    arm.close()
    again = servo_arm(Calibration("ssc32", 115_200, joints), board.port)
    again.open()
    assert again.read().positions == pytest.approx(0.5, abs=US)
    assert all(sample.torque and not sample.faults for sample in again.samples().values())
    again.release()
    assert not any(sample.torque for sample in again.samples().values())
    again.close()
