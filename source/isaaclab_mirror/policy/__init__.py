"""From an observation to an action: policy files of every library that Isaac Lab trains with, batched and stateful.

`loading.load_policy` reads any of them; nothing in a file is run unless the file is TorchScript, which is code.
"""
