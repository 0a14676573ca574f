"""`validate` of one robot: PhysX against MuJoCo, by the conversion standard's section 5 and beyond it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from isaaclab_mirror.comparison.engines import Engines
from isaaclab_mirror.comparison.groups import ALL, Group, ValidationOptions
from isaaclab_mirror.comparison.motions import Found
from isaaclab_mirror.comparison.rows import Row, Skipped, Validation, failures, undecided
from isaaclab_mirror.diagnostics import Diagnostic, InputError
from isaaclab_mirror.physics.options import Fidelity
from isaaclab_mirror.sims.effective import mujoco_settings, physx_settings
from isaaclab_mirror.sims.settings import SimSettings, resolve_settings

Report = Callable[[str, float], None]
"""Name of the group, share of all work that is done."""
NO_PHYSX, NOT_EMULATED = "E056", "E060"
STEPS_S = (1e-4, 0.02)
"""Shorter steps take hours for seconds of motion, longer ones are no simulation."""


class Listener(Protocol):
    """Who hears what the tests find, as they find it."""

    def opened(self, diagnostics: tuple[Diagnostic, ...], settings: Mapping[str, Any]) -> None:
        """The file has been read."""
        ...

    def progress(self, group: str, seconds: float) -> None:
        """Simulated seconds that a group is further on."""
        ...

    def found(self, group: str, found: Found) -> None:
        """A group is done."""
        ...


@dataclass(slots=True)
class Findings:
    """Collects them into a Validation."""

    subject: str
    groups: tuple[Group, ...]
    report: Report | None = None
    start: float = field(default_factory=time.perf_counter)
    diagnostics: tuple[Diagnostic, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    done: dict[str, Found] = field(default_factory=dict[str, Found])
    _worked: dict[str, float] = field(default_factory=dict[str, float])

    def opened(self, diagnostics: tuple[Diagnostic, ...], settings: Mapping[str, Any]) -> None:
        """See `Listener`."""
        self.diagnostics, self.settings = diagnostics, settings

    def progress(self, group: str, seconds: float) -> None:
        """See `Listener`."""
        self._worked[group] = self._worked.get(group, 0.0) + seconds
        if self.report is None:
            return
        whole = sum(one.work_s for one in self.groups)
        share = sum(
            one.work_s if one.name in self.done else min(self._worked.get(one.name, 0.0), one.work_s)
            for one in self.groups
        )
        title = next(one.title for one in self.groups if one.name == group)
        self.report(title, share / whole if whole else 1.0)

    def found(self, group: str, found: Found) -> None:
        """See `Listener`."""
        self.done[group] = found
        self.progress(group, 0.0)

    def validation(self) -> Validation:
        """All of it. What PhysX's own noise leaves undecided is no failure."""
        everything = [self.done[group.name] for group in self.groups if group.name in self.done]
        rows = [row for found in everything for row in found.rows]
        unsure = {id(row): skip for row in rows if (skip := undecided(row)) is not None}
        rows = [row for row in rows if id(row) not in unsure]
        skipped = [skip for found in everything for skip in found.skipped]
        return Validation(
            subject=self.subject,
            rows=tuple(rows),
            skipped=(*skipped, *unsure.values()),
            settings=self.settings,
            diagnostics=(*self.diagnostics, *failures(rows, self.subject)),
            pairs=tuple(pair for found in everything for pair in found.pairs),
            seconds=time.perf_counter() - self.start,
        )


def chosen_groups(options: ValidationOptions) -> tuple[Group, ...]:
    """Those that the options name, in the order in which they run."""
    return tuple(group for group in ALL if group.name in options.groups)


def validate_robot(file: Path, options: ValidationOptions | None = None, report: Report | None = None) -> Validation:
    """All tests of one file in this process. An engine that fails is a failed row; an unreadable file has raised."""
    options = options or ValidationOptions()
    findings = Findings(file.name, chosen_groups(options), report)
    run_groups(file, options, findings)
    return findings.validation()


def run_groups(file: Path, options: ValidationOptions, listener: Listener) -> None:
    """Read the file and run the groups, one after another."""
    with Engines(file, options.read, options.fidelity, options.open_physx) as engines:
        settings = resolve_settings(
            engines.robot, backend=options.backend, preset=options.preset, **dict(options.stated)
        )
        listener.opened(engines.diagnostics, _effective(engines, settings, options.fidelity))
        for group in chosen_groups(options):

            def progress(seconds: float, name: str = group.name) -> None:
                listener.progress(name, seconds)

            progress(0.0)
            listener.found(group.name, _run(group, engines, settings, options, progress))


def _run(
    group: Group,
    engines: Engines,
    settings: SimSettings,
    options: ValidationOptions,
    progress: Callable[[float], None],
) -> Found:
    shortest, longest = STEPS_S
    if group.name != "static" and not shortest <= settings.timestep_s <= longest:
        reason = f"with steps of {settings.timestep_s:g} s; --set timestep_s=… chooses another"
        return Found(skipped=[Skipped(name=group.title, reason=reason)])
    try:
        return group.run(engines, settings, options, progress)
    except InputError as error:
        engines.close()
        found = error.diagnostic
        if found.code == NO_PHYSX:  # no test can run
            raise
        if found.code == NOT_EMULATED:
            return Found(skipped=[Skipped(name=group.title, reason=found.message)])
        return Found(rows=[failed_row(group, found)])


def _effective(engines: Engines, settings: SimSettings, fidelity: Fidelity) -> Mapping[str, Any]:
    try:
        sim = engines.open_mujoco(engines.variant(settings))
    except InputError:
        return {"physx": physx_settings(settings), "mujoco": None}
    with sim:
        return {"physx": physx_settings(settings), "mujoco": mujoco_settings(settings, fidelity, sim.model)}


def failed_row(group: Group, found: Diagnostic) -> Row:
    """An engine that gave up."""
    return Row(
        name=group.title,
        value=float("nan"),
        limit=0.0,
        unit="",
        code=group.code,
        note=f"{found.where}: {found.code}: {found.message}",
    )
