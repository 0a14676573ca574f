"""The fit itself: least squares over rollouts of all trials, finite differences of all parameters in one batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from isaaclab_mirror.calibration.parameters import ModelChanger, Parameter
from isaaclab_mirror.calibration.rollouts import Motion, Rollouts, errors
from isaaclab_mirror.comparison.recording import Recording

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

PULL = 0.02
"""Weight of a parameter's distance from its start: what the trials do not tell stays there."""
NUDGES = (0.02, 0.005, 0.001)
"""Of a parameter, for its derivative: coarse first, as contacts and limits come and go with small changes."""
STEPS = 12


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Problem:
    """Trials in MuJoCo, what PhysX did in them, and what may be changed."""

    names: Sequence[str]
    """Joints, as the trials order them."""
    rollouts: Rollouts
    truth: Sequence[Recording]
    changer: ModelChanger
    parameters: Sequence[Parameter]
    weights: Array
    """(joints,): 1 for hinges; a slide's metre counts as five radians, as its targets are a fifth."""

    def motions(self, values: Sequence[Array]) -> list[list[Motion]]:
        """Of every set of values, in every trial."""
        return self.rollouts.run([self.changer.changed(x) for x in values])

    def errors(self, values: Sequence[Array]) -> list[list[Array]]:
        """(ticks, joints + base) of every set of values, in every trial."""
        return [
            [errors(motion, truth, self.weights) for motion, truth in zip(row, self.truth, strict=True)]
            for row in self.motions(values)
        ]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fit:
    """Values found, and how often all trials were run."""

    x: Array
    cost: tuple[float, float]
    """Before (1) and after: sum of the squared errors as they are weighed, without the pull."""
    rounds: int


def fit(problem: Problem, *, steps: int = STEPS, progress: Callable[[float], None] | None = None) -> Fit:
    """Bounded Levenberg-Marquardt from 0: the step damped by six amounts at once, of which the best is taken.

    A trial's errors are divided by the root of its own rms and of all trials' together at the start: between counting
    every trial alike, which guards what is close already, and every error alike, which only sees the worst trial. Many
    parameters begin at a bound, where
    `scipy.optimize.least_squares` shortens the whole step; the bounded linear problem of each step does not.
    """
    import numpy as np

    count = len(problem.parameters)
    low, high = np.array([p.bounds for p in problem.parameters]).T
    x = np.zeros(count)
    first = problem.errors([x])[0]
    own = [max(float(np.linalg.norm(e)), 1e-12) for e in first]
    pooled = (sum(size**2 for size in own) / len(own)) ** 0.5
    norms = [(size * pooled * len(own)) ** 0.5 for size in own]
    whole = sum(size**2 / norm**2 for size, norm in zip(own, norms, strict=True)) ** 0.5
    norms = [norm * whole for norm in norms]  # the cost at the start is 1

    def residual(found: list[Array], values: Array) -> Array:
        parts = [(e / norm).ravel() for e, norm in zip(found, norms, strict=True)]
        return np.concatenate([*parts, PULL * values])

    here = residual(first, x)
    cost, rounds, nudge = float(here @ here), 0, NUDGES[0]
    while rounds < steps:
        slope = _slope(problem, x, high, residual, nudge)
        rounds += 1
        if progress is not None:
            progress(rounds / steps)
        tries = [np.clip(x + _step(slope, here, low - x, high - x, damping), low, high) for damping in DAMPINGS]
        found = [residual(e, v) for e, v in zip(problem.errors(tries), tries, strict=True)]
        costs = [float(r @ r) for r in found]
        best = int(np.argmin(costs))
        poor = costs[best] > cost * (1.0 - ENOUGH)
        if costs[best] < cost:
            x, here, cost = tries[best], found[best], costs[best]
        if poor and nudge == NUDGES[-1]:
            break
        if poor:
            nudge = NUDGES[NUDGES.index(nudge) + 1]
    pull = PULL**2 * float(x @ x)
    return Fit(x=x, cost=(1.0, cost - pull), rounds=rounds)


DAMPINGS = (1e-4, 1e-2, 0.1, 1.0, 10.0, 100.0)
"""Weights of a step's length, in shares of each parameter's curvature."""
FLAT = 1e-2
"""Curvature below which a parameter counts as not told by the trials."""
ENOUGH = 3e-3
"""A round that lowers the cost by less than this share asks for finer derivatives, or is the last."""


def _slope(
    problem: Problem, x: Array, high: Array, residual: Callable[[list[Array], Array], Array], nudge: float
) -> Array:
    """Derivatives of the residual, (residuals, parameters): one batch of rollouts."""
    import numpy as np

    nudges = np.where(x + nudge > high, -nudge, nudge)
    values = [x, *(x + by * unit for by, unit in zip(nudges, np.eye(len(x)), strict=True))]
    found = [residual(e, v) for e, v in zip(problem.errors(values), values, strict=True)]
    return np.array([(r - found[0]) / n for r, n in zip(found[1:], nudges, strict=True)]).T


def _step(slope: Array, here: Array, low: Array, high: Array, damping: float) -> Array:
    """Least squares of the linear model, within the bounds."""
    import numpy as np
    from scipy.optimize import lsq_linear

    # The normal equations' square root: as many rows as parameters, whatever the trials' length.
    # Damped by each parameter's own curvature (Marquardt): a gain may bend the residual a hundred times as much as a
    # friction does.
    normal = slope.T @ slope
    normal += np.diag(damping * (np.diag(normal) + FLAT))
    root = np.linalg.cholesky(normal)
    goal = np.linalg.solve(root, -(slope.T @ here))
    return lsq_linear(root.T, goal, bounds=(low - 1e-12, high + 1e-12), method="bvls").x
