"""LateFollowers: followers by a StallClock: where this machine stalls, motions go on later instead of leaping ahead."""

from __future__ import annotations

from ik_solver_ros.control.follower import Ending
from ik_solver_ros.control.follower_group import FollowerGroup
from ik_solver_ros.control.stall_clock import StallClock
from ik_solver_ros.control.tolerances import Tolerances
from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.trajectory.trajectory import State, Trajectory


class LateFollowers:
    """A FollowerGroup, for the caller's time [s]: see there."""

    def __init__(self, followers: FollowerGroup, period: float) -> None:
        """period: [s] from an `advance` to the next."""
        self._followers = followers
        self._clock = StallClock(followers.moving, period)

    def accept(
        self,
        controller: str,
        trajectory: Trajectory,
        now: float,
        start: float | None = None,
        tolerances: Tolerances | None = None,
    ) -> int:
        """Hand a trajectory to a controller's follower."""
        return self._followers.accept(controller, trajectory, self._clock.at(now), start, tolerances)

    def hold(self, now: float, controller: str = "") -> None:
        """Bring a controller's joints to rest, or all joints where none is named."""
        self._followers.hold(self._clock.at(now), controller)

    def setpoint(self, controller: str, now: float) -> State:
        """Where a controller's trajectories lead its joints at `now`."""
        return self._followers.setpoint(controller, self._clock.at(now))

    def advance(self, now: float) -> tuple[Array, Array]:
        """Go on to `now`, or as far as is no leap: positions and velocities for the arm, (n,) each."""
        return self._followers.advance(self._clock.advance(now))

    def supervise(self, positions: Array, velocities: Array) -> None:
        """Compare what the joints are measured at, (n,) each, with where they are led."""
        self._followers.supervise(self._clock.now, positions, velocities)

    def endings(self) -> list[tuple[str, Ending]]:
        """How trajectories ended since the last call, by controller."""
        return self._followers.endings()
