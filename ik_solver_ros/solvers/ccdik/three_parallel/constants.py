"""Numbers that several compiled modules of this folder share."""

from __future__ import annotations

EXACT = 1e-5  # [rad] a closed form's error, from the rounding of a URDF's numbers; a descent mends it
SAME = 1e-7  # [rad] errors that differ by less are equal
ANY_APPROACH = -1.0  # a `floor` that asks for the nearest approach instead of the least roll...
BEST_PITCH_ONLY = -2.0  # ...and one that asks for t* alone, where only an exact approach is worth having
SIDEWAYS = 1e-4  # lengths of directions below this are taken for zero; a descent mends the rest

# These are lengths of arrays in planar_group.pxd as well.
PAIRS = 8  # of waist and last hinge that may serve a goal exactly
SCANNED = 40  # angles of the last hinge that are looked at...
CLOSER = 6  # ...and of these, closely
ROLLS = 2 * (SCANNED + PAIRS) + CLOSER  # where the least roll may be near
REACHING = 54  # angles of waist and last hinge that may come nearest to a point out of reach...
KEPT = 4  # ...and of the postures there, those that are kept
BRANCHES = 16  # postures that serve a goal exactly, at most
