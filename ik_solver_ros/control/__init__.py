"""Following a trajectory: what the joints shall do now, whether they do it, and the cycle that leads servos."""
