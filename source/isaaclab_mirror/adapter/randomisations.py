"""Events that change the robot or the world instead of its state: declared, so that they can be told and asked for.

A replay runs the robot as the contract describes it. `Adapter.randomisations` lists what the task would have drawn.
"""

from __future__ import annotations

from typing import Any

from isaaclab_mirror.adapter.registry import event_term

NAMES = (
    "randomize_rigid_body_scale",
    "randomize_rigid_body_material",
    "randomize_rigid_body_mass",
    "randomize_rigid_body_inertia",
    "randomize_rigid_body_com",
    "randomize_rigid_body_collider_offsets",
    "randomize_physics_scene_gravity",
    "randomize_actuator_gains",
    "randomize_joint_parameters",
    "randomize_fixed_tendon_parameters",
    "randomize_visual_texture_material",
    "randomize_visual_color",
    "apply_external_force_torque",
)


def declared(*_: Any, **__: Any) -> None:
    """Nothing happens by itself."""


for _name in NAMES:
    event_term(_name, needs=("randomisation",))(declared)
