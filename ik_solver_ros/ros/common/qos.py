"""QoS profiles that several nodes share."""

from __future__ import annotations

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

STATUS_QOS = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""Of `~/status`: kept for readers whom discovery has not matched yet, for whom an answer would otherwise be lost."""
