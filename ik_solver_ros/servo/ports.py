"""The serial ports that there are, under names that stay."""

from __future__ import annotations

from pathlib import Path

STAYING = (Path("/dev/serial/by-id"), Path("/dev/serial/by-path"))  # the better one first


def serial_ports() -> dict[str, str]:
    """What each port of a USB adapter, or of a board's own, says of itself, by the name that stays the longest."""
    from serial.tools import list_ports

    found = {}
    for port in list_ports.comports():
        if port.description in (None, "n/a") and port.vid is None:  # what a PC has and nobody uses
            continue
        found[_staying(port.device)] = port.description or port.device
    return found


def _staying(device: str) -> str:
    for folder in STAYING:
        for link in sorted(folder.glob("*")) if folder.is_dir() else ():
            if link.resolve() == Path(device).resolve():
                return str(link)
    return device
