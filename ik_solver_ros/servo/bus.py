"""Bus: the one owner of a serial port, and requests over it that are answered, or said not to be.

Half-duplex servo buses lose, damage, delay and repeat replies. So: what is left over from before is thrown away before
each request; what an adapter with TX tied to RX echoes is taken out; a reply counts only with the right id and length;
after a time-out the bus is quiet for a while, so that a late reply is not taken for the next one's.
"""

from __future__ import annotations

import errno
import select
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import serial

from ik_solver_ros.errors import BusError, listed
from ik_solver_ros.servo.registers import (
    BROADCAST,
    READ,
    REBOOT,
    SYNC_READ,
    SYNC_WRITE,
    WRITE,
    Packet,
    Register,
    RegisterCodec,
    read_data,
    sync_write_data,
    write_data,
)

WRITE_TIMEOUT = 0.1  # [s]
REPLY_TIMEOUT = 0.01  # [s] beyond what the bytes themselves take, and twice what replies were late by lately...
LATEST = 0.025  # [s] ...of which this is the most, and the first guess: adapters wait for 16 ms unless told otherwise
FORGETS = 0.02  # of that, with each reply that comes sooner
ASKED = 4  # bytes that are read to find out whether a servo is there
RETRIES, RETRIES_AMONG_MANY = 3, 1  # alone: to bring the torque on, where no cycle waits


class Port:
    """A serial port, or whatever else pyserial opens by URL: open, or closed and waiting to be opened again."""

    def __init__(self, url: str, baud: int) -> None:
        self.url, self.baud = url, baud
        self.low_latency = False
        self._serial: Any = None
        self._file: int | None = None  # to wait for until it can be written

    @property
    def is_open(self) -> bool:
        """Whether it can be read and written, as far as is known."""
        return self._serial is not None

    def open(self) -> None:
        """Open it. Raises BusError that says what would help."""
        self.close()
        try:
            port = serial.serial_for_url(self.url, do_not_open=True, baudrate=self.baud)
            port.timeout, port.write_timeout = 0.0, WRITE_TIMEOUT
            if "://" not in self.url:
                port.exclusive = True
            port.open()
            self._hurry(port)
        except Exception as error:
            raise BusError(_advice(self.url, error), port=self.url) from error
        self._serial = port
        try:
            # pyserial's own time-out fails where all has been written, if this computer stalls meanwhile; without one
            # it writes what the port takes at once.
            self._file, port.write_timeout = port.fileno(), 0.0
        except (AttributeError, OSError):  # not a file, as on Windows
            self._file = None

    def _hurry(self, port: Any) -> None:
        """Have the adapter hand replies over at once, where it can: FTDI's keep them for 16 ms otherwise."""
        self.low_latency = False
        try:
            port.set_low_latency_mode(True)
            self.low_latency = True
        except Exception:  # not every port, system or version of pyserial has it
            pass

    def close(self) -> None:
        """Let go of it; may be called twice."""
        if self._serial is not None:
            try:
                self._serial.close()
            except Exception:  # it is gone already
                pass
            self._serial = None

    def keep_lines(self) -> None:
        """Leave the lines to a modem as they are when it is closed, where the system can: POSIX's can.

        Else DTR falls then, and its rise at the next opening makes an Arduino start anew.
        """
        try:
            import termios

            settings = termios.tcgetattr(self._serial)
            settings[2] &= ~termios.HUPCL
            termios.tcsetattr(self._serial, termios.TCSANOW, settings)
        except Exception:  # not POSIX, or no such port
            pass

    def talk_at(self, baud: int) -> None:
        """Go on at another rate [bit/s], without opening it again. Raises BusError where the port is gone."""
        self.baud = baud

        def change(port: Any) -> None:
            port.baudrate = baud

        self._do(change)

    def flush(self) -> None:
        """Throw away what has been received. Raises BusError where the port is gone."""
        self._do(lambda port: port.reset_input_buffer())

    def write(self, data: bytes) -> None:
        """Send. Raises BusError where the port is gone or takes nothing."""

        def send(port: Any) -> None:
            rest, deadline = data, time.monotonic() + WRITE_TIMEOUT
            while rest and self._file is not None:
                if not select.select([], [self._file], [], max(deadline - time.monotonic(), 0.0))[1]:
                    raise TimeoutError("it takes no more bytes")
                rest = rest[port.write(rest) :]
            if rest:
                port.write(rest)

        self._do(send)

    def read(self, deadline: float) -> bytes:
        """What has been received, waiting for at least a byte until `deadline` [s, time.monotonic]; else nothing."""

        def some(port: Any) -> bytes:
            port.timeout = max(deadline - time.monotonic(), 0.0)
            first = port.read(1)
            port.timeout = 0.0
            return bytes(first + port.read(max(port.in_waiting, 0))) if first else b""

        return bytes(self._do(some))

    def _do(self, action: Any) -> Any:
        if self._serial is None:
            raise BusError(f"port {self.url} is closed", port=self.url)
        try:
            return action(self._serial)
        except Exception as error:  # SerialException, OSError or termios.error, as the system likes
            self.close()
            raise BusError(f"port {self.url} is gone: {error}", port=self.url) from error


def _advice(url: str, error: Exception) -> str:
    number = getattr(error, "errno", None)
    text = f"port {url} cannot be opened: {error}"
    if number == errno.EACCES:
        return text + "; add yourself to the group that owns it: sudo usermod -aG dialout $USER, and log in again"
    if number == errno.ENOENT:
        from serial.tools import list_ports

        return text + f"; ports there are: {listed(port.device for port in list_ports.comports())}"
    if number in (errno.EAGAIN, errno.EBUSY) or "lock" in str(error).lower():
        return text + "; another program has it: close that first"
    return text


class Bus:
    """Requests to servos on a port, one after another."""

    quiet_alone, quiet_among_many = 0.1, 0.02  # [s] after a time-out of one servo that was asked alone, or among others

    def __init__(self, port: Port, parse: Callable[[bytes], tuple[list[Packet], bytes]]) -> None:
        """parse: the whole, undamaged replies in a buffer, and what may be the beginning of another."""
        self.port, self._parse = port, parse
        self.time_outs: dict[int, int] = {}  # of each servo, ever
        self.latency = 0.0  # [s] from a request to its last reply, averaged over some twenty
        self.late = LATEST  # [s] beyond what their bytes take, that replies came lately, at most
        self._quiet_until = 0.0

    def exchange(
        self, frame: bytes, ids: Sequence[int], size: int | None, code: int | None = None
    ) -> dict[int, Packet]:
        """The replies to a request, from those of `ids` that answer in time.

        size, code: what a reply to this request must have; None: any. Raises BusError where the port is gone.
        """
        while (wait := self._quiet_until - time.monotonic()) > 0.0:
            self.port.read(time.monotonic() + wait)
        self.port.flush()
        began = time.monotonic()
        self.port.write(frame)
        bytes_take = 10.0 * (len(frame) + len(ids) * (12 + (size or 0))) / self.port.baud
        deadline = began + REPLY_TIMEOUT + 2.0 * self.late + bytes_take
        replies: dict[int, Packet] = {}
        buffer, echo = b"", frame
        while len(replies) < len(ids):
            received = self.port.read(deadline)
            if not received:
                # What comes still is nobody's reply any more.
                quiet = self.quiet_alone if len(ids) == 1 else self.quiet_among_many
                self._quiet_until = time.monotonic() + quiet
                self.late = min(1.2 * self.late + 1e-3, LATEST)
                return replies
            buffer += received
            if echo and echo in buffer:
                buffer, echo = buffer.replace(echo, b"", 1), b""
            packets, buffer = self._parse(buffer)
            for packet in packets:
                if packet.servo_id in ids and size in (None, len(packet.data)) and code in (None, packet.code):
                    replies[packet.servo_id] = packet
        took = time.monotonic() - began
        self.latency += 0.05 * (took - self.latency)
        self.late = min(max(took - bytes_take, (1.0 - FORGETS) * self.late), LATEST)
        return replies

    def count_time_outs(self, ids: Iterable[int]) -> None:
        """Remember that these did not answer."""
        for servo_id in ids:
            self.time_outs[servo_id] = self.time_outs.get(servo_id, 0) + 1


class RegisterBus(Bus):
    """Requests to Feetech's or Dynamixel's servos on a port."""

    def __init__(self, port: Port, codec: RegisterCodec) -> None:
        super().__init__(port, codec.parse_statuses)
        self.codec = codec
        self.errors: dict[int, int] = {}  # the error bits of each servo's last reply
        self.repeated = 0  # requests

    def ping(self, servo_id: int) -> bool:
        """Whether a servo answers, asked once. Raises BusError where the port is gone.

        By reading: a PING's reply can look like its echo, and that of a READ of four bytes cannot.
        """
        data = read_data(self.codec, self.codec.registers["model"].address, ASKED)
        replies = self.exchange(self.codec.instruction(servo_id, READ, data), [servo_id], ASKED)
        self._quiet_until = 0.0  # most ids have no servo, and their replies would be nobody else's
        return servo_id in replies

    def read_block(self, servo_id: int, address: int, size: int) -> bytes | None:
        """Neighbouring registers of one servo; None where it is silent. Raises BusError where the port is gone."""
        data = read_data(self.codec, address, size)
        replies = self._request(self.codec.instruction(servo_id, READ, data), [servo_id], size)
        return replies[servo_id].data if servo_id in replies else None

    def reboot(self, servo_id: int) -> None:
        """Have a servo start anew, which clears what it has shut down for. Raises BusError where the port is gone."""
        self.exchange(self.codec.instruction(servo_id, REBOOT), [servo_id], 0)

    def read(self, servo_id: int, register: Register) -> int | None:
        """A register of one servo; None where it does not answer. Raises BusError where the port is gone."""
        data = self.read_block(servo_id, register.address, register.size)
        return None if data is None else register.decode(data)

    def write(self, servo_id: int, register: Register, value: int) -> bool:
        """Set a register of one servo; whether it says so. Raises BusError where the port is gone."""
        data = write_data(self.codec, register.address, register.encode(value))
        return servo_id in self._request(self.codec.instruction(servo_id, WRITE, data), [servo_id], 0)

    def sync_read(self, register: Register, ids: Sequence[int]) -> dict[int, int]:
        """A register of many servos, of those that answer. Raises BusError where the port is gone."""
        blocks = self.sync_read_block(register.address, register.size, ids)
        return {i: register.decode(data) for i, data in blocks.items()}

    def sync_read_block(self, address: int, size: int, ids: Sequence[int]) -> dict[int, bytes]:
        """Neighbouring registers of many servos, of those that answer. Raises BusError where the port is gone."""
        data = read_data(self.codec, address, size, ids)
        frame = self.codec.instruction(BROADCAST, SYNC_READ, data)
        return {servo_id: reply.data for servo_id, reply in self._request(frame, ids, size).items()}

    def sync_write(self, register: Register, values: Mapping[int, int]) -> None:
        """Set a register of many servos, which say nothing to it. Raises BusError where the port is gone."""
        rows = {servo_id: register.encode(value) for servo_id, value in values.items()}
        data = sync_write_data(self.codec, register.address, register.size, rows)
        self.port.write(self.codec.instruction(BROADCAST, SYNC_WRITE, data))

    def _request(self, frame: bytes, ids: Sequence[int], size: int | None) -> dict[int, Packet]:
        """The replies to a request, from those of `ids` that answer with `size` bytes of data; None: with any."""
        retries = RETRIES if len(ids) == 1 else RETRIES_AMONG_MANY
        replies = self.exchange(frame, ids, size)
        while len(replies) < len(ids) and retries > 0:
            retries -= 1
            self.repeated += 1
            replies = self.exchange(frame, ids, size)
        self.errors |= {servo_id: reply.code for servo_id, reply in replies.items()}
        self.count_time_outs(servo_id for servo_id in ids if servo_id not in replies)
        return replies
