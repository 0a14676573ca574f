"""Judging two runs: rows with a limit each, and what they say together."""
