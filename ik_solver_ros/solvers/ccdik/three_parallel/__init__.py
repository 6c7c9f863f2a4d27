"""Arms with a waist and three parallel hinges: the hinges are one joint, moved to its best in closed form."""
