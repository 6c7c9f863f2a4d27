"""Bodies: links that fixed joints make one, which of them the chain moves, and which pairs need no watching."""

from __future__ import annotations

from itertools import combinations

from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.joint import MOVING, Joint


class Bodies:
    """Every link by the topmost link of its body."""

    def __init__(self, chain: Chain) -> None:
        model = chain.model
        above = {joint.child: joint for joint in model.joints.values()}
        self._of = {link: _body(link, above) for link in model.links}
        self._moved_by = {link: _movers(link, above, set(chain.joint_names)) for link in model.links}
        self._adjacent = {
            frozenset((self._of[joint.parent], self._of[joint.child]))
            for joint in model.joints.values()
            if joint.type in MOVING
        }

    def moves(self, link: str) -> bool:
        """Whether the chain's joints move it."""
        return bool(self._moved_by[link])

    def watched(self, links: list[str]) -> list[tuple[str, str]]:
        """The pairs of these links that could collide when the chain moves: neither of one body, nor of bodies that
        one joint joins, nor such as keep their places to each other.
        """
        return [
            (a, b)
            for a, b in combinations(links, 2)
            if self._of[a] != self._of[b]
            and frozenset((self._of[a], self._of[b])) not in self._adjacent
            and self._moved_by[a] != self._moved_by[b]
        ]


def _body(link: str, above: dict[str, Joint]) -> str:
    while link in above and above[link].type not in MOVING:
        link = above[link].parent
    return link


def _movers(link: str, above: dict[str, Joint], moved: set[str]) -> frozenset[str]:
    """The joints of the chain that the place of a link depends on, directly or through mimic joints."""
    out = set()
    while link in above:
        joint = above[link]
        out.update({joint.name, joint.mimic.joint if joint.mimic else joint.name} & moved)
        link = joint.parent
    return frozenset(out)
