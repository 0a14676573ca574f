"""Sites, cameras and sensors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from isaaclab_mirror.diagnostics import Source
from isaaclab_mirror.robot.geometry import Shape, Sphere
from isaaclab_mirror.rotations import Pose


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A frame that is of interest, with a shape to show it."""

    name: str
    link: str | None
    pose: Pose
    shape: Shape = field(default_factory=lambda: Sphere(0.005))
    rgba: tuple[float, float, float, float] | None = None
    mujoco: Mapping[str, object] = field(default_factory=dict[str, object])
    source: Source | None = None


class SensorType(StrEnum):
    """What is measured."""

    IMU = "imu"
    FORCE_TORQUE = "force_torque"
    CAMERA = "camera"
    LIDAR = "lidar"
    JOINT_STATE = "joint_state"
    CONTACT = "contact"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensor:
    """A sensor on a link. Cameras look along −z with +y up, as USD's and MuJoCo's do."""

    name: str
    type: SensorType
    link: str | None
    pose: Pose = field(default_factory=Pose)
    properties: Mapping[str, object] = field(default_factory=dict[str, object])
    """Camera: focal_length_m, horizontal_aperture_m, vertical_aperture_m, clipping_m. Others: as authored."""
    source: Source | None = None
