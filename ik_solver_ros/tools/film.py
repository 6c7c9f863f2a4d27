"""Film: pictures of a PyBullet scene, one after another, as an animated GIF."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

FPS = 10
LAST_FRAME = 1500  # [ms] the film stands still before it begins again
COLORS = 64  # of a picture
MARGIN = 12  # [px] to the left of what is written
INK = (20, 20, 20)


class Caption(NamedTuple):
    """What is written into a picture."""

    y: int  # [px] from the top
    text: str
    color: tuple[int, int, int] = INK


class Film:
    """Takes pictures as they are drawn; needs pillow."""

    def __init__(self) -> None:
        self._images: list[Any] = []

    def add(self, pixels: Any, *captions: Caption) -> None:
        """Another picture, (height, width, 3) uint8."""
        from PIL import Image, ImageDraw

        image = Image.fromarray(pixels)
        pen = ImageDraw.Draw(image)
        for caption in captions:
            pen.text((MARGIN, caption.y), caption.text, fill=caption.color)
        self._images.append(image.quantize(COLORS))

    def save(self, path: Path) -> None:
        """Write the GIF, into a directory that is made if need be."""
        path.parent.mkdir(parents=True, exist_ok=True)
        first, *rest = self._images
        durations = [1000 // FPS] * len(rest) + [LAST_FRAME]
        first.save(path, save_all=True, append_images=rest, duration=durations, loop=0, optimize=True)
