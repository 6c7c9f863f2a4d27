"""The demonstration: goals that an arm can reach, sent over ROS 2, judged by what is measured."""
