"""Serial servos: wire protocols, the bus, calibration, and emulated servos."""
