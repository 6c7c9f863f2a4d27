"""A URDF as PyBullet can load it: its known traps removed before it sees the file.

PyBullet gives a link without <inertial> a mass of 1 kg, rejects the whole robot for one missing mesh, fails on very
long lines, and does not resolve package://.
"""

from __future__ import annotations

from xml.etree import ElementTree

from ik_solver_ros.kinematics.geometry import mesh_path
from ik_solver_ros.kinematics.model import RobotModel

TINY_MASS, TINY_INERTIA = "1e-4", "1e-9"


def for_bullet(model: RobotModel) -> tuple[str, list[str]]:
    """The URDF's text for PyBullet, one element a line, and a sentence for each thing that was changed or left out."""
    robot = ElementTree.fromstring(model.text.encode(), parser=ElementTree.XMLParser(encoding="utf-8"))
    notes: list[str] = []
    for element in list(robot):
        if element.tag not in ("link", "joint", "material"):
            robot.remove(element)
    for joint in robot.findall("joint"):
        known = model.joints[joint.get("name", "")]
        if known.fault is not None and known.type == "fixed":
            joint.set("type", "fixed")
    massless = []
    for link in robot.findall("link"):
        name = link.get("name", "")
        if link.find("inertial") is None and name != model.root:
            massless.append(name)
            inertial = ElementTree.SubElement(link, "inertial")
            ElementTree.SubElement(inertial, "mass", {"value": TINY_MASS})
            moments = {"ixx": TINY_INERTIA, "iyy": TINY_INERTIA, "izz": TINY_INERTIA}
            ElementTree.SubElement(inertial, "inertia", moments | {"ixy": "0", "ixz": "0", "iyz": "0"})
        for tag in ("visual", "collision"):
            for shape in link.findall(tag):
                mesh = shape.find("geometry/mesh")
                if mesh is None:
                    continue
                path = mesh_path(mesh.get("filename", ""), model.directory)
                if path is None:
                    link.remove(shape)
                    notes.append(f"link {name!r}: the {tag} mesh {mesh.get('filename')!r} is not to be found; left out")
                else:
                    mesh.set("filename", str(path))
    if massless:
        notes.append(f"links without <inertial> get a mass of {TINY_MASS} kg: {', '.join(massless)}")
    ElementTree.indent(robot)
    return ElementTree.tostring(robot, encoding="unicode"), notes
