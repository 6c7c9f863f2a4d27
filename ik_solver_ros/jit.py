"""`njit`: numba's decorator with an on-disk cache that cannot go stale and never stands in the way.

numba caches per file: where a compiled function calls one from another file, editing the callee leaves the
caller's stale machine code in the cache. Here the stamp of every cached function covers all modules of the
package that hold compiled code, so that an upgrade or an edit of any of them recompiles all.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])


@cache
def source_stamp() -> str:
    """One digest over all modules of the package with compiled code."""
    digest = hashlib.sha256()
    root = Path(__file__).parent
    for path in sorted(root.rglob("*.py")):
        source = path.read_bytes()
        if b"@njit" in source:
            digest.update(path.name.encode())
            digest.update(source)
    return digest.hexdigest()


def njit(function: F) -> F:
    """Compile `function` in nopython mode, without the GIL, cached on disk where some directory is writable."""
    try:
        dispatcher: Any = numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # neither the package, nor the user's cache directory, nor NUMBA_CACHE_DIR can be written
        return numba.njit(nogil=True)(function)  # type: ignore[no-any-return]
    try:
        # numba has no public way to widen the stamp; without it the cache still works, per file.
        file = dispatcher._cache._cache_file
        file._source_stamp = source_stamp()
        file._load_index = _forgiving(file._load_index)
    except AttributeError:
        pass
    return dispatcher  # type: ignore[no-any-return]


def _forgiving(load_index: Callable[[], dict[Any, Any]]) -> Callable[[], dict[Any, Any]]:
    """An index that cannot be read counts as empty: an older version's may name classes that have moved since."""

    def load() -> dict[Any, Any]:
        try:
            return load_index()
        except (ImportError, AttributeError, pickle.UnpicklingError, EOFError):
            return {}

    return load
