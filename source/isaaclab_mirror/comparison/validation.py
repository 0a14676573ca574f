"""`validate` of one robot: PhysX against MuJoCo, by the conversion standard's section 5 and beyond it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from isaaclab_mirror.comparison.engines import Engines, OpenPhysx, Variant, physx_apart
from isaaclab_mirror.comparison.excitation import joint_facts
from isaaclab_mirror.comparison.motions import FALL_S, STEP_S, TRACK_S, Found, drive_tests, free_fall
from isaaclab_mirror.comparison.recording import Pair
from isaaclab_mirror.comparison.rows import COLLISION, DYNAMIC, KINEMATIC, Row, Skipped, Validation, failures, undecided
from isaaclab_mirror.comparison.standing import SLIDE_S, STAND_S, slip_tests, stand_tests
from isaaclab_mirror.comparison.static import StaticLimits, static_rows
from isaaclab_mirror.comparison.swing import SWING_S, swing_tests
from isaaclab_mirror.comparison.two import common
from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.formats.options import ReadOptions
from isaaclab_mirror.physics.options import Fidelity
from isaaclab_mirror.sims.effective import mujoco_settings, physx_settings
from isaaclab_mirror.sims.settings import Backend, Preset, SimSettings, resolve_settings

GROUPS = ("static", "fall", "swing", "drives", "stand", "slip")
"""Groups of tests, in the order in which they run."""

Report = Callable[[str, float], None]
"""Name of the group, share of all work that is done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationOptions:
    """What is tested, and under what."""

    read: ReadOptions = field(default_factory=ReadOptions)
    fidelity: Fidelity = Fidelity.PHYSX
    backend: Backend = Backend.ISAACSIM
    """Whose defaults hold where neither the file nor the caller states a setting."""
    preset: Preset = Preset.NONE
    stated: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Settings of the caller, by their names."""
    groups: Sequence[str] = GROUPS
    configurations: int = 50
    limits: StaticLimits = field(default_factory=StaticLimits)
    open_physx: OpenPhysx = physx_apart


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Tests that share a robot and settings."""

    name: str
    title: str
    code: str
    work_s: float
    """Simulated seconds, about: for the progress bar."""
    run: Callable[[Engines, SimSettings, ValidationOptions, Callable[[float], None]], Found]


def validate_robot(file: Path, options: ValidationOptions | None = None, report: Report | None = None) -> Validation:
    """All tests of one file. An engine that fails is a failed row; what the file itself lacks has raised."""
    options = options or ValidationOptions()
    start = time.perf_counter()
    groups = [group for group in ALL if group.name in options.groups]
    whole = sum(group.work_s for group in groups)
    rows: list[Row] = []
    skipped: list[Skipped] = []
    pairs: list[Pair] = []
    done = 0.0
    with Engines(file, options.read, options.fidelity, options.open_physx) as engines:
        settings = resolve_settings(
            engines.robot, backend=options.backend, preset=options.preset, **dict(options.stated)
        )
        effective = _effective(engines, settings, options.fidelity)
        for group in groups:
            base = done

            def progress(seconds: float, group: Group = group) -> None:
                nonlocal done
                done = min(done + seconds, base + group.work_s)  # noqa: B023
                if report is not None:
                    report(group.title, done / whole)

            progress(0.0)
            try:
                found = group.run(engines, settings, options, progress)
            except InputError as error:
                if error.diagnostic.code == "E056":  # no PhysX at all: no test can run
                    raise
                engines.close()
                found = Found(rows=[_failed(group, error)])
            for row in found.rows:
                unsure = undecided(row)
                if unsure is None:
                    rows.append(row)
                else:
                    skipped.append(unsure)
            skipped += found.skipped
            pairs += found.pairs
            done = base + group.work_s
        subject = file.name
        return Validation(
            subject=subject,
            rows=tuple(rows),
            skipped=tuple(skipped),
            settings=effective,
            diagnostics=(*engines.diagnostics, *failures(rows, subject)),
            pairs=tuple(pairs),
            seconds=time.perf_counter() - start,
        )


def _effective(engines: Engines, settings: SimSettings, fidelity: Fidelity) -> Mapping[str, Any]:
    try:
        sim = engines.open_mujoco(engines.variant(settings))
    except InputError:
        return {"physx": physx_settings(settings), "mujoco": None}
    with sim:
        return {"physx": physx_settings(settings), "mujoco": mujoco_settings(settings, fidelity, sim.model)}


def _failed(group: Group, error: InputError) -> Row:
    """An engine that gave up."""
    found = error.diagnostic
    return Row(
        name=group.title,
        value=float("nan"),
        limit=0.0,
        unit="",
        code=group.code,
        note=f"{found.where}: {found.code}: {found.message}",
    )


def _static(
    engines: Engines, settings: SimSettings, options: ValidationOptions, progress: Callable[[float], None]
) -> Found:
    variant = engines.variant(settings)
    two = common(*engines.open(variant))
    facts = joint_facts(variant.robot, two.b, two.joints)
    share = 5.0 / max(options.configurations, 1)
    rows, skipped = static_rows(
        two,
        facts,
        limits=options.limits,
        count=options.configurations,
        progress=lambda _: progress(share),
    )
    return Found(rows=rows, skipped=skipped)


def _fall(engines: Engines, settings: SimSettings, _: ValidationOptions, progress: Callable[[float], None]) -> Found:
    return free_fall(engines, engines.variant(settings, fix_base=False), progress)


def _swing(engines: Engines, settings: SimSettings, _: ValidationOptions, progress: Callable[[float], None]) -> Found:
    return swing_tests(engines, _held(engines, settings), progress)


def _drives(engines: Engines, settings: SimSettings, _: ValidationOptions, progress: Callable[[float], None]) -> Found:
    return drive_tests(engines, _held(engines, settings), progress)


def _stand(engines: Engines, settings: SimSettings, _: ValidationOptions, progress: Callable[[float], None]) -> Found:
    return stand_tests(engines, engines.variant(settings), progress)


def _slip(engines: Engines, settings: SimSettings, _: ValidationOptions, progress: Callable[[float], None]) -> Found:
    return slip_tests(engines, engines.variant(settings), progress)


def _held(engines: Engines, settings: SimSettings) -> Variant:
    return engines.variant(settings, fix_base=True)


ALL = (
    Group(name="static", title="static parity", code=KINEMATIC, work_s=5.0, run=_static),
    Group(name="fall", title="free fall", code=DYNAMIC, work_s=FALL_S, run=_fall),
    Group(name="swing", title="passive swing", code=DYNAMIC, work_s=3 * SWING_S, run=_swing),
    Group(name="drives", title="steps and tracking", code=DYNAMIC, work_s=STEP_S + TRACK_S, run=_drives),
    Group(name="stand", title="drop and stand", code=COLLISION, work_s=2 * STAND_S, run=_stand),
    Group(name="slip", title="incline slip", code=COLLISION, work_s=4 * SLIDE_S, run=_slip),
)
