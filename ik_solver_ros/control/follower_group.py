"""FollowerGroup: the followers of an arm, each of which leads some of its joints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ik_solver_ros.control.follower import Ending, TrajectoryFollower
from ik_solver_ros.control.tolerances import Tolerances
from ik_solver_ros.kinematics.arrays import Array, Flags
from ik_solver_ros.trajectory.plan import plan
from ik_solver_ros.trajectory.trajectory import State, Trajectory

# By controller: its follower, and which of the arm's joints that one leads.
Followers = Mapping[str, tuple[TrajectoryFollower, Sequence[int]]]


class FollowerGroup:
    """Followers that together lead all of an arm's n joints. Times are seconds on one steady clock of the caller's."""

    def __init__(self, followers: Followers) -> None:
        self._followers = followers
        self._n = sum(len(joints) for _, joints in followers.values())

    def moving(self, now: float) -> bool:
        """Whether any motion is under way or waiting for its start."""
        return any(follower.moving(now) for follower, _ in self._followers.values())

    def accept(
        self,
        controller: str,
        trajectory: Trajectory,
        now: float,
        start: float | None = None,
        tolerances: Tolerances | None = None,
    ) -> int:
        """Hand a trajectory to a controller's follower: see TrajectoryFollower.accept."""
        return self._followers[controller][0].accept(trajectory, now, start, tolerances)

    def hold(self, now: float, controller: str = "") -> None:
        """Bring a controller's joints to rest as soon as the limits allow, or all joints where none is named."""
        for name, (follower, _) in self._followers.items():
            if controller in ("", name):
                follower.hold(now)

    def give_way(self, now: float, joints: Flags, positions: Array) -> None:
        """Have these of the arm's joints (n,) [bool] at rest at `positions` (n,); the others come to rest."""
        for follower, own in self._followers.values():
            follower.give_way(now, joints[own], positions[own])

    @property
    def fastest(self) -> Array:
        """The joints' limits of velocity, (n,) [per s]."""
        out = np.zeros(self._n)
        for follower, own in self._followers.values():
            out[own] = follower.limits.velocity
        return out

    def setpoint(self, controller: str, now: float) -> State:
        """Where a controller's trajectories lead its joints at `now`."""
        return self._followers[controller][0].setpoint(now)

    def advance(self, now: float) -> tuple[Array, Array]:
        """Go on to `now`: positions and velocities for the arm, (n,) each."""
        positions, velocities = np.full(self._n, np.nan), np.zeros(self._n)
        for follower, joints in self._followers.values():
            state = follower.advance(now)
            positions[joints], velocities[joints] = state.position, state.velocity
        return positions, velocities

    def supervise(self, now: float, positions: Array, velocities: Array) -> None:
        """Compare what the arm's joints are measured at, (n,) each, with where they are led."""
        for follower, joints in self._followers.values():
            follower.supervise(now, positions[joints], velocities[joints])

    def go_to(self, target: Mapping[str, float], now: float, speed_scale: float) -> None:
        """Lead joints to rest at these positions, at so much of their velocity limits; the others stay."""
        for follower, _ in self._followers.values():
            state = follower.setpoint(now)
            end = np.array([target.get(name, q) for name, q in zip(follower.joint_names, state.position)])
            follower.accept(plan(state, end, follower.limits.scaled(speed_scale)), now)

    def abandon(self) -> None:
        """Nobody will ask these followers any more: what they were pursuing has ended."""
        for follower, _ in self._followers.values():
            follower.abandon()

    def endings(self) -> list[tuple[str, Ending]]:
        """How trajectories ended since the last call, by controller."""
        return [(name, ending) for name, (follower, _) in self._followers.items() for ending in follower.endings()]
