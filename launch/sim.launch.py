"""ik_node and a simulated arm, with robot_state_publisher and RViz where they are installed.

ros2 launch ik_solver_ros sim.launch.py use_rviz:=true description_file:=/path/to/arm.urdf
"""

from ik_solver_ros.ros.launching import ARM, SWITCH, Argument, described, frame_prefix, own, rviz, state_publisher

ARGUMENTS = (
    *ARM,
    Argument("backend", "auto", "what moves: PyBullet, or a kinematic mock", ("auto", "pybullet", "mock")),
    Argument("gui", "false", "show PyBullet's window", SWITCH),
    Argument("speed_scale", "1.0", "share of the velocity limits to use", kind=float),
)


def generate_launch_description():
    """The arguments and the nodes."""
    return described(__file__, ARGUMENTS, nodes)


def nodes(given, robot):
    """ik_node, sim_node, and what shows them."""
    return [
        own("ik_node", "sim.yaml", given, speed_scale=float(given["speed_scale"]), frame_prefix=frame_prefix(given)),
        own(
            "sim_node",
            "sim.yaml",
            given,
            backend=given["backend"],
            gui=given["gui"] == "true",
            frame_prefix=frame_prefix(given),
        ),
        *state_publisher(given, robot),
        *rviz(given, robot.chain.base_link),
    ]
