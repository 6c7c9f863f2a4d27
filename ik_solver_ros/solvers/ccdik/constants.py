"""Numbers that several compiled modules of CCDIK share."""

from __future__ import annotations

W1, W2 = 0.5, 0.5  # weights of the directions while an exact answer is sought
NEAR = 8  # sample postures that are tried before random ones; also in generic.pxd, as the length of an array
SAME_POSITION = 1e-7  # [m] answers nearer than this are equal

# Of an arm with a structure
MENDED = 1e-2  # [rad] what a descent from a closed form is tried for...
NEARLY = 1e-3  # [rad] ...and one from each of its branches
