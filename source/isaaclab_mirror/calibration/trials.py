"""What a robot is asked to do so that its parameters show: half to fit, half that the fit never sees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from isaaclab_mirror.comparison.excitation import JointFacts
from isaaclab_mirror.comparison.recording import Trial

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Targets = Callable[[float], Array]

FADE_S = 0.5
RISE_S = 0.25
STANDING = 0.4
"""Share of the usual amplitude that a standing robot's joints move by: it shall sway, not fall."""
DROPS_M = (0.02, 0.005, 0.03)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialSets:
    """Trials to fit and trials to judge."""

    train: tuple[Trial, ...]
    held_out: tuple[Trial, ...]


def make_trials(facts: JointFacts, *, seconds: float, seed: int, lowest_m: float | None, root: Array) -> TrialSets:
    """Sums of sinusoids, sweeps and steps; other seeds, frequencies and heights for the held-out ones.

    `lowest_m`: how low the robot reaches at its start, where it floats above a ground; None: it is held.
    """
    import numpy as np

    standing = lowest_m is not None
    size = facts.amplitude * (STANDING if standing else 1.0)
    centre = facts.home if standing else facts.centre
    rng = np.random.default_rng(seed)

    def trial(name: str, targets: Targets, speeds: Targets | None, drop: float) -> Trial:
        place = None if lowest_m is None else root + np.array([0.0, 0.0, drop - lowest_m])
        spun = speeds if facts.spun.any() else None
        return Trial(
            name=name,
            seconds=seconds,
            joint_pos=centre,
            root_pos_w=place,
            position_targets=targets,
            velocity_targets=spun,
        )

    def sines(name: str, low_hz: float, high_hz: float, drop: float) -> Trial:
        hertz = rng.uniform(low_hz, high_hz, (2, len(centre)))
        phase = rng.uniform(0, 2 * np.pi, (2, len(centre)))
        return trial(name, *_sines(facts, centre, size, hertz, phase), drop)

    def steps(name: str, drop: float) -> Trial:
        sign = rng.choice([-1.0, 1.0], len(centre))
        when = rng.uniform(0.2, 0.6 * seconds, len(centre))
        share = rng.uniform(0.4, 0.9, len(centre))
        return trial(name, *_steps(facts, centre, size * sign * share, when), drop)

    train = (
        sines("sinusoids 0.2 to 1 Hz", 0.2, 1.0, DROPS_M[0]),
        sines("sinusoids 0.3 to 1.4 Hz", 0.3, 1.4, DROPS_M[2]),
        sines("sinusoids 0.7 to 2 Hz", 0.7, 2.0, DROPS_M[1]),
        steps("steps", DROPS_M[0]),
    )
    held_out = (
        sines("sinusoids 0.4 to 1.5 Hz, held out", 0.4, 1.5, DROPS_M[2]),
        sines("sinusoids 0.2 to 2 Hz, held out", 0.2, 2.0, DROPS_M[0]),
        steps("steps, held out", DROPS_M[1]),
    )
    return TrialSets(train=train, held_out=held_out)


def _sines(facts: JointFacts, centre: Array, size: Array, hertz: Array, phase: Array) -> tuple[Targets, Targets]:
    """Two sinusoids per joint, from the centre without a jump."""
    import numpy as np

    def position(t: float) -> Array:
        wave = np.sin(2 * np.pi * hertz * t + phase).mean(axis=0)
        return centre + min(1.0, t / FADE_S) * size * wave * facts.held

    def velocity(t: float) -> Array:
        wave = (2 * np.pi * hertz * np.cos(2 * np.pi * hertz * t + phase)).mean(axis=0)
        return min(1.0, t / FADE_S) * size * wave * facts.spun

    return position, velocity


def _steps(facts: JointFacts, centre: Array, jump: Array, when: Array) -> tuple[Targets, Targets]:
    """Every joint goes to another place once, at its own time, within `RISE_S`: a jump would saturate stiff drives."""
    import numpy as np

    def share(t: float) -> Array:
        return 0.5 - 0.5 * np.cos(np.pi * np.clip((t - when) / RISE_S, 0.0, 1.0))

    def position(t: float) -> Array:
        return centre + jump * share(t) * facts.held

    def velocity(t: float) -> Array:
        return 4.0 * jump * share(t) * facts.spun

    return position, velocity
