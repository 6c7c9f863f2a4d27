"""ArmClient has moved to ik_solver_ros.ros.client; this name goes with the next release but one."""

import warnings

from ik_solver_ros.ros.client import Answer, ArmClient

__all__ = ["Answer", "ArmClient"]

warnings.warn(f"{__name__} is now ik_solver_ros.ros.client", DeprecationWarning, stacklevel=2)
