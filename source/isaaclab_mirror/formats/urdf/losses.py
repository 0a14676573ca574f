"""What URDF cannot say: counted, with the reason, and told once per concept."""

from __future__ import annotations

from isaaclab_mirror.diagnostics import Diagnostics, Fidelity
from isaaclab_mirror.formats.options import WriteOptions
from isaaclab_mirror.physics.lowered import Lowered
from isaaclab_mirror.robot.model import Robot
from isaaclab_mirror.robot.sensors import SensorType
from isaaclab_mirror.rotations import is_identity


def count_losses(
    lowered: Lowered, options: WriteOptions, *, has_world: bool, found: Diagnostics, fidelity: Fidelity
) -> None:
    """Rows of the fidelity table for everything that is not in the file."""
    robot = lowered.robot
    for loop in robot.loops:
        found.warn(
            "E005", loop.source or loop.name, f"URDF is a tree: the {loop.type} that closes a loop is not written"
        )
    for concept, why, count in _lost(robot, options, has_world):
        if count:
            fidelity.lost(concept, why, count)
            found.info("E040", robot.source or robot.name, f"URDF cannot say: {concept} ({count}): {why}")


def _lost(robot: Robot, options: WriteOptions, has_world: bool) -> list[tuple[str, str, int]]:
    no_word = "URDF has no word for them"
    cameras = sum(sensor.type is SensorType.CAMERA for sensor in robot.sensors)
    filters = robot.collision_filter
    pairs = len(filters.link_pairs) + len(filters.geom_pairs) + len(filters.filtered_groups)
    scene = robot.scene
    said = (scene.timestep_s, scene.solver, scene.position_iterations, scene.velocity_iterations)
    started = sum(axis.initial_position not in (None, 0.0) for axis in robot.axes())
    driven = sum(bool(axis.drives) and axis.initial_position not in (None, 0.0) for axis in robot.axes())
    unsaid = started - driven if options.transmissions else started
    base = sum(not is_identity(joint.origin) for joint in robot.roots) if not has_world else 0
    dead = sum(drive.is_dead for axis in robot.axes() for drive in axis.drives)
    targets = sum(any(d.target_position or d.target_velocity for d in axis.drives) for axis in robot.axes())
    return [
        ("loop constraints", "URDF is a tree", len(robot.loops)),
        ("tendons", no_word, len(robot.tendons)),
        ("sites", "only links are frames in a URDF, and more links would be another robot", len(robot.sites)),
        ("cameras", no_word, cameras),
        ("sensors", no_word, len(robot.sensors) - cameras),
        ("keyframes", no_word, len(robot.keyframes)),
        ("collision filters", no_word, pairs + (not filters.self_collision)),
        ("contact materials", no_word, len(robot.contact_materials)),
        ("scene settings", "gravity, time step and solver are the simulator's", sum(x is not None for x in said)),
        ("link damping", no_word, sum(bool(link.linear_damping or link.angular_damping) for link in robot.links)),
        ("gravity switches", no_word, sum(link.disable_gravity for link in robot.links)),
        ("kinematic links", no_word, sum(link.kinematic for link in robot.links)),
        ("drives", "maxForce 0: dead in PhysX too", dead),
        ("drive targets", no_word, targets),
        ("initial positions", "only ros2_control of a driven joint holds one", unsaid),
        ("initial base pose", "the root of a URDF is where its loader puts it", base),
    ]
