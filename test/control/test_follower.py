"""The follower: joint_trajectory_controller's rules, refusals with reasons, and never a step."""

from __future__ import annotations

from itertools import count

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ik_solver_ros.control.follower import TrajectoryEnd, TrajectoryFollower
from ik_solver_ros.control.tolerances import Tolerances
from ik_solver_ros.errors import ParameterError, TrajectoryError
from ik_solver_ros.trajectory.limits import MotionLimits
from ik_solver_ros.trajectory.motion import MotionPlanner
from ik_solver_ros.trajectory.trajectory import Trajectory

NAMES = ("a", "b")
LIMITS = MotionLimits.from_urdf(NAMES, np.array([-2.0, -1.0]), np.array([2.0, 1.0]), np.array([2.0, 1.0]))


def follower(at=(0.0, 0.0), **options) -> TrajectoryFollower:
    return TrajectoryFollower(LIMITS, np.array(at), **options)


def trajectory(*points, names=NAMES, velocities=None, accelerations=None) -> Trajectory:
    """points: (time, positions)."""
    times, positions = zip(*points)

    def table(values):
        return None if values is None else np.array(values, dtype=float)

    return Trajectory(
        names, np.array(times, dtype=float), np.array(positions, dtype=float), table(velocities), table(accelerations)
    )


def walk(f, start, end, dt=1.0 / 240.0):
    return np.array([f.advance(t).position for t in np.arange(start, end, dt)])


def test_it_holds_where_the_arm_is():
    f = follower((0.3, -0.2))
    assert f.advance(0.0).position.tolist() == [0.3, -0.2] and not f.moving(0.0)


def test_interpolation_by_what_the_points_carry():
    for given_, halfway in (
        ({}, 0.5),
        ({"velocities": [[0, 0]]}, 0.5),
        ({"velocities": [[0, 0]], "accelerations": [[0, 0]]}, 0.5),
    ):
        f = follower()
        f.accept(trajectory((2.0, [1.0, 0.0]), **given_), now=10.0)
        assert f.advance(11.0).position[0] == pytest.approx(halfway)
        quarter = f.advance(10.5).position[0]
        assert quarter == pytest.approx({0: 0.25, 1: 0.15625, 2: 0.103515625}[len(given_)])
        assert f.advance(12.0).position.tolist() == [1.0, 0.0] and not f.moving(12.0)


def test_joints_in_another_order():
    f = follower()
    f.accept(trajectory((2.0, [0.5, 1.0]), names=("b", "a")), now=0.0)
    assert f.advance(2.0).position.tolist() == [1.0, 0.5]


def test_a_new_trajectory_replaces_the_old_without_a_step():
    f = follower()
    f.accept(trajectory((2.0, [1.5, 0.8]), velocities=[[0, 0]]), now=0.0)
    before = f.advance(1.0)
    f.accept(trajectory((2.0, [-0.5, 0.0]), velocities=[[0, 0]]), now=1.0)
    after = f.advance(1.0)
    for k in range(2):
        np.testing.assert_allclose(after[k], before[k], atol=1e-12)
    assert np.abs(np.diff(walk(f, 1.0, 3.5), axis=0)).max() < 2.1 / 240


def test_a_start_in_the_future_lets_the_old_one_go_on():
    f = follower()
    f.accept(trajectory((2.0, [1.0, 0.0])), now=0.0)
    f.accept(trajectory((2.0, [-0.5, 0.0])), now=0.5, start=1.0)
    assert f.advance(0.75).position[0] == pytest.approx(0.375)
    assert f.advance(1.0).position[0] == pytest.approx(0.5)
    assert f.advance(2.0).position[0] == pytest.approx(0.0)


def test_several_waiting_starts_are_kept_in_order():
    f = follower()
    f.accept(trajectory((2.0, [1.0, 0.0])), now=0.0)
    f.accept(trajectory((2.0, [0.0, 0.0])), now=0.0, start=0.4)
    f.accept(trajectory((2.0, [1.0, 0.0])), now=0.0, start=0.8)
    positions = walk(f, 0.0, 3.0)
    assert np.abs(np.diff(positions, axis=0)).max() < 1.0 / 240
    f.accept(trajectory((2.0, [0.0, 0.5])), now=3.0)
    assert f.advance(9.0).position.tolist() == [0.0, 0.5]


def test_an_earlier_start_drops_later_ones():
    f = follower()
    f.accept(trajectory((1.0, [1.0, 0.0])), now=0.0, start=5.0)
    f.accept(trajectory((1.0, [-1.0, 0.0])), now=0.0)
    assert f.advance(9.0).position[0] == pytest.approx(-1.0)


def test_a_start_in_the_past_skips_what_is_over():
    f = follower((0.9, 0.0))
    f.accept(trajectory((1.0, [0.5, 0.0]), (2.0, [1.0, 0.0])), now=11.5, start=10.0)
    assert f.advance(11.5).position[0] == pytest.approx(0.9)
    assert f.advance(12.0).position[0] == pytest.approx(1.0)
    with pytest.raises(TrajectoryError, match=r"ended 8 s ago"):
        f.accept(trajectory((1.0, [0.5, 0.0]), (2.0, [1.0, 0.0])), now=20.0, start=10.0)


@pytest.mark.parametrize("late", [0.001, 0.01, 0.03])
def test_a_late_message_in_motion_makes_no_step(late):
    """The planner bent the motion at a moment that is over when the message arrives."""
    f, planner = follower(), MotionPlanner(LIMITS, replan_lead=0.0)
    first = planner.plan_to(np.array([1.8, 0.9]), np.zeros(2), now=0.0)
    f.accept(first.trajectory, now=0.0)
    walk(f, 0.0, 0.4)
    bend = planner.plan_to(np.array([-1.8, -0.9]), np.zeros(2), now=0.4)
    f.advance(0.4 + late)
    f.accept(bend.trajectory, now=0.4 + late, start=bend.start)
    path = walk(f, 0.4 + late, 3.0, 1e-3)
    speed = np.diff(path, axis=0) / 1e-3
    assert (np.abs(speed).max(axis=0) <= LIMITS.velocity * 1.05).all()
    assert np.abs(np.diff(speed, axis=0)).max() <= 1.6 * LIMITS.acceleration.max() * 1e-3
    assert path[-1].tolist() == [-1.8, -0.9]


def test_a_trajectory_from_elsewhere_is_joined_by_a_ramp():
    """After a hold that its planner has not heard of, or from another client: no step, no excess, and it gets there."""
    rng = np.random.default_rng(41)
    for _ in range(40):
        f, planner = follower(), MotionPlanner(LIMITS)
        f.accept(planner.plan_to(rng.uniform(LIMITS.lower, LIMITS.upper), np.zeros(2), 0.0).trajectory, 0.0)
        states = [f.advance(t) for t in np.arange(0.0, 0.4, 1e-3)]
        f.hold(0.4)
        target, start = rng.uniform(0.9 * LIMITS.lower, 0.9 * LIMITS.upper, (2, 2))
        f.accept(MotionPlanner(LIMITS).plan_to(target, start, 0.4).trajectory, 0.4)
        states += [f.advance(t) for t in np.arange(0.4, 8.0, 1e-3)]
        position, velocity, _ = (np.array(part) for part in zip(*states))
        assert (np.abs(np.diff(position, axis=0)) <= LIMITS.velocity * 1.06e-3).all()
        assert (np.abs(np.diff(velocity, axis=0)) <= LIMITS.acceleration * 1.01e-3).all()
        assert position[-1].tolist() == pytest.approx(target.tolist())


@pytest.mark.parametrize("bad", [0, 1])
@pytest.mark.parametrize(("times", "excess"), [((1.0, 3.0, 5.0), 2.5), ((1.0, 1.2, 5.0), 1.9)], ids=["outside", "fast"])
def test_a_ramp_does_not_skip_what_must_be_refused(times, excess, bad):
    """Each point is passed at rest; one is outside the limits, or too far from the next for the time between."""
    points = [[0.1, 0.0], [0.2, 0.0], [0.3, 0.0]]
    points[bad] = [excess, 0.0]
    still = np.zeros((3, 2))
    f = follower()
    with pytest.raises(TrajectoryError, match="'a' would"):
        f.accept(trajectory(*zip(times, points), velocities=still, accelerations=still), now=0.0)
    assert not f.moving(0.0) and not walk(f, 0.0, 1.0).any()


def test_a_message_that_comes_much_too_late_is_joined_from_where_the_arm_is():
    f = follower()
    f.accept(trajectory((3.0, [1.5, 0.0]), velocities=[[0, 0]]), now=9.0, start=8.0)
    path = walk(f, 9.0, 11.5)
    assert np.abs(np.diff(path, axis=0)).max() < 2.1 / 240 and path[-1, 0] == pytest.approx(1.5)


def test_an_empty_trajectory_means_hold():
    f = follower()
    f.accept(trajectory((1.0, [1.0, 0.5]), velocities=[[0, 0]]), now=0.0)
    f.accept(Trajectory(NAMES, np.zeros(0), np.zeros((0, 2))), now=0.5)
    path = walk(f, 0.5, 2.0)
    assert np.abs(np.diff(path, axis=0)).max() < 2.1 / 240
    assert not f.advance(2.0).velocity.any() and 0.4 < f.advance(2.0).position[0] < 0.95


def test_partial_trajectories_by_option():
    part = trajectory((1.0, [0.5]), names=("b",))
    with pytest.raises(TrajectoryError, match="joints are missing: a"):
        follower().accept(part, now=0.0)
    f = follower((0.3, 0.0), allow_partial=True)
    f.accept(part, now=0.0)
    assert f.advance(1.0).position.tolist() == [0.3, 0.5]


def test_a_point_at_time_zero_is_where_the_arm_must_be():
    f = follower()
    f.accept(trajectory((0.0, [0.005, 0.0]), (1.0, [0.5, 0.0])), now=0.0)
    assert f.advance(0.0).position[0] == 0.0 and f.advance(1.0).position[0] == pytest.approx(0.5)
    with pytest.raises(TrajectoryError, match="'a' is 0.5 away"):
        follower().accept(trajectory((0.0, [0.5, 0.0]), (1.0, [0.5, 0.0])), now=0.0)
    f = follower()
    f.accept(trajectory((0.0, [0.0, 0.0])), now=0.0)
    assert f.advance(1.0).position.tolist() == [0.0, 0.0]


BAD = [
    (trajectory((1.0, [0, 0]), names=("a", "x")), "unknown joints: x; the joints here are: a, b"),
    (trajectory((1.0, [0, 0]), names=("a", "a")), "'a' is named twice"),
    (trajectory((1.0, [0, 0, 0])), r"positions of shape \(1, 3\): \(1, 2\)"),
    (trajectory((1.0, [0, 0]), velocities=[[0]]), r"velocities of shape \(1, 1\)"),
    (trajectory((1.0, [0, np.nan])), r"positions\[1\] of point 0 is nan, joint 'b'"),
    (trajectory((1.0, [np.inf, 0])), "is inf, joint 'a'"),
    (trajectory((1.0, [0, 0]), velocities=[[np.nan, 0]]), r"velocities\[0\]"),
    (trajectory((1.0, [0, 0]), (1.0, [0, 0])), "strictly increasing"),
    (trajectory((2.0, [0, 0]), (1.0, [0, 0])), "strictly increasing"),
    (trajectory((-1.0, [0, 0])), "strictly increasing"),
    (trajectory((np.nan, [0, 0])), "strictly increasing"),
    (trajectory((1.0, [0.1, 0]), velocities=[[0.1, 0]]), "'a' moving at 0.1 per s; it must be at rest"),
    (trajectory((1.0, [0.1, 0]), accelerations=[[0, 0]]), "accelerations without velocities"),
    (trajectory((5.0, [2.5, 0])), "'a' would go to .* outside its limits"),
    (trajectory((1.0, [1.9, 0]), (3.0, [1.9, 0]), velocities=[[1.5, 0], [0, 0]]), "'a' would go to 2.* way to point 1"),
    (trajectory((0.1, [1.0, 0])), r"'a' would move at 5 per s on the way to point 0, above its limit of 2"),
]


@pytest.mark.parametrize(("bad", "message"), BAD, ids=[message[:30] for _, message in BAD])
def test_what_is_wrong_is_refused_whole_and_the_old_one_goes_on(bad, message):
    f, undisturbed = follower(), follower()
    for one in (f, undisturbed):
        one.accept(trajectory((2.0, [1.0, 0.5])), now=-1.0)
    with pytest.raises(TrajectoryError, match=message):
        f.accept(bad, now=0.0)
    np.testing.assert_array_equal(walk(f, 0.0, 2.0), walk(undisturbed, 0.0, 2.0))


def test_a_joint_found_outside_its_limits_is_not_thrown_inside():
    f = follower((2.05, 0.0))
    assert f.advance(0.0).position[0] == 2.05
    f.accept(trajectory((1.0, [1.5, 0.0]), velocities=[[0, 0]]), now=0.0)
    path = walk(f, 0.0, 1.2)
    assert np.abs(np.diff(path[:, 0])).max() < 2.1 / 240 and path[-1, 0] == pytest.approx(1.5)
    with pytest.raises(TrajectoryError, match="outside its limits"):  # once inside, inside
        f.accept(trajectory((1.0, [2.05, 0.0])), now=2.0)


@given(st.integers(0, 2**32 - 1))
def test_goals_at_random_moments_never_make_a_step(seed):
    """A planner and a follower, new goals and holds at any time: positions, velocities and accelerations in limits."""
    rng = np.random.default_rng(seed)
    f, planner = follower(), MotionPlanner(LIMITS)
    dt, t = 1.0 / 240.0, 0.0
    states = [f.advance(t)]
    for _ in range(400):
        if rng.random() < 0.05:
            measured = states[-1].position
            if rng.random() < 0.2:
                motion = planner.stop(measured, t)
            else:
                motion = planner.plan_to(rng.uniform(LIMITS.lower, LIMITS.upper), measured, t)
            f.accept(motion.trajectory, t, motion.start)
        t += dt
        states.append(f.advance(t))
    position, velocity, _ = (np.array(part) for part in zip(*states))
    assert (position >= LIMITS.lower).all() and (position <= LIMITS.upper).all()
    assert (np.abs(np.diff(position, axis=0)) <= LIMITS.velocity * dt * 1.001).all()
    assert (np.abs(np.diff(velocity, axis=0)) <= LIMITS.acceleration * dt * 1.01).all()


def test_a_start_in_the_far_future_is_a_wrong_clock():
    f = follower()
    for start in (3600.0, np.nan, np.inf):
        with pytest.raises(TrajectoryError, match="clock"):
            f.accept(trajectory((2.0, [1.0, 0.0])), now=0.0, start=start)


@given(st.lists(st.tuples(st.floats(-2.0, 2.0), st.floats(-1.0, 1.0), st.floats(0.05, 1.5), st.booleans()), max_size=5))
def test_whoever_is_wrong_about_where_the_arm_is_the_limits_are_kept(moves):
    """The planner does not hear of holds, and its messages come late: the follower ramps to what it is sent."""
    f, planner, now, states = follower(), MotionPlanner(LIMITS), 0.0, []
    for a, b, lasts, held in moves:
        motion = planner.plan_to(np.array([a, b]), f.advance(now).position, now)
        f.advance(now + 0.015)
        f.accept(motion.trajectory, now + 0.015, motion.start)
        states += [f.advance(now + 0.015 + t) for t in np.arange(0.0, 0.5 * lasts, 1e-3)]
        now += 0.015 + 0.5 * lasts
        if held:
            f.hold(now)
        states += [f.advance(now + t) for t in np.arange(0.0, 0.5 * lasts, 1e-3)]
        now += 0.5 * lasts
    for state in states:
        assert (np.abs(state.velocity) <= LIMITS.velocity * (1.0 + 1e-5)).all()
        assert (np.abs(state.acceleration) <= LIMITS.acceleration * 1.05).all()
        assert (state.position >= LIMITS.lower - 1e-9).all() and (state.position <= LIMITS.upper + 1e-9).all()


def supervised(**options) -> TrajectoryFollower:
    return follower(tolerances=Tolerances.of(NAMES, **options))


def lead(f, start, end, measured, dt=0.01):
    """Follow from start to end, the joints being where `measured` makes them of the state; the endings seen."""
    seen = []
    for now in np.arange(start, end, dt):
        state = f.advance(now)
        f.supervise(now, *measured(state))
        seen.extend((now, ending) for ending in f.endings())
    return seen


def exact(state):
    return state.position, state.velocity


def test_every_trajectory_has_a_number_and_ends_once():
    f = follower()
    first = f.accept(trajectory((1.0, [0.5, 0.0])), now=0.0)
    second = f.accept(trajectory((1.0, [0.0, 0.0])), now=0.5)
    assert second > first and [(e.number, e.how) for e in f.endings()] == [(first, TrajectoryEnd.REPLACED)]
    ((when, ending),) = lead(f, 0.5, 3.0, exact)
    assert (ending.number, ending.how) == (second, TrajectoryEnd.DONE) and when >= 1.5
    third = f.accept(trajectory((1.0, [0.5, 0.0])), now=3.0)
    f.hold(3.2)
    assert [(e.number, e.how) for e in f.endings()] == [(third, TrajectoryEnd.HELD)]
    f.hold(3.3)
    assert f.endings() == []


def test_followers_with_the_same_numbers_give_none_twice():
    numbers = count(7)
    first, second = follower(numbers=numbers), follower(numbers=numbers)
    motion = trajectory((1.0, [0.5, 0.0]))
    assert [f.accept(motion, now=0.0) for f in (first, second, first)] == [7, 8, 9]


def test_to_ask_for_the_setpoint_changes_nothing():
    f, asked = follower(), follower()
    for one in (f, asked):
        one.accept(trajectory((1.0, [0.5, 0.0])), now=0.0)
        one.accept(trajectory((1.0, [1.0, 0.0])), now=0.0, start=0.5)
    assert asked.setpoint(9.0).position.tolist() == [1.0, 0.0]
    np.testing.assert_array_equal(walk(f, 0.0, 2.0), walk(asked, 0.0, 2.0))


def test_a_refused_trajectory_ends_nothing():
    f = follower()
    number = f.accept(trajectory((1.0, [0.5, 0.0])), now=0.0)
    with pytest.raises(TrajectoryError):
        f.accept(trajectory((1.0, [50.0, 0.0])), now=0.1)
    assert f.endings() == []
    ((_, ending),) = lead(f, 0.1, 2.0, exact)
    assert (ending.number, ending.how) == (number, TrajectoryEnd.DONE)


def test_a_blocked_joint_is_found_by_its_path_tolerance_and_held_where_it_is():
    f = supervised(path={"a": 0.1})
    f.accept(trajectory((2.0, [1.0, 0.5]), velocities=[[0, 0]], accelerations=[[0, 0]]), now=0.0)
    stuck = 0.3

    def blocked(state):
        return np.array([min(state.position[0], stuck), state.position[1]]), state.velocity

    ((when, ending),) = lead(f, 0.0, 4.0, blocked)
    assert ending.how is TrajectoryEnd.PATH_TOLERANCE and 0.0 < when < 2.0
    assert "joint 'a' is 0.1" in ending.reason and "0.1 allowed" in ending.reason
    path = walk(f, when, 6.0)
    assert np.abs(np.diff(path, axis=0)).max() <= LIMITS.velocity.max() / 240.0 * 1.001
    assert path[-1][0] == pytest.approx(stuck, abs=1e-9) and not f.moving(6.0)


@pytest.mark.parametrize("goal_time, outcome", [(0.5, TrajectoryEnd.GOAL_TOLERANCE), (0.0, None)])
def test_a_joint_that_does_not_arrive(goal_time, outcome):
    f = supervised(goal={"b": 0.01}, goal_time=goal_time)
    f.accept(trajectory((1.0, [0.5, 0.5])), now=0.0)
    seen = lead(f, 0.0, 3.0, lambda state: (state.position - [0.0, 0.05], state.velocity))
    assert [e.how for _, e in seen] == ([outcome] if outcome else [])  # without goal_time it is waited for
    if outcome:
        assert (
            seen[0][0] == pytest.approx(1.5, abs=0.02) and "joint 'b' is 0.05 away, 0.01 allowed" in seen[0][1].reason
        )


def test_a_joint_that_arrives_late_has_arrived():
    f = supervised(goal={"a": 0.01}, goal_time=1.0)
    f.accept(trajectory((1.0, [0.5, 0.5])), now=0.0)
    at = {"now": 0.0}

    def late(state):
        at["now"] += 0.01
        return state.position - [max(1.5 - at["now"], 0.0), 0.0], np.zeros(2)

    ((when, ending),) = lead(f, 0.0, 3.0, late)
    assert ending.how is TrajectoryEnd.DONE and when == pytest.approx(1.48, abs=0.03)


def test_what_moves_still_is_not_there():
    f = supervised(goal_time=0.3)
    f.accept(trajectory((1.0, [0.5, 0.5])), now=0.0)
    seen = lead(f, 0.0, 3.0, lambda state: (state.position, np.array([0.0, 0.5])))
    assert [e.how for _, e in seen] == [TrajectoryEnd.GOAL_TOLERANCE] and "does not come to rest" in seen[0][1].reason


def test_tolerances_of_one_trajectory():
    f = supervised(path={"a": 0.01})
    f.accept(trajectory((1.0, [0.5, 0.0])), now=0.0, tolerances=Tolerances.of(NAMES))
    ((_, ending),) = lead(f, 0.0, 2.0, lambda state: (state.position + 0.2, state.velocity))
    assert ending.how is TrajectoryEnd.DONE


def test_measurements_that_are_not_numbers_say_nothing():
    f = supervised(path={"a": 0.01})
    f.accept(trajectory((1.0, [0.5, 0.0])), now=0.0)
    assert lead(f, 0.0, 0.9, lambda state: (state.position * np.nan, state.velocity)) == []


@pytest.mark.parametrize(
    "options, said",
    [
        ({"path": {"a": -1.0}}, "constraints.a.trajectory = -1.0"),
        ({"goal": {"b": np.nan}}, "constraints.b.goal = nan"),
        ({"goal_time": -1.0}, "constraints.goal_time = -1.0"),
        ({"stopped_velocity": np.inf}, "constraints.stopped_velocity_tolerance = inf"),
    ],
)
def test_tolerances_that_are_none_are_refused(options, said):
    with pytest.raises(ParameterError, match=said):
        Tolerances.of(NAMES, **options)


@given(st.integers(0, 2**32 - 1), st.floats(0.0, 0.03))
def test_an_arm_that_began_later_than_planned_makes_no_detour(seed, late):
    """What is stamped 0 begins when it arrives: the follower is behind the planner by that, and stays it."""
    rng = np.random.default_rng(seed)
    planner, f, now = MotionPlanner(LIMITS), follower(), 0.0
    for _ in range(4):
        motion = planner.plan_to(rng.uniform(LIMITS.lower, LIMITS.upper), f.advance(now).position, now)
        arrives = now + (late if motion.start is None else 0.01)
        f.accept(motion.trajectory, arrives, motion.start)
        until = now + rng.uniform(0.04, 1.0) * motion.trajectory.duration + 0.04
        for t in np.arange(max(arrives, motion.start or 0.0) + late, until, 0.01):
            behind = np.abs(planner.commanded(t).position - f.advance(t).position)
            assert (behind <= LIMITS.velocity * (late + 0.05)).all()
        now = until


def test_a_ramp_joins_where_it_makes_no_detour():
    """A long trajectory whose first points are out of reach in their time: it is joined soon, not gone round to."""
    f = follower((0.1, 0.0))
    planned = MotionPlanner(LIMITS).plan_to(np.array([1.5, 0.5]), np.zeros(2), 0.0).trajectory
    f.accept(planned, now=5.0)
    path = walk(f, 5.0, 5.0 + planned.duration + 0.3)
    assert (np.diff(path[:, 0]) >= -0.02).all() and path[:, 0].min() > 0.09
    np.testing.assert_allclose(path[-1], [1.5, 0.5], atol=1e-9)


@pytest.mark.parametrize("size", [1e20, 1e154, 1e308, -1e308])
def test_numbers_that_overflow_are_refused(size):
    """They become nan on the way, which is neither within the limits nor outside."""
    limits = MotionLimits.from_urdf(("a",), np.array([-2.0]), np.array([2.0]), np.array([1.0]))
    for velocity in (0.0, size):
        follower = TrajectoryFollower(limits, np.zeros(1))
        times, positions = np.array([0.5, 1.0]), np.array([[0.1], [0.2]])
        wild = Trajectory(("a",), times, positions, np.array([[velocity], [0.0]]), np.array([[size], [size]]))
        with pytest.raises(TrajectoryError):
            follower.accept(wild, 0.0)
        assert follower.advance(0.5).position == 0.0
