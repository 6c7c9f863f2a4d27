"""What is measured of the solvers: the same goals for all, and `solve` as the judge of all."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ik_solver_ros.errors import MissingPackageError, UnsupportedChainError
from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.quaternion import rotate
from ik_solver_ros.solvers.goal import Goal
from ik_solver_ros.solvers.solution import SolverOptions, Status
from ik_solver_ros.solvers.solve import SOLVERS, find_solver, solve
from ik_solver_ros.tools.compare.chains import chain_of, compared

GOALS = 60  # an arm and a kind
RESTARTS = 10
LOOSE = SolverOptions(1e-3, math.radians(0.5), max_restarts=RESTARTS)
TIGHT = SolverOptions(1e-6, 1e-6, max_restarts=RESTARTS)
POSITION_ONLY = ("ccd", "ccd_alternative", "fabrik")  # serve no direction
STEPS = (1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120)  # budgets of iterations of the convergence curves
OUTSIDE = 1e-9  # [rad or m] beyond a limit that counts
RATE, SPEED = 50.0, 0.1  # [Hz] and [m/s] of goals in the sweeps
FRAMES = 200  # of the round beyond the reach
BEYOND = 1.2  # [m] from the waist, out of the reach of 1 m
PAST, STRETCH, OUT = "5 mm past the waist's axis", "to 20 mm beyond full stretch, and back", "out of reach"
BALLS = "the same, an arm of balls"
STARTS, ASIDE = 6, 0.3  # of each path, and by how much [rad] they differ from one that is near
SETTLED = 5  # frames after which a solver counts as being on the path
NEAR = 0.3  # [rad] between each joint and an answer at most, where a solver starts near

Progress = Callable[[str, float], None]  # what is being done, and the fraction of all that is done


@dataclass(frozen=True)
class Cell:
    """A solver on an arm, at goals of one kind: fractions in [0, 1], times in s."""

    loose: float  # fraction reached at 1 mm and 0.5 deg
    tight: float  # at 1e-6 m and 1e-6 rad
    time: float  # median of a call at the loose tolerance
    iterations: float  # median, at the loose tolerance
    outside: float  # fraction of answers outside the limits before they were clamped
    off_hinges: float  # [m] median by which the solver's own points lay off what the hinges allow


@dataclass(frozen=True)
class Sweep:
    """A solver called once a frame along a path of points, each from the answer before; from several starts."""

    joint_speed: Array  # (starts, frames) [rad/s] of the fastest joint
    error: Array  # (starts, frames) [m] of the tip

    @property
    def missed(self) -> float:
        """Fraction of all frames in which the tip misses its goal by more than a millimetre."""
        return float(np.mean(self.error > 1e-3))

    @property
    def peak(self) -> float:
        """[rad/s] of the fastest joint from each start, but for the way to the path; the median of the starts."""
        return float(np.median(np.max(self.joint_speed[:, SETTLED:], axis=1)))


@dataclass
class Results:
    """Everything that was measured, by solver, then by arm."""

    cells: dict[tuple[str, str, str], Cell] = field(default_factory=dict)  # solver, arm, "point" or "approach"
    refused: dict[tuple[str, str], str] = field(default_factory=dict)  # solver, arm: why
    missing: dict[str, str] = field(default_factory=dict)  # solver: the package that is not installed
    convergence: dict[tuple[str, str], Array] = field(default_factory=dict)  # solver, arm: median error [m] at STEPS
    sweeps: dict[tuple[str, str], Sweep] = field(default_factory=dict)  # solver, path
    starts: dict[str, tuple[float, float]] = field(default_factory=dict)  # solver: what one_start measures
    goals: int = GOALS  # an arm and a kind
    seconds: float = 0.0

    @property
    def solvers(self) -> list[str]:
        """Those that were run, in the order of their table."""
        return [solver for solver in SOLVERS if solver in self.starts]

    @property
    def arms(self) -> list[str]:
        """Those that a solver took, in the order of the comparison."""
        return list(dict.fromkeys(arm for _, arm, _ in self.cells))


def measure(progress: Progress, solvers: tuple[str, ...] = tuple(SOLVERS), goals: int = GOALS) -> Results:
    """Measure all; `progress` is told of every step."""
    began, arms, results = time.perf_counter(), compared(), Results(goals=goals)
    todo = len(solvers) * (len(arms) + 2)
    done = 0
    for solver in solvers:
        for name, chain in arms.items():
            progress(f"{solver}, {name}", done / todo)
            done += 1
            if solver in results.missing:
                continue
            try:
                for kind in ("point", "approach"):
                    if kind == "point" or not (solver in POSITION_ONLY or chain.n == 2):
                        results.cells[solver, name, kind] = cell(solver, chain, kind, goals)
            except UnsupportedChainError as error:
                results.refused[solver, name] = error.why
            except MissingPackageError as error:
                results.missing[solver] = error.package
        progress(f"{solver}, convergence", done / todo)
        done += 1
        for name in ("so101", "10 joints"):
            if (solver, name, "point") in results.cells:
                results.convergence[solver, name] = convergence(solver, arms[name])
        progress(f"{solver}, sweeps", done / todo)
        done += 1
        if solver in results.missing:
            continue
        results.starts[solver] = one_start(solver, arms["5 joints"])
        for path, (chain, points, start) in paths().items():
            if not (path == BALLS and (solver, "balls", "point") not in results.cells):
                results.sweeps[solver, path] = sweep(solver, chain, points, start)
    results.seconds = time.perf_counter() - began
    return results


def sampled(chain: Chain, rng: np.random.Generator, kind: str) -> Goal:
    """A goal that can be reached: where the tip is at a random configuration inside the limits."""
    lower, upper = np.maximum(chain.lower, -np.pi), np.minimum(chain.upper, np.pi)
    position, quat = chain.forward(rng.uniform(lower, upper))
    return Goal.approach(position, rotate(quat, chain.tool_axis)) if kind == "approach" else Goal.point(position)


def cell(solver: str, chain: Chain, kind: str, count: int) -> Cell:
    """All goals of one kind, from the middle of the joints' ranges."""
    rng = np.random.default_rng(7)
    goals = [sampled(chain, rng, kind) for _ in range(count)]
    solve(chain, goals[0], solver=solver, options=LOOSE)  # compiled, loaded, warm
    reached: dict[SolverOptions, int] = {}
    times: list[float] = []
    iterations: list[int] = []
    for options in (LOOSE, TIGHT):
        reached[options] = 0
        for goal in goals:
            began = time.perf_counter()
            solution = solve(chain, goal, solver=solver, options=options)
            elapsed = time.perf_counter() - began
            reached[options] += solution.status is Status.REACHED
            if options is LOOSE:
                times.append(elapsed)
                iterations.append(solution.iterations)
    outside, offsets = 0, []
    for goal in goals[: max(count // 2, 1)]:
        attempt = find_solver(solver)(chain, goal, chain.mid.copy(), LOOSE)
        outside += bool(((attempt.q < chain.lower - OUTSIDE) | (attempt.q > chain.upper + OUTSIDE)).any())
        offsets.append(attempt.off_hinges)
    return Cell(
        reached[LOOSE] / count,
        reached[TIGHT] / count,
        float(np.median(times)),
        float(np.median(iterations)),
        outside / len(offsets),
        float(np.median(offsets)),
    )


def one_start(solver: str, chain: Chain, count: int = 100) -> tuple[float, float]:
    """Fractions of points reached to 1 mm without new starts: from joints within `NEAR` of an answer, and from any."""
    rng, reached = np.random.default_rng(9), [0, 0]
    for _ in range(count):
        q = rng.uniform(chain.lower, chain.upper)
        starts = chain.clamped(q + rng.uniform(-NEAR, NEAR, chain.n)), rng.uniform(chain.lower, chain.upper)
        goal = Goal.point(chain.forward(q)[0])
        for k in range(2):
            options = SolverOptions(1e-3, 1e-3, max_restarts=0)
            reached[k] += solve(chain, goal, starts[k], solver=solver, options=options).status is Status.REACHED
    return reached[0] / count, reached[1] / count


def convergence(solver: str, chain: Chain, count: int = 40) -> Array:
    """Median error [m] of points from random starts, without new ones, by the iterations that are allowed."""
    rng = np.random.default_rng(8)
    lower, upper = np.maximum(chain.lower, -np.pi), np.minimum(chain.upper, np.pi)
    cases = [(sampled(chain, rng, "point"), rng.uniform(lower, upper)) for _ in range(count)]
    out = []
    for steps in STEPS:
        options = SolverOptions(1e-15, 1e-15, max_iterations=steps, max_restarts=0)
        found = [solve(chain, goal, q0, solver=solver, options=options) for goal, q0 in cases]
        out.append(float(np.median([solution.position_error for solution in found])))
    return np.array(out)


def paths() -> dict[str, tuple[Chain, Array, Array]]:
    """Chain, goals (m, 3) [m] and a start for each sweep, all on an arm of five joints and 1 m."""
    chain = chain_of("zyyyx", (-3.1, 3.1))
    y = np.arange(-0.25, 0.25, SPEED / RATE)
    past = np.column_stack([np.full(len(y), 0.005), y, np.full(len(y), 0.4)])
    out = np.arange(0.85, 1.02, SPEED / RATE)
    x = np.concatenate([out, out[::-1]])
    stretch = np.column_stack([x, np.zeros(len(x)), np.zeros(len(x))])
    turn = np.linspace(-1.0, 1.0, FRAMES)
    beyond = np.column_stack([BEYOND * np.cos(turn), BEYOND * np.sin(turn), 0.3 + 0.1 * np.sin(6.0 * turn)])
    balls = chain_of("zyx" * 4, (-3.1, 3.1))
    return {
        # Near the first goal, and with the waist where it has half a turn to go.
        PAST: (chain, past, np.array([-1.55, -2.1, 0.5, 1.1, 0.0])),
        STRETCH: (chain, stretch, np.array([0.0, -1.0, 0.85, 0.7, 0.0])),
        OUT: (chain, beyond, np.array([-1.0, -0.3, 0.1, 0.1, 0.0])),
        BALLS: (balls, stretch, np.tile([0.3, -0.4, 0.0, -0.3, 0.4, 0.0], 2)),
    }


def sweep(solver: str, chain: Chain, points: Array, start: Array) -> Sweep:
    """The points one after the other, each from the answer before, without random starts."""
    options, rng = SolverOptions(1e-4, 1e-4, max_restarts=0), np.random.default_rng(10)
    speeds, errors = np.empty((STARTS, len(points))), np.empty((STARTS, len(points)))
    for i in range(STARTS):
        q = chain.clamped(start + rng.uniform(-ASIDE, ASIDE, chain.n))
        for k, point in enumerate(points):
            solution = solve(chain, Goal.point(point), q, solver=solver, options=options)
            speeds[i, k], errors[i, k] = np.max(np.abs(solution.q - q)) * RATE, solution.position_error
            q = solution.q
    return Sweep(speeds, errors)
