"""CCDIK, the default solver: a search, its descents, and what a waist with parallel hinges allows in closed form."""
