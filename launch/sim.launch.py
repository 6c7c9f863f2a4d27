"""ik_node and a simulated arm, with robot_state_publisher and RViz where they are installed.

ros2 launch ik_solver_ros sim.launch.py use_rviz:=true description_file:=/path/to/arm.urdf
"""

from ik_solver_ros.nodes.launching import ARM, SWITCH, Argument, described, own

ARGUMENTS = (*ARM, Argument("gui", "false", "show PyBullet's window", SWITCH))


def generate_launch_description():
    """The arguments and the nodes."""
    return described(
        ARGUMENTS,
        lambda given: [
            own("ik_node", "sim.yaml", given),
            own("sim_node", "sim.yaml", given, gui=given["gui"] == "true"),
        ],
    )
