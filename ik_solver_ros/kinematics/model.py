"""URDF text -> RobotModel: the tree of links and joints, checked. No solver needs more of a URDF than this.

urdf_parser_py does the parsing; it accepts much that is wrong without a word, so everything that a chain
depends on is checked here. Only links and joints are handed to it: the visuals, meshes, transmissions and
simulator tags of perfectly good files would make it print warnings or fail.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any
from xml.etree import ElementTree
from xml.parsers import expat

import numpy as np

from ik_solver_ros.errors import (
    CycleError,
    DuplicateNameError,
    NoPathError,
    UnknownLinkError,
    UrdfSyntaxError,
    listed,
)
from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.kinematics.joint import MOVING, Joint, read_joint, with_mimics_checked
from ik_solver_ros.kinematics.xacro_file import expanded

# What of a joint is read, by element: whatever else a file has there is nobody's business here.
PARTS = {
    "origin": ("xyz", "rpy"),
    "parent": ("link",),
    "child": ("link",),
    "axis": ("xyz",),
    "limit": ("lower", "upper", "effort", "velocity"),
    "mimic": ("joint", "multiplier", "offset"),
}


@dataclass(frozen=True, eq=False, repr=False)
class RobotModel:
    """A robot as its URDF describes it: a tree of links joined by joints."""

    name: str
    root: str
    links: tuple[str, ...]
    joints: Mapping[str, Joint]  # by name, in the file's order
    text: str  # the URDF itself, for the backends that load meshes and masses
    directory: Path | None  # where relative mesh paths start, when it was read from a file

    def __repr__(self) -> str:
        return f"<RobotModel {self.name}: {len(self.links)} links, {len(self.joints)} joints>"

    @property
    def commandable(self) -> tuple[Joint, ...]:
        """The joints that can be commanded: those that move, but for mimic joints, which follow theirs."""
        return tuple(j for j in self.joints.values() if j.type in MOVING and j.mimic is None)

    def joint_above(self, link: str) -> Joint | None:
        """The joint whose child is `link`; None at the root."""
        return next((j for j in self.joints.values() if j.child == link), None)

    def joints_below(self, link: str) -> tuple[Joint, ...]:
        """The joints whose parent is `link`."""
        return tuple(j for j in self.joints.values() if j.parent == link)

    def path(self, base: str, tip: str) -> tuple[Joint, ...]:
        """The joints from `base` down to `tip`. Raises UnknownLinkError, NoPathError."""
        for role, link in (("base_link", base), ("tip_link", tip)):
            if link not in self.links:
                raise UnknownLinkError(role, link, self.links)
        found: list[Joint] = []
        link = tip
        while link != base:
            joint = self.joint_above(link)
            if joint is None:
                raise NoPathError(
                    f"tip_link {tip!r} does not hang on base_link {base!r}: going up from the tip one comes to "
                    f"{listed(reversed([j.parent for j in found]))}",
                    element=tip,
                )
            found.append(joint)
            link = joint.parent
        return tuple(reversed(found))

    def transform(self, base: str, link: str, positions: Mapping[str, float]) -> Array:
        """The transform (4, 4) from `base` to any `link`; joints without a position count as at zero."""
        return np.asarray(np.linalg.inv(self._from_root(base, positions)) @ self._from_root(link, positions))

    def _from_root(self, link: str, positions: Mapping[str, float]) -> Array:
        out = np.eye(4)
        for joint in self.path(self.root, link):
            out = out @ joint.transform(self.joint_position(joint, positions))
        return out

    def joint_position(self, joint: Joint, positions: Mapping[str, float]) -> float:
        """The position of a joint, followed through its mimic tag where it has one; zero where unknown."""
        if joint.mimic is not None and joint.name not in positions:
            return joint.mimic.multiplier * positions.get(joint.mimic.joint, 0.0) + joint.mimic.offset
        return positions.get(joint.name, 0.0)


def load_model(source: str | os.PathLike[str]) -> RobotModel:
    """Read a URDF, given as its text or as the path of a file; one that ends in .xacro is expanded.

    A joint that cannot be moved, for its axis, limits or mimic tag, has a `fault`: it matters on a chain alone.

    Raises UrdfSyntaxError, DuplicateNameError, UnknownLinkError, CycleError or AxisError (of an origin), and
    FileNotFoundError where the path leads nowhere.
    """
    text, directory = _read(source)
    element = _checked_xml(text)
    _refuse_duplicates(element)
    robot = _parse(element)
    links = tuple(str(link.name) for link in robot.links)
    joints = with_mimics_checked({joint.name: joint for joint in (read_joint(raw, links) for raw in robot.joints)})
    root = _root(links, joints)
    return RobotModel(str(robot.name), root, links, MappingProxyType(joints), text, directory)


def _read(source: str | os.PathLike[str]) -> tuple[str, Path | None]:
    if isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith("<"):
        return source.lstrip("\ufeff \t\r\n"), None
    if isinstance(source, str) and (not source.strip() or "\n" in source or len(source) > 4096):
        shown = source if len(source) < 60 else source[:60] + "..."
        raise UrdfSyntaxError(f"{shown!r} is neither the XML of a URDF (which begins with '<') nor the path of one")
    path = Path(source)
    if path.suffix == ".xacro":
        return expanded(path), path.resolve().parent
    return path.read_text(encoding="utf-8-sig").lstrip(), path.resolve().parent


def _checked_xml(text: str) -> ElementTree.Element:
    def refuse(name: str, *_: Any) -> None:
        raise UrdfSyntaxError(
            f"the URDF has a DOCTYPE ({name!r}); document types and entities are refused, as they can read files",
            element="DOCTYPE",
        )

    # The declaration may name any encoding, but the text is decoded by now.
    data = text.encode("utf-8", errors="surrogatepass")
    parser = expat.ParserCreate("utf-8")
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(data, True)
        element = ElementTree.fromstring(data, parser=ElementTree.XMLParser(encoding="utf-8"))
    except (expat.ExpatError, ElementTree.ParseError) as error:
        raise UrdfSyntaxError(f"the robot description is not XML: {error}") from error
    if element.tag != "robot":
        raise UrdfSyntaxError(
            f"the XML is a <{element.tag}>, not a <robot>; is it a URDF (and not an SDF, MJCF or unexpanded xacro)?",
            element=str(element.tag),
        )
    return element


def _refuse_duplicates(robot: ElementTree.Element) -> None:
    for tag in ("link", "joint"):
        seen: set[str] = set()
        for element in robot.findall(tag):
            name = element.get("name")
            if not name:
                raise UrdfSyntaxError(f"a <{tag}> has no name", element=tag)
            if name in seen:
                raise DuplicateNameError(f"{tag} {name!r} is defined twice; names must be unique", element=name)
            seen.add(name)


def _parse(robot: ElementTree.Element) -> Any:
    from urdf_parser_py.urdf import URDF  # takes 50 ms, and is needed only where a URDF is read

    bare = ElementTree.Element("robot", {"name": robot.get("name") or "robot"})
    for link in robot.findall("link"):
        ElementTree.SubElement(bare, "link", {"name": link.get("name", "")})
    for joint in robot.findall("joint"):
        kept = ElementTree.SubElement(bare, "joint", {k: joint.get(k, "") for k in ("name", "type")})
        for part, known in PARTS.items():
            for element in joint.findall(part):
                attributes = {name: value for name, value in element.attrib.items() if name in known}
                if part == "limit":  # required by the parser; what is missing is said by us, as nan
                    attributes = {"effort": "nan", "velocity": "nan", "lower": "nan", "upper": "nan"} | attributes
                ElementTree.SubElement(kept, part, attributes)
        for part in ("parent", "child"):
            if kept.find(part) is None or not kept.find(part).get("link"):  # type: ignore[union-attr]
                raise UrdfSyntaxError(
                    f"joint {joint.get('name')!r} names no {part} link", element=joint.get("name", "")
                )
        # One parse a joint, so that an error can name the joint.
        single = ElementTree.Element("robot", {"name": "robot"})
        single.append(kept)
        try:
            URDF.from_xml_string(ElementTree.tostring(single, encoding="unicode"))
        except Exception as error:  # the parser raises whatever comes
            raise UrdfSyntaxError(
                f"joint {joint.get('name')!r} cannot be parsed: {' '.join(str(error).split())}",
                element=joint.get("name", ""),
            ) from error
    return URDF.from_xml_string(ElementTree.tostring(bare, encoding="unicode"))


def _root(links: tuple[str, ...], joints: dict[str, Joint]) -> str:
    if not links:
        raise UrdfSyntaxError("the robot has no links", element="robot")
    above: dict[str, Joint] = {}
    for joint in joints.values():
        if joint.child in above:
            raise DuplicateNameError(
                f"link {joint.child!r} has two parents, by the joints {above[joint.child].name!r} and {joint.name!r}; "
                "a URDF must be a tree",
                element=joint.child,
            )
        above[joint.child] = joint
    for link in links:
        seen = [link]
        while seen[-1] in above:
            seen.append(above[seen[-1]].parent)
            if seen[-1] == link:
                raise CycleError(f"the links form a ring: {' <- '.join(seen)}", element=link)
            if len(seen) > len(links):
                break  # a ring further up, found when it is that link's turn
    roots = [link for link in links if link not in above]
    if len(roots) > 1:
        raise NoPathError(
            f"the URDF has {len(roots)} roots, links without a parent: {listed(roots)}; join them by fixed joints",
            element=roots[1],
        )
    return roots[0]
