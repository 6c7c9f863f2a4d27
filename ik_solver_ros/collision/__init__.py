"""The guard that refuses motions through the floor or through the arm itself."""
