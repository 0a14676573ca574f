"""Robot: one neutral model of a robot, whatever the file.

SI units, radians, z up, kilograms, quaternions wxyz; link frames as the source has them; frozen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from isaaclab_mirror.diagnostics import Source
from isaaclab_mirror.robot.constraints import CollisionFilter, Loop, Mimic, Tendon
from isaaclab_mirror.robot.drives import Actuator
from isaaclab_mirror.robot.geometry import Geom, MeshAsset
from isaaclab_mirror.robot.inertia import Inertia
from isaaclab_mirror.robot.joints import Axis, Joint
from isaaclab_mirror.robot.materials import ContactMaterial, Texture, VisualMaterial
from isaaclab_mirror.robot.scene import Keyframe, Scene
from isaaclab_mirror.robot.sensors import Sensor, Site


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A rigid body."""

    name: str
    inertia: Inertia | None
    """None: to be computed from its geoms by the target engine's own rule (what MuJoCo-authored sources mean)."""
    linear_damping: float = 0.0
    """[1/s]"""
    angular_damping: float = 0.0
    """[1/s]"""
    max_linear_velocity: float | None = None
    """[m/s]; None is the engine's own bound."""
    max_angular_velocity: float | None = None
    """[rad/s]; None is the engine's own bound (PhysX: 100)."""
    max_depenetration_velocity: float | None = None
    """At which contacts push apart what overlaps [m/s]; None is the engine's own (PhysX: 3)."""
    disable_gravity: bool = False
    kinematic: bool = False
    mujoco: Mapping[str, object] = field(default_factory=dict[str, object])
    source: Source | None = None
    extras: Mapping[str, object] = field(default_factory=dict[str, object])


@dataclass(frozen=True, kw_only=True)
class Robot:
    """A robot: a forest of links (one joint each to its parent or to the world) and everything on them."""

    name: str
    links: tuple[Link, ...]
    """Depth first: every parent before its children."""
    joints: tuple[Joint, ...]
    """One per link, in the order of the links."""
    geoms: tuple[Geom, ...] = ()
    meshes: tuple[MeshAsset, ...] = ()
    materials: tuple[VisualMaterial, ...] = ()
    textures: tuple[Texture, ...] = ()
    contact_materials: tuple[ContactMaterial, ...] = ()
    actuators: tuple[Actuator, ...] = ()
    """Actuators that the source states as such; drives stand on the axes."""
    loops: tuple[Loop, ...] = ()
    mimics: tuple[Mimic, ...] = ()
    tendons: tuple[Tendon, ...] = ()
    sites: tuple[Site, ...] = ()
    sensors: tuple[Sensor, ...] = ()
    keyframes: tuple[Keyframe, ...] = ()
    collision_filter: CollisionFilter = field(default_factory=CollisionFilter)
    default_contact_material: ContactMaterial | None = None
    """What a collider without a material has; None is the engine's own default."""
    scene: Scene = field(default_factory=Scene)
    dialect: str = "physx"
    """Whose rules the source was written under: `physx`, `mujoco`, `urdf`, `sdf`."""
    source: Source | None = None
    extras: Mapping[str, object] = field(default_factory=dict[str, object])

    @cached_property
    def _links_by_name(self) -> dict[str, Link]:
        return {link.name: link for link in self.links}

    @cached_property
    def _joints_by_child(self) -> dict[str, Joint]:
        return {joint.child: joint for joint in self.joints}

    @cached_property
    def _axes_by_name(self) -> dict[str, Axis]:
        return {axis.name: axis for axis in self.axes()}

    @cached_property
    def _meshes_by_name(self) -> dict[str, MeshAsset]:
        return {mesh.name: mesh for mesh in self.meshes}

    def link(self, name: str) -> Link:
        """The link of that name."""
        return self._links_by_name[name]

    def joint_of(self, link: str) -> Joint:
        """The joint between a link and its parent."""
        return self._joints_by_child[link]

    def axis(self, name: str) -> Axis:
        """The axis of that name."""
        return self._axes_by_name[name]

    def mesh(self, name: str) -> MeshAsset:
        """The mesh asset of that name."""
        return self._meshes_by_name[name]

    def axes(self) -> Iterator[Axis]:
        """Every axis, in the order of the joints."""
        for joint in self.joints:
            yield from joint.axes

    @property
    def roots(self) -> tuple[Joint, ...]:
        """Joints to the world."""
        return tuple(joint for joint in self.joints if joint.parent is None)

    @property
    def dofs(self) -> int:
        """Degrees of freedom, the six of each floating base among them."""
        return sum(joint.dofs for joint in self.joints)

    @property
    def longest_chain(self) -> tuple[Link, int]:
        """The link with the most links between it and the world, and their number with itself."""
        depth: dict[str, int] = {}
        for joint in self.joints:  # parents come first
            depth[joint.child] = 1 + (depth[joint.parent] if joint.parent is not None else 0)
        deepest = max(depth, key=depth.__getitem__)
        return self.link(deepest), depth[deepest]

    @property
    def mass_kg(self) -> float:
        """Sum over the links whose mass is known."""
        return sum(link.inertia.mass_kg for link in self.links if link.inertia is not None)
