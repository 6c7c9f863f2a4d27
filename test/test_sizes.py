"""What fits in one's head: files, classes and argument lists that stay small, and imports without circles."""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "ik_solver_ros"
FILES = sorted(PACKAGE.rglob("*.py"))
TREES = {path: ast.parse(path.read_text()) for path in FILES}
LINES, CLASS_LINES, ARGUMENTS = 350, 250, 7
MORE_ARGUMENTS = {"solvers/batch.py:solve_batch"}  # a public signature, which users call by keyword


def name_of(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_files_classes_and_argument_lists_are_short(path):
    assert len(path.read_text().splitlines()) <= LINES
    for node in ast.walk(TREES[path]):
        if isinstance(node, ast.ClassDef):
            assert node.end_lineno - node.lineno < CLASS_LINES, node.name
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            own = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
            count = len([argument for argument in own if argument.arg not in ("self", "cls")])
            assert count <= ARGUMENTS or f"{name_of(path)}:{node.name}" in MORE_ARGUMENTS, node.name


def test_imports_have_no_circles():
    modules = {".".join(("ik_solver_ros", *path.relative_to(PACKAGE).with_suffix("").parts)): path for path in FILES}
    graph = {}
    for module, path in modules.items():
        needs = set()
        for node in TREES[path].body:  # what is imported inside functions comes later
            if isinstance(node, ast.ImportFrom) and node.module:
                needs |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)} & set(modules)
        graph[module] = needs - {module}
    order = list(TopologicalSorter(graph).static_order())  # raises CycleError, which names the circle
    assert len(order) == len(modules)
