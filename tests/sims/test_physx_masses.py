"""Mass properties from PhysX: the client with a child that we play ourselves, and the real one on a small stage."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from isaaclab_mirror.conversion import inspect_robot
from isaaclab_mirror.formats.usd import physx_masses_client as client

MESH = """
        def Mesh "shape" (prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMeshCollisionAPI"])
        {
            point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
            int[] faceVertexCounts = [3, 3, 3, 3]
            int[] faceVertexIndices = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]
            uniform token physics:approximation = "convexHull"
        }
        def Sphere "seen"
        {
            double radius = 3
        }
"""
AUTHORED = """
        float physics:mass = 2
        point3f physics:centerOfMass = (0.25, 0.25, 0.25)
        float3 physics:diagonalInertia = (1, 1, 1)
        quatf physics:principalAxes = (1, 0, 0, 0)
"""


def stage(folder: Path, inside: str, metres: float = 1.0) -> Path:
    """A body `link` of one mesh on a fixed base of one cube."""
    file = folder / "robot.usda"
    file.write_text(
        f"""#usda 1.0
(
    defaultPrim = "robot"
    metersPerUnit = {metres}
    kilogramsPerUnit = 1
    upAxis = "Z"
)
def Xform "robot" (prepend apiSchemas = ["PhysicsArticulationRootAPI"])
{{
    def Xform "base" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
    {{
        def Cube "shape" (prepend apiSchemas = ["PhysicsCollisionAPI"])
        {{
            double size = 1
        }}
    }}
    def Xform "link" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
    {{
        {inside}
        {MESH}
    }}
    def PhysicsRevoluteJoint "hinge"
    {{
        rel physics:body0 = </robot/base>
        rel physics:body1 = </robot/link>
        uniform token physics:axis = "Z"
    }}
}}
""",
        encoding="utf-8",
    )
    return file


class Child:
    """Stands for subprocess.run: keeps the wrapper stage, answers what it is told to."""

    def __init__(self, answer: object) -> None:
        self.answer = answer
        self.calls: list[list[str]] = []
        self.wrapper = ""

    def __call__(self, command: list[str], **options: object) -> None:
        self.calls.append(command)
        args = json.loads(Path(command[-1]).read_text(encoding="utf-8"))
        self.wrapper = Path(args["stage"]).read_text(encoding="utf-8")
        if isinstance(self.answer, Exception):
            raise self.answer
        Path(args["output"]).write_text(
            self.answer if isinstance(self.answer, str) else json.dumps(self.answer), encoding="utf-8"
        )


def play(monkeypatch: pytest.MonkeyPatch, answer: object) -> Child:
    child = Child(answer)
    monkeypatch.setattr(client, "physx_available", lambda: True)
    monkeypatch.setattr(client.subprocess, "run", child)
    return child


ROW = {"mass": 3.0, "com": [0.1, 0.2, 0.3], "inertia": [2, 0, 0, 0, 3, 0, 0, 0, 4]}


def link_of(file: Path):
    robot, found, _ = inspect_robot(file)
    return robot.link("link").inertia, [d for d in found if d.code == "E039"]


def test_the_answer_is_taken_in_si_units(tmp_path, monkeypatch):
    child = play(monkeypatch, {"/robot/link": ROW})
    inertia, found = link_of(stage(tmp_path, "", metres=0.1))
    assert (inertia.origin, inertia.mass_kg) == ("physx", pytest.approx(3.0))
    assert inertia.com_m == pytest.approx((0.01, 0.02, 0.03))
    assert sorted(inertia.diagonal_kgm2) == pytest.approx([0.02, 0.03, 0.04])
    assert not found
    assert len(child.calls) == 1
    assert child.calls[0][1:4] == ["-P", "-m", client.CHILD]


def test_the_wrapper_leaves_out_what_no_asked_body_weighs(tmp_path, monkeypatch):
    child = play(monkeypatch, {"/robot/link": ROW})
    file = stage(tmp_path, "")
    link_of(file)
    from pxr import Sdf

    layer = Sdf.Layer.CreateAnonymous(".usda")
    layer.ImportFromString(child.wrapper)
    assert list(layer.subLayerPaths) == [str(file)]
    off = [p for p in ("/robot/base/shape", "/robot/link/seen", "/robot/link/shape") if layer.GetPrimAtPath(p)]
    assert off == ["/robot/base/shape", "/robot/link/seen"]
    assert not any(layer.GetPrimAtPath(path).active for path in off)


def test_authored_numbers_stay(tmp_path, monkeypatch):
    play(monkeypatch, {"/robot/link": ROW})
    inertia, _ = link_of(stage(tmp_path, "float physics:mass = 6\npoint3f physics:centerOfMass = (1, 0, 0)"))
    assert inertia.mass_kg == pytest.approx(6.0)
    assert inertia.com_m == pytest.approx((1.0, 0.0, 0.0))


def test_no_process_is_started_where_all_is_authored(tmp_path, monkeypatch):
    child = play(monkeypatch, {})
    inertia, found = link_of(stage(tmp_path, AUTHORED))
    assert inertia.origin == "authored"
    assert not found
    assert not child.calls


@pytest.mark.parametrize(
    "answer",
    [
        {},
        [],
        "not json",
        {"/robot/link": {**ROW, "mass": 0.0}},
        {"/robot/link": {**ROW, "inertia": [float("nan")] * 9}},
        {"/robot/link": {"mass": 1.0}},
        subprocess.TimeoutExpired("python", client.TIMEOUT_S),
        subprocess.CalledProcessError(-11, "python"),
        OSError("no such program"),
    ],
)
def test_a_bad_answer_falls_back_to_the_hull(tmp_path, monkeypatch, answer):
    play(monkeypatch, answer)
    inertia, found = link_of(stage(tmp_path, ""))
    assert inertia.origin == "colliders"
    assert inertia.mass_kg == pytest.approx(1000 / 6)
    assert any(d.severity == "warning" and "1 bodies" in d.message for d in found)


def test_without_the_extra_nothing_is_started(tmp_path, monkeypatch):
    child = play(monkeypatch, {})
    monkeypatch.setattr(client, "physx_available", lambda: False)
    inertia, found = link_of(stage(tmp_path, ""))
    assert inertia.origin == "colliders"
    assert [d.severity for d in found] == ["warning"]
    assert not child.calls


@pytest.mark.physx
def test_physx_itself_weighs_a_tetrahedron(tmp_path):
    pytest.importorskip("ovphysx", reason="needs the extra physx")
    inertia, found = link_of(stage(tmp_path, ""))
    assert not found
    assert inertia.origin == "physx"
    assert inertia.mass_kg == pytest.approx(1000 / 6, rel=1e-4)
    assert inertia.com_m == pytest.approx((0.25, 0.25, 0.25), abs=1e-5)
    tensor = inertia.tensor()  # about the COM: ∫x² = 3m/80, ∫xy = −m/80
    assert [tensor[k][k] for k in range(3)] == pytest.approx([1000 / 6 * 6 / 80] * 3, rel=1e-4)
    assert tensor[0][1] == pytest.approx(1000 / 6 / 80, rel=1e-4)


@pytest.mark.physx
def test_physx_itself_moves_the_moments_of_a_body_that_is_a_cylinder_to_an_authored_centre(tmp_path):
    pytest.importorskip("ovphysx", reason="needs the extra physx")
    lines = """
        float physics:mass = 3
        point3f physics:centerOfMass = (0.2, 0.3, 0.4)
        double3 xformOp:scale = (0.1, 0.1, 0.5)
        uniform token[] xformOpOrder = ["xformOp:scale"]
        double radius = 1
        double height = 1
    """
    file = stage(tmp_path, lines)
    text = file.read_text(encoding="utf-8").replace(MESH, "")
    before = 'def Xform "link" (prepend apiSchemas = ['
    assert before in text
    after = 'def Cylinder "link" (prepend apiSchemas = ["PhysicsCollisionAPI", '
    file.write_text(text.replace(before, after), encoding="utf-8")
    inertia = inspect_robot(file)[0].link("link").inertia
    # ovphysx 0.7.0; a shift by the parallel-axis term alone gives (0.193, 0.191, 0.019)
    tensor = inertia.tensor()
    assert inertia.com_m == pytest.approx((0.02, 0.03, 0.2))
    assert [tensor[k][k] for k in range(3)] == pytest.approx((0.1711, 0.4336, 0.2829), rel=1e-3)
    assert tensor[0][2] == pytest.approx(-0.1068, rel=1e-3)
