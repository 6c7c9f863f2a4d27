"""The benchmark of goals out of reach: what its file says is so, and its judge tells better answers from worse ones."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from benchmarks.nearest import ours
from benchmarks.nearest.arm import load, names
from benchmarks.nearest.judge import KINDS, errors, improves, outside, read_goals, verdict, with_best, write_goals
from benchmarks.nearest.score import SLACK, Answer, answered, improved, read_answers, score, write_answers
from ik_solver_ros import load_chain

GOALS = read_goals()
SOME = [goal for goal in GOALS if goal.arm.name in ("so101", "px100", "xarm6", "panda")]


def shifted(goal, by):
    """The best known with one joint moved by `by`, inside the limits."""
    q, arm = np.array(goal.best.q), goal.arm
    q[1] += by if q[1] + by < arm.upper[1] else -by
    return q


def test_there_is_every_kind_of_goal_for_every_arm():
    arms = {goal.arm.name for goal in GOALS}
    assert len(arms) == 57 and arms <= set(names())
    assert {(goal.arm.name, goal.kind) for goal in GOALS} == {(name, kind) for name in arms for kind in KINDS}
    assert len({goal.id for goal in GOALS}) == len(GOALS)


def test_the_best_known_are_what_the_file_says_and_inside_the_limits():
    for goal in GOALS:
        q = np.array(goal.best.q)
        assert not outside(goal.arm, q), goal.id
        for now, said in zip(errors(goal, q), goal.best.errors):
            assert math.isnan(said) or abs(now - said) < 1e-8, goal.id


def test_sampled_positions_are_reached_and_far_ones_are_not():
    for goal in GOALS:
        position = goal.best.errors[0]
        assert position > 1e-3 if goal.kind.startswith("far") else position < 1e-8, goal.id


@pytest.mark.parametrize("name", ["so101", "px100", "qarm", "jaco_j2n6s300", "ar4_mk3", "dobot_magician_rail"])
def test_the_judge_and_the_package_agree_on_where_a_tip_is(name):
    arm = load(name)
    chain = load_chain(arm.urdf, arm.base, arm.tip, arm.tool.tolist())
    for q in arm.sample(np.random.default_rng(1), 5):
        position, matrix = arm.forward(q)
        p, quat = chain.forward(q)
        assert position == pytest.approx(p, abs=1e-9)
        assert matrix == pytest.approx(Rotation.from_quat(quat).as_matrix(), abs=1e-9)


def test_roll_is_what_remains_after_the_shortest_rotation_that_mends_the_approach():
    """Put another way: by scipy's rotations."""
    goal = next(goal for goal in SOME if goal.kind == "pose")
    arm = goal.arm
    for q in arm.sample(np.random.default_rng(2), 20):
        now, wanted = Rotation.from_matrix(arm.forward(q)[1]), Rotation.from_quat(goal.quaternion)
        across = np.cross(now.apply(arm.tool), wanted.apply(arm.tool))
        approach = math.acos(now.apply(arm.tool) @ wanted.apply(arm.tool))
        mend = Rotation.from_rotvec(approach * across / np.linalg.norm(across))
        _, found, roll = errors(goal, q)
        assert found == pytest.approx(approach, abs=1e-7)
        assert roll == pytest.approx((wanted * (mend * now).inv()).magnitude(), abs=1e-7)


def test_the_best_known_is_as_good_and_a_perturbed_one_worse():
    for goal in SOME:
        best = Answer(np.array(goal.best.q))
        assert score(goal, best).what == "as good"
        assert score(goal, Answer(shifted(goal, 0.3))).what.startswith("worse"), goal.id


def with_less(goal):
    """(The goal with a worse best, the score of what was its best)."""
    lessened = with_best(goal, shifted(goal, 0.3), "nobody")
    return lessened, score(lessened, Answer(np.array(goal.best.q)))


def test_a_better_answer_is_seen():
    assert {with_less(goal)[1].what for goal in SOME if goal.kind != "far_point"} == {"better"}


def test_a_better_answer_is_written(tmp_path):
    pytest.importorskip("pinocchio")  # what is out of reach is settled before
    goal = next(goal for goal in SOME if goal.kind == "approach")
    lessened, found = with_less(goal)
    write_goals([improved(lessened, found, "somebody"), improved(goal, None, "somebody")], tmp_path / "goals.jsonl")
    written, left = read_goals(tmp_path / "goals.jsonl")
    assert written.best.by == "somebody" and written.best.q == goal.best.q
    assert left == goal


def test_what_counts_more_decides():
    best = (0.0, 0.2, 0.3)
    assert verdict((2e-5, 0.0, 0.0), best, SLACK) == ("worse", "position")
    assert verdict((9e-6, 0.21, 0.0), best, SLACK) == ("worse", "approach")
    assert verdict((0.0, 0.2, 0.32), best, SLACK) == ("worse", "roll")
    assert verdict((0.0, 0.2, 0.301), best, SLACK)[0] == "as good"
    assert improves((0.0, 0.1, 3.0), best, SLACK)
    assert not improves((9e-6, 0.1, 0.0), best, SLACK), "a better approach at a worse position"


def test_no_answer_and_broken_limits_are_no_answers():
    goal = next(goal for goal in SOME if goal.arm.name == "so101")
    assert score(goal, Answer(None)).what == "worse position"
    assert score(goal, Answer(goal.arm.upper + 0.1)).what == "limits broken"
    assert score(goal, Answer(np.full(goal.arm.n, np.nan))).what == "limits broken"


def test_answers_come_back_from_their_file(tmp_path):
    goals = [goal for goal in SOME if goal.arm.name == "so101"][:3]
    answers = answered(goals, ours.make)
    write_answers(answers, tmp_path / "answers.jsonl")
    again = read_answers(tmp_path / "answers.jsonl")
    assert {name: (one.q.tolist(), round(one.us, 2)) for name, one in answers.items()} == {
        name: (one.q.tolist(), one.us) for name, one in again.items()
    }
    with (tmp_path / "answers.jsonl").open("a") as file:
        file.write(json.dumps({"id": "so101/pose/11", "q": None}) + "\n")
    assert read_answers(tmp_path / "answers.jsonl")["so101/pose/11"].q is None


def test_pinocchio_and_the_product_of_transforms_agree():
    pytest.importorskip("pinocchio")
    from benchmarks.nearest.pinned import Pinned

    for name in ("so101", "qarm", "jaco_j2n6s300", "ar4_mk3", "dobot_magician_rail"):
        arm = load(name)
        pinned = Pinned(arm)
        for q in arm.sample(np.random.default_rng(4), 5):
            for a, b, c in zip(arm.forward(q), pinned.forward(q), pinned.derivative(q)):
                assert a == pytest.approx(b, abs=1e-12) and b == pytest.approx(c, abs=1e-12)


@pytest.mark.parametrize("name", ["so101", "jaco_j2n6s300", "dobot_magician_rail"])
def test_the_optimiser_s_gradients_are_those_of_differences(name):
    pytest.importorskip("pinocchio")
    from benchmarks.nearest.task import Task

    task = Task(next(goal for goal in GOALS if goal.id == f"{name}/pose/00"))
    q = task.arm.sample(np.random.default_rng(5), 1)[0]
    kept = [*task.in_place(q, 0.2)[0], *task.in_place(q, 0.0)[0], task.in_line(0.7), task.in_line(0.0)]
    held = [(one["fun"], one["jac"]) for one in kept]
    split = [(lambda q, f=f, i=i: f(q)[i]) for f in (task.distance, task.tilt, task.twist) for i in (0, 1)]
    for value, slope in [*held, *zip(split[::2], split[1::2]), (split[1], task.bend)]:
        for k, step in enumerate(1e-6 * np.eye(task.arm.n)):
            difference = (np.asarray(value(q + step)) - np.asarray(value(q - step))) / 2e-6
            assert np.atleast_2d(slope(q))[:, k] == pytest.approx(np.atleast_1d(difference), abs=1e-6)
    _, approach, roll = errors(task.goal, q)
    assert task.tilt(q)[0] == pytest.approx(1.0 - math.cos(approach))
    assert task.twist(q)[0] == pytest.approx(1.0 - math.cos(roll))
