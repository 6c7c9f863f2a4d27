"""The algorithms of the literature, one small file each, to compare with and to learn from."""
