"""Servos on a wire: their protocols as bytes in and bytes out, the bus, and calibration."""
