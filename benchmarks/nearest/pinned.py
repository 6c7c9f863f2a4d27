"""An arm in pinocchio: its forward kinematics and Jacobian, from the same URDF."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pinocchio

from benchmarks.nearest.arm import Arm, Array

LINK = "link "  # before the links' names


class Pinned:
    """A pinocchio model with all joints locked that are not the arm's. Not for several threads."""

    def __init__(self, arm: Arm) -> None:
        whole = pinocchio.buildModelFromXML(readable(arm))
        locked = [whole.getJointId(name) for name in whole.names[1:] if name not in arm.joints]
        self.model = pinocchio.buildReducedModel(whole, locked, pinocchio.neutral(whole))
        if tuple(self.model.names[1:]) != arm.joints:
            raise ValueError(f"{arm.name}: joints {list(self.model.names[1:])}, and not {list(arm.joints)}")
        self.data = self.model.createData()
        self.tip = self.model.getFrameId(LINK + arm.tip)
        self.zero = pinocchio.neutral(self.model)
        pinocchio.framesForwardKinematics(self.model, self.data, self.zero)
        self.base = self.data.oMf[self.model.getFrameId(LINK + arm.base)].copy()  # nothing of the arm moves it
        self.turn = np.kron(np.eye(2), self.base.rotation.T)  # (6, 6) from the root's frame to the base's

    def forward(self, q: Array) -> tuple[Array, Array]:
        """The tip in the base's frame: position (3,), rotation (3, 3)."""
        pinocchio.framesForwardKinematics(self.model, self.data, self._full(q))
        there = self.base.actInv(self.data.oMf[self.tip])
        return there.translation.copy(), there.rotation.copy()

    def derivative(self, q: Array) -> tuple[Array, Array, Array]:
        """As `forward`, and the tip's Jacobian (6, n) in the base's axes, the linear rows first."""
        along = pinocchio.LOCAL_WORLD_ALIGNED
        jacobian = pinocchio.computeFrameJacobian(self.model, self.data, self._full(q), self.tip, along)
        there = self.base.actInv(pinocchio.updateFramePlacement(self.model, self.data, self.tip))
        return there.translation.copy(), there.rotation.copy(), self.turn @ jacobian

    def _full(self, q: Array) -> Array:
        """An endless joint is two numbers to pinocchio."""
        return pinocchio.integrate(self.model, self.zero, np.asarray(q, dtype=float))


def readable(arm: Arm) -> str:
    """The URDF as pinocchio takes it: no link has the name of a joint, no effort (which means nothing here) is -1."""
    root = ElementTree.parse(arm.urdf).getroot()
    for element in root.iter():
        for key in {"link": ("name",), "parent": ("link",), "child": ("link",)}.get(element.tag, ()):
            element.set(key, LINK + element.get(key, ""))
        if element.tag == "limit":
            element.set("effort", "1")
    return ElementTree.tostring(root, encoding="unicode")
