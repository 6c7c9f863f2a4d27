"""Inverse kinematics of others: one function a solver, from an arm to (position, quaternion, direction) -> q."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Solver = Callable[[np.ndarray, np.ndarray, np.ndarray], "np.ndarray | None"]
