"""Numbers that several compiled modules of CCDIK share."""

from __future__ import annotations

W1, W2 = 0.5, 0.5  # weights of the directions while an exact answer is sought
# Of a descent, the part of the cost that a step must gain, lest it be the last:
ONLY_EXACT = 0.0  # anything, but given up where an exact answer is unlikely; see `descend`
ENOUGH = 1e-7  # roughly
FINE = 1e-8  # well enough to compare
FINEST = 1e-13  # to the last digits, for the roll's sake, which is a small part of the cost
NEAR = 8  # sample postures that are tried before random ones; also in starts.pxd, as the length of an array
SAME_POSITION = 1e-7  # [m] answers nearer than this are equal

# Of an arm with a structure
MENDED = 1e-2  # [rad] what a descent from a closed form is tried for...
NEARLY = 1e-3  # [rad] ...and one from each of its branches
