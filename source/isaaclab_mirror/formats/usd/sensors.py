"""Sites, cameras and Isaac's sensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isaaclab_mirror.formats.usd.geoms import GeomReader
from isaaclab_mirror.formats.usd.stage import Record, UsdRobotStage
from isaaclab_mirror.formats.usd.values import authored, number, real
from isaaclab_mirror.robot.geometry import Sphere
from isaaclab_mirror.robot.sensors import Sensor, SensorType, Site
from isaaclab_mirror.rotations import Pose

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pxr import Sdf

ISAAC_SENSORS = {
    "IsaacImuSensor": SensorType.IMU,
    "IsaacContactSensor": SensorType.CONTACT,
    "IsaacLightBeamSensor": SensorType.LIDAR,
    "Lidar": SensorType.LIDAR,
    "OmniLidar": SensorType.LIDAR,
    "OmniRadar": SensorType.LIDAR,
}
"""Types of prims; an RTX lidar of Isaac Sim 4 is a camera with a schema."""
RTX_APIS = frozenset({"IsaacRtxLidarSensorAPI", "IsaacRtxRadarSensorAPI"})


def read_site(reader: GeomReader, record: Record, links: Mapping[Sdf.Path, str]) -> Site:
    """A gprim with MjcSiteAPI."""
    pose, scale, _ = reader._place(record)
    shaped = reader._primitive(record, scale, exact=True) if record.type_name != "Mesh" else None
    turn, shape = shaped if shaped is not None else ((1.0, 0.0, 0.0, 0.0), Sphere(0.005))
    group = authored(record.prim, "mjc:group")
    return Site(
        name=record.prim.GetDisplayName() or record.path.name,
        link=None if record.body is None else links.get(record.body),
        pose=pose @ Pose((0.0, 0.0, 0.0), turn),
        shape=shape,
        rgba=reader._colour(record.prim),
        mujoco={} if group is None else {"group": int(group)},
        source=reader.stage.source(record.prim),
    )


def read_sensors(stage: UsdRobotStage, links: Mapping[Sdf.Path, str]) -> list[Sensor]:
    """Cameras and Isaac sensor prims below the robot's links."""
    result: list[Sensor] = []
    for record in stage.others.get("Camera", []):
        if record.body is None or record.body not in links:
            continue
        prim = record.prim
        if not RTX_APIS.isdisjoint(record.apis):
            result.append(_plain(stage, record, SensorType.LIDAR, links[record.body]))
            continue
        # USD states apertures and focal length in tenths of a stage unit.
        tenth = stage.metres / 10
        result.append(
            Sensor(
                name=record.path.name,
                type=SensorType.CAMERA,
                link=links[record.body],
                pose=_relative(stage, record),
                properties={
                    "focal_length_m": real(prim, "focalLength", 50.0) * tenth,
                    "horizontal_aperture_m": real(prim, "horizontalAperture", 20.955) * tenth,
                    "vertical_aperture_m": real(prim, "verticalAperture", 15.2908) * tenth,
                },
                source=stage.source(prim),
            )
        )
    for type_name, records in stage.others.items():
        kind = ISAAC_SENSORS.get(type_name)
        for record in records:
            if kind is not None and record.body is not None and record.body in links:
                result.append(_plain(stage, record, kind, links[record.body]))
            elif kind is None and type_name.startswith("Isaac"):
                stage.found.info("E018", stage.source(record.prim), f"{type_name} is not read: left out")
    return result


def _plain(stage: UsdRobotStage, record: Record, kind: SensorType, link: str) -> Sensor:
    """A sensor of which the place counts, and of a contact sensor the radius in which it listens."""
    radius = number(record.prim, "radius", stage.file)
    return Sensor(
        name=record.path.name,
        type=kind,
        link=link,
        pose=_relative(stage, record),
        properties={"radius_m": radius * stage.metres} if radius is not None and radius > 0.0 else {},
        source=stage.source(record.prim),
    )


def _relative(stage: UsdRobotStage, record: Record) -> Pose:
    body, _ = stage.world_pose(stage.bodies[record.body].prim)  # type: ignore[index]
    pose, _ = stage.world_pose(record.prim)
    return body.inverse() @ pose
