"""RViz alone, with our displays and tools: to look at an arm that runs already, perhaps on another computer.

ros2 launch ik_solver_ros view.launch.py base_link:=base
"""

from ik_solver_ros.ros.launching import EVERY, Argument, described, rviz

ARGUMENTS = (Argument("base_link", "base_link", "frame that RViz shows everything in"), *EVERY)


def generate_launch_description():
    """The arguments and RViz."""
    return described(__file__, ARGUMENTS, lambda given, _: rviz(given, given["base_link"]))
