"""The comparison: what it writes, and that it says so where something cannot be compared."""

from __future__ import annotations

import itertools
import re
import sys

import numpy as np
import pytest

from ik_solver_ros.cli.main import main
from ik_solver_ros.solvers.solve import SOLVERS
from ik_solver_ros.tools.compare.chains import COUNTS, compared
from ik_solver_ros.tools.compare.claims import CLAIMS, COLUMNS, findings
from ik_solver_ros.tools.compare.code_lines import lines_of, source_of
from ik_solver_ros.tools.compare.measure import BALLS, measure
from ik_solver_ros.tools.compare.report import report

FEW = tuple(COLUMNS.values())


@pytest.fixture(scope="module")
def results():
    pytest.importorskip("casadi")
    seen = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ik_solver_ros.tools.compare.measure.STARTS", 1)
        found = measure(lambda what, share: seen.append((what, share)), FEW, 2)
    shares = [share for _, share in seen]
    assert shares == sorted(shares) and shares[0] == 0.0 and shares[-1] < 1.0
    return found


def test_every_solver_on_every_arm_is_measured_or_refused(results):
    for solver, arm in itertools.product(FEW, compared()):
        assert ((solver, arm, "point") in results.cells) != ((solver, arm) in results.refused)
    assert {arm for s, arm in results.refused if s == "fabrik"} == {"slider"}
    assert ("analytic", BALLS) not in results.sweeps and ("fabrik", BALLS) in results.sweeps
    for cell in results.cells.values():
        assert 0.0 <= cell.tight <= 1.0 and 0.0 <= cell.loose <= 1.0 and cell.time > 0.0


def test_every_claim_has_a_finding(results):
    found = findings(results)
    assert set(found) == set(itertools.product(CLAIMS, COLUMNS))
    assert {finding.verdict for finding in found.values()} <= {"agrees", "partly", "disagrees"}
    assert all(re.search(r"\d", finding.text) for finding in found.values())


def test_the_page_and_the_pictures(results, tmp_path):
    pytest.importorskip("matplotlib")
    from ik_solver_ros.tools.compare.figures import draw

    page = report(results)
    for name in (*FEW, *compared(), *CLAIMS, "fabrik refuses slider: j1 slides"):
        assert name in page
    assert "2 goals an arm and a kind" in page
    rows = [line for line in page.splitlines() if line.startswith("|")]
    assert all(row.count("|") in (6, 7, len(compared()) + 2) for row in rows)
    for path in draw(results, tmp_path):
        assert path.stat().st_size > 10_000


def test_a_package_that_is_missing_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "casadi", None)
    from ik_solver_ros.solvers.reference.autodiff import cost_of

    cost_of.cache_clear()
    results = measure(lambda what, share: None, ("autodiff",), 1)
    assert results.missing == {"autodiff": "casadi"} and not results.cells
    assert "**autodiff was not run:** casadi is not installed" in report(results)


def test_one_solver_and_one_goal_are_enough(tmp_path):
    pytest.importorskip("matplotlib")
    assert main(["compare", "--solvers", "ccd", "--goals", "1", "--out", str(tmp_path)]) == 0
    page = (tmp_path / "comparison_measured.md").read_text()
    assert "| ccd |" in page and "The claims" not in page
    assert len(list((tmp_path / "images").glob("compare_*.png"))) == 5


def test_none_that_is_installed(monkeypatch, capsys, tmp_path):
    pytest.importorskip("matplotlib")
    monkeypatch.setitem(sys.modules, "casadi", None)
    from ik_solver_ros.solvers.reference.autodiff import cost_of

    cost_of.cache_clear()
    assert main(["compare", "--solvers", "autodiff", "--goals", "1", "--out", str(tmp_path)]) == 2
    assert "casadi is not installed: pip install" in capsys.readouterr().err and not list(tmp_path.iterdir())


def test_an_unknown_solver(capsys):
    assert main(["compare", "--solvers", "magic"]) == 2
    assert "solver 'magic' is unknown; there are: ccdik" in capsys.readouterr().err


def test_lines_are_counted_without_words(tmp_path, monkeypatch):
    assert lines_of("ccd") == lines_of("ccd_alternative")
    own, beneath = lines_of("ccdik")
    assert beneath > 2 * own  # it stands on more than it shows
    for solver in SOLVERS:
        assert 20 < lines_of(solver)[0] < len(source_of(solver).read_text().splitlines())


def test_chains_of_any_number_have_a_reach_of_a_metre():
    arms = compared()
    for n in COUNTS:
        chain = arms[f"{n} joints"]
        assert chain.n == n and chain.reach == pytest.approx(1.0)
        np.testing.assert_allclose(chain.forward(np.zeros(n))[0], [1.0, 0.0, 0.0], atol=1e-12)
