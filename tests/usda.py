"""Hand-written stages: a few words of USD, read or converted in a folder of the test's own."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isaaclab_mirror.conversion import ConversionOptions, ConversionResult, convert, inspect_robot
from isaaclab_mirror.diagnostics import Diagnostic
from isaaclab_mirror.formats.options import ReadOptions, WriteOptions
from isaaclab_mirror.physics.options import LoweringOptions
from isaaclab_mirror.robot.model import Robot

ROOT = "PhysicsArticulationRootAPI"
BODY = "PhysicsRigidBodyAPI"
MASS = "PhysicsMassAPI"
COLLIDER = "PhysicsCollisionAPI"
TETRAHEDRON = "point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]"
FACES = "int[] faceVertexCounts = [3, 3, 3, 3]\nint[] faceVertexIndices = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]"


def prim(type_name: str, name: str, *inside: str, apis: tuple[str, ...] = (), meta: str = "") -> str:
    """One prim; `inside` holds attribute lines and child prims alike."""
    applied = f"prepend apiSchemas = [{', '.join(f'{chr(34)}{api}{chr(34)}' for api in apis)}]" if apis else ""
    head = f"def {type_name} " if type_name else "over "
    metadata = f" (\n{applied}\n{meta}\n)" if applied or meta else ""
    content = "\n".join(inside)
    return f'{head}"{name}"{metadata}\n{{\n{content}\n}}\n'


def place(at: tuple[float, ...] = (0, 0, 0), scale: tuple[float, ...] | None = None) -> str:
    """xformOps of a prim."""
    ops, lines = ["xformOp:translate"], [f"double3 xformOp:translate = {tuple(at)}"]
    if scale is not None:
        ops.append("xformOp:scale")
        lines.append(f"double3 xformOp:scale = {tuple(scale)}")
    names = ", ".join(f'"{op}"' for op in ops)
    return "\n".join([*lines, f"uniform token[] xformOpOrder = [{names}]"])


def body(
    name: str, *inside: str, at: tuple[float, ...] = (0, 0, 0), scale: Any = None, apis: tuple[str, ...] = ()
) -> str:
    """A rigid body."""
    return prim("Xform", name, place(at, scale), *inside, apis=(BODY, MASS, *apis))


def cube(
    name: str = "shape", size: float = 0.2, *inside: str, at: Any = (0, 0, 0), apis: tuple[str, ...] = (COLLIDER,)
) -> str:
    """A cube that collides unless `apis` says otherwise."""
    return prim("Cube", name, f"double size = {size}", place(at), *inside, apis=apis)


def joint(
    kind: str,
    name: str,
    body0: str | None,
    body1: str | None,
    *inside: str,
    apis: tuple[str, ...] = (),
    at0: Any = (0, 0, 0),
    at1: Any = (0, 0, 0),
) -> str:
    """A joint between two prims below /robot (or absolute paths); None is the world."""
    ends = [
        f"rel physics:body{i} = <{b if b.startswith('/') else '/robot/' + b}>"
        for i, b in ((0, body0), (1, body1))
        if b is not None
    ]
    frames = [f"point3f physics:localPos0 = {tuple(at0)}", f"point3f physics:localPos1 = {tuple(at1)}"]
    return prim(f"Physics{kind}Joint" if kind != "D6" else "PhysicsJoint", name, *ends, *frames, *inside, apis=apis)


def robot(*inside: str, name: str = "robot", apis: tuple[str, ...] = (ROOT,), meta: str = "") -> str:
    """The prim that holds the robot."""
    return prim("Xform", name, *inside, apis=apis, meta=meta)


def stage(
    *prims: str, metres: float | None = 1.0, up: str | None = "Z", default: str | None = "robot", more: str = ""
) -> str:
    """A whole layer."""
    meta = [
        f'defaultPrim = "{default}"' if default else "",
        f"metersPerUnit = {metres}" if metres is not None else "",
        f'upAxis = "{up}"' if up else "",
        more,
    ]
    return "#usda 1.0\n(\n" + "\n".join(m for m in meta if m) + "\n)\n\n" + "\n".join(prims)


def arm(
    *joint_lines: str, apis: tuple[str, ...] = (), kind: str = "Revolute", more: tuple[str, ...] = (), **options: Any
) -> str:
    """A fixed base, one joint named `elbow` to a link 1 m along x: the smallest robot."""
    return stage(
        robot(
            body("base", cube("base_shape")),
            body("link", cube("link_shape"), at=(1, 0, 0)),
            joint("Fixed", "weld", None, "base"),
            joint(kind, "elbow", "base", "link", *joint_lines, apis=apis, at0=(1, 0, 0)),
            *more,
        ),
        **options,
    )


def lone(*inside: str, apis: tuple[str, ...] = (), scale: Any = None, **options: Any) -> str:
    """One free body."""
    return stage(robot(body("box", *inside, apis=apis, scale=scale), apis=()), **options)


@dataclass(frozen=True, slots=True)
class Read:
    """What reading gave."""

    robot: Robot
    diagnostics: tuple[Diagnostic, ...]
    sources: tuple[Path, ...]

    @property
    def codes(self) -> set[str]:
        return {d.code for d in self.diagnostics}

    def said(self, code: str) -> str:
        """Where and what a code said; empty when it did not."""
        return "\n".join(str(d) for d in self.diagnostics if d.code == code)

    def inertia(self, link: str = "box") -> Any:
        """Mass properties of a link."""
        return self.robot.link(link).inertia


@dataclass(frozen=True, slots=True)
class Converted:
    """What converting gave: the result, and the model that MuJoCo loads from disk."""

    result: ConversionResult
    model: Any

    @property
    def codes(self) -> set[str]:
        return {d.code for d in self.result.diagnostics}

    @property
    def xml(self) -> str:
        return self.result.target.read_text(encoding="utf-8")

    def poses(self, **q: float) -> Any:
        """MjData after forward kinematics with joints set by name."""
        import mujoco

        data = mujoco.MjData(self.model)
        for name, value in q.items():
            data.joint(name).qpos[:] = value
        mujoco.mj_forward(self.model, data)
        return data


class Usda:
    """Writes layers into one folder; reads and converts them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, text: str, name: str = "robot.usda") -> Path:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(re.sub(r"\n{2,}", "\n", text), encoding="utf-8")
        return file

    def read(self, source: str | Path, **options: Any) -> Read:
        """Read a layer's text, or a file."""
        file = source if isinstance(source, Path) else self.write(source)
        return Read(*inspect_robot(file, ReadOptions(**options)))

    def convert(
        self,
        source: str | Path,
        *,
        name: str = "out/robot.xml",
        read: Any = None,
        lowering: Any = None,
        write: Any = None,
    ) -> Converted:
        """Convert to MJCF and load what was written."""
        import mujoco

        file = source if isinstance(source, Path) else self.write(source)
        target = self.folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        options = ConversionOptions(
            read=ReadOptions(**(read or {})),
            lowering=LoweringOptions(**(lowering or {})),
            write=WriteOptions(**(write or {})),
        )
        result = convert(file, target, options)
        return Converted(result, mujoco.MjModel.from_xml_path(str(target)))
