"""From a URDF to a Chain, and the compiled kinematics of chains."""
