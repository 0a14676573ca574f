"""MuJoCo's own prims on a stage: actuators, tendons, keyframes, options. What they state is kept to the number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from isaaclab_mirror.formats.usd.stage import Record, UsdRobotStage
from isaaclab_mirror.formats.usd.values import authored, plain, real, reals, targets, value
from isaaclab_mirror.robot.constraints import Tendon, TendonPoint
from isaaclab_mirror.robot.drives import Actuator, Transmission
from isaaclab_mirror.robot.scene import Keyframe

if TYPE_CHECKING:
    from pxr import Sdf

Targets = Mapping[str, Mapping["Sdf.Path", str]]
"""Kind (`joint`, `tendon`, `site`, `body`, `geom`) → prim → name."""


def shown_name(record: Record) -> str:
    """Display name, else prim name."""
    return record.prim.GetDisplayName() or record.path.name


def _range(prim: Any, name: str, limited_name: str) -> tuple[float, float] | None:
    """A `:min`/`:max` pair, None where it is off. `auto` is MuJoCo's autolimits: on where the two differ."""
    low, high = real(prim, f"{name}:min", 0.0), real(prim, f"{name}:max", 0.0)
    limited = str(value(prim, limited_name, "auto"))
    if limited == "false" or (limited == "auto" and low == high):
        return None
    return (low, high)


def read_actuators(stage: UsdRobotStage, named: Targets) -> list[Actuator]:
    """MjcActuator prims, in stage order (which is MuJoCo's order of controls)."""
    result = []
    for record in stage.others.get("MjcActuator", []):
        prim = record.prim
        goals = targets(prim, "mjc:target")
        kind, name = _target(named, goals[0] if goals else None)
        if name is None:
            stage.found.warn(
                "V003",
                stage.source(prim),
                "the actuator's target is not part of the robot: left out",
                "mend mjc:target",
            )
            continue
        transmission = Transmission(kind)
        if kind == "joint" and value(prim, "mjc:jointInParent", False):
            transmission = Transmission.JOINT_IN_PARENT
        slider = _site(named, prim, "mjc:sliderSite")
        if slider is not None:
            transmission = Transmission.SLIDER_CRANK
        result.append(
            Actuator(
                name=shown_name(record),
                transmission=transmission,
                target=name,
                gear=reals(prim, "mjc:gear", (1.0, 0.0, 0.0, 0.0, 0.0, 0.0)),
                gain_type=str(value(prim, "mjc:gainType", "fixed")),
                bias_type=str(value(prim, "mjc:biasType", "none")),
                dyn_type=str(value(prim, "mjc:dynType", "none")),
                gain=reals(prim, "mjc:gainPrm", (1.0,)),
                bias=reals(prim, "mjc:biasPrm"),
                dyn=reals(prim, "mjc:dynPrm", (1.0,)),
                control_range=_range(prim, "mjc:ctrlRange", "mjc:ctrlLimited"),
                force_range=_range(prim, "mjc:forceRange", "mjc:forceLimited"),
                activation_range=_range(prim, "mjc:actRange", "mjc:actLimited"),
                reference_site=_site(named, prim, "mjc:refSite"),
                slider_site=slider,
                mujoco={
                    key: stated
                    for key, stated in (
                        ("group", plain(prim, "mjc:group")),
                        ("actdim", plain(prim, "mjc:actDim")),
                        ("actearly", plain(prim, "mjc:actEarly")),
                        ("cranklength", plain(prim, "mjc:crankLength")),
                        ("inheritrange", plain(prim, "mjc:inheritRange")),
                        ("lengthrange", _range(prim, "mjc:lengthRange", "none")),
                    )
                    if stated is not None
                },
                source=stage.source(prim),
            )
        )
    return result


def _target(named: Targets, path: Any) -> tuple[str, str | None]:
    for kind in ("joint", "tendon", "site", "body"):
        if path in named[kind]:
            return kind, named[kind][path]
    return "joint", None


def _site(named: Targets, prim: Any, relationship: str) -> str | None:
    goals = targets(prim, relationship)
    return named["site"].get(goals[0]) if goals else None


def read_tendons(stage: UsdRobotStage, named: Targets) -> list[Tendon]:
    """MjcTendon prims: a list of distinct prims, and indices into it that spell the path."""
    result = []
    for record in stage.others.get("MjcTendon", []):
        path = _path(stage, record, named)
        if path is None:
            continue
        prim = record.prim
        spring = reals(prim, "mjc:springlength", (-1.0, -1.0))
        stated = {
            key: plain(prim, attribute)
            for attribute, key in (
                ("mjc:margin", "margin"),
                ("mjc:width", "width"),
                ("mjc:group", "group"),
                ("mjc:rgba", "rgba"),
                ("mjc:solreflimit", "solref_limit"),
                ("mjc:solimplimit", "solimp_limit"),
                ("mjc:solreffriction", "solref_friction"),
                ("mjc:solimpfriction", "solimp_friction"),
            )
        }
        stated["actuator_force_range"] = _range(prim, "mjc:actuatorfrcrange", "mjc:actuatorfrclimited")
        result.append(
            Tendon(
                name=shown_name(record),
                path=path,
                stiffness=real(prim, "mjc:stiffness", 0.0),
                damping=real(prim, "mjc:damping", 0.0),
                friction=real(prim, "mjc:frictionloss", 0.0),
                armature=real(prim, "mjc:armature", 0.0),
                rest_length=None if spring in ((-1.0, -1.0), ()) else (spring[0], spring[-1]),
                limits=_range(prim, "mjc:range", "mjc:limited"),
                mujoco={k: v for k, v in stated.items() if v is not None},
                source=stage.source(prim),
            )
        )
    return result


def _path(stage: UsdRobotStage, record: Record, named: Targets) -> tuple[TendonPoint, ...] | None:
    prim = record.prim
    wraps = targets(prim, "mjc:path")
    indices = authored(prim, "mjc:path:indices")
    order = [int(i) for i in indices] if indices is not None else list(range(len(wraps)))
    coefficients = reals(prim, "mjc:path:coef")
    segments = authored(prim, "mjc:path:segments")
    divisors = reals(prim, "mjc:path:divisors")
    sides = targets(prim, "mjc:sideSites")
    side_indices = authored(prim, "mjc:sideSites:indices")
    pointers = ((order, wraps), (segments or (), divisors), ([s for s in side_indices or () if s >= 0], sides))
    if any(not 0 <= index < len(listed) for indices, listed in pointers for index in indices):
        stage.found.warn("V003", stage.source(prim), "indices of the tendon's path point at nothing: left out")
        return None
    points: list[TendonPoint] = []
    for k, index in enumerate(order):
        wrap = wraps[index]
        if segments is not None and k < len(segments) and k and segments[k] != segments[k - 1]:
            points.append(TendonPoint("pulley", "", divisors[segments[k]]))
        elif k == 0 and divisors and divisors[0] != 1.0:
            points.append(TendonPoint("pulley", "", divisors[0]))
        kind = next((kind for kind in ("joint", "site", "geom") if wrap in named[kind]), None)
        if kind is None:
            stage.found.warn("V003", stage.source(prim), f"the tendon's path names {wrap}: left out")
            return None
        side = None
        if side_indices is not None and k < len(side_indices) and side_indices[k] >= 0:
            side = named["site"].get(sides[side_indices[k]])
        points.append(TendonPoint(kind, named[kind][wrap], coefficients[k] if k < len(coefficients) else 1.0, side))
    return tuple(points)


def read_keyframes(stage: UsdRobotStage) -> list[Keyframe]:
    """MjcKeyframe prims: raw arrays in the order of the model that the stage was written from."""
    keys = ("qpos", "qvel", "act", "ctrl", "mpos", "mquat")
    return [
        Keyframe(
            name=shown_name(record),
            mujoco={k: reals(record.prim, f"mjc:{k}") for k in keys if authored(record.prim, f"mjc:{k}") is not None},
        )
        for record in stage.others.get("MjcKeyframe", [])
    ]


OPTIONS = (
    "timestep", "impratio", "density", "viscosity", "wind", "magnetic", "tolerance", "iterations", "ls_iterations",
    "ls_tolerance", "noslip_iterations", "noslip_tolerance", "ccd_iterations", "ccd_tolerance", "sdf_iterations",
    "sdf_initpoints", "integrator", "cone", "solver", "jacobian", "o_margin", "o_solref", "o_solimp", "o_friction",
    "actuatorgroupdisable",
)  # fmt: skip
FLAGS_ON = (
    "actuation", "autoreset", "clampctrl", "constraint", "contact", "damper", "equality", "eulerdamp", "filterparent",
    "frictionloss", "gravity", "island", "limit", "midphase", "multiccd", "nativeccd", "refsafe", "sensor", "spring",
    "warmstart",
)  # fmt: skip
FLAGS_OFF = ("energy", "fwdinv", "invdiscrete", "override")


def read_options(scene: Record) -> dict[str, object]:
    """Options, flags and compiler settings of MjcSceneAPI that differ from its defaults."""
    prim = scene.prim
    found: dict[str, object] = {}
    for name in OPTIONS:
        stated = plain(prim, f"mjc:option:{name}")
        if stated is not None:
            found[name] = stated
    for name in (*FLAGS_ON, *FLAGS_OFF):
        stated = authored(prim, f"mjc:flag:{name}")
        if stated is not None and bool(stated) != (name in FLAGS_ON):
            found[f"flag:{name}"] = bool(stated)
    for name in ("balanceInertia", "boundInertia", "boundMass", "setTotalMass", "alignFree", "inertiaFromGeom"):
        stated = authored(prim, f"mjc:compiler:{name}")
        if stated is not None:
            found[f"compiler:{name.lower()}"] = stated
    return found
