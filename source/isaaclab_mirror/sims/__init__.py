"""Engines: the only room that imports ovphysx."""
