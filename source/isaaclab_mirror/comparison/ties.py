"""Which axes are not free to be driven one by one: closed loops and tendons hold them."""

from __future__ import annotations

from isaaclab_mirror.robot.model import Robot


def looped_axes(robot: Robot) -> set[str]:
    """Axes that a closed loop holds: one of its ends moves with them, the other does not."""
    parents = {joint.child: joint.parent for joint in robot.joints}
    held: set[str] = set()
    for loop in robot.loops:
        chains = [_ancestors(link, parents) for link in (loop.link0, loop.link1)]
        held |= chains[0] ^ chains[1]
    return {axis.name for joint in robot.joints if joint.child in held for axis in joint.axes}


def _ancestors(link: str | None, parents: dict[str, str | None]) -> set[str]:
    chain: set[str] = set()
    while link is not None and link not in chain:
        chain.add(link)
        link = parents.get(link)
    return chain


def coupled_axes(robot: Robot) -> set[str]:
    """Axes in closed loops, under tendons, or that lead or follow others."""
    pulled = {point.target for tendon in robot.tendons for point in tendon.path if point.kind == "joint"}
    paired = {name for mimic in robot.mimics if mimic.active for name in (mimic.follower, mimic.leader)}
    return looped_axes(robot) | pulled | paired
