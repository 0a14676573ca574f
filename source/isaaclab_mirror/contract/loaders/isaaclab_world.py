"""How an env.yaml says the world: simulation, engine, terrain, surface materials, objects and sensors."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, cast

from isaaclab_mirror.contract.contract import (
    EntityKind,
    MaterialSpec,
    SceneEntity,
    SimSpec,
    TerrainSpec,
    bare_name,
)
from isaaclab_mirror.contract.node import Node
from isaaclab_mirror.diagnostics import Diagnostics

COMBINES = ("average", "min", "multiply", "max")
TERRAINS = {"plane": "plane", "generator": "generator", "usd": "usd"}
ENGINES = ("isaacsim_physx", "physx", "ovphysx", "newton_mjwarp", "newton")
"""Keys below `sim.physics` where a config holds one engine per preset, the one that counts first."""
KINDS = {
    "Articulation": EntityKind.ARTICULATION,
    "Multirotor": EntityKind.ARTICULATION,
    "RigidObject": EntityKind.RIGID_OBJECT,
    "RigidObjectCollection": EntityKind.RIGID_OBJECT_COLLECTION,
    "DeformableObject": EntityKind.DEFORMABLE,
    "CableObject": EntityKind.DEFORMABLE,
    "MPMObject": EntityKind.DEFORMABLE,
    "ContactSensor": EntityKind.CONTACT_SENSOR,
    "RayCaster": EntityKind.RAY_CASTER,
    "RayCasterCamera": EntityKind.CAMERA,
    "MultiMeshRayCaster": EntityKind.RAY_CASTER,
    "FrameTransformer": EntityKind.FRAME_TRANSFORMER,
    "Imu": EntityKind.IMU,
    "IMU": EntityKind.IMU,
    "Pva": EntityKind.IMU,
    "Camera": EntityKind.CAMERA,
    "TiledCamera": EntityKind.CAMERA,
    "TerrainImporter": EntityKind.TERRAIN,
}


def read_sim(top: Node, version: str, found: Diagnostics) -> SimSpec:
    """Steps, gravity, engine, terrain."""
    sim = top.need("sim")
    dt, decimation = sim.number("dt"), top.whole("decimation", least=1)
    if dt <= 0.0:
        raise sim.wrong("dt", "a positive number of seconds")
    backend, engine = engine_of(sim, version)
    if backend == "newton":
        found.warn(
            "E110",
            sim.where("physics"),
            "the policy was trained on Newton, not on PhysX: compare with PhysX only to see the difference",
        )
    default = SimSpec(dt=dt, decimation=decimation)
    material = read_material(sim.child("physics_material"))
    return SimSpec(
        dt=dt,
        decimation=decimation,
        gravity=sim.vector("gravity", default.gravity),
        backend=backend,
        external_forces_every_iteration=engine.flag("enable_external_forces_every_iteration", backend == "ovphysx"),
        solver="PGS" if engine.number("solver_type", 1) == 0 else "TGS",
        min_position_iterations=engine.whole("min_position_iteration_count", 1),
        max_position_iterations=engine.whole("max_position_iteration_count", 255),
        min_velocity_iterations=engine.whole("min_velocity_iteration_count", 0),
        max_velocity_iterations=engine.whole("max_velocity_iteration_count", 255),
        bounce_threshold=engine.number("bounce_threshold_velocity", default.bounce_threshold),
        friction_offset_threshold=engine.number("friction_offset_threshold", default.friction_offset_threshold),
        friction_correlation_distance=engine.number(
            "friction_correlation_distance", default.friction_correlation_distance
        ),
        use_newton_actuators=sim.flag("use_newton_actuators", False),
        material=material,
        terrain=read_terrain(top.need("scene"), material),
        episode_length_s=top.number("episode_length_s", math.inf) if "episode_length_s" in top else math.inf,
        config=engine.data,
    )


def engine_of(sim: Node, version: str) -> tuple[str, Node]:
    """The engine's name and its own settings. A config may hold one engine per preset, PhysX among them."""
    physics = sim.child("physics")
    if not physics.name_of("class_type"):
        for key in ENGINES:
            if isinstance(physics.raw(key), Mapping):
                physics = physics.child(key)
                break
    name = physics.name_of("class_type").lower()
    if "ovphysx" in name:
        return "ovphysx", physics
    if "physx" in name:
        return "isaacsim", physics
    if "newton" in name or "mjwarp" in name:
        return "newton", physics
    if "newton_cfg" in sim:  # Isaac Lab's Newton branch between 2.3 and 3.0
        return "newton", sim.child("newton_cfg")
    if "physx" in sim:
        return "isaacsim", sim.child("physx")
    return ("isaacsim" if version in ("1.x", "2.x", "3.x") else "unknown"), physics


def read_material(node: Node) -> MaterialSpec:
    """Friction and restitution; PhysX's defaults where the file is silent."""
    plain = MaterialSpec()
    combine: dict[str, str] = {}
    for key in ("friction_combine_mode", "restitution_combine_mode"):
        mode = node.text(key, "average")
        if mode not in COMBINES:
            raise node.wrong(key, f"one of {', '.join(COMBINES)}")
        combine[key] = mode
    return MaterialSpec(
        static_friction=node.number("static_friction", plain.static_friction),
        dynamic_friction=node.number("dynamic_friction", plain.dynamic_friction),
        restitution=node.number("restitution", plain.restitution),
        friction_combine=combine["friction_combine_mode"],
        restitution_combine=combine["restitution_combine_mode"],
    )


def read_terrain(scene: Node, default: MaterialSpec) -> TerrainSpec:
    """The terrain importer's, else a ground plane among the assets, else none."""
    for _, entry in scene.children():
        if bare_name(entry.name_of("class_type")) == "TerrainImporter":
            kind = TERRAINS.get(entry.text("terrain_type", "plane"), "generator")
            material = read_material(entry.child("physics_material")) if "physics_material" in entry else default
            generator = entry.child("terrain_generator").data
            kind = "plane" if kind == "generator" and _is_flat(entry.child("terrain_generator")) else kind
            usd = entry.raw("usd_path")
            config: dict[str, Any] = {**generator, **({"usd_path": usd} if usd else {})}
            return TerrainSpec(kind=kind, material=material, config=config)
    for _, entry in scene.children():
        spawn = entry.child("spawn") if isinstance(entry.raw("spawn"), Mapping) else Node({}, scene.file)
        if bare_name(spawn.name_of("func")) == "spawn_ground_plane":
            material = read_material(spawn.child("physics_material")) if "physics_material" in spawn else default
            height = entry.child("init_state").vector("pos", (0.0, 0.0, 0.0))[2]
            return TerrainSpec(kind="plane", height=height, material=material)
    return TerrainSpec(kind="none", material=default)


def _is_flat(generator: Node) -> bool:
    """Whether every sub-terrain that the generator draws is a flat one."""
    drawn = [sub for _, sub in generator.child("sub_terrains").children() if sub.raw("proportion") != 0]
    return bool(drawn) and all(bare_name(sub.name_of("function")) == "flat_terrain" for sub in drawn)


def read_scene(scene: Node, robot: str, order: str) -> tuple[SceneEntity, ...]:
    """Everything beside the robot, as data."""
    result: list[SceneEntity] = []
    for name, entry in scene.children():
        if name == robot or ("prim_path" not in entry and "class_type" not in entry and "rigid_objects" not in entry):
            continue
        if name == "clone_cfg":
            continue
        spawn = entry.child("spawn") if isinstance(entry.raw("spawn"), Mapping) else Node({}, scene.file)
        start = entry.child("init_state")
        result.append(
            SceneEntity(
                name=name,
                kind=_kind(entry, spawn),
                class_type=entry.name_of("class_type"),
                prim_path=entry.name_of("prim_path"),
                reference=reference_of(spawn),
                pos=start.vector("pos", (0.0, 0.0, 0.0)),
                quat_wxyz=start.quat("rot", order),
                config=entry.data,
            )
        )
    return tuple(result)


def _kind(entry: Node, spawn: Node) -> EntityKind:
    kind = KINDS.get(bare_name(entry.name_of("class_type")), EntityKind.OTHER)
    if kind is EntityKind.OTHER and bare_name(spawn.name_of("func")) == "spawn_ground_plane":
        return EntityKind.TERRAIN
    return kind


def reference_of(spawn: Node) -> str:
    """The asset file that a spawner names: `usd_path`, or `asset_path` of a URDF or MJCF converter."""
    for key in ("usd_path", "asset_path"):
        if isinstance(spawn.raw(key), str):
            return spawn.text(key)
    assets = spawn.raw("assets_cfg")
    if isinstance(assets, tuple) and assets and isinstance(assets[0], Mapping):
        return reference_of(Node(cast(Mapping[str, Any], assets[0]), spawn.file, f"{spawn.path}.assets_cfg[0]"))
    return ""
