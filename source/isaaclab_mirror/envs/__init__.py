"""A policy's world in either engine: simulator, adapter and contract in the order of Isaac Lab's own step.

`mirror.Mirror` is the loop itself, `episodes` runs policies in it, `mirror_vector_env` and `mirror_env` give it the
interface of gymnasium, and `opening.open_mirror` makes one from a run folder.
"""
