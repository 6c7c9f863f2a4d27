"""Records that others have published, and ours beside them: python -m benchmarks.records [tracik xarm ssik toolbox].

Each file follows the protocol of one project, cites it, and prints one table: theirs as published, theirs as measured
in the same run where it can be installed, and ours. Every answer is judged by pinocchio's forward kinematics.
"""
