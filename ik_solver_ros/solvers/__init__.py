"""Inverse kinematics: goals, the solvers, and `solve`, which judges them all."""
