"""Which bodies form the robot, which joints its tree, which close loops: by PhysX's rules, or MuJoCo's."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.formats.options import WorldJoint
from isaaclab_mirror.formats.usd.generic import holds_nothing
from isaaclab_mirror.formats.usd.stage import Record, UsdRobotStage
from isaaclab_mirror.formats.usd.values import point, quat, targets, value
from isaaclab_mirror.rotations import IDENTITY_QUAT, Pose

if TYPE_CHECKING:
    from pxr import Sdf

LOCKED = 0.01
"""A range of this width [deg or stage units] is none: some assets spell a fixed joint as a revolute of ±0.001°."""
MOST_PARSED = 1000
"""Bodies of one robot that UsdPhysics is asked about: its search for the centre holds n² distances."""
NOT_TREE = frozenset({"PhysicsDistanceJoint", "PhysxPhysicsGearJoint", "PhysxPhysicsRackAndPinionJoint"})


@dataclass(frozen=True, slots=True)
class JointEnd:
    """One side of a joint."""

    body: Sdf.Path | None
    """None is the world."""
    frame: Pose
    """The joint's frame in the body's frame (or the world's) [m]."""
    named: Sdf.Path | None
    """The prim that the relationship names: the body, a prim below it (a site), or a plain Xform."""


@dataclass(frozen=True, slots=True)
class JointRecord:
    """A joint prim with both its ends."""

    record: Record
    ends: tuple[JointEnd, JointEnd]

    @property
    def path(self) -> str:
        """Prim path."""
        return str(self.record.path)

    @property
    def is_fixed(self) -> bool:
        """Whether it leaves no motion."""
        return self.record.type_name == "PhysicsFixedJoint"

    def other(self, body: Sdf.Path) -> JointEnd:
        """The end that is not `body`'s."""
        return self.ends[1] if self.ends[0].body == body else self.ends[0]


@dataclass(slots=True)
class TreeNode:
    """A body of the robot and the joints to its parent (several only where MuJoCo's dialect says so)."""

    body: Record
    parent: Sdf.Path | None
    joints: list[JointRecord] = field(default_factory=list)
    """Empty: floating where the parent is None."""
    fixed: bool = False
    """Root only: held by the world."""
    articulated: bool = False
    """Whether it is a link of one of PhysX's articulations, rather than a rigid body by itself."""


@dataclass(slots=True)
class Topology:
    """The robot's tree, depth first, and what does not fit into a tree."""

    nodes: list[TreeNode]
    loops: list[JointRecord]
    dropped: list[tuple[JointRecord, str]]
    root_record: Record | None
    """The prim with ArticulationRootAPI."""
    name: str
    scope: Sdf.Path | None
    """What stands below this prim belongs to the robot; None is the whole stage."""


def read_joint_records(stage: UsdRobotStage) -> list[JointRecord]:
    """Every joint prim with its ends; one that names nothing that exists is reported and left out."""
    found: list[JointRecord] = []
    for record in stage.joints:
        ends: list[JointEnd] = []
        for side in ("0", "1"):
            end = _read_end(stage, record, side)
            if end is None:
                break
            ends.append(end)
        if len(ends) == 2:
            found.append(JointRecord(record, (ends[0], ends[1])))
    return found


def _read_end(stage: UsdRobotStage, record: Record, side: str) -> JointEnd | None:
    prim = record.prim
    pos = point(prim, f"physics:localPos{side}", stage.file)
    q = quat(prim, f"physics:localRot{side}", stage.file) or IDENTITY_QUAT
    named = targets(prim, f"physics:body{side}")
    if not named:
        origin = Pose((0.0, 0.0, 0.0), stage.up_wxyz)
        local = Pose(tuple(c * stage.metres for c in pos), q)  # type: ignore[arg-type]
        return JointEnd(None, origin @ local, None)
    target = stage.stage.GetPrimAtPath(named[0])
    if not target or not target.IsActive():
        stage.found.warn(
            "E012",
            stage.source(record.prim),
            f"body{side} names {named[0]}, which is {'inactive' if target else 'not there'}: the joint is left out",
            "mend the relationship, or supply the layer that defines the body",
        )
        return None
    pose, scale = stage.world_pose(target)
    # The frame is given in the named prim's own (scaled) space.
    local = Pose(tuple(c * s * stage.metres for c, s in zip(pos, scale, strict=True)), q)  # type: ignore[arg-type]
    body = stage.owner.get(named[0])
    if body is None:
        return JointEnd(None, pose @ local, named[0])
    if body != named[0]:
        body_pose, _ = stage.world_pose(stage.bodies[body].prim)
        local = body_pose.inverse() @ pose @ local
    return JointEnd(body, local, named[0])


def read_topology(stage: UsdRobotStage, joints: list[JointRecord]) -> Topology:
    """Choose the robot and build its tree."""
    if not stage.bodies:
        _refuse_empty(stage)
    sorted_joints = _sort_joints(stage, joints)
    scope = _scope(stage)
    bodies = {path: body for path, body in stage.bodies.items() if scope is None or path.HasPrefix(scope)}
    sorted_joints.neighbours = _neighbours(bodies, (*sorted_joints.usable, *sorted_joints.loops))
    edges = _by_body(bodies, sorted_joints.usable)
    components = _components(bodies, edges)
    roots = _roots_of(stage, components, edges)
    _refuse_several(stage, components, edges, roots)
    nodes: list[TreeNode] = []
    names: list[Record] = []
    # The robot first, loose bodies after it.
    for component in sorted(components, key=lambda c: (not roots.get(c[0]), -len(c))):
        root = roots.get(component[0])
        if root is not None:
            names.append(root)
        nodes += _tree(stage, component, edges, root, sorted_joints)
    chosen = names[0] if names else None
    loops, dropped = sorted_joints.loops, sorted_joints.dropped
    return Topology(nodes, loops, dropped, chosen, _name(stage, scope, chosen), scope)


def _by_body(bodies: Iterable[Sdf.Path], joints: Iterable[JointRecord]) -> dict[Sdf.Path, list[JointRecord]]:
    """Body → the joints at it."""
    result: dict[Sdf.Path, list[JointRecord]] = {path: [] for path in bodies}
    for joint in joints:
        for end in joint.ends:
            if end.body in result:
                result[end.body].append(joint)
    return result


def _name(stage: UsdRobotStage, scope: Sdf.Path | None, root: Record | None) -> str:
    if scope is not None and scope.name:
        return scope.name
    return root.path.name if root is not None else stage.file.stem


def _refuse_empty(stage: UsdRobotStage) -> None:
    if stage.missing_layers:
        absent = ", ".join(stage.missing_layers[:5])
        raise InputError(
            "E011", stage.file, f"no rigid body in the stage; absent layers: {absent}", "supply the absent layers"
        )
    raise InputError(
        "E013",
        stage.file,
        "no rigid body in the stage: there is no robot in it",
        "apply PhysicsRigidBodyAPI to its links, or choose a variant with physics (--variant)",
    )


def _scope(stage: UsdRobotStage) -> Sdf.Path | None:
    """The prim that the user chose."""
    from pxr import Sdf

    if stage.options.prim is None:
        # Who references the asset gets its default prim alone: prototypes or a test scene beside it are not it.
        default = stage.stage.GetDefaultPrim()
        path = default.GetPath() if default else None
        return path if path is not None and any(b.HasPrefix(path) for b in stage.bodies) else None

    named = stage.options.prim
    valid = named.startswith("/") and Sdf.Path.IsValidPathString(named)
    prim = stage.stage.GetPrimAtPath(named) if valid else None
    if not prim:
        raise InputError("E020", stage.file, f"no prim {stage.options.prim}", _choices(r.path for r in stage.roots))
    path: Sdf.Path = prim.GetPath()
    # An articulation root may sit on a body or on the joint to the world: the robot is what stands around it.
    while path != Sdf.Path.absoluteRootPath and not any(b.HasPrefix(path) for b in stage.bodies):
        path = path.GetParentPath()
    return path


def _choices(paths: Iterable[Sdf.Path]) -> str:
    paths = [str(p) for p in paths]
    shown = ", ".join(paths[:8]) + (f" … ({len(paths)} in all)" if len(paths) > 8 else "")
    return f"choose one with --prim: {shown}" if paths else "the stage has no articulation root"


def _neighbours(bodies: Iterable[Sdf.Path], joints: Iterable[JointRecord]) -> dict[Sdf.Path, list[Sdf.Path]]:
    """Body → the body at the other end of each joint."""
    result: dict[Sdf.Path, list[Sdf.Path]] = {path: [] for path in bodies}
    for joint in joints:
        first, second = joint.ends[0].body, joint.ends[1].body
        if first in result and second in result:
            result[first].append(second)
            result[second].append(first)
    return result


@dataclass(slots=True)
class _Joints:
    """Joints by what they can be; what turns out to close a loop while the tree is built joins `loops`."""

    usable: list[JointRecord] = field(default_factory=list)
    """Those that may stand in a tree."""
    loops: list[JointRecord] = field(default_factory=list)
    dropped: list[tuple[JointRecord, str]] = field(default_factory=list)
    """Those that do nothing, and why."""
    rank: dict[Sdf.Path, int] = field(default_factory=dict)
    """Place in the stage."""
    neighbours: dict[Sdf.Path, list[Sdf.Path]] = field(default_factory=dict)
    """Body → the body at the other end of each joint that is on, also of those outside the articulation."""


def _sort_joints(stage: UsdRobotStage, joints: list[JointRecord]) -> _Joints:
    """Joints that may stand in a tree, those that close loops, and those that do nothing."""
    result = _Joints(rank={record.path: i for i, record in enumerate(stage.joints)})
    usable, loops, dropped = result.usable, result.loops, result.dropped
    for joint in joints:
        prim, apis = joint.record.prim, joint.record.apis
        first, second = joint.ends
        equality = any(api.startswith("MjcEquality") and api != "MjcEqualityJointAPI" for api in apis)
        if equality:
            loops.append(joint)
        elif value(prim, "physics:jointEnabled", True) is False:
            dropped.append((joint, "disabled"))
        elif first.body == second.body:
            dropped.append((joint, "ties a body to itself" if first.body else "ties the world to itself"))
        elif joint.record.type_name in NOT_TREE or value(prim, "physics:excludeFromArticulation", False):
            _outside(stage, joint, result)
        else:
            usable.append(joint)
    return result


def _outside(stage: UsdRobotStage, joint: JointRecord, joints: _Joints) -> None:
    """A joint outside the tree closes a loop, or holds nothing."""
    if holds_nothing(stage, joint.record):
        joints.dropped.append((joint, "leaves every motion free"))
    else:
        joints.loops.append(joint)


def _components(bodies: dict[Sdf.Path, Record], edges: dict[Sdf.Path, list[JointRecord]]) -> list[list[Sdf.Path]]:
    """Bodies that usable joints connect, each component in stage order."""
    order = {path: i for i, path in enumerate(bodies)}
    seen: set[Sdf.Path] = set()
    result: list[list[Sdf.Path]] = []
    for start in bodies:
        if start in seen:
            continue
        seen.add(start)
        queue, members = deque([start]), [start]
        while queue:
            body = queue.popleft()
            for joint in edges[body]:
                other = joint.other(body).body
                if other in order and other not in seen:
                    seen.add(other)
                    queue.append(other)
                    members.append(other)
        result.append(sorted(members, key=order.__getitem__))
    return result


def _roots_of(
    stage: UsdRobotStage, components: list[list[Sdf.Path]], edges: dict[Sdf.Path, list[JointRecord]]
) -> dict[Sdf.Path, Record]:
    """Component (by its first body) → the prim with ArticulationRootAPI that makes an articulation of it."""
    by_path = {record.path: record for record in stage.roots if _is_enabled(record)}
    result: dict[Sdf.Path, Record] = {}
    known: dict[Sdf.Path, Record | None] = {}
    for component in components:
        joints = {joint.record.path for body in component for joint in edges[body]}
        inside = [by_path[p] for p in (*component, *joints) if p in by_path]
        above = [record for body in component if (record := _root_above(stage, body, by_path, known)) is not None]
        # Nested roots: PhysX takes the outer one.
        if above or inside:
            result[component[0]] = (above or inside)[0]
    return result


def _root_above(
    stage: UsdRobotStage,
    body: Sdf.Path,
    by_path: dict[Sdf.Path, Record],
    known: dict[Sdf.Path, Record | None],
) -> Record | None:
    """The nearest prim above a body that is an articulation root and no body. Each prim is asked once."""
    passed: list[Sdf.Path] = []
    path = body.GetParentPath()
    while path not in known and not path.isEmpty:
        if path in by_path and path not in stage.bodies:
            known[path] = by_path[path]
            break
        passed.append(path)
        path = path.GetParentPath()
    found = known.get(path)
    known.update(dict.fromkeys(passed, found))
    return found


def _is_enabled(record: Record) -> bool:
    return value(record.prim, "physxArticulation:articulationEnabled", True) is not False


def _refuse_several(
    stage: UsdRobotStage,
    components: list[list[Sdf.Path]],
    edges: dict[Sdf.Path, list[JointRecord]],
    roots: dict[Sdf.Path, Record],
) -> None:
    moves = [c for c in components if any(not j.is_fixed for body in c for j in edges[body])]
    moving = list(dict.fromkeys(roots[c[0]].path for c in moves if c[0] in roots))
    if not roots and not stage.options.prim and not stage.stage.GetDefaultPrim():
        # Nothing says which: neither a default prim nor an articulation root.
        moving = list(dict.fromkeys(c[0].GetPrefixes()[0] for c in moves))
    if len(moving) > 1:
        raise InputError("E020", stage.file, f"{len(moving)} robots in the stage", _choices(moving))


def _tree(
    stage: UsdRobotStage,
    component: list[Sdf.Path],
    edges: dict[Sdf.Path, list[JointRecord]],
    root: Record | None,
    joints: _Joints,
) -> list[TreeNode]:
    """A component as a tree, depth first; children of one link in the order of their joints' paths (PhysX's rule).

    In MuJoCo's dialect children stand in stage order, as in the model the stage was written from.
    """
    members = set(component)
    # Below an Xform that is a root, a body without a joint to another is no articulation; one that is the root is.
    articulated = root is not None and (len(component) > 1 or root.path in members)
    world = sorted((j for body in component for j in edges[body] if j.other(body).body is None), key=lambda j: j.path)
    base, holding, fixed = _base(stage, component, world, root, joints)
    used = {id(j) for j in holding}
    if fixed:
        # Further fixed joints that hold the base say the same once more.
        used |= {id(j) for j in world if j.is_fixed and base in (j.ends[0].body, j.ends[1].body)}
    node = TreeNode(stage.bodies[base], None, list(holding), fixed, articulated)
    for joint in world:
        if id(joint) not in used:
            used.add(id(joint))
            _outside(stage, joint, joints)
    order = {body: i for i, body in enumerate(component)}
    children: dict[Sdf.Path, list[TreeNode]] = {body: [] for body in component}
    reached: dict[Sdf.Path, TreeNode] = {base: node}
    queue = deque([base])
    while queue:
        body = queue.popleft()
        for joint in sorted(edges[body], key=lambda j: j.path):
            other = joint.other(body).body
            if id(joint) in used or other not in members:
                continue
            used.add(id(joint))
            if other in reached:
                twin = reached[other]
                if twin.parent == body:
                    _several_joints(stage, joint, twin, joints.dropped)
                else:
                    _report_loop(stage, joint)
                    _outside(stage, joint, joints)
                continue
            reached[other] = TreeNode(stage.bodies[other], body, [joint], articulated=articulated)
            queue.append(other)
            children[body].append(reached[other])
    if stage.mujoco_dialect:
        rank = joints.rank
        for nodes in children.values():
            nodes.sort(key=lambda n: order[n.body.path])
            for child in nodes:
                child.joints.sort(key=lambda j: rank[j.record.path])
        node.joints.sort(key=lambda j: rank[j.record.path])
    result, stack = [], [node]
    while stack:
        top = stack.pop()
        result.append(top)
        stack.extend(reversed(children[top.body.path]))
    return result


def _several_joints(
    stage: UsdRobotStage, joint: JointRecord, twin: TreeNode, dropped: list[tuple[JointRecord, str]]
) -> None:
    """A second joint between a pair: MuJoCo's dialect keeps it, PhysX keeps the first path alone."""
    if stage.mujoco_dialect:
        twin.joints.append(joint)
        return
    stage.found.warn(
        "E021",
        stage.source(joint.record.prim),
        f"a second joint between one pair of bodies: PhysX keeps {twin.joints[0].record.path.name} alone",
        "use one joint, or put a body between them",
    )
    dropped.append((joint, "second joint between one pair of bodies"))


def _report_loop(stage: UsdRobotStage, joint: JointRecord) -> None:
    stage.found.warn(
        "E005", stage.source(joint.record.prim), "this joint closes a kinematic loop: written as a constraint"
    )


def _base(
    stage: UsdRobotStage, component: list[Sdf.Path], world: list[JointRecord], root: Record | None, joints: _Joints
) -> tuple[Sdf.Path, list[JointRecord], bool]:
    """Root link, the joints that tie it to the world, and whether it is held (option fix_base decides over all)."""
    asked = stage.options.fix_base
    base, holding, fixed = _authored_base(stage, component, world, root, joints)
    if root is not None and asked is True:
        return base, [], True
    if root is not None and asked is False:
        return base, [], False
    return base, holding, fixed


def _authored_base(
    stage: UsdRobotStage, component: list[Sdf.Path], world: list[JointRecord], root: Record | None, joints: _Joints
) -> tuple[Sdf.Path, list[JointRecord], bool]:
    def joined(joint: JointRecord) -> Sdf.Path:
        return joint.ends[0].body or joint.ends[1].body or component[0]

    if stage.mujoco_dialect or root is None:
        if world:
            base = joined(world[0])
            holding = [j for j in world if joined(j) == base]
            if all(j.is_fixed for j in holding):
                return base, [], True
            return base, [j for j in holding if not j.is_fixed], False
        if root is not None and root.path in component:
            return root.path, [], False
        return _centre(stage, component, root, joints), [], False
    if root.path in component:
        for joint in world:
            stage.found.warn(
                "E022",
                stage.source(joint.record.prim),
                "the articulation root is a body: PhysX leaves the base floating and this joint to the world a soft "
                "constraint",
                "--set fix_base=true if a fixed base is meant",
            )
        return root.path, [], False
    if world:
        joint = world[0]
        if joint.is_fixed:
            return joined(joint), [joint], True
        keep = stage.options.world_joint is WorldJoint.KEEP and not _is_locked(joint)
        free = keep and holds_nothing(stage, joint.record)
        kept = "a floating base here, as it leaves every motion free" if free else "kept here as its author drew it"
        stage.found.warn(
            "E023",
            stage.source(joint.record.prim),
            "PhysX turns a movable joint between the world and the root link into a weld: "
            + (kept if keep else "welded here too"),
            "put a body between the world and this joint; --set world_joint=weld for what PhysX does today",
        )
        return joined(joint), [] if free else [joint], not keep
    return _centre(stage, component, root, joints), [], False


def _is_locked(joint: JointRecord) -> bool:
    """Whether its limits leave it no motion: a fixed joint by another name."""
    low, high = (value(joint.record.prim, f"physics:{end}Limit") for end in ("lower", "upper"))
    return low is not None and high is not None and high - low <= LOCKED


def _centre(stage: UsdRobotStage, component: list[Sdf.Path], root: Record | None, joints: _Joints) -> Sdf.Path:
    """PhysX's root link where nothing says it: the centre of the joint graph, as UsdPhysics computes it.

    A body inside which all others stand is the root, wherever the centre is. Bodies come in stage order.
    """
    if len(component) == 1 or root is None or all(body.HasPrefix(component[0]) for body in component):
        return component[0]
    members = set(component)
    graph = {body: [other for other in joints.neighbours[body] if other in members] for body in component}
    if sum(map(len, graph.values())) == 2 * (len(component) - 1):
        return _centre_of_tree(component, graph, joints.neighbours)
    if len(component) > MOST_PARSED:
        why = "the root link of a robot with loops: the centre of a tree of it, for PhysX's search takes quadratic time"
        stage.found.info("E005", stage.source(root.path), why, "apply PhysicsArticulationRootAPI to the root link")
        return _centre_of_tree(component, graph, joints.neighbours)
    from pxr import UsdPhysics

    parsed = UsdPhysics.UsdPhysicsLoadStageFromPrimRange(stage.stage, ["/"])
    for kind, (_, descriptions) in parsed.items():
        if kind == UsdPhysics.ObjectType.Articulation:
            for description in descriptions:
                for path in description.rootPrims:
                    if path in members:
                        return path
    return component[0]


def _centre_of_tree(
    component: list[Sdf.Path], graph: dict[Sdf.Path, list[Sdf.Path]], joined: dict[Sdf.Path, list[Sdf.Path]]
) -> Sdf.Path:
    """The middle of the longest path. Of two middles the one with more joints, else the nearer to the first body."""
    start = _walk_from(component[0], graph)
    above = _walk_from(list(start)[-1], graph)
    path: list[Sdf.Path] = []
    end: Sdf.Path | None = list(above)[-1]
    while end is not None:
        path.append(end)
        end = above[end]
    middles = path[(len(path) - 1) // 2 : len(path) // 2 + 1]
    order = {body: rank for rank, body in enumerate(start)}
    return min(middles, key=lambda body: (-len(joined[body]), order[body]))


def _walk_from(start: Sdf.Path, graph: dict[Sdf.Path, list[Sdf.Path]]) -> dict[Sdf.Path, Sdf.Path | None]:
    """Body → the one before it, breadth first: the last is one of the farthest."""
    before: dict[Sdf.Path, Sdf.Path | None] = {start: None}
    queue = deque([start])
    while queue:
        body = queue.popleft()
        for other in graph[body]:
            if other not in before:
                before[other] = body
                queue.append(other)
    return before
