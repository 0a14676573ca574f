"""Fitting what is free in MuJoCo to what PhysX does."""
