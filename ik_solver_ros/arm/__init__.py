"""Back-ends: whatever has joints that can be read and written, simulated or real, behind one protocol."""
