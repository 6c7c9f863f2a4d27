"""ik_node: goals in, joint trajectories out."""
