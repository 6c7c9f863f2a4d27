"""How many lines of code a solver takes."""

from __future__ import annotations

import io
import re
import tokenize
from pathlib import Path

from ik_solver_ros import solvers
from ik_solver_ros.solvers.solve import SOLVERS

IMPORTED = re.compile(r"from ik_solver_ros\.(solvers[\w.]*) import \(?(\w*)")
FOLDER = Path(str(solvers.__file__)).parent
# files of the folder that all solvers need
COMMON = ("codes", "goal", "goal_numbers", "problem", "random", "solution", "splitmix")


def lines_of(solver: str) -> tuple[int, int]:
    """Lines that hold code, without comments and docstrings: of the solver's file, and of those that it builds on."""
    path = source_of(solver)
    helpers = _helpers(path) - {path}
    return _code_lines(path), sum(map(_code_lines, helpers))


def source_of(solver: str) -> Path:
    """The solver's own file, the plain one."""
    module = SOLVERS[solver].partition(":")[0]
    return FOLDER.parents[1].joinpath(*module.split(".")).with_suffix(".py")


def _helpers(path: Path) -> set[Path]:
    """This file, and all under solvers/ that it needs but for goals, options and random numbers."""
    found, new = set(), {path}
    while new:
        file = new.pop()
        found.add(file)
        for module, names in IMPORTED.findall(file.read_text(encoding="utf-8")):
            place = FOLDER.parent.joinpath(*module.split("."))
            files = [place / f"{name}.py" for name in names.split()] if place.is_dir() else [place.with_suffix(".py")]
            new |= {file for file in files if file.stem not in COMMON} - found
    return found


def _code_lines(path: Path) -> int:
    text, lines = path.read_text(encoding="utf-8"), set[int]()
    fresh = True  # at the beginning of a statement: a string alone there is a docstring
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER):
            continue
        if token.type == tokenize.NEWLINE:
            fresh = True
            continue
        if not (fresh and token.type == tokenize.STRING):
            lines.update(range(token.start[0], token.end[0] + 1))
        fresh = False
    return len(lines)
