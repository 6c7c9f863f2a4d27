"""Hand: a rigid body of a robot, and what hangs on it: fingers, or more of the arm."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.kinematics.joint import Joint
from ik_solver_ros.kinematics.link_names import EFFECTOR, FLANGE, Names
from ik_solver_ros.kinematics.model import RobotModel

ROLL_WITHIN = np.radians(30.0)  # a hinge this near to the line to it turns what it bears about itself


@dataclass(frozen=True)
class Hand:
    """A body, links that fixed joints make one, and the joints by which others hang on it."""

    root: str  # the topmost of its links
    frames: dict[str, Array]  # (4, 4) of each link in the root's frame, each link after the one above it
    fingers: tuple[Joint, ...]  # the first joint of each
    arms: tuple[Joint, ...]  # the first joint of whatever else can be moved
    linkages: tuple[Joint, ...]  # what only follows joints of the arm

    def place(self, joint: Joint) -> Array:
        """The frame (4, 4) of a joint that hangs on it, in the root's."""
        return np.asarray(self.frames[joint.parent] @ joint.transform(0.0))


class Hands:
    """Tells hands from arms, on one robot."""

    def __init__(self, model: RobotModel) -> None:
        self.model = model
        self._below: dict[str, list[Joint]] = {link: [] for link in model.links}
        for joint in model.joints.values():
            self._below[joint.parent].append(joint)
        self.names = Names(joint.child for joint in model.joints.values() if joint.meant_to_move)

    def at(self, link: str, above: Collection[str]) -> Hand:
        """The body from `link` down. above: the names of the moving joints that lead to it."""
        frames = {link: np.eye(4)}
        hanging = []
        for part in (found := [link]):
            for joint in self._below[part]:
                if joint.meant_to_move:
                    hanging.append(joint)
                else:
                    frames[joint.child] = frames[part] @ joint.transform(0.0)
                    found.append(joint.child)
        bare = Hand(link, frames, (), (), ())
        fingers: list[Joint] = []
        arms: list[Joint] = []
        linkages: list[Joint] = []
        for joint in hanging:
            if self.follows(joint, above):
                (arms if self.own(joint) else linkages).append(joint)
            elif not self.own(joint) or self._is_finger(bare, joint, alone=len(hanging) == 1):
                fingers.append(joint)
            else:
                arms.append(joint)
        straight = [joint for joint in arms if not self.aside(joint)]
        if len(arms) > 1 and len(straight) != 1 and all(self.own(joint) == 1 for joint in arms):
            fingers, arms = fingers + arms, []  # bare ones, side by side
        return Hand(link, frames, tuple(fingers), tuple(arms), tuple(linkages))

    def branch(self, joint: Joint) -> list[Joint]:
        """`joint` and all joints below it."""
        found = [joint]
        for above in found:
            found.extend(self._below[above.child])
        return found

    def own(self, joint: Joint) -> int:
        """How many joints at or below `joint` can be moved on their own: fixed and mimic joints cannot."""
        return sum(each.meant_to_move and each.mimic is None for each in self.branch(joint))

    def follows(self, joint: Joint, above: Collection[str]) -> bool:
        """Whether anything at or below `joint` follows a joint above it: a linkage of the arm, no gripper."""
        return any(each.mimic is not None and each.mimic.joint in above for each in self.branch(joint))

    def aside(self, joint: Joint) -> bool:
        """Whether a branch is a head, a wheel or a sensor by its name."""
        return self.names.aside(joint.name, joint.child)

    def has_tip(self, joint: Joint) -> bool:
        """Whether a frame at or below `joint` has the name of a tip, other than a finger's."""
        return any(self._is_tip(each.child) for each in self.branch(joint))

    def _is_tip(self, link: str) -> bool:
        rank = self.rank(link)
        if rank is None or self.names.finger_part(link):
            return False
        return rank <= EFFECTOR or not self.names.finger(link)  # "gripper_tip" may be a jaw's, "ee_gripper" is none

    def rank(self, link: str) -> int | None:
        """`Names.tip_rank`, flanges left out: they say where a tool begins, not where it ends."""
        rank = self.names.tip_rank(link)
        return None if rank == FLANGE else rank

    def _is_finger(self, hand: Hand, joint: Joint, alone: bool) -> bool:
        """Whether the branch is one driven jaw, or a finger of several joints that are all named so."""
        moving = [each for each in self.branch(joint) if each.meant_to_move]
        followed = {each.mimic.joint for each in self.model.joints.values() if each.mimic is not None}
        coupled = any(each.mimic is not None or each.name in followed for each in moving)
        if self.has_tip(joint):
            return False
        if not coupled and (self.names.wrist(joint.name) or (alone and _rolls(hand, joint))):
            return False  # it turns a gripper without moving jaws
        if self.own(joint) > 1:
            return all(self.names.finger_part(each.child) for each in moving)
        return coupled or any(self.names.finger(each.name, each.child) for each in moving)


def _rolls(hand: Hand, joint: Joint) -> bool:
    """Whether a hinge lies on the line from the body's own joint to it."""
    frame = hand.place(joint)
    length = float(np.linalg.norm(frame[:3, 3]))
    along = abs(float(frame[:3, 3] @ frame[:3, :3] @ joint.axis))
    return joint.type in ("revolute", "continuous") and length > 0.0 and along > length * np.cos(ROLL_WITHIN)
