"""Wizards in a terminal that calibrate an arm: which servo moves which joint, which way, from where, how far."""
