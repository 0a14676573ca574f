"""A small env.yaml and a small robot, to change one thing at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

ROBOT = """\
<mujoco>
 <compiler angle="radian"/>
 <worldbody>
  <body name="base" pos="0 0 0.5">
   <freejoint/>
   <geom name="trunk" type="box" size="0.2 0.1 0.05" mass="5"/>
   <body name="left_thigh" pos="0 0.1 0">
    <joint name="left_hip" axis="0 1 0" range="-1 1" armature="0.02" damping="2" frictionloss="0.3" actuatorfrcrange="-30 30"/>
    <geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.02" mass="1"/>
    <body name="left_shin" pos="0 0 -0.2">
     <joint name="left_knee" axis="0 1 0" range="-2 2" armature="0.02"/>
     <geom type="sphere" pos="0 0 -0.2" size="0.02" mass="0.5"/>
    </body>
   </body>
   <body name="right_thigh" pos="0 -0.1 0">
    <joint name="right_hip" axis="0 1 0" range="-1 1" armature="0.02"/>
    <geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.02" mass="1"/>
    <body name="right_shin" pos="0 0 -0.2">
     <joint name="right_knee" axis="0 1 0" range="-2 2" armature="0.02"/>
     <geom type="sphere" pos="0 0 -0.2" size="0.02" mass="0.5"/>
    </body>
   </body>
  </body>
 </worldbody>
</mujoco>
"""
JOINTS = ("left_hip", "right_hip", "left_knee", "right_knee")
"""Breadth first."""


def env(**changes: Any) -> dict[str, Any]:
    """An env.yaml of Isaac Lab 2; `changes` replace values at dotted keys (`__` for a dot), `...` deletes."""
    document: dict[str, Any] = {
        "sim": {
            "dt": 0.005,
            "gravity": [0.0, 0.0, -9.81],
            "physics_material": {"static_friction": 1.0, "dynamic_friction": 1.0, "friction_combine_mode": "multiply"},
            "physx": {"solver_type": 1},
        },
        "decimation": 4,
        "episode_length_s": 20.0,
        "scene": {
            "num_envs": 16,
            "robot": {
                "class_type": "isaaclab.assets.articulation.articulation:Articulation",
                "prim_path": "/World/envs/env_.*/Robot",
                "spawn": {"usd_path": "robot.usd", "articulation_props": {"enabled_self_collisions": False}},
                "init_state": {
                    "pos": [0.0, 0.0, 0.45],
                    "rot": [1.0, 0.0, 0.0, 0.0],
                    "joint_pos": {".*_hip": 0.1, ".*_knee": -0.3},
                    "joint_vel": {".*": 0.0},
                },
                "soft_joint_pos_limit_factor": 0.9,
                "actuators": {"legs": group()},
            },
            "terrain": {
                "class_type": "isaaclab.terrains.terrain_importer:TerrainImporter",
                "terrain_type": "plane",
                "prim_path": "/World/ground",
            },
        },
        "observations": {
            "policy": {
                "concatenate_terms": True,
                "enable_corruption": True,
                "joint_pos": {"func": "isaaclab.envs.mdp.observations:joint_pos_rel", "params": {}},
                "actions": {"func": "isaaclab.envs.mdp.observations:last_action", "params": {}},
            }
        },
        "actions": {"joint_pos": action()},
        "terminations": {"time_out": {"func": "isaaclab.envs.mdp.terminations:time_out", "time_out": True}},
    }
    for key, value in changes.items():
        put(document, key.split("__"), value)
    return document


def group(**changes: Any) -> dict[str, Any]:
    """An actuator group of Isaac Lab 2."""
    return {
        "class_type": "isaaclab.actuators.actuator_pd:ImplicitActuator",
        "joint_names_expr": [".*"],
        "effort_limit": None,
        "velocity_limit": None,
        "effort_limit_sim": None,
        "velocity_limit_sim": None,
        "stiffness": 20.0,
        "damping": 0.5,
        "armature": None,
        "friction": None,
        **changes,
    }


def action(**changes: Any) -> dict[str, Any]:
    """A joint position action."""
    return {
        "class_type": "isaaclab.envs.mdp.actions.joint_actions:JointPositionAction",
        "asset_name": "robot",
        "joint_names": [".*"],
        "scale": 0.5,
        "offset": 0.0,
        "clip": None,
        "preserve_order": False,
        "use_default_offset": True,
        **changes,
    }


def put(document: Any, path: list[str], value: Any) -> None:
    """Replace or (`...`) delete the value at a path."""
    for key in path[:-1]:
        document = document.setdefault(key, {})
    if value is ...:
        del document[path[-1]]
    else:
        document[path[-1]] = value


def write_run(folder: Path, document: Any = None, robot: str = ROBOT) -> Path:
    """A folder with env.yaml and model.xml; returns the env.yaml."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.xml").write_text(robot)
    file = folder / "env.yaml"
    file.write_text(document if isinstance(document, str) else yaml.safe_dump(document or env(), sort_keys=False))
    return file
