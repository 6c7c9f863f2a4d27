"""The geometry of a URDF's links: boxes, spheres, cylinders and meshes, and where their files are."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from scipy.spatial.transform import Rotation

from ik_solver_ros.errors import listed
from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.kinematics.model import RobotModel

# What says how large each kind is, and how many numbers that is.
SIZES = {"box": {"size": 3}, "sphere": {"radius": 1}, "cylinder": {"radius": 1, "length": 1}, "mesh": {"scale": 3}}


@dataclass(frozen=True, eq=False)
class Shape:
    """One <collision> or <visual> of a link."""

    link: str
    kind: str  # "box", "sphere", "cylinder" or "mesh"
    size: Array  # [m] box: (3,) edges; sphere: (1,) radius; cylinder: (2,) radius, length; mesh: (3,) scale
    rotation: Array  # (3, 3) in the link's frame
    position: Array  # (3,) [m] in the link's frame
    path: Path | None = None  # of a mesh


def collision_shapes(model: RobotModel) -> tuple[list[Shape], list[str]]:
    """What of all links can collide, and a sentence for each <collision> that cannot be used."""
    return _shapes(model, "collision")


def visual_shapes(model: RobotModel) -> tuple[list[Shape], list[str]]:
    """What of all links is to be seen, and a sentence for each <visual> that cannot be used."""
    return _shapes(model, "visual")


def _shapes(model: RobotModel, which: str) -> tuple[list[Shape], list[str]]:
    robot = ElementTree.fromstring(model.text.encode(), parser=ElementTree.XMLParser(encoding="utf-8"))
    shapes: list[Shape] = []
    notes: list[str] = []
    for link in robot.findall("link"):
        for element in link.findall(which):
            name = link.get("name", "")
            try:
                shapes.append(_shape(name, element, model.directory))
            except ValueError as error:
                notes.append(f"link {name!r}: a <{which}> is left out: {error}")
    return shapes, notes


def _shape(link: str, shape: ElementTree.Element, directory: Path | None) -> Shape:
    origin = shape.find("origin")
    xyz, rpy = (_numbers("0 0 0" if origin is None else origin.get(what, "0 0 0"), 3) for what in ("xyz", "rpy"))
    geometry = shape.find("geometry")
    element = None if geometry is None else next(iter(geometry), None)
    kind = "nothing" if element is None else element.tag
    if element is None or kind not in SIZES:
        raise ValueError(f"its geometry is {kind}; {listed(SIZES)} are known")
    unscaled = "1 1 1" if kind == "mesh" else ""
    size = np.concatenate([_numbers(element.get(what, unscaled), count) for what, count in SIZES[kind].items()])
    path = None
    if kind == "mesh":
        path = mesh_path(element.get("filename", ""), directory)
        if path is None:
            raise ValueError(f"the mesh {element.get('filename')!r} is not to be found")
    elif (size <= 0.0).any():
        raise ValueError(f"the size of its {kind} is {size.tolist()}: positive lengths are wanted")
    return Shape(link, kind, size, Rotation.from_euler("xyz", rpy).as_matrix(), xyz, path)


def mesh_path(filename: str, directory: Path | None) -> Path | None:
    """Where a mesh is: file:// and package:// resolved, relative paths from the URDF's directory; None if nowhere."""
    if filename.startswith("package://"):
        package, _, rest = filename.removeprefix("package://").partition("/")
        prefixes = [Path(p) / "share" for p in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if p]
        parents = list(directory.parents) if directory else []
        candidates = [prefix / package / rest for prefix in prefixes]
        candidates += [p / rest for p in parents if p.name == package] + [p / package / rest for p in parents]
    else:
        path = Path(filename.removeprefix("file://"))
        candidates = [path if path.is_absolute() or directory is None else directory / path]
    return next((path.resolve() for path in candidates if path.is_file()), None)


def _numbers(text: str, count: int) -> Array:
    out = np.array(text.split(), dtype=float)
    if out.shape != (count,) or not np.isfinite(out).all():
        raise ValueError(f"{text!r} where {count} finite numbers are wanted")
    return out
