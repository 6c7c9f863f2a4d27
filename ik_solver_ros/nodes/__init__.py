"""Where the nodes were until 0.1; see ik_solver_ros.ros."""
