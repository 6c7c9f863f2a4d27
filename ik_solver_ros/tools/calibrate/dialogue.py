"""How the wizard talks to somebody."""

from __future__ import annotations

import math
from collections.abc import Callable

# Shows a question, calls the function again and again while waiting, shows what it returns, and returns the answer.
Ask = Callable[[str, Callable[[], str] | None], str]
Show = Callable[[str], None]


def agreed(ask: Ask, question: str, usual: bool = False) -> bool:
    """Whether somebody says yes; usual: what Enter alone means."""
    while True:
        answer = ask(f"{question} [{'Y/n' if usual else 'y/N'}]: ", None).strip().lower()
        if answer in ("", "y", "yes", "n", "no"):
            return answer.startswith("y") if answer else usual


def number(ask: Ask, show: Show, question: str, usual: float) -> float:
    """A positive number."""
    while True:
        answer = ask(f"  {question} [{usual:g}]: ", None).strip()
        try:
            given = float(answer or usual)
        except ValueError:
            given = math.nan
        if math.isfinite(given) and given > 0.0:
            return given
        show(f"  {answer!r}: a positive number is wanted")
