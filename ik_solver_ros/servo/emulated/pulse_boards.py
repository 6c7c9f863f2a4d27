"""Emulated boards with hobby servos."""

from ik_solver_ros.servo.emulated.hobby import PulseBoardEmulator
from ik_solver_ros.servo.emulated.maestro import MaestroEmulator
from ik_solver_ros.servo.emulated.ssc32 import Ssc32Emulator

__all__ = ["MaestroEmulator", "PulseBoardEmulator", "Ssc32Emulator"]
