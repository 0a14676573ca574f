"""Fidelity `emulate`: PhysX's TGS step of one articulation on MuJoCo's mass matrix, bias and kinematics.

`PhysxStep` (emulator.py) replaces `mj_step`. The laws are pure functions of numbers and arrays, one law each:

| module | what it says |
|---|---|
| `joint_rows` | drive, effort bound, joint friction, limit, velocity limit |
| `contact_rows` | normal and friction impulses of one contact patch |
| `contact_points` | where a shape touches the ground |
| `anchors` | what friction remembers from step to step |
| `pair_order` | in which order PhysX solves several shapes of one link |
| `momentum` | what a floating base keeps |
| `sweep` | one TGS iteration: links depth first, each row once |
| `step` | one physics step: everything before, between and after the sweeps |

They are compiled with numba (extra `emulate`), or run as plain Python where it is missing.
"""
