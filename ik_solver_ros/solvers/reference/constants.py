"""Numbers that compiled modules of this folder share, or show to others: what is compiled cannot lend out its own."""

from __future__ import annotations

POSITION, APPROACH, ROLL = range(3)  # what a joint of ccdik_published serves
