"""How the wizard talks to somebody."""

from __future__ import annotations

from collections.abc import Callable

# Shows a question, calls the function again and again while waiting, shows what it returns, and returns the answer.
Ask = Callable[[str, Callable[[], str] | None], str]
Show = Callable[[str], None]
