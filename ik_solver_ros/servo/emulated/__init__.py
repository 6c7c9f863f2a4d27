"""Emulated servos and boards on a pseudo-terminal, with faults that can be chosen."""
