"""Settings: what people choose about how an arm answers goals and moves. ik_node has a parameter for each."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ik_solver_ros.solvers.solution import SolverOptions

WITHIN = SolverOptions(position_tolerance=1e-4, orientation_tolerance=1e-3)  # [m], [rad]: of a goal that is reached


@dataclass(frozen=True)
class Settings:
    """Made anew for every change."""

    solver: str = "ccdik"
    options: SolverOptions = WITHIN
    goal_mode: str = "pose"  # what of a pose counts: pose, approach or position
    on_unreachable: str = "nearest"  # or reject
    max_orientation_error: float = math.pi  # [rad] beyond which an answer is refused

    speed_scale: float = 1.0  # fraction of the velocity limits
    max_joint_jump: float = 2.5  # [rad or m] a joint that goes farther changes posture
    on_joint_jump: str = "slow"  # or refuse
    joint_jump_speed_scale: float = 0.3  # fraction of the velocity limits for such a motion
    collision_guard: bool = True

    path_deviation: float = 1e-3  # [m] of the tip from a path
    path_angle: float = 0.0087  # [rad] of the tool from its direction on a path
    path_rounding: float = 0.0  # [m] by which corners may be missed
    path_speed: float = 0.0  # [m/s] of the tip at most; 0: as the joints can
    on_path_incomplete: str = "refuse"  # or partial

    incoming_command_timeout: float = 0.25  # [s] after the last twist the arm rests
    live: bool = False  # one sweep of CCDIK a tick instead of whole solutions


DEFAULT_SETTINGS = Settings()
