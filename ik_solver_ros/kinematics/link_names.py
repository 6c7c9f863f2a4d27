"""What the names of links and joints tell: fingers, tips, sensors, in the words that URDFs have for them."""

from __future__ import annotations

import re
from collections.abc import Iterable

FINGER = re.compile("finger|jaw|claw|gripper|grip|pincer|knuckle|thumb")
# Parts of a gripper, as far as a fixed frame may be one; "gripper" alone may as well be the tip.
FINGER_PART = re.compile("finger|jaw|claw|pincer|knuckle|thumb|(^|_)(static|active|pad)")
# Names of frames that are meant as the tip, best first; tool0 is ROS-Industrial's, tcp the rest of the world's.
TIPS = [
    re.compile(pattern)
    for pattern in (
        "tcp",
        "tool",
        "(^|_)(ee|eef|end)(_|$)|effector",
        "grasp|gripper_frame|(^|_)tip(_|$)|(^|_)(grip|gripper|hand)_(cent(er|re)|point|site)(_|$)",
        "flange",
    )
]
EFFECTOR = 2  # the rank of the last pattern that has nothing to do with fingers
FLANGE = len(TIPS) - 1  # the rank of what a tool is bolted to: a tip where there is no tool
SENSOR = re.compile(
    "camera|optical|kinect|realsense|webcam|lidar|sensor|aruco|apriltag|antenna|display|accelero|sonar|"
    r"(^|_)(cam|imu|gyro|gps|leds?|light|laser|scan|range|marker|tag|ft|screen|mic|microphone|depth|infra\d?|tof)(_|$)"
)
# What turns beside an arm, on the same body, and is none.
ASIDE = re.compile("head|neck|wheel|caster|steer|" + SENSOR.pattern)
WRIST = re.compile("wrist|(^|_)(roll|pitch|yaw|rotate)(_|$)")


class Names:
    """Looks at names without what all moving links have in common: a namespace says nothing of one of them."""

    def __init__(self, moving_links: Iterable[str]) -> None:
        words = [set(_plain(link).split("_")) for link in moving_links]
        self._common = set.intersection(*words) if len(words) > 2 else set()

    def plain(self, name: str) -> str:
        """Words in small letters with underscores between them, whatever the name has there (/, :, -, aB)."""
        return "_".join(word for word in _plain(name).split("_") if word not in self._common)

    def finger(self, *names: str) -> bool:
        """Whether one of the names is that of a gripper or of a part of it."""
        return any(FINGER.search(self.plain(name)) for name in names)

    def finger_part(self, link: str) -> bool:
        """Whether a link is a jaw's by its name, and not a gripper's as a whole."""
        return bool(FINGER_PART.search(self.plain(link)))

    def sensor(self, link: str) -> bool:
        """Whether a link is a camera, a marker or the like."""
        return bool(SENSOR.search(self.plain(link)))

    def aside(self, *names: str) -> bool:
        """Whether one of the names is that of a head, a wheel or a sensor."""
        return any(ASIDE.search(self.plain(name)) for name in names)

    def wrist(self, joint: str) -> bool:
        """Whether a joint is one of the wrist's by its name."""
        return bool(WRIST.search(self.plain(joint)))

    def tip_rank(self, link: str) -> int | None:
        """How well the name of a link is that of a tip: an index of TIPS, the best is 0; None where it is not."""
        name = self.plain(link)
        if SENSOR.search(name):
            return None
        return next((rank for rank, pattern in enumerate(TIPS) if pattern.search(name)), None)


def _plain(name: str) -> str:
    spaced = re.sub("([a-z0-9])([A-Z])", r"\1_\2", name)
    return re.sub("[^a-z0-9]+", "_", spaced.lower()).strip("_")
