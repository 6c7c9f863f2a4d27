"""The numbers of SplitMix64; a module that is compiled itself has no place for whole numbers so large."""

from __future__ import annotations

MASK = 0xFFFFFFFFFFFFFFFF
GAMMA = 0x9E3779B97F4A7C15
MIX_1, MIX_2 = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
