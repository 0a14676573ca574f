"""`params/env.yaml` of Isaac Lab 1.x to 3.x: what every training run writes, as an unresolved contract."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from isaaclab_mirror.contract.contract import Contract, SourceInfo, SourceKind
from isaaclab_mirror.contract.loaders.isaaclab_robot import read_actuators, read_robot, robot_key
from isaaclab_mirror.contract.loaders.isaaclab_terms import read_actions, read_observations, read_terms
from isaaclab_mirror.contract.loaders.isaaclab_world import read_scene, read_sim
from isaaclab_mirror.contract.node import Node
from isaaclab_mirror.contract.safe_yaml import load_yaml
from isaaclab_mirror.diagnostics import Diagnostics

SECTIONS = ("sim", "scene", "decimation", "observations", "actions")
"""What no manager-based env.yaml is without."""
KNOWN = frozenset(SECTIONS) | {
    "class_type",
    "ui_window_class_type",
    "seed",
    "recorders",
    "events",
    "randomization",
    "viewer",
    "rewards",
    "terminations",
    "curriculum",
    "commands",
    "is_finite_horizon",
    "compute_final_obs",
    "episode_length_s",
    "rerender_on_reset",
    "num_rerenders_on_reset",
    "wait_for_textures",
    "xr",
    "log_dir",
    "teleop_devices",
    "isaac_teleop",
    "export_io_descriptors",
    "video_recorders",
}
"""Fields of the base class; the others are the task's own, which its terms may ask for."""


def is_env(data: Mapping[str, Any]) -> bool:
    """Whether a YAML document is an env.yaml."""
    return "decimation" in data and isinstance(data.get("sim"), Mapping) and isinstance(data.get("scene"), Mapping)


def load_env(file: Path, data: Mapping[str, Any] | None = None) -> Contract:
    """The contract of an env.yaml without its policy and agent.yaml; patterns unresolved."""
    found = Diagnostics()
    top = Node(load_yaml(file) if data is None else data, file)
    for key in ("sim", "scene"):
        top.need(key)
    if "observations" not in top or "actions" not in top:
        missing = "observations" if "observations" not in top else "actions"
        raise top.error(
            missing,
            "the key is missing: there is no manager-based task in the file",
            "direct tasks compute observations in code: write a contract.toml for them",
        )
    version = version_of(top)
    order = quat_order(top, version, found)
    key = robot_key(top)
    sim = read_sim(top, version, found)
    robot = read_robot(top.need("scene").need(key), key, order, version, found)
    actions = read_actions(top.child("actions"))
    return Contract(
        name=file.parent.parent.name if file.parent.name == "params" else file.parent.name,
        source=SourceInfo(kind=SourceKind.ISAACLAB_ENV, files=(file,), framework="isaaclab", version=version),
        sim=sim,
        robot=robot,
        quat_order=order,
        actuators=read_actuators(top.need("scene").need(key), found),
        observations=read_observations(top.child("observations")),
        actions=actions,
        commands=read_terms(top.child("commands"), "class_type"),
        terminations=read_terms(top.child("terminations")),
        rewards=read_terms(top.child("rewards")),
        events=read_terms(top.child("events" if "events" in top else "randomization")),
        curriculum=read_terms(top.child("curriculum")),
        scene=read_scene(top.need("scene"), key, order),
        extras={key: value for key, value in top.data.items() if key not in KNOWN},
        provenance=_provenance(top, key),
        diagnostics=tuple(found),
    )


def version_of(top: Node) -> str:
    """`1.x`, `2.x` or `3.x`, by what only that generation writes."""
    sim, scene = top.child("sim"), top.child("scene")
    modules = " ".join(_module_names(scene))
    if "omni.isaac.lab" in modules:
        return "1.x"
    if "physics" in sim.data or "use_newton_actuators" in sim.data or "class_type" in scene.data:
        return "3.x"
    if any("joint_ordering" in entry.data for _, entry in scene.children()):
        return "3.x"
    if "physx" in sim.data or "isaaclab." in modules:
        return "2.x"
    return "unknown"


def quat_order(top: Node, version: str, found: Diagnostics) -> str:
    """wxyz until 2.x, xyzw from 3.0. Of an unknown generation the identity rotations in the file decide."""
    if version != "unknown":
        return "xyzw" if version == "3.x" else "wxyz"
    rotations = [entry.child("init_state").raw("rot") for _, entry in top.child("scene").children()]
    order = "xyzw" if (0.0, 0.0, 0.0, 1.0) in rotations and (1.0, 0.0, 0.0, 0.0) not in rotations else "wxyz"
    found.warn(
        "E112",
        top.where(),
        f"nothing in the file tells the generation of Isaac Lab: quaternions are taken as {order}",
        "state `version` and `quat_order` in a contract.toml if that is wrong",
    )
    return order


def _module_names(scene: Node) -> list[str]:
    names = [entry.name_of("class_type") for _, entry in scene.children()]
    return names + [entry.child("spawn").name_of("func") for _, entry in scene.children() if "spawn" in entry]


def _provenance(top: Node, robot: str) -> dict[str, str]:
    name, at = top.file.name, f"scene.{robot}"
    stated = {
        "sim.dt": "sim.dt",
        "sim.decimation": "decimation",
        "sim.gravity": "sim.gravity",
        "sim.episode_length_s": "episode_length_s",
        "sim.material": "sim.physics_material",
        "robot.pos": f"{at}.init_state.pos",
        "robot.quat_wxyz": f"{at}.init_state.rot",
        "robot.default_joint_pos": f"{at}.init_state.joint_pos",
        "robot.reference": f"{at}.spawn",
        "observations": "observations",
        "actions": "actions",
        "actuators": f"{at}.actuators",
    }
    return {field: f"{name}:{key}" for field, key in stated.items()}
