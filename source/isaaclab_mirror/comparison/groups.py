"""The groups of tests of one robot, and the options that they run under."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from isaaclab_mirror.comparison.engines import Engines, OpenPhysx, physx_in_process
from isaaclab_mirror.comparison.excitation import joint_facts
from isaaclab_mirror.comparison.motions import FALL_S, STEP_S, TRACK_S, Found, drive_tests, free_fall
from isaaclab_mirror.comparison.rows import COLLISION, DYNAMIC, KINEMATIC
from isaaclab_mirror.comparison.standing import SLIDE_S, STAND_S, slip_tests, stand_tests
from isaaclab_mirror.comparison.static import StaticLimits, static_rows
from isaaclab_mirror.comparison.swing import SWING_S, swing_tests
from isaaclab_mirror.comparison.two import common
from isaaclab_mirror.formats.options import ReadOptions
from isaaclab_mirror.physics.options import Fidelity
from isaaclab_mirror.sims.settings import Backend, Preset, SimSettings

GROUPS = ("static", "fall", "swing", "drives", "stand", "slip")
"""Groups of tests, in the order in which they run."""


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
    open_physx: OpenPhysx = physx_in_process


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Tests that share a robot and settings."""

    name: str
    title: str
    code: str
    work_s: float
    """Simulated seconds, about: for the progress bar."""
    run: Callable[[Engines, SimSettings, ValidationOptions, Callable[[float], None]], Found]


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
    return free_fall(engines, engines.falling(settings), progress)


def _swing(engines: Engines, settings: SimSettings, _: ValidationOptions, progress: Callable[[float], None]) -> Found:
    return swing_tests(engines, engines.held(settings), progress)


def _drives(engines: Engines, settings: SimSettings, _: ValidationOptions, progress: Callable[[float], None]) -> Found:
    return drive_tests(engines, engines.held(settings), progress)


def _stand(engines: Engines, settings: SimSettings, _: ValidationOptions, progress: Callable[[float], None]) -> Found:
    return stand_tests(engines, engines.variant(settings), progress)


def _slip(engines: Engines, settings: SimSettings, _: ValidationOptions, progress: Callable[[float], None]) -> Found:
    return slip_tests(engines, engines.variant(settings), progress)


ALL = (
    Group(name="static", title="static parity", code=KINEMATIC, work_s=5.0, run=_static),
    Group(name="fall", title="free fall", code=DYNAMIC, work_s=FALL_S, run=_fall),
    Group(name="swing", title="passive swing", code=DYNAMIC, work_s=3 * SWING_S, run=_swing),
    Group(name="drives", title="steps and tracking", code=DYNAMIC, work_s=STEP_S + TRACK_S, run=_drives),
    Group(name="stand", title="drop and stand", code=COLLISION, work_s=2 * STAND_S, run=_stand),
    Group(name="slip", title="incline slip", code=COLLISION, work_s=4 * SLIDE_S, run=_slip),
)
