"""ROS 2: the nodes and their clients, the only place where rclpy and messages are imported."""
