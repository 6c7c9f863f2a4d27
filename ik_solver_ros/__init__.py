"""Inverse kinematics for small robot arms that simply works, with ROS 2 nodes round it.

    from ik_solver_ros import Goal, load_chain, solve

    chain = load_chain("arm.urdf")
    solution = solve(chain, Goal.approach(position=(0.2, 0.0, 0.1), direction=(0, 0, -1)))
    print(solution.status, solution.q)

Names are imported when first used, so that `import ik_solver_ros` is quick; nothing here needs ROS.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ik_solver_ros.kinematics.chain import Chain, Wrist
    from ik_solver_ros.kinematics.load import load_chain
    from ik_solver_ros.solvers.batch import BatchSolution, solve_batch
    from ik_solver_ros.solvers.branches import solve_all
    from ik_solver_ros.solvers.goal import Goal
    from ik_solver_ros.solvers.path import PathSolution, PathTolerances, solve_path
    from ik_solver_ros.solvers.solution import Solution, SolverOptions, Status
    from ik_solver_ros.solvers.solve import SOLVERS, solve
    from ik_solver_ros.solvers.tracker import Tracker
    from ik_solver_ros.solvers.velocity import solve_velocity
    from ik_solver_ros.trajectory.cartesian import PathOptions, TipMotion, plan_tip_path
    from ik_solver_ros.trajectory.limits import MotionLimits

__version__ = "0.1.0"

if os.environ.get("IK_PLAIN"):
    from ik_solver_ros.uncompiled import take_plain_files

    take_plain_files()

_HOMES = {
    "Chain": "kinematics.chain",
    "Wrist": "kinematics.chain",
    "load_chain": "kinematics.load",
    "Goal": "solvers.goal",
    "Solution": "solvers.solution",
    "SolverOptions": "solvers.solution",
    "Status": "solvers.solution",
    "SOLVERS": "solvers.solve",
    "BatchSolution": "solvers.batch",
    "solve": "solvers.solve",
    "solve_all": "solvers.branches",
    "solve_batch": "solvers.batch",
    "PathSolution": "solvers.path",
    "PathTolerances": "solvers.path",
    "solve_path": "solvers.path",
    "Tracker": "solvers.tracker",
    "solve_velocity": "solvers.velocity",
    "MotionLimits": "trajectory.limits",
    "PathOptions": "trajectory.cartesian",
    "TipMotion": "trajectory.cartesian",
    "plan_tip_path": "trajectory.cartesian",
}

__all__ = [
    "SOLVERS",
    "BatchSolution",
    "Chain",
    "Goal",
    "MotionLimits",
    "PathOptions",
    "PathSolution",
    "PathTolerances",
    "Solution",
    "SolverOptions",
    "Status",
    "TipMotion",
    "Tracker",
    "Wrist",
    "load_chain",
    "plan_tip_path",
    "solve",
    "solve_all",
    "solve_batch",
    "solve_path",
    "solve_velocity",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
