"""The ROS 2 nodes: the only place where rclpy and messages are imported."""
