"""Arms, simulated or real, behind one protocol, and the follower that leads them along trajectories."""
