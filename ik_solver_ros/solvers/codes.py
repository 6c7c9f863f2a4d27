"""Codes that compiled code answers with."""

from __future__ import annotations

# How good an answer is: places in solution.STATUSES
REACHED, NEAREST_ORIENTATION, NEAREST_POSITION, INVALID_GOAL = range(4)

# What is wrong with a goal
NO_FAULT, POSITION_NOT_FINITE, REST_NOT_FINITE, REST_OF_WRONG_LENGTH = range(4)
