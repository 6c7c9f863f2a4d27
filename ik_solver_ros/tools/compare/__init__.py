"""The comparison of the solvers: same goals, same judge."""
