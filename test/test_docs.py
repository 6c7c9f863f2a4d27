"""The documentation: what is written from the code is up to date, and nothing links to nowhere."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
PAGES = sorted(DOCS.glob("*.md"))


def test_the_reference_is_what_the_code_says():
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    # The help of the commands looks different in every Python.
    written, now = ((DOCS / "reference.md").read_text(), generate.reference())
    assert written.partition("## Commands")[0] == now.partition("## Commands")[0], "run: make docs"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
        assert target.startswith("https://") or (DOCS / target).is_file(), target


def test_every_page_is_in_the_menu():
    menu = (DOCS.parent / "mkdocs.yml").read_text()
    assert {page.name for page in PAGES} == set(re.findall(r"(\w+\.md)", menu))
