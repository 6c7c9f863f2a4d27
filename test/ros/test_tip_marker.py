"""The tip, dragged as RViz does it. Needs interactive_markers: skipped where there is none, as on PyPI."""

from __future__ import annotations

import numpy as np
import pytest
from std_srvs.srv import SetBool
from visualization_msgs.msg import InteractiveMarkerFeedback, InteractiveMarkerUpdate
from visualization_msgs.srv import GetInteractiveMarkers

from ik_solver_ros.kinematics.load import load_chain
from ik_solver_ros.ros.common import convert

from .conftest import URDF, values

pytest.importorskip("interactive_markers")

CHAIN = load_chain(URDF / "so101.urdf")
FEEDBACK = InteractiveMarkerFeedback


@pytest.fixture(scope="module")
def rviz(stage):
    """What RViz does: asks for the marker, hears of its updates, and says what the mouse does."""
    stage.start_sim()
    stage.start_ik()
    peer = stage.peer
    peer.updates = []
    peer.create_subscription(InteractiveMarkerUpdate, "ik_node/tip/update", peer.updates.append, 100)
    peer.feedback = peer.create_publisher(FEEDBACK, "ik_node/tip/feedback", 10)
    client = peer.create_client(GetInteractiveMarkers, "ik_node/tip/get_interactive_markers")
    assert client.wait_for_service(10.0)
    future = client.call_async(GetInteractiveMarkers.Request())
    peer.until(future.done)
    (peer.marker,) = future.result().markers
    peer.until(lambda: peer.feedback.get_subscription_count())
    return peer


def mouse(peer, event, pose=None, entry=0):
    message = FEEDBACK(client_id="rviz", marker_name=peer.marker.name, event_type=event, menu_entry_id=entry)
    message.header.frame_id = peer.marker.header.frame_id
    if pose is not None:
        message.pose = pose
    peer.feedback.publish(message)
    peer.spin(0.05)


def shown(peer):
    """Where the marker was put last."""
    poses = [pose.pose for update in peer.updates for pose in update.poses if pose.name == peer.marker.name]
    return np.array(convert.position_of(poses[-1])) if poses else None


def test_it_is_at_the_tip_and_has_six_handles_and_a_menu(rviz):
    assert len(rviz.marker.controls) == 7 and rviz.marker.header.frame_id == "base_link"
    assert {"goal_mode", "elbow", "hold", "home", "[x] pose", "[ ] approach"} <= {
        e.title for e in rviz.marker.menu_entries
    }
    tip, _ = CHAIN.forward(np.zeros(5))
    rviz.until(lambda: shown(rviz) is not None and np.linalg.norm(shown(rviz) - tip) < 2e-3)


def test_it_is_a_goal_when_it_is_let_go_of_and_snaps_to_what_the_arm_can_do(rviz):
    before = len(rviz.answers)
    pose = convert.pose_msg([0.9, 0.0, 0.1], [0.0, 1.0, 0.0, 0.0], "", convert.time_msg(0.0)).pose  # out of reach
    mouse(rviz, FEEDBACK.MOUSE_DOWN)
    for _ in range(3):
        mouse(rviz, FEEDBACK.POSE_UPDATE, pose)
    rviz.spin(0.3)
    assert len(rviz.answers) == before
    mouse(rviz, FEEDBACK.MOUSE_UP, pose)
    rviz.until(lambda: len(rviz.answers) > before)
    assert values(rviz.answers[-1])["outcome"] == "NEAREST_POSITION"
    end = np.array(rviz.trajectories[-1].points[-1].positions)
    rviz.until(lambda: np.linalg.norm(shown(rviz) - CHAIN.forward(end)[0]) < 1e-3)


def test_the_menu(rviz):
    def entry(title):
        marker = (
            [m for u in rviz.updates for m in u.markers][-1] if any(u.markers for u in rviz.updates) else rviz.marker
        )
        return next(e.id for e in marker.menu_entries if e.title.endswith(title))

    mouse(rviz, FEEDBACK.MENU_SELECT, entry=entry("position"))
    rviz.until(
        lambda: any("[x] position" in {e.title for e in m.menu_entries} for u in rviz.updates for m in u.markers)
    )
    before = len(rviz.answers)
    mouse(rviz, FEEDBACK.MENU_SELECT, entry=entry("home"))
    rviz.until(lambda: len(rviz.answers) > before)
    assert values(rviz.answers[-1])["outcome"] == "GOING_HOME"
    stops = []

    def stopped(request, response):
        stops.append(request.data)
        response.success = True
        return response

    rviz.create_service(SetBool, "servo_node/emergency_stop", stopped)
    rviz.spin(1.0)
    mouse(rviz, FEEDBACK.MENU_SELECT, entry=entry("emergency stop"))
    rviz.until(lambda: stops and values(rviz.answers[-1])["outcome"] == "HOLDING")
    assert stops == [True]
