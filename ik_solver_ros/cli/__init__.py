"""The commands of python -m ik_solver_ros."""
