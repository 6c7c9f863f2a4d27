from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from conftest import MORE, joint, urdf
from conftest import URDF as ARMS

from ik_solver_ros import Goal, solve
from ik_solver_ros.collision.guard import CollisionGuard
from ik_solver_ros.errors import CollisionError, GoalError
from ik_solver_ros.kinematics.load import load_chain
from ik_solver_ros.trajectory.limits import MotionLimits
from ik_solver_ros.trajectory.plan import plan
from ik_solver_ros.trajectory.trajectory import State


def to(chain, start, target):
    limits = MotionLimits.from_urdf(chain.joint_names, chain.lower, chain.upper, chain.velocity_limit)
    state = State.at_rest(np.asarray(start, dtype=float))
    return plan(state, np.asarray(target, dtype=float), limits), state


def refused(guard, chain, start, target, **others):
    with pytest.raises(CollisionError) as caught:
        guard.check(*to(chain, start, target), others)
    return caught.value


@pytest.fixture(scope="module")
def guard(so101):
    pytest.importorskip("coal")
    return CollisionGuard(so101)


def box(name: str, size: str = "0.1 0.1 0.1", xyz: str = "0 0 0") -> str:
    geometry = f'<collision><origin xyz="{xyz}"/><geometry><box size="{size}"/></geometry></collision>'
    return f'<link name="{name}">{geometry}</link>'


def test_the_floor_is_below_what_does_not_move(guard, so101):
    assert guard.floor_height == pytest.approx(0.0)
    standing = load_chain(
        urdf(box("base", xyz="0 0 -0.3"), box("arm"), joint("turn", "base", "arm", axis="0 1 0", xyz="0 0 1"))
    )
    assert CollisionGuard(standing).floor_height == pytest.approx(-0.35)
    assert CollisionGuard(standing, floor_height=0.5).floor_height == 0.5


def test_a_goal_below_the_floor_is_refused_and_the_link_named(guard, so101):
    below = solve(so101, Goal.point([0.25, 0.05, -0.08]))
    error = refused(guard, so101, np.zeros(5), below.q)
    assert error.links[1] == "floor" and 0.0 < error.fraction <= 1.0
    assert f"link {error.links[0]!r} would go" in str(error) and "mm below the floor, which is at" in str(error)
    guard.check(*to(so101, np.zeros(5), solve(so101, Goal.point([0.25, 0.05, 0.05])).q))
    CollisionGuard(so101, floor_height=-1.0).check(*to(so101, np.zeros(5), below.q))
    CollisionGuard(so101, floor_height=-np.inf).check(*to(so101, np.zeros(5), below.q))


def test_a_dip_on_the_way_is_found(so101, guard):
    limits = MotionLimits.from_urdf(so101.joint_names, so101.lower, so101.upper, so101.velocity_limit)
    a, b = (solve(so101, Goal.point([0.25, y, 0.1])).q for y in (-0.05, 0.05))
    low = solve(so101, Goal.point([0.25, 0.0, -0.05])).q
    down, up = plan(State.at_rest(a), low, limits), plan(State.at_rest(low), b, limits)
    times = np.concatenate([down.times, up.times + down.duration])
    columns = [
        np.vstack([getattr(t, what) for t in (down, up)]) for what in ("positions", "velocities", "accelerations")
    ]
    with pytest.raises(CollisionError) as caught:
        guard.check(type(down)(down.joint_names, times, *columns), State.at_rest(a))
    assert 0.2 < caught.value.fraction < 0.8


def test_an_arm_that_is_below_the_floor_may_leave_but_not_go_deeper(so101):
    high = solve(so101, Goal.point([0.25, 0.0, 0.1])).q
    low = solve(so101, Goal.point([0.25, 0.0, 0.03]), high).q
    guard = CollisionGuard(so101, floor_height=0.06)
    guard.check(*to(so101, low, high))
    assert refused(guard, so101, low, solve(so101, Goal.point([0.25, 0.0, 0.01]), low).q).links[1] == "floor"


def test_links_that_would_collide_are_named(guard, so101):
    rng = np.random.default_rng(1)
    free = CollisionGuard(so101, floor_height=-np.inf)
    found, q = set(), np.zeros(5)
    for _ in range(60):
        target = rng.uniform(so101.lower, so101.upper)
        try:
            free.check(*to(so101, q, target))
            q = target
        except CollisionError as error:
            found.add(error.links)
            assert f"links {error.links[0]!r} and {error.links[1]!r} would collide" in str(error)
    assert found
    one, other = sorted(found)[0]
    assert (one, other) not in {
        (e.links) for e in _refusals(CollisionGuard(so101, floor_height=-np.inf, ignored=[f"{one}:{other}"]), so101)
    }


def _refusals(guard, chain):
    rng, q, out = np.random.default_rng(1), np.zeros(5), []
    for _ in range(60):
        target = rng.uniform(chain.lower, chain.upper)
        try:
            guard.check(*to(chain, q, target))
            q = target
        except CollisionError as error:
            out.append(error)
    return out


@pytest.mark.parametrize("name", ["so101", "seed_arm"])
def test_as_pybullet_sees_it(name):
    """No contact where we see none, and contact where we see it, posture by posture."""
    p = pytest.importorskip("pybullet")
    pytest.importorskip("coal")
    path = ARMS / f"{name}.urdf"
    chain = load_chain(path)
    guard = CollisionGuard(chain, floor_height=-np.inf, margin=0.0)
    client = p.connect(p.DIRECT)
    try:
        body = p.loadURDF(str(path), useFixedBase=True, physicsClientId=client)
        index, link = {}, {chain.model.root: -1}
        for i in range(p.getNumJoints(body, physicsClientId=client)):
            info = p.getJointInfo(body, i, physicsClientId=client)
            index[info[1].decode()], link[info[12].decode()] = i, i
        watch = guard._self_collision
        watched = {tuple(sorted(watch._parts[i].solid.link for i in pair)) for pair in watch._watched}
        rng, seen = np.random.default_rng(0), 0
        for q in rng.uniform(chain.lower, chain.upper, (150, chain.n)):
            for joint_name, position in zip(chain.joint_names, q):
                p.resetJointState(body, index[joint_name], position, physicsClientId=client)
            depth = min(
                (
                    point[8]
                    for a, b in watched
                    for point in p.getClosestPoints(body, body, 0.02, link[a], link[b], physicsClientId=client)
                ),
                default=1.0,
            )
            touch = watch.first_touch(guard._at(q[np.newaxis], {}))
            seen += depth < 0.0
            if abs(depth) > 3e-3:  # PyBullet keeps a margin of its own
                # In a single posture, what touches is what touches from the start: look at it as a second one.
                pair = guard._at(np.array([_free(chain, guard), q]), {})
                assert (watch.first_touch(pair) is not None) == (depth < 0.0), (q, depth, touch)
        assert seen > 3
    finally:
        p.disconnect(client)


def _free(chain, guard):
    """A posture in which nothing touches."""
    for q in np.random.default_rng(5).uniform(0.3 * chain.lower, 0.3 * chain.upper, (50, chain.n)):
        motion = guard._at(np.array([chain.mid, q, q]), {})
        if guard._self_collision.first_touch(motion) is None:
            return q
    raise AssertionError("no free posture")


def test_what_always_touches_is_said_and_may_touch():
    pytest.importorskip("coal")
    text = urdf(
        box("base"), '<link name="between"/>', box("arm"), joint("a", "base", "between", xyz="0 0 0"),
        joint("b", "between", "arm", xyz="0 0 0.05", axis="0 1 0"),
    )  # fmt: skip
    chain = load_chain(text)
    guard = CollisionGuard(chain)
    assert any("'base' and 'arm' always touch" in note for note in guard.notes)
    guard.check(*to(chain, [0.0, 0.0], [0.5, 0.5]))


def test_what_touches_at_the_start_may_part_but_not_come_nearer():
    pytest.importorskip("coal")
    text = urdf(
        box("base", "0.2 0.2 0.2"), '<link name="between"/>', box("arm", "0.1 0.1 0.1"),
        joint("a", "base", "between", "prismatic", xyz="0.5 0 0", axis="1 0 0"),
        joint("b", "between", "arm", axis="0 0 1", xyz="0 0 0"),
    )  # fmt: skip
    chain = load_chain(text)
    guard = CollisionGuard(chain, floor_height=-np.inf)
    guard.check(*to(chain, [-0.36, 0.0], [0.0, 0.0]))
    guard.check(*to(chain, [0.0, 0.0], [-0.34, 0.0]))
    assert refused(guard, chain, [0.0, 0.0], [-0.36, 0.0]).links == ("base", "arm")
    assert refused(guard, chain, [-0.36, 0.0], [-0.4, 0.0]).links == ("base", "arm")


def test_the_gripper_counts_as_it_is():
    pytest.importorskip("coal")
    text = urdf(
        box("base", "0.2 0.2 0.2"), '<link name="wrist"/>', box("palm", "0.02 0.02 0.02"),
        box("jaw", "0.02 0.02 0.02", "0 0 -0.3"),
        joint("a", "base", "wrist", "prismatic", xyz="0.4 0 0.2", axis="1 0 0"),
        joint("b", "wrist", "palm", axis="0 0 1", xyz="0 0 0"),
        joint("grip", "palm", "jaw", axis="0 1 0", xyz="0 0 0"),
    )  # fmt: skip
    chain = load_chain(text, tip_link="palm")
    guard = CollisionGuard(chain, floor_height=-np.inf)
    guard.check(*to(chain, [0.0, 0.0], [-0.35, 0.0]), {"grip": -1.0})
    assert refused(guard, chain, [0.0, 0.0], [-0.35, 0.0], grip=0.0).links == ("base", "jaw")


def test_meshes_are_read_and_holes_are_holes(tmp_path):
    """A rod in a ring: their hulls touch, they do not."""
    pytest.importorskip("coal")
    (tmp_path / "ring.stl").write_bytes(stl(ring(0.1, 0.2, 0.05)))
    mesh = '<link name="base"><collision><geometry><mesh filename="ring.stl"/></geometry></collision></link>'
    text = urdf(
        mesh, '<link name="between"/>', box("arm", "0.02 0.02 0.3"),
        joint("a", "base", "between", "prismatic", xyz="0 0 0", axis="1 0 0"),
        joint("b", "between", "arm", axis="0 0 1", xyz="0 0 0"),
    )  # fmt: skip
    (tmp_path / "arm.urdf").write_text(text)
    chain = load_chain(tmp_path / "arm.urdf")
    guard = CollisionGuard(chain, floor_height=-np.inf)
    assert guard.notes == []
    guard.check(*to(chain, [-0.05, 0.0], [0.05, 0.0]))
    assert refused(guard, chain, [-0.05, 0.0], [0.095, 0.0]).links == ("base", "arm")


def ring(inner: float, outer: float, height: float, sides: int = 24) -> list[np.ndarray]:
    """The triangles of a ring round z."""
    a = np.linspace(0.0, 2.0 * np.pi, sides + 1)
    circle = np.column_stack([np.cos(a), np.sin(a), np.zeros_like(a)])
    up = np.array([0.0, 0.0, 0.5 * height])
    corners = [inner * circle - up, outer * circle - up, outer * circle + up, inner * circle + up]
    triangles = []
    for one, other in zip(corners, [*corners[1:], corners[0]]):
        for i in range(sides):
            triangles += [np.array([one[i], other[i], other[i + 1]]), np.array([one[i], other[i + 1], one[i + 1]])]
    return triangles


def stl(triangles: list[np.ndarray]) -> bytes:
    record = np.zeros(len(triangles), dtype=[("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("rest", "<u2")])
    record["corners"] = triangles
    return bytes(80) + np.uint32(len(triangles)).tobytes() + record.tobytes()


def test_a_mesh_that_cannot_be_read_is_left_out_and_said(tmp_path):
    pytest.importorskip("coal")
    (tmp_path / "bad.stl").write_text("not a mesh")
    mesh = '<link name="base"><collision><geometry><mesh filename="bad.stl"/></geometry></collision></link>'
    (tmp_path / "arm.urdf").write_text(urdf(mesh, box("arm"), joint("a", "base", "arm")))
    notes = CollisionGuard(load_chain(tmp_path / "arm.urdf")).notes
    assert any("bad.stl" in note and "cannot be read" in note for note in notes)


def test_without_geometry_the_frames_are_kept_above_the_floor():
    chain = load_chain(MORE / "reactorx_150.urdf")
    guard = CollisionGuard(chain)
    assert any("only the links' frames" in note for note in guard.notes)
    below = solve(chain, Goal.point([0.2, 0.0, -0.1]))
    assert refused(guard, chain, np.clip(np.zeros(5), chain.lower, chain.upper), below.q).links[1] == "floor"


def test_without_geometry_nothing_can_touch(guard):
    chain = load_chain(MORE / "reactorx_150.urdf")
    CollisionGuard(chain, floor_height=-np.inf).check(*to(chain, chain.mid, chain.mid + 0.5))


def test_pairs_to_ignore_must_be_links(so101):
    with pytest.raises(GoalError, match="collision_ignored = 'base_link:nobody'"):
        CollisionGuard(so101, ignored=["base_link:nobody"])


def test_without_coal_the_floor_is_guarded_still_and_it_is_said():
    code = f"""
import sys
sys.modules["coal"] = None
import numpy as np
from ik_solver_ros import Goal, load_chain
from ik_solver_ros.collision.guard import CollisionGuard
from ik_solver_ros.errors import CollisionError
from ik_solver_ros.trajectory.trajectory import State, Trajectory
guard = CollisionGuard(load_chain({str(ARMS / "so101.urdf")!r}))
print(guard.notes)
down = Trajectory(guard._chain.joint_names, np.ones(1), np.array([[0.0, 1.5, 0.0, 1.0, 0.0]]), *np.zeros((2, 1, 5)))
try:
    guard.check(down, State.at_rest(np.zeros(5)))
except CollisionError as error:
    print(error.links)
"""
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert "coal is not installed" in out and "ik_solver_ros[collision]" in out and "'floor')" in out


def test_motions_are_sampled_as_they_are_followed(so101):
    from ik_solver_ros.collision.guard import STEP, _sampled

    rng = np.random.default_rng(3)
    for _ in range(5):
        start, target = rng.uniform(so101.lower, so101.upper, (2, 5))
        trajectory, rest = to(so101, start, target)
        moving = trajectory.state(0.3 * trajectory.duration, rest)
        limits = MotionLimits.from_urdf(so101.joint_names, so101.lower, so101.upper, so101.velocity_limit)
        again = plan(moving, start, limits)
        q = _sampled(again, moving)
        times = np.linspace(0.0, again.duration, len(q))
        np.testing.assert_allclose(q, again.states(times, moving).position, atol=1e-9)
        assert np.abs(np.diff(q, axis=0)).max() <= 1.05 * STEP
