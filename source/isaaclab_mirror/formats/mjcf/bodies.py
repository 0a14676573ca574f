"""Bodies, joints, geoms, sites and cameras of an MJCF."""

from __future__ import annotations

import math
from typing import Any

from isaaclab_mirror.diagnostics import Diagnostics, Fidelity
from isaaclab_mirror.formats.mjcf.assets import Assets
from isaaclab_mirror.formats.mjcf.spec import set_polynomial
from isaaclab_mirror.formats.shapes import flat_box
from isaaclab_mirror.physics.lowered import Lowered, LoweredAxis
from isaaclab_mirror.robot.geometry import (
    Approximation,
    Box,
    Capsule,
    Collision,
    Cone,
    Cylinder,
    Ellipsoid,
    Geom,
    MeshShape,
    Plane,
    Shape,
    Sphere,
)
from isaaclab_mirror.robot.joints import Axis, AxisKind, JointType
from isaaclab_mirror.robot.model import Link
from isaaclab_mirror.robot.sensors import Sensor, SensorType, Site

DEFAULT_DENSITY = 1000.0
"""[kg/m³], MuJoCo's and PhysX's."""
DEFAULT_SITE_M = 0.005
"""MuJoCo's default size of a site."""
SMALLEST_MOMENT = 1e-14
"""[kg·m²] MuJoCo refuses moments below mjMINVAL, 1e-15."""
WHOLE_LINK_M = 10.0
"""Radius in which a touch sensor listens that states none: it hears its own link alone, wherever that is touched."""
FLAT = 1e-4
"""Half thickness [m] of the box that stands for a flat collision mesh."""

NOT_CONVEX = {
    Approximation.CONVEX_DECOMPOSITION: "convex decomposition: MuJoCo collides the one hull of the mesh",
    Approximation.SDF: "SDF collider: MuJoCo collides the hull of the mesh",
    Approximation.TRIANGLES: "triangle mesh: MuJoCo collides its hull",
    Approximation.SPHERE_FILL: "sphere fill: MuJoCo collides the hull of the mesh",
}


class BodyWriter:
    """Writes the tree into a spec, parent by parent, without recursion."""

    def __init__(self, spec: Any, lowered: Lowered, assets: Assets, found: Diagnostics, fidelity: Fidelity) -> None:
        self.spec = spec
        self.lowered = lowered
        self.robot = lowered.robot
        self.assets = assets
        self.found = found
        self.fidelity = fidelity
        self.bodies: dict[str, Any] = {}
        self.visual = spec.add_default("visual", spec.default)
        self.visual.geom.group = 2
        self.visual.geom.contype = 0
        self.visual.geom.conaffinity = 0
        self.visual.geom.density = 0
        self.collision = spec.add_default("collision", spec.default)
        self.collision.geom.group = 3
        self.weighed = {
            geom.link
            for geom in self.robot.geoms
            if geom.collision is not None and (geom.collision.mass_kg or geom.collision.density_kgm3)
        }
        """Links of which a collider states its own mass or density."""

    def write(self) -> None:
        """All of it."""
        for link, joint in zip(self.robot.links, self.robot.joints, strict=True):
            parent = self.spec.worldbody if joint.parent is None else self.bodies[joint.parent]
            body = parent.add_body(name=link.name, pos=list(joint.origin.pos), quat=list(joint.origin.quat_wxyz))
            self.bodies[link.name] = body
            self._inertial(body, link, joint.type is JointType.FIXED)
            if link.kinematic and joint.parent is None and joint.type is JointType.FLOATING:
                body.mocap = True
            elif joint.type is JointType.FLOATING:
                body.add_freejoint(name=joint.name)
            for axis in joint.axes:
                self._joint(body, axis, self.lowered.axes[axis.name])
        self.fidelity.kept("links", len(self.robot.links))
        for geom in self.robot.geoms:
            self._geom(geom)
        for site in self.robot.sites:
            self._site(site)
        for sensor in self.robot.sensors:
            self._sensor(sensor)

    def _parent(self, link: str | None) -> Any:
        return self.spec.worldbody if link is None else self.bodies[link]

    def _inertial(self, body: Any, link: Link, fixed: bool) -> None:
        """What the source states; MuJoCo computes the rest from geoms."""
        gravcomp = link.mujoco.get("gravcomp", 1.0 if link.disable_gravity else 0.0)
        if gravcomp:
            body.gravcomp = gravcomp
        inertia = link.inertia
        if inertia is None:
            return
        moments = inertia.diagonal_kgm2
        accepted = inertia.is_physical and min(moments) >= SMALLEST_MOMENT
        if not accepted and not (fixed and inertia.mass_kg == 0.0):
            moments = self._mend(link, moments)
        body.explicitinertial = True
        body.mass = inertia.mass_kg
        body.ipos = list(inertia.com_m)
        body.iquat = list(inertia.principal_wxyz)
        body.inertia = list(moments)

    def _mend(self, link: Link, moments: tuple[float, float, float]) -> tuple[float, float, float]:
        """Moments that MuJoCo accepts, as close as can be: the smallest raised until A + B ≥ C."""
        if self.robot.dialect == "mujoco" and not any(moments):
            return moments
        low, middle, high = sorted(range(3), key=lambda k: moments[k])
        mended = list(moments)
        floor = max(moments[high] * 1e-6, 1e-12)
        if moments[middle] <= 0.0:
            mended[middle] = moments[high] if moments[high] > 0 else floor
        if moments[low] <= 0.0:
            # A zero moment means "cannot turn about this axis" to PhysX: the largest is the closest that is physical.
            mended[low] = moments[high] if moments[high] > 0 else floor
        mended[low] = max(mended[low], (mended[high] - mended[middle]) * (1 + 1e-9))
        mended = [max(moment, SMALLEST_MOMENT) for moment in mended]
        self.found.warn(
            "E003",
            str(link.source or link.name),
            f"principal moments {tuple(f'{m:.4g}' for m in moments)} are of no body that MuJoCo takes: "
            f"written as {tuple(f'{m:.4g}' for m in mended)}",
            "mend physics:diagonalInertia",
        )
        self.fidelity.approximated("inertias", "moments that no body can have, mended")
        return (mended[0], mended[1], mended[2])

    def _joint(self, body: Any, axis: Axis, numbers: LoweredAxis) -> None:
        import mujoco

        kinds = {
            AxisKind.HINGE: mujoco.mjtJoint.mjJNT_HINGE,
            AxisKind.SLIDE: mujoco.mjtJoint.mjJNT_SLIDE,
            AxisKind.BALL: mujoco.mjtJoint.mjJNT_BALL,
        }
        joint = body.add_joint(name=axis.name, type=kinds[axis.kind], pos=list(axis.anchor_m))
        if axis.kind is not AxisKind.BALL:
            joint.axis = list(axis.axis)
        if numbers.range is not None:
            joint.limited = mujoco.mjtLimited.mjLIMITED_TRUE
            joint.range = list(numbers.range)
        else:
            joint.limited = mujoco.mjtLimited.mjLIMITED_FALSE
        set_polynomial(joint, "damping", numbers.damping)
        set_polynomial(joint, "stiffness", numbers.stiffness)
        joint.frictionloss = numbers.frictionloss
        joint.armature = numbers.armature
        joint.springref = numbers.springref
        joint.ref = numbers.ref
        joint.margin = numbers.margin
        joint.group = numbers.group
        joint.actgravcomp = numbers.actuator_gravcomp
        if numbers.actuator_force_range is not None:
            joint.actfrclimited = mujoco.mjtLimited.mjLIMITED_TRUE
            joint.actfrcrange = list(numbers.actuator_force_range)
        for name in ("solref_limit", "solimp_limit", "solref_friction", "solimp_friction", "springdamper"):
            stated = getattr(numbers, name)
            if stated is not None:
                setattr(joint, name, list(stated))

    def _geom(self, geom: Geom) -> None:
        collision = geom.collision
        shape = geom.shape
        if isinstance(shape, Plane) and geom.link is not None:
            self.found.warn("E006", str(geom.source or geom.name), "a plane on a moving link: PhysX refuses it too")
            self.fidelity.lost("colliders" if collision else "visuals", "a plane on a moving link")
            return
        pose = geom.pose
        if collision is not None and isinstance(shape, MeshShape):
            flat = flat_box(self.robot.mesh(shape.mesh), FLAT)
            if flat is not None:
                self.found.warn("E006", str(geom.source or geom.name), "a flat collision mesh: written as a thin box")
                self.fidelity.approximated("colliders", "a flat mesh as a thin box")
                place, shape = flat
                pose = pose @ place
        mesh = self.assets.mesh(geom) if isinstance(shape, MeshShape | Cone) else None
        if isinstance(shape, MeshShape | Cone) and mesh is None:
            self.fidelity.lost("colliders" if collision else "visuals", "a mesh that MuJoCo cannot use")
            return
        kind, size = _shape(shape)
        made = self._parent(geom.link).add_geom(
            self.collision if collision else self.visual,
            name=geom.name,
            type=kind,
            size=size,
            pos=list(pose.pos),
            quat=list(pose.quat_wxyz),
        )
        if mesh is not None:
            made.meshname = mesh
        if geom.material is not None:
            made.material = geom.material
        elif geom.rgba is not None:
            made.rgba = list(geom.rgba)
        if collision is None:
            made.group = int(geom.mujoco.get("group", 2))  # type: ignore[call-overload]
            self.fidelity.kept("visuals")
            return
        self._contact(geom, made)

    def _contact(self, geom: Geom, made: Any) -> None:
        import mujoco

        collision = geom.collision or Collision()
        numbers = self.lowered.contacts[geom.name]
        made.friction = list(numbers.friction)
        made.contype, made.conaffinity = numbers.contype, numbers.conaffinity
        made.condim, made.priority, made.group = numbers.condim, numbers.priority, numbers.group
        made.margin, made.gap, made.solmix = numbers.margin, numbers.gap, numbers.solmix
        if numbers.solref is not None:
            made.solref = list(numbers.solref)
        if numbers.solimp is not None:
            made.solimp = list(numbers.solimp)
        link = self.robot.link(geom.link) if geom.link is not None else None
        if link is None or link.inertia is not None:
            pass  # the link says its mass itself
        elif collision.mass_kg is not None:
            made.mass = collision.mass_kg
        else:
            # A body none of whose colliders states anything has the default density; beside one that does, none.
            made.density = collision.density_kgm3 or (0.0 if geom.link in self.weighed else DEFAULT_DENSITY)
        if collision.mujoco.get("mass_model") == "shell" and not isinstance(geom.shape, MeshShape):
            made.typeinertia = mujoco.mjtGeomInertia.mjINERTIA_SHELL
        why = NOT_CONVEX.get(collision.approximation) if isinstance(geom.shape, MeshShape) else None
        if isinstance(geom.shape, Cone):
            why = "cone: written as a mesh"
        if why is None:
            self.fidelity.kept("colliders")
        else:
            self.fidelity.approximated("colliders", why)

    def _site(self, site: Site) -> None:
        kind, size = _shape(site.shape)
        # Numbers that a shape does not use are not written: MuJoCo's default stands there when it is read again.
        size = [length or DEFAULT_SITE_M for length in size]
        made = self._parent(site.link).add_site(
            name=site.name, pos=list(site.pose.pos), quat=list(site.pose.quat_wxyz), type=kind, size=size
        )
        made.group = int(site.mujoco.get("group", 0))  # type: ignore[call-overload]
        if site.rgba is not None:
            made.rgba = list(site.rgba)
        self.fidelity.kept("sites")

    def _sensor(self, sensor: Sensor) -> None:
        import mujoco

        body = self._parent(sensor.link)
        pos, quat = list(sensor.pose.pos), list(sensor.pose.quat_wxyz)
        if sensor.type is SensorType.CAMERA:
            vertical = float(sensor.properties["vertical_aperture_m"])  # type: ignore[arg-type]
            focal = float(sensor.properties["focal_length_m"])  # type: ignore[arg-type]
            fovy = math.degrees(2 * math.atan2(vertical / 2, focal)) if focal > 0 else 45.0
            body.add_camera(name=sensor.name, pos=pos, quat=quat, fovy=fovy)
            self.fidelity.kept("cameras")
            return
        if sensor.type is SensorType.CONTACT:
            radius = float(sensor.properties.get("radius_m", WHOLE_LINK_M))  # type: ignore[arg-type]
            site = body.add_site(name=sensor.name, pos=pos, quat=quat, size=[radius] * 3, group=4)
            site.rgba = [0.0, 0.0, 0.0, 0.0]
            made = self.spec.add_sensor(
                name=f"{sensor.name}_touch", type=mujoco.mjtSensor.mjSENS_TOUCH, objtype=mujoco.mjtObj.mjOBJ_SITE
            )
            made.objname = sensor.name
            self.fidelity.approximated("sensors", "a contact sensor as MuJoCo's touch: the sum of normal forces")
            return
        if sensor.type is not SensorType.IMU:
            self.fidelity.lost("sensors", f"a {sensor.type} sensor has no MJCF counterpart")
            return
        body.add_site(name=sensor.name, pos=pos, quat=quat)
        for suffix, kind in (("gyro", mujoco.mjtSensor.mjSENS_GYRO), ("acc", mujoco.mjtSensor.mjSENS_ACCELEROMETER)):
            made = self.spec.add_sensor(name=f"{sensor.name}_{suffix}", type=kind, objtype=mujoco.mjtObj.mjOBJ_SITE)
            made.objname = sensor.name
        self.fidelity.kept("sensors")


def _shape(shape: Shape) -> tuple[Any, list[float]]:
    """MuJoCo's type and size of a shape."""
    import mujoco

    kinds = mujoco.mjtGeom
    if isinstance(shape, Box):
        return kinds.mjGEOM_BOX, list(shape.half_extents_m)
    if isinstance(shape, Sphere):
        return kinds.mjGEOM_SPHERE, [shape.radius_m, 0.0, 0.0]
    if isinstance(shape, Cylinder):
        return kinds.mjGEOM_CYLINDER, [shape.radius_m, shape.half_length_m, 0.0]
    if isinstance(shape, Capsule):
        return kinds.mjGEOM_CAPSULE, [shape.radius_m, shape.half_length_m, 0.0]
    if isinstance(shape, Ellipsoid):
        return kinds.mjGEOM_ELLIPSOID, list(shape.radii_m)
    if isinstance(shape, Plane):
        return kinds.mjGEOM_PLANE, [*shape.half_size_m, 1.0]
    return kinds.mjGEOM_MESH, [0.0, 0.0, 0.0]
