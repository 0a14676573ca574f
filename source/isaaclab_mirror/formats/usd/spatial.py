"""What keeps the distance of points: PhysX's spatial tendons and distance joints → tendons through sites."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from isaaclab_mirror.formats.usd.names import UniqueNames
from isaaclab_mirror.formats.usd.stage import Record, UsdRobotStage
from isaaclab_mirror.formats.usd.topology import JointRecord
from isaaclab_mirror.formats.usd.values import authored, bound, limit, number, point, targets, value
from isaaclab_mirror.robot.constraints import Tendon, TendonPoint
from isaaclab_mirror.robot.sensors import Site
from isaaclab_mirror.rotations import Pose

if TYPE_CHECKING:
    from pxr import Sdf

FARTHEST_M = 1e6
"""Upper bound of a length that only has a lower one: MuJoCo wants both."""
ATTACHMENTS = ("PhysxTendonAttachmentRootAPI", "PhysxTendonAttachmentLeafAPI", "PhysxTendonAttachmentAPI")


@dataclass(slots=True)
class Spatial:
    """Tendons through sites, and the sites that they pass."""

    tendons: list[Tendon] = field(default_factory=list)
    sites: list[Site] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Attachment:
    """One point of a spatial tendon."""

    record: Record
    instance: str
    site: str
    gearing: float
    parent: tuple[Sdf.Path, str] | None
    """The prim and instance of the point before it; None for a root."""
    is_leaf: bool


def read_spatial(
    stage: UsdRobotStage, joints: Sequence[JointRecord], links: Mapping[Sdf.Path, str], sites: Sequence[Site]
) -> Spatial:
    """Distance joints among `joints`, and the spatial tendons of the links."""
    found, names = Spatial(), UniqueNames(site.name for site in sites)
    for joint in joints:
        if joint.record.type_name == "PhysicsDistanceJoint":
            _distance(stage, joint, links, names, found)
    _tendons(stage, links, names, found)
    return found


def _distance(
    stage: UsdRobotStage, joint: JointRecord, links: Mapping[Sdf.Path, str], names: UniqueNames, found: Spatial
) -> None:
    """A distance joint as a tendon of limited length between its two points. A negative bound is none."""
    prim, source = joint.record.prim, stage.source(joint.record.prim)
    low, high = (limit(prim, f"physics:{end}Distance", stage.file) for end in ("min", "max"))
    low = low * stage.metres if low is not None and low > 0.0 else 0.0
    high = high * stage.metres if high is not None and high >= 0.0 else FARTHEST_M
    if (low == 0.0 and high == FARTHEST_M) or any(e.body is not None and e.body not in links for e in joint.ends):
        stage.found.info("E029", source, "the joint is left out: it bounds no distance between links of the robot")
        return
    if value(prim, "physxPhysicsDistanceJoint:springEnabled", False):
        why = "a distance joint with a spring: written with hard bounds"
        stage.found.warn("E001", source, why)
    path: list[TendonPoint] = []
    for k, end in enumerate(joint.ends):
        name = names.of(f"{joint.record.path.name}_{k}")
        link = None if end.body is None else links[end.body]
        found.sites.append(Site(name=name, link=link, pose=end.frame, source=source))
        path.append(TendonPoint("site", name))
    # MuJoCo takes no empty range: a rod is held within a thousandth of its length.
    if high <= low:
        low, high = high * (1 - 5e-4), high * (1 + 5e-4)
    name = joint.record.prim.GetDisplayName() or joint.record.path.name
    found.tendons.append(Tendon(name=name, path=tuple(path), limits=(low, high), source=source))


def _tendons(stage: UsdRobotStage, links: Mapping[Sdf.Path, str], names: UniqueNames, found: Spatial) -> None:
    """Spatial tendons: from the root attachment to every leaf one, a length that is the sum of geared distances."""
    points: dict[tuple[Sdf.Path, str], _Attachment] = {}
    for record in stage.attachments:
        if record.body is None or record.body not in links:
            continue
        for instance in dict.fromkeys(i for api in ATTACHMENTS for i in record.instances(api)):
            site = _site(stage, record, instance, links, names)
            found.sites.append(site)
            points[record.path, instance] = _attachment(stage, record, instance, site.name)
    for leaf in points.values():
        if not leaf.is_leaf:
            continue
        chain = _chain(leaf, points)
        if chain is None or any(p.gearing <= 0.0 for p in chain[1:]):
            why = "its attachments do not lead back to a root" if chain is None else "a gearing that is not positive"
            where = stage.source(leaf.record.prim)
            stage.found.warn("E001", where, f"spatial tendon {leaf.instance!r} is left out: {why}")
            continue
        found.tendons.append(_tendon(stage, chain, found.tendons))


def _attachment(stage: UsdRobotStage, record: Record, instance: str, site: str) -> _Attachment:
    start = f"physxTendon:{instance}:"
    above = targets(record.prim, start + "parentLink")
    name = authored(record.prim, start + "parentAttachment")
    gearing = number(record.prim, start + "gearing", stage.file)
    is_root = instance in record.instances("PhysxTendonAttachmentRootAPI")
    return _Attachment(
        record=record,
        instance=instance,
        site=site,
        gearing=1.0 if gearing is None else gearing,
        parent=None if is_root or not above else (above[0], str(name)),
        is_leaf=instance in record.instances("PhysxTendonAttachmentLeafAPI"),
    )


def _site(
    stage: UsdRobotStage, record: Record, instance: str, links: Mapping[Sdf.Path, str], names: UniqueNames
) -> Site:
    """Where an attachment is: in the frame of the prim that carries it."""
    local = point(record.prim, f"physxTendon:{instance}:localPos", stage.file)
    pose, scale = stage.world_pose(record.prim)
    x, y, z = (c * s * stage.metres for c, s in zip(local, scale, strict=True))
    body, _ = stage.world_pose(stage.bodies[record.body].prim)  # type: ignore[index]
    link = links[record.body]  # type: ignore[index]
    place = body.inverse() @ pose @ Pose((x, y, z))
    return Site(name=names.of(f"{link}_{instance}"), link=link, pose=place, source=stage.source(record.prim))


def _chain(leaf: _Attachment, points: Mapping[tuple[Sdf.Path, str], _Attachment]) -> list[_Attachment] | None:
    """The attachments from the root to a leaf; None where they do not reach a root."""
    chain = [leaf]
    while (above := chain[-1].parent) is not None:
        if above not in points or len(chain) > len(points):
            return None
        chain.append(points[above])
    is_root = chain[-1].instance in chain[-1].record.instances("PhysxTendonAttachmentRootAPI")
    return chain[::-1] if is_root and len(chain) > 1 else None


def _tendon(stage: UsdRobotStage, chain: Sequence[_Attachment], others: Sequence[Tendon]) -> Tendon:
    """One sub-tendon; a gearing is a pulley, which divides the lengths after it."""
    root, leaf = chain[0], chain[-1]
    path: list[TendonPoint] = []
    gearing = 1.0
    for before, here in pairwise(chain):
        if here.gearing != gearing:
            path.append(TendonPoint("pulley", "", 1.0 / here.gearing))
            gearing = here.gearing
            path.append(TendonPoint("site", before.site))
        elif not path:
            path.append(TendonPoint("site", before.site))
        path.append(TendonPoint("site", here.site))
    own, common = f"physxTendon:{leaf.instance}:", f"physxTendon:{root.instance}:"
    file, prim, metres = stage.file, leaf.record.prim, stage.metres
    offset = number(root.record.prim, common + "offset", file) or 0.0
    low, high = (limit(prim, own + end, file) for end in ("lowerLimit", "upperLimit"))
    bounds = None
    if low is not None or high is not None:
        most = FARTHEST_M if high is None else (high - offset) * metres
        bounds = (0.0 if low is None else max((low - offset) * metres, 0.0), most)
    rest = bound(prim, own + "restLength", file)
    length = None if rest is None or math.isinf(rest) else (rest - offset) * metres
    enabled = value(root.record.prim, common + "tendonEnabled", True) is not False
    stiffness, damping = (number(root.record.prim, common + n, file) or 0.0 for n in ("stiffness", "damping"))
    taken = {tendon.name for tendon in others}
    name = root.instance if root.instance not in taken else f"{root.instance}_{leaf.instance}"
    return Tendon(
        name=UniqueNames(taken).of(name),
        path=tuple(path),
        stiffness=stiffness * stage.kilograms if enabled else 0.0,
        damping=damping * stage.kilograms if enabled else 0.0,
        rest_length=None if length is None else (length, length),
        limits=bounds if enabled and bounds is not None and bounds[0] < bounds[1] else None,
        limit_stiffness=number(root.record.prim, common + "limitStiffness", file),
        source=stage.source(leaf.record.prim),
    )
