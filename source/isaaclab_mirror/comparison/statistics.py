"""Means with confidence intervals, of samples that may be few and far from normal: by resampling them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]

RESAMPLED = 4000
PERCENT = 95.0


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean and its 95 % interval; nan where there was nothing to average, equal bounds for one sample."""

    value: float
    low: float
    high: float

    def __contains__(self, other: float) -> bool:
        """Whether a number lies in the interval."""
        return self.low <= other <= self.high

    def overlaps(self, other: Mean) -> bool:
        """Whether the intervals share a number."""
        return self.low <= other.high and other.low <= self.high


def mean_of(samples: ArrayLike, seed: int = 0) -> Mean:
    """The mean of independent samples; those that are not finite are left out."""
    import numpy as np

    values = np.asarray(samples, dtype=float).ravel()
    values = values[np.isfinite(values)]
    if not values.size:
        return Mean(float("nan"), float("nan"), float("nan"))
    drawn = values[np.random.default_rng(seed).integers(len(values), size=(RESAMPLED, len(values)))].mean(axis=1)
    return Mean(float(values.mean()), *_bounds(drawn))


def difference_of_pairs(ours: ArrayLike, theirs: ArrayLike, seed: int = 0) -> Mean:
    """Mean of ours − theirs over matched samples."""
    import numpy as np

    return mean_of(np.asarray(ours, dtype=float) - np.asarray(theirs, dtype=float), seed)


def ratio_of_pairs(ours: ArrayLike, theirs: ArrayLike, seed: int = 0) -> Mean:
    """Mean of ours over mean of theirs, matched samples drawn together; nan where theirs average to zero."""
    import numpy as np

    a, b = np.asarray(ours, dtype=float).ravel(), np.asarray(theirs, dtype=float).ravel()
    known = np.isfinite(a) & np.isfinite(b)
    a, b = a[known], b[known]
    if not a.size or abs(b.mean()) < 1e-9 * max(1.0, float(np.abs(b).max())):
        return Mean(float("nan"), float("nan"), float("nan"))
    rows = np.random.default_rng(seed).integers(len(a), size=(RESAMPLED, len(a)))
    bottom = b[rows].mean(axis=1)
    drawn = np.divide(a[rows].mean(axis=1), bottom, out=np.full(len(rows), np.nan), where=bottom != 0.0)
    return Mean(float(a.mean() / b.mean()), *_bounds(drawn[np.isfinite(drawn)]))


def _bounds(drawn: Array) -> tuple[float, float]:
    import numpy as np

    outside = (100.0 - PERCENT) / 2.0
    low, high = np.percentile(drawn, [outside, 100.0 - outside])
    return float(low), float(high)
