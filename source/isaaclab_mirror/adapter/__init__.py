"""From State to observation, from action to targets and efforts: Isaac Lab's managers, batched on numpy.

`adapter.Adapter` is the whole of it for one contract; the terms stand in modules named after Isaac Lab's managers and
are found by the names that `env.yaml` gives them (`registry`). `docs/adapter.md` shows how to add one.
"""
