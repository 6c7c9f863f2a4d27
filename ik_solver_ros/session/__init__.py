"""An arm's session without ROS: goals, the measured joints and the time in; replies and motions out."""
