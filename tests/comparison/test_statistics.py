"""Confidence intervals that hold what they promise."""

from __future__ import annotations

import math

import numpy as np
import pytest

from isaaclab_mirror.comparison.statistics import Mean, difference_of_pairs, mean_of, ratio_of_pairs


def test_an_interval_holds_the_true_mean_about_nineteen_times_in_twenty():
    rng = np.random.default_rng(3)
    held = sum(1.5 in mean_of(rng.exponential(1.5, size=60), seed) for seed in range(300))
    assert 0.90 <= held / 300 <= 0.98


def test_matched_starts_make_a_difference_visible_that_unmatched_ones_hide():
    rng = np.random.default_rng(1)
    base = rng.normal(50.0, 10.0, size=40)
    ours = base + 0.5 + rng.normal(0.0, 0.2, size=40)
    paired = difference_of_pairs(ours, base)
    assert paired.low > 0.3
    assert mean_of(ours).overlaps(mean_of(base))


def test_one_sample_has_no_width_and_none_is_nan():
    assert mean_of([2.0]) == Mean(2.0, 2.0, 2.0)
    assert math.isnan(mean_of([math.nan]).value)


def test_a_ratio_of_returns_that_average_to_zero_is_not_a_number():
    assert math.isnan(ratio_of_pairs([1.0, 2.0], [1.0, -1.0]).value)
    assert ratio_of_pairs([2.0, 4.0], [1.0, 2.0]).value == pytest.approx(2.0)
