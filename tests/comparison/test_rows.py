"""What a row says, and when a test is undecided."""

from __future__ import annotations

import math

from isaaclab_mirror.comparison.rows import DYNAMIC, KINEMATIC, Row, Validation, failures, undecided


def row(value: float, *, noise: float | None = None, required: bool = True, code: str = DYNAMIC) -> Row:
    return Row(name="tracking", value=value, limit=0.01, unit="rad", code=code, noise=noise, required=required)


def validation(*rows: Row) -> Validation:
    return Validation(subject="arm.usda", rows=rows, skipped=(), settings={})


def test_a_value_at_its_limit_passes_and_nan_never_does():
    assert row(0.01).passed
    assert not row(0.0101).passed
    assert not row(math.nan).passed


def test_only_what_the_standard_requires_decides_the_verdict():
    assert validation(row(0.001), row(1.0, required=False)).passed
    assert not validation(row(1.0)).passed


def test_a_failed_row_is_a_diagnostic_with_its_code_and_the_joint():
    failed = Row(name="joint limits", value=0.12, limit=1e-6, unit="rad or m", code=KINEMATIC, where="wrist_1_joint")
    (found,) = failures([failed, row(0.0)], "arm.usda")
    assert found.code == "V001"
    assert found.severity == "error"
    assert "wrist_1_joint" in found.message
    assert found.hint


def test_a_test_is_undecided_where_physx_differs_from_itself_by_more_than_the_limit():
    assert undecided(row(0.5, noise=0.02)) is not None
    assert undecided(row(0.5, noise=0.001)) is None
    assert undecided(row(0.001, noise=0.02)) is None, "a pass needs no excuse"
    assert undecided(row(math.nan, noise=0.02)) is None, "an engine that gave up has failed"


def test_json_has_null_where_nothing_could_be_measured():
    told = row(math.nan).to_json()
    assert told["value"] is None
    assert told["passed"] is False
    assert {"name", "value", "limit", "unit", "passed", "code", "where"} <= told.keys()
