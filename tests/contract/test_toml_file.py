"""contract.toml: read back it is the same contract; what is not known in it is refused with its key."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isaaclab_mirror.contract.contract import Contract
from isaaclab_mirror.contract.loading import load_contract
from isaaclab_mirror.contract.toml_file import read_contract, write_contract
from isaaclab_mirror.diagnostics import InputError
from tests.contract.envs import env, write_run

TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
NUMBER = st.one_of(
    st.floats(allow_nan=False), st.integers(-(2**53), 2**53), st.sampled_from([0.0, -0.0, 1e-300, 1e308, math.inf])
)
DATA = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBER, TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=4).map(tuple), st.dictionaries(TEXT, inner, max_size=4)),
    max_leaves=12,
)


@pytest.fixture
def contract(tmp_path: Path) -> Contract:
    return load_contract(write_run(tmp_path / "run", env()))


def test_written_and_read_it_is_the_same_contract(contract: Contract, tmp_path: Path):
    file = write_contract(contract, tmp_path / "out" / "contract.toml")
    assert read_contract(file) == contract
    assert load_contract(file) == contract
    assert load_contract(file.parent) == contract


@pytest.mark.shared
@pytest.mark.slow
def test_every_shared_config_survives_the_file(shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ISAACLAB_MIRROR_ASSETS", str(shared / "isaaclab-recordings" / "assets"))
    folders = [*(shared / "policies").iterdir(), *(shared / "isaaclab-configs").iterdir()]
    count = 0
    for folder in sorted(folder for folder in folders if folder.is_dir()):
        contract = load_contract(folder)
        assert read_contract(write_contract(contract, tmp_path / folder.name / "contract.toml")) == contract, (
            folder.name
        )
        count += 1
    assert count == 81


@given(
    spawn=st.dictionaries(TEXT, DATA, max_size=4),
    params=st.dictionaries(TEXT, DATA, max_size=4),
    names=st.dictionaries(TEXT, st.floats(allow_nan=False), max_size=4),
    name=TEXT,
    dt=st.floats(1e-6, 1.0),
    clip=st.lists(st.tuples(NUMBER.map(float), NUMBER.map(float)), max_size=3).map(tuple),
)
@settings(max_examples=150, deadline=None)
def test_any_data_survive_the_file(
    tmp_path_factory: pytest.TempPathFactory,
    spawn: dict[str, Any],
    params: dict[str, Any],
    names: dict[str, float],
    name: str,
    dt: float,
    clip: tuple[tuple[float, float], ...],
):
    from isaaclab_mirror.contract.contract import ActionTerm, RobotSpec, SimSpec, SourceInfo, SourceKind, Term

    contract = Contract(
        name=name,
        source=SourceInfo(kind=SourceKind.CONTRACT, files=(Path("/somewhere/else/env.yaml"),)),
        sim=SimSpec(dt=dt, decimation=4, config=params),
        robot=RobotSpec(spawn=spawn, joint_pos_patterns=names, fix_base=None),
        actions=(ActionTerm(name=name, kind="A", clip=clip, params=params), ActionTerm(name="b", kind="B")),
        commands=(Term(name="c", func=name, params=spawn, interval_s=(0.0, math.inf)),),
        extras={"a": params},
    )
    file = tmp_path_factory.getbasetemp() / "contract.toml"
    assert read_contract(write_contract(contract, file)) == contract


def test_files_are_named_relative_to_it(contract: Contract, tmp_path: Path):
    text = write_contract(contract, tmp_path / "run" / "contract.toml").read_text()
    assert 'file = "model.xml"' in text
    assert 'files = ["env.yaml"]' in text


def test_an_edited_number_counts_and_is_not_resolved_again(contract: Contract, tmp_path: Path):
    file = write_contract(contract, tmp_path / "contract.toml")
    file.write_text(file.read_text().replace("stiffness = [20.0, 20.0", "stiffness = [99.0, 20.0"))
    assert load_contract(file).joint_values("stiffness") == (99.0, 20.0, 20.0, 20.0)


def test_another_robot_file_only_renames_joints(contract: Contract, tmp_path: Path):
    file = write_contract(contract, tmp_path / "contract.toml")
    other = tmp_path / "other.xml"
    text = (tmp_path / "run" / "model.xml").read_text().replace('armature="0.02"', 'armature="0.5"')
    other.write_text(text.replace('_hip"', '_hip_joint"').replace('_knee"', '_knee_joint"'))
    moved = load_contract(file, robot_file=other)
    assert moved.joint_names == contract.joint_names
    assert moved.joint_values("armature") == contract.joint_values("armature")
    assert moved.robot.joint_aliases["left_hip"] == "left_hip_joint"


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("dt = 0.005", "dtt = 0.005", "sim.dtt: error E111: there is no such key"),
        ("dt = 0.005", 'dt = "fast"', "sim.dt: error E111: 'fast' is not a number"),
        ("dt = 0.005", "dt = true", "sim.dt: error E111: True is not a number"),
        ("dt = 0.005\n", "", "sim.dt: error E111: the key is missing"),
        ("decimation = 4", "decimation = 4.5", "sim.decimation: error E111: 4.5 is not a whole number"),
        ('kind = "isaaclab_env"', 'kind = "mine"', "source.kind: error E111: 'mine' is not one of isaaclab_run"),
        ("pos = [0.0, 0.0, 0.45]", "pos = [0.0, 0.45]", "robot.pos: error E111: 2 values where 3 are needed"),
        ("schema = 1", "schema = 2", "schema: error E111: schema 2 is later than 1"),
        ("schema = 1", "", "schema: error E111: the key is missing"),
        ("schema = 1", "schema = [", "error E103: it is no TOML"),
        ("[sim]", "[sim]\n[sim.material.colour]\nred = 1\n[sim]", "error E103: it is no TOML"),
        ("[robot]", "[robots]", "robots: error E111: there is no such key"),
    ],
)
def test_what_is_wrong_in_it_is_refused_with_its_key(contract: Contract, tmp_path: Path, old: str, new: str, key: str):
    file = write_contract(contract, tmp_path / "contract.toml")
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new, 1))
    with pytest.raises(InputError) as error:
        load_contract(file)
    assert f"contract.toml: {key}" in str(error.value) or f"contract.toml:{key}" in str(error.value)


def test_a_resolved_contract_stays_so_without_its_robot_file(contract: Contract, tmp_path: Path):
    gone = replace(contract, robot=replace(contract.robot, file=None))
    again = load_contract(write_contract(gone, tmp_path / "far" / "contract.toml"))
    assert again.is_resolved
    assert again.joint_values("stiffness") == contract.joint_values("stiffness")
