"""Figures to draw into; the only file of the wizard that needs matplotlib."""

from __future__ import annotations

from typing import Any

import matplotlib
from matplotlib.figure import Figure


def new_figure(columns: int) -> tuple[Any, list[Any]]:
    """A figure and its axes, side by side."""
    matplotlib.use("Agg")
    figure = Figure(figsize=(5.0 * columns, 4.8), layout="constrained")
    return figure, [figure.add_subplot(1, columns, i + 1) for i in range(columns)]
