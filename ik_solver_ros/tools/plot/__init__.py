"""Runs on record, and pictures of them."""
