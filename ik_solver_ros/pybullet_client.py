"""PyBullet, connected: for the simulated arm, and for the solver that it brings."""

from __future__ import annotations

import ctypes
import os
import sys
from typing import Any

from ik_solver_ros.errors import ArmError


def connect_pybullet(gui: bool) -> Any:
    """A physics server of its own; gui: with a window. Raises ArmError where PyBullet is not installed.

    PyBullet's C code greets on standard output and error, which are not its to use.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    kept = [os.dup(1), os.dup(2)]
    try:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), 1)
            os.dup2(nowhere.fileno(), 2)
        import pybullet  # not on every Python: see the [sim] extra
        from pybullet_utils.bullet_client import BulletClient

        return BulletClient(connection_mode=pybullet.GUI if gui else pybullet.DIRECT)
    except ImportError as error:
        raise ArmError(f"PyBullet is not installed ({error}); pip install 'ik_solver_ros[sim]'") from error
    finally:
        ctypes.CDLL(None).fflush(None)  # what C has not written yet, for it writes late where nobody watches
        for descriptor, original in enumerate(kept, start=1):
            os.dup2(original, descriptor)
            os.close(original)
