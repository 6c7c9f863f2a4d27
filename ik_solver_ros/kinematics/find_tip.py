"""Which link is the tip, where nobody names one; and what is doubtful about it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ik_solver_ros.errors import AmbiguousTipError, UnsupportedJointError, listed
from ik_solver_ros.kinematics.hand import Hand, Hands
from ik_solver_ros.kinematics.joint import Joint

SAME_PLACE = 1e-3  # [m]
LEAST_OF_AN_ARM = 3  # joints; a head or a lift has fewer
MOST_OF_A_FINGER = 4  # joints


class FoundTip(NamedTuple):
    """A link, and sentences on what else might be meant."""

    link: str
    doubts: tuple[str, ...] = ()


def find_tip(hands: Hands, base: str) -> FoundTip:
    """The end of the one serial chain below `base`; the fingers of a gripper are not part of it.

    Going down from the base: where fingers are all that still moves the hand begins, and the tip is the frame fixed to
    it that is named as a tip, else the one frame there is, else the link that the fingers hang on, else the hand's own.

    Raises AmbiguousTipError where several links have the same right to it, UnsupportedJointError where none
    hangs there, UnknownLinkError for an unknown base.
    """
    hands.model.path(base, base)  # raises for an unknown base
    above = [joint.name for joint in hands.model.path(hands.model.root, base)]
    step = _onwards(hands, hands.at(base, above), above, first=True)
    if step is None:
        raise UnsupportedJointError(
            f"no arm hangs on {base!r}: what moves there is no more than a gripper's or a cart's; if it is, name a "
            "tip_link",
            element=base,
        )
    return _end(hands, base, above)


def _end(hands: Hands, link: str, above: Sequence[str], first: bool = True) -> FoundTip:
    """The tip of the arm that goes on at `link`. above: the joints to it; first: whether this is the base."""
    doubts: list[str] = []
    while True:
        hand = hands.at(link, above)
        step = _onwards(hands, hand, above, first)
        if step is None:
            found = _end_frame(hands, hand)
            return FoundTip(found.link, (*doubts, *found.doubts))
        if beside := [joint.child for joint in hand.arms if joint is not step and not hands.aside(joint)]:
            doubts.append(
                f"the arm is taken to go on at joint {step.name!r}, which bears the most joints; beside it hang "
                f"{listed(beside)}: if the arm goes on there, write tip_link:=... for its end"
            )
        above, link, first = [*above, step.name], step.child, False


def _onwards(hands: Hands, hand: Hand, above: Sequence[str], first: bool) -> Joint | None:
    """The joint by which the arm goes on; None where this is the hand."""
    arms = [joint for joint in hand.arms if not hands.aside(joint)] or list(hand.arms)
    if not arms:
        return next((joint for joint in hand.linkages if hands.has_tip(joint)), None)
    own = [hands.own(joint) for joint in arms]
    # A frame that is named as the tip is beyond the arm's last joint; what still moves is a gripper of any name.
    named = not first and any(hands.rank(link) is not None for link in hand.frames if link != hand.root)
    if named and not any(hands.has_tip(joint) for joint in arms):
        jaw = own == [1] and not hands.names.wrist(arms[0].name)
        if jaw or (len(arms) > 1 and len(set(own)) == 1 and own[0] <= MOST_OF_A_FINGER):
            return None
    if len(arms) == 1:
        return arms[0]
    most = max(own)
    if own.count(most) == 1 and most >= LEAST_OF_AN_ARM and sorted(own)[-2] < LEAST_OF_AN_ARM:
        return arms[own.index(most)]
    ends = [end for joint in arms for end in _ends(hands, joint, above)]
    raise AmbiguousTipError("tip_link", ends, "name one with tip_link")


def _ends(hands: Hands, joint: Joint, above: Sequence[str]) -> tuple[str, ...]:
    """The tips that the arm may have beyond one of its branches."""
    try:
        return (_end(hands, joint.child, [*above, joint.name], first=False).link,)
    except AmbiguousTipError as error:
        return error.candidates


def _end_frame(hands: Hands, hand: Hand) -> FoundTip:
    """The tip on the hand."""
    parts = _Parts(hands, hand)
    named = parts.named()
    if not all(parts.same_place(link, named[0]) for link in named):
        raise AmbiguousTipError("tip_link", named, f"they are fixed to {hand.root!r}; name one with tip_link")
    if named:
        return _at_named(parts, *sorted(named, key=len))
    ends = parts.without_twins(parts.ends())
    if len(ends) > 1:
        raise AmbiguousTipError(
            "tip_link", [*ends, hand.root], f"they are fixed to {hand.root!r}; name one with tip_link"
        )
    if ends:
        others = [link for link in parts.palms() if not parts.same_place(link, ends[0])]
        return FoundTip(ends[0], _no_frame(ends[0], "the one frame on the hand", others) if others else ())
    if parts.bearers():
        return _at_palm(parts)
    doubts = []
    if sensors := [link for link in hand.frames if link != hand.root and hands.names.sensor(link)]:
        doubts.append(
            f"the tip is {hand.root!r}, and not a sensor or a mark on it: write tip_link:=... if one of "
            f"{listed(sensors)} is to be aimed"
        )
    if hand.linkages:
        doubts.append(
            f"the tip is {hand.root!r}: {listed(joint.child for joint in hand.linkages)} beyond it can only follow "
            "other joints, and no chain can end there"
        )
    return FoundTip(hand.root, tuple(doubts))


def _at_named(parts: _Parts, tip: str, *turned: str) -> FoundTip:
    """A frame by its name; what hangs on it farther out is said. turned: others at the same place."""
    if turned:
        choice = " or ".join(f"tip_link:={link}" for link in turned)
        return FoundTip(
            tip, (f"the tip is {tip!r}; at the same place is another frame: write {choice} if it is meant",)
        )
    beyond = [link for link in parts.ends() if tip in parts.above(link) and not parts.same_place(link, tip)]
    if len(beyond) == 1 and not parts.hand.fingers:
        return FoundTip(
            beyond[0],
            (f"the tip is {beyond[0]!r}, the end of what is fixed to {tip!r}: write tip_link:={tip} if that is meant",),
        )
    if palms := [link for link in parts.palms() if parts.beyond(link, tip)]:
        return FoundTip(tip, _no_frame(tip, "by its name", palms))
    if beyond:
        return FoundTip(tip, (f"the tip is {tip!r}; beyond it are {listed(beyond)}: write tip_link:=... for one",))
    return FoundTip(tip)


def _at_palm(parts: _Parts) -> FoundTip:
    """The link that the fingers hang on, where no frame is."""
    palms = parts.palms()
    hand = parts.hand
    shared = [link for link in hand.frames if all(link in (palm, *parts.above(palm)) for palm in palms)]
    if len(palms) > 1 and shared[-1] in palms:
        loose = [joint.child for joint in hand.fingers if joint.mimic is None]
        raise AmbiguousTipError(
            "tip_link",
            dict.fromkeys([*loose, *palms]),
            f"no frame on {hand.root!r} is named as the tip, and joints hang on it in several places; name one with "
            "tip_link",
        )
    tip = palms[0] if len(palms) == 1 else shared[-1]
    # What the palm is fixed to may be the vendor's tip.
    others = parts.without_twins([tip, *parts.above(tip), *palms])[1:]
    return FoundTip(tip, _no_frame(tip, "which the fingers hang on", others))


def _no_frame(tip: str, why: str, others: Sequence[str]) -> tuple[str]:
    choice = f"write tip_link:={' or tip_link:='.join(others)}, or " if others else ""
    return (
        f"no frame tells where the gripper grips, and the tip is {tip!r}, {why}: if another place is meant, {choice}"
        "add a link that is fixed there, and name that",
    )


class _Parts:
    """The links of a hand, and what each is good for."""

    def __init__(self, hands: Hands, hand: Hand) -> None:
        self.hands, self.hand = hands, hand
        self._parent = {
            joint.child: joint.parent
            for joint in hands.model.joints.values()
            if joint.child in hand.frames and joint.child != hand.root
        }

    def above(self, link: str) -> list[str]:
        """The links of the hand that it is fixed to, the root last."""
        found = []
        while link in self._parent:
            link = self._parent[link]
            found.append(link)
        return found

    def same_place(self, a: str, b: str) -> bool:
        """Whether two links are at one place, whatever their orientation."""
        apart = self.hand.frames[a][:3, 3] - self.hand.frames[b][:3, 3]
        return float(np.linalg.norm(apart)) < SAME_PLACE

    def beyond(self, a: str, b: str) -> bool:
        """Whether link `a` is farther out than `b`: fixed to it, at another place, or farther from the hand's root."""
        far, near = (float(np.linalg.norm(self.hand.frames[link][:3, 3])) for link in (a, b))
        return (b in self.above(a) and not self.same_place(a, b)) or far > near + SAME_PLACE

    def without_twins(self, links: Iterable[str]) -> list[str]:
        """The first of the links of each frame."""
        found: list[str] = []
        for link in links:
            if not any(np.allclose(self.hand.frames[link], self.hand.frames[each], atol=SAME_PLACE) for each in found):
                found.append(link)
        return found

    def named(self) -> list[str]:
        """Links that are named as the tip: the outermost of the best name; a flange only of a hand without fingers."""
        names = self.hands.names
        rank = names.tip_rank if not self.hand.fingers else self.hands.rank
        ranks = {link: r for link in self.hand.frames if (r := rank(link)) is not None}
        inner = {above for link in ranks for above in self.above(link)}
        outer = {link: rank for link, rank in ranks.items() if link not in inner}
        return self.without_twins(link for link, rank in outer.items() if rank == min(outer.values()))

    def ends(self) -> list[str]:
        """Links that nothing hangs on, but for sensors and what is fixed to them, and for jaws."""
        bearing = {*self._parent.values(), *self.bearers()}
        names = self.hands.names
        return [
            link
            for link in self.hand.frames
            if link not in bearing
            and link != self.hand.root
            and not any(names.sensor(each) for each in (link, *self.above(link)[:-1]))
            and not names.finger_part(link)
        ]

    def bearers(self) -> list[str]:
        """The links that fingers hang on."""
        return list(dict.fromkeys(joint.parent for joint in self.hand.fingers))

    def palms(self) -> list[str]:
        """The links that fingers hang on, of those at one frame the first."""
        return self.without_twins(self.bearers())
