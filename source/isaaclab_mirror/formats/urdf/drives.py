"""`<transmission>` and `<ros2_control>`: what pushes a joint, and with which gains."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from isaaclab_mirror.diagnostics import Diagnostics, Fidelity
from isaaclab_mirror.formats.urdf.spelling import Names, number
from isaaclab_mirror.formats.urdf.tree import UrdfTree
from isaaclab_mirror.robot.drives import Actuator, DriveType, Transmission
from isaaclab_mirror.robot.model import Robot

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_ROS1_INTERFACE = {
    "position": "hardware_interface/PositionJointInterface",
    "velocity": "hardware_interface/VelocityJointInterface",
    "effort": "hardware_interface/EffortJointInterface",
}
_JOINT_TRANSMISSIONS = (Transmission.JOINT, Transmission.JOINT_IN_PARENT)


@dataclass(frozen=True, slots=True, kw_only=True)
class UrdfDrive:
    """What commands one `<joint>`, in the joint's own units."""

    actuator: str
    joint: str
    interface: str
    """`position`, `velocity` or `effort`."""
    gear: float
    """Of the transmission: effort at the joint per effort of the actuator."""
    stiffness: float | None = None
    """[N·m/rad or N/m]"""
    damping: float | None = None
    """[N·m·s/rad or N·s/m]"""
    initial_position: float | None = None


def urdf_drives(
    robot: Robot, actuators: tuple[Actuator, ...], tree: UrdfTree, found: Diagnostics, fidelity: Fidelity
) -> list[UrdfDrive]:
    """The actuators that act on one joint each; the others are lost."""
    drives = []
    for actuator in actuators:
        joints = list(_driven(actuator, tree))
        if len(joints) != 1:
            why = f"it acts on {actuator.transmission} {actuator.target!r}, not on one axis"
            fidelity.lost("drives", "an actuator that acts on anything but one axis")
            found.warn("E040", actuator.source or actuator.name, f"URDF cannot say this actuator: {why}")
            continue
        drive = _drive(actuator, *joints[0], robot.axis(actuator.target).initial_position)
        if drive is None:
            fidelity.approximated(
                "drives", "an actuator of another law than PD: its joint and gear alone, commanded by effort"
            )
            drive = UrdfDrive(actuator=actuator.name, joint=joints[0][0], interface="effort", gear=joints[0][1])
        elif any(d.type is DriveType.ACCELERATION for d in robot.axis(actuator.target).drives):
            fidelity.approximated("drives", "acceleration drive: gains × effective inertia at the zero pose")
        else:
            fidelity.kept("drives", note="gains as parameters of ros2_control, which URDF's physics does not read")
        drives.append(drive)
    return drives


def _driven(actuator: Actuator, tree: UrdfTree) -> Iterator[tuple[str, float]]:
    """The URDF joints that an actuator pushes, each with its gear."""
    if actuator.transmission not in _JOINT_TRANSMISSIONS:
        return
    if (actuator.target, None) in tree.joint_names:
        yield tree.joint_names[actuator.target, None], actuator.gear[0]
        return
    for rotation, gear in enumerate(actuator.gear[:3]):
        if gear and (actuator.target, rotation) in tree.joint_names:
            yield tree.joint_names[actuator.target, rotation], gear


def _drive(actuator: Actuator, joint: str, gear: float, initial: float | None) -> UrdfDrive | None:
    """A position, velocity or effort drive; None where the law is another."""
    if actuator.gain_type != "fixed" or actuator.dyn_type != "none":
        return None
    gain = actuator.gain[0]
    bias = (*actuator.bias, 0.0, 0.0, 0.0)[:3] if actuator.bias_type == "affine" else (0.0, 0.0, 0.0)
    if actuator.bias_type not in ("none", "affine") or bias[0]:
        return None
    if not (bias[1] or bias[2]):
        return UrdfDrive(actuator=actuator.name, joint=joint, interface="effort", gear=gear, initial_position=initial)
    if bias[1] == -gain:  # effort = gain (control − length) + bias[2] · velocity, lengths being gear × joint
        interface, stiffness = "position", gain * gear * gear
    elif bias[1] == 0.0 and bias[2] == -gain:
        interface, stiffness = "velocity", 0.0
    else:
        return None
    return UrdfDrive(
        actuator=actuator.name,
        joint=joint,
        interface=interface,
        gear=gear,
        stiffness=stiffness,
        damping=-bias[2] * gear * gear,
        initial_position=initial,
    )


def write_drives(root: Element, robot_name: str, drives: list[UrdfDrive], found: Diagnostics) -> None:
    """A `<transmission>` per drive, and one `<ros2_control>` system with all of them."""
    from lxml import etree

    if not drives:
        return
    names = Names("transmission", found)
    for drive in drives:
        element = etree.SubElement(root, "transmission", name=names.give(f"{drive.actuator}_transmission"))
        etree.SubElement(element, "type").text = "transmission_interface/SimpleTransmission"
        joint = etree.SubElement(element, "joint", name=drive.joint)
        etree.SubElement(joint, "hardwareInterface").text = _ROS1_INTERFACE[drive.interface]
        actuator = etree.SubElement(element, "actuator", name=f"{drive.actuator}_actuator")
        etree.SubElement(actuator, "hardwareInterface").text = _ROS1_INTERFACE[drive.interface]
        etree.SubElement(actuator, "mechanicalReduction").text = number(drive.gear)
    system = etree.SubElement(root, "ros2_control", name=robot_name, type="system")
    etree.SubElement(etree.SubElement(system, "hardware"), "plugin").text = "mock_components/GenericSystem"
    by_joint: dict[str, list[UrdfDrive]] = {}
    for drive in drives:
        by_joint.setdefault(drive.joint, []).append(drive)
    for joint, commands in by_joint.items():
        _write_joint(etree.SubElement(system, "joint", name=joint), commands)


def _write_joint(element: Element, drives: list[UrdfDrive]) -> None:
    """Commands, states and gains of one joint; several drives of one kind are one interface."""
    from lxml import etree

    for interface in dict.fromkeys(drive.interface for drive in drives):
        etree.SubElement(element, "command_interface", name=interface)
    for state in ("position", "velocity", "effort"):
        interface = etree.SubElement(element, "state_interface", name=state)
        if state == "position" and (initial := drives[0].initial_position) is not None:
            etree.SubElement(interface, "param", name="initial_value").text = number(initial)
    gains = {
        "stiffness": [drive.stiffness for drive in drives if drive.stiffness is not None],
        "damping": [drive.damping for drive in drives if drive.damping is not None],
    }
    for name, values in gains.items():
        if values:
            etree.SubElement(element, "param", name=name).text = number(sum(values))
