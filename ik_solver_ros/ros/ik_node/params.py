"""The parameters of ik_node. Those of session.Settings have its defaults, and a test that they do."""

from __future__ import annotations

import math

from ik_solver_ros.collision.guard import MARGIN
from ik_solver_ros.ros.common.parameters import DESCRIPTION_PARAMS, FRAME_PREFIX, Param
from ik_solver_ros.solvers.solution import ELBOW
from ik_solver_ros.solvers.solve import RENAMED, SOLVERS
from ik_solver_ros.trajectory.limits import RAMP_TIME

SOLVING = (
    Param("solver", "ccdik", "the algorithm", choices=(*SOLVERS, *RENAMED), live=True),
    Param(
        "goal_mode",
        "pose",
        "what of a goal_pose counts: position and orientation, position and where the tool points, or position",
        choices=("pose", "approach", "position"),
        live=True,
    ),
    Param(
        "on_unreachable",
        "nearest",
        "what is done about a goal out of reach: the arm goes to the nearest it can do, or the goal is refused",
        choices=("nearest", "reject"),
        live=True,
    ),
    Param(
        "max_orientation_error",
        math.pi,
        "[rad] a goal is refused where the tool would be farther off than this",
        0.0,
        math.pi,
        live=True,
    ),
    Param(
        "elbow",
        "nearest",
        "which of equal answers: the nearest to where the arm is, or with the elbow up or down",
        choices=tuple(ELBOW),
        live=True,
    ),
    Param("position_tolerance", 1e-4, "[m] a goal within this is reached", 1e-9, 0.1, live=True),
    Param("orientation_tolerance", 1e-3, "[rad] a goal within this is reached", 1e-9, 1.0, live=True),
    Param("max_iterations", 100, "steps of one descent of the solver", 1, 100000, live=True),
    Param("max_restarts", 64, "random starts before a goal counts as out of reach", 0, 10000, live=True),
    Param("seed", 0, "of the random starts; the same seed gives the same answers", 0, 2**31 - 1, live=True),
    Param("goal_2d_height", 0.1, "[m] height of the tip for RViz's 2D Goal Pose, whose z is 0", -10.0, 10.0, live=True),
)
MOVING = (
    Param(
        "calibration", "", "path of servo_node's calibration (YAML): answers keep to the servos' ranges; empty: none"
    ),
    Param("speed_scale", 1.0, "fraction of the velocity limits to use", 0.01, 1.0, live=True),
    Param("ramp_time", RAMP_TIME, "[s] from rest to full speed; a URDF has no acceleration limits", 0.01, 10.0),
    Param("replan_lead", 0.02, "[s] a new goal in motion bends the motion this much later", 0.0, 1.0),
    Param("joint_states_timeout", 1.0, "[s] goals are refused when joint_states are older", 0.05, 60.0, live=True),
    Param("goal_timeout", 1.0, "[s] that a goal waits for robot and joint_states; 0: not at all", 0.0, 60.0, live=True),
    Param("tf_timeout", 0.2, "[s] to wait for tf2 to know the frame of a goal at its stamp", 0.0, 10.0, live=True),
    Param("home", [], "joint positions of ~/home [rad or m]; empty: zero, or the limit nearest to it"),
    Param("max_joint_jump", 2.5, "[rad or m] a joint that goes farther changes posture", 0.01, 100.0, live=True),
    Param(
        "on_joint_jump",
        "slow",
        "what is done about such a goal: it is gone to slowly, or refused",
        choices=("slow", "refuse"),
        live=True,
    ),
    Param("joint_jump_speed_scale", 0.3, "fraction of the velocity limits to use for it", 0.01, 1.0, live=True),
)
GUARD = (
    Param("collision_guard", True, "refuse motions through the floor or the arm itself", live=True),
    Param(
        "floor_height",
        math.nan,
        "[m] of the floor in base_link; nan: at the lowest point of what of the robot does not move; -inf: none",
    ),
    Param("collision_margin", MARGIN, "[m] that links keep from each other", 0.0, 0.1),
    Param("collision_ignored", [""], "pairs of links that may touch, each as 'one:other'"),
)
PATHS = (
    Param("path_deviation", 1e-3, "[m] how far the tip may stray from a goal_path", 1e-5, 0.1, live=True),
    Param("path_angle", 0.0087, "[rad] how far the tool's direction may stray from it", 1e-4, 3.2, live=True),
    Param("path_rounding", 0.0, "[m] its corners may be missed by; 0: the tip stops there", 0.0, 0.5, live=True),
    Param("path_speed", 0.0, "[m/s] of the tip along it at most; 0: as the joints can", 0.0, 10.0, live=True),
    Param(
        "on_path_incomplete",
        "refuse",
        "what is done about a path of which the arm can only do a first part: nothing, or that part",
        choices=("refuse", "partial"),
        live=True,
    ),
)
STEERING = (
    Param("incoming_command_timeout", 0.25, "[s] after the last twist the arm rests", 0.02, 5.0, live=True),
    Param("live", False, "step-wise: one CCDIK sweep for each tick instead of a whole solution"),
    Param("live_rate", 30.0, "[Hz] ticks of the live mode", 1.0, 200.0),
)
PARAMS = (*DESCRIPTION_PARAMS, FRAME_PREFIX, *SOLVING, *MOVING, *GUARD, *PATHS, *STEERING)
