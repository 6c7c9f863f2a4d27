"""Measure the records named on the command line, or all; --write puts their tables into docs/records.md."""

from __future__ import annotations

import re
import sys
from contextlib import redirect_stdout
from importlib import import_module
from io import StringIO
from pathlib import Path

from benchmarks.machine import here

RECORDS = ("tracik", "xarm", "ssik", "toolbox")
PAGE = Path(__file__).parents[2] / "docs" / "records.md"


class Both(StringIO):
    """Keeps what is printed, and prints it."""

    def write(self, text: str) -> int:
        sys.__stdout__.write(text)
        sys.__stdout__.flush()
        return super().write(text)


def main(arguments: list[str]) -> int:
    names = [name for name in arguments if name != "--write"] or RECORDS
    unknown = [name for name in names if name not in RECORDS]
    if unknown:
        print(f"error: no record {', '.join(unknown)}; there are: {', '.join(RECORDS)}", file=sys.stderr)
        return 2
    for name in names:
        with redirect_stdout(Both()) as out:
            print(f"{here()}\n")
            import_module(f"benchmarks.records.{name}").measure()
            print()
        if "--write" in arguments:
            put(name, out.getvalue())
    return 0


def put(name: str, measured: str) -> None:
    """Into the page, between the comments that name the record."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    page = re.sub(f"{begin}.*?{end}", lambda _: f"{begin}{measured}{end}", PAGE.read_text(), flags=re.DOTALL)
    PAGE.write_text(page)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
