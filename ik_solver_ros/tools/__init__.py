"""What people run beside the nodes: doctor, compare, plot, calibrate, demo."""
