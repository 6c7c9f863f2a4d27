"""Numbers that several compiled modules share; a module that is compiled itself cannot lend out its own."""

from __future__ import annotations

import math

MOST_JOINTS = 32  # of a chain; also in the .pxd files, as the length of arrays
SAMPLES = 256  # sample postures of a chain, to start from; likewise

INF, NAN = math.inf, math.nan
PI, TWO_PI = math.pi, 2.0 * math.pi

# Of the arm with a waist
SLACK = 1e-9  # [rad] by which an angle may miss its limits through rounding; it is clamped
ON_AXIS = 1e-5  # [m] a tip this near to the axis of the last hinge is on it, but for rounding
