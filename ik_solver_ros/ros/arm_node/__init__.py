"""sim_node and servo_node: joint trajectories in, moving joints out."""
