"""Wizards in a terminal that find out which servo moves which joint, which way, from where and how far."""
