"""What a policy expects: rates, orders, gains, observations and actions, from whatever its author left.

`load_contract` reads a run folder or a config; `Contract` is the one form everything else works on.
"""
