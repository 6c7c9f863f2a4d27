"""What leaves the planner and the follower, over random sequences of goals with preemption at random times."""

from __future__ import annotations

import time

import numpy as np

from ik_solver_ros.control.follower import TrajectoryFollower
from ik_solver_ros.errors import TrajectoryError
from ik_solver_ros.kinematics.load import load_chain
from ik_solver_ros.ros.common import convert
from ik_solver_ros.share import share_dir
from ik_solver_ros.trajectory.limits import MotionLimits
from ik_solver_ros.trajectory.motion import MotionPlanner
from ik_solver_ros.trajectory.trajectory import State, Trajectory

RATE = 1e-3  # [s]
GOALS = 5  # in a sequence


def measure(sequences: int = 10_000, followed: int = 1_000) -> None:
    chain = load_chain(share_dir() / "urdf" / "so101.urdf")
    limits = MotionLimits.from_urdf(chain.joint_names, chain.lower, chain.upper, chain.velocity_limit)
    rng = np.random.default_rng(0)
    began = time.perf_counter()
    worst = np.zeros(3)
    outside = 0
    for _ in range(sequences):
        for start, trajectory in sequence(limits, rng):
            worst = np.maximum(worst, planned_shares(start, trajectory, limits))
            outside += beyond(trajectory.positions, limits)
    spent = time.perf_counter() - began
    print(f"{sequences} random sequences of {GOALS} goals, preempted at random times ({spent:.0f} s):")
    names = ("velocity", "acceleration", "jerk")
    print("  planner, relative to the limit: " + ", ".join(f"{n} {w - 1.0:+.1e}" for n, w in zip(names, worst)))
    print(f"  planned positions outside the limits: {outside}")
    follow(limits, rng, followed)


def sequence(limits: MotionLimits, rng: np.random.Generator) -> list[tuple[State, Trajectory]]:
    """The motions of one sequence, each from the state that the one before has when it is preempted."""
    planner = MotionPlanner(limits)
    now, out = 0.0, []
    measured = rng.uniform(limits.lower, limits.upper)
    for _ in range(GOALS):
        motion = planner.plan_to(rng.uniform(limits.lower, limits.upper), measured, now)
        out.append((motion.origin, motion.trajectory))
        now += rng.uniform(0.0, 1.1) * motion.trajectory.duration
        state = planner.commanded(now)
        assert state is not None
        measured = state.position
    return out


def planned_shares(start: State, trajectory: Trajectory, limits: MotionLimits) -> np.ndarray:
    """(3,) the greatest velocity, acceleration and jerk of a planned motion, as shares of the limits; exactly.

    Between points the jerk is constant: accelerations are greatest at points, velocities there or where these are 0.
    """
    t = np.diff(trajectory.times, prepend=0.0)[:, np.newaxis]
    velocity = np.vstack([start.velocity, trajectory.velocities])
    acceleration = np.vstack([start.acceleration, trajectory.accelerations])
    jerk = np.diff(acceleration, axis=0) / t
    long = (t > 1e-4)[:, 0]  # of a shorter stretch the difference says nothing about its jerk
    with np.errstate(divide="ignore", invalid="ignore"):
        zero = -acceleration[:-1] / jerk
        peak = np.where((zero > 0.0) & (zero < t), velocity[:-1] - 0.5 * acceleration[:-1] ** 2 / jerk, 0.0)
    return np.array(
        [
            (np.abs(np.vstack([velocity, peak])) / limits.velocity).max(),
            (np.abs(acceleration) / limits.acceleration).max(),
            (np.abs(jerk[long]) / limits.jerk).max(initial=0.0),
        ]
    )


def beyond(positions: np.ndarray, limits: MotionLimits) -> int:
    return int(((positions < limits.lower - 1e-9) | (positions > limits.upper + 1e-9)).sum())


def follow(limits: MotionLimits, rng: np.random.Generator, sequences: int) -> None:
    """The same through the message to the follower, sampled at 1 kHz. Some messages come late, some arms are held."""
    worst, steps, outside, refused, apart = np.zeros(3), 0, 0, 0, []
    for _ in range(sequences):
        planner = MotionPlanner(limits)
        rest = rng.uniform(limits.lower, limits.upper)
        follower = TrajectoryFollower(limits, rest)
        now, positions, velocities, accelerations, held_once, off = 0.0, [], [], [], False, 0.0
        for _ in range(GOALS):
            motion = planner.plan_to(rng.uniform(limits.lower, limits.upper), follower.advance(now).position, now)
            message = convert.trajectory_msg(motion.trajectory, motion.start)
            arrives = now + rng.uniform(0.0, 0.02)
            until = now + rng.uniform(0.02, 1.1 * motion.trajectory.duration + 0.05)
            held = rng.uniform() < 0.1
            ticks = np.arange(now, until, RATE)
            taken = False
            for tick in ticks:
                if not taken and tick >= arrives:
                    taken = True
                    try:
                        follower.accept(convert.trajectory_from(message), tick, motion.start)
                    except TrajectoryError:
                        refused += 1
                if held and tick > 0.5 * (now + until):
                    held, held_once = False, True
                    follower.hold(tick)
                state = follower.advance(tick)
                planned = planner.commanded(tick)
                if tick >= arrives and planned is not None:
                    off = max(off, float(np.abs(planned.position - state.position).max()))
                positions.append(state.position)
                velocities.append(state.velocity)
                accelerations.append(state.acceleration)
            now = float(ticks[-1]) + RATE
        if not held_once:
            apart.append(off)
        position, velocity, acceleration = (np.array(part) for part in (positions, velocities, accelerations))
        jerk = np.diff(acceleration, axis=0) / RATE
        worst = np.maximum(
            worst,
            [
                (np.abs(velocity) / limits.velocity).max(),
                (np.abs(acceleration) / limits.acceleration).max(),
                (np.abs(jerk) / limits.jerk).max(),
            ],
        )
        steps += int((np.abs(np.diff(position, axis=0)) > limits.velocity * RATE * 1.000001).sum())
        outside += beyond(position, limits)
    print(f"{sequences} of them through JointTrajectory messages, the follower sampled at 1 kHz, a tenth of it held:")
    share = ", ".join(f"{what} {w - 1:+.1e}" for what, w in zip(("velocity", "acceleration"), worst))
    print(f"  relative to the limit: {share}, jerk {worst[2]:.2f} x")
    print(
        f"  farthest from where the planner has them, unless held: median {np.median(apart):.3f} rad, "
        f"99 % under {np.percentile(apart, 99):.3f}, worst {max(apart):.3f}"
    )
    print(f"  steps above the velocity limit: {steps}; positions outside: {outside}; refused: {refused}")
