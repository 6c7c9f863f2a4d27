"""Servos as unkind as hardware is reported to be, and what becomes of an arm: judged by the emulators' own log."""
