"""YAML of others is data: the tags of Isaac Lab's dumps are read, nothing is made and nothing runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from isaaclab_mirror.contract.safe_yaml import load_yaml
from isaaclab_mirror.diagnostics import InputError


def read(tmp_path: Path, text: str) -> dict[str, object]:
    file = tmp_path / "env.yaml"
    file.write_text(text, encoding="utf-8")
    return load_yaml(file)


def refused(tmp_path: Path, text: str) -> str:
    with pytest.raises(InputError) as error:
        read(tmp_path, text)
    assert error.value.diagnostic.code == "E103"
    return str(error.value)


def test_tuples_and_lists_become_tuples(tmp_path: Path):
    assert read(tmp_path, "a: !!python/tuple\n- 1\n- [2.5, x]\nb: [true, null]") == {
        "a": (1, (2.5, "x")),
        "b": (True, None),
    }


def test_a_slice_of_everything_is_none_and_another_one_stays_visible(tmp_path: Path):
    text = "all: !!python/object/apply:builtins.slice [null, null, null]\nsome: !!python/object/apply:builtins.slice [0, 3, null]"
    assert read(tmp_path, text) == {"all": None, "some": {"slice": (0, 3, None)}}


def test_names_of_functions_stay_text(tmp_path: Path):
    assert read(tmp_path, "func: !!python/name:os.system ''") == {"func": "os:system"}


def test_resolvable_strings_and_config_objects_are_read_as_data(tmp_path: Path):
    text = """\
shape: !!python/object:isaaclab.sim.spawners.meshes.meshes_cfg.MeshCuboidCfg
  func: !!python/object/new:isaaclab.utils.string.ResolvableString
    args: [isaaclab.sim:spawn_mesh_cuboid]
    state: !!python/tuple [null, {_resolved_callable: null}]
  size: !!python/tuple [0.1, 0.2, 0.3]
"""
    assert read(tmp_path, text) == {"shape": {"func": "isaaclab.sim:spawn_mesh_cuboid", "size": (0.1, 0.2, 0.3)}}


@pytest.mark.parametrize(
    "tag",
    [
        "!!python/object/apply:os.system ['touch {marker}']",
        "!!python/object/apply:subprocess.check_output [[touch, '{marker}']]",
        "!!python/object/new:os.system ['touch {marker}']",
        "!!python/object/new:type {{args: [ResolvableString], state: {{}}}}",
        "!!python/object:subprocess.Popen {{args: [touch, '{marker}']}}",
        "!!python/object/apply:builtins.eval ['1']",
        "!!python/module:this ''",
        "!custom [1]",
    ],
)
def test_a_tag_that_would_make_something_is_refused_with_its_key_and_nothing_runs(tmp_path: Path, tag: str):
    marker = tmp_path / "ran"
    message = refused(tmp_path, f"sim:\n  dt: {tag.format(marker=marker)}\n")
    assert "env.yaml:sim.dt" in message
    assert "is not read" in message
    assert not marker.exists()


def test_an_alias_bomb_is_refused_before_it_is_spelled_out(tmp_path: Path):
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 10)}]" for k in range(1, 9)]
    assert "more than" in refused(tmp_path, "\n".join(lines))


def test_a_node_that_holds_itself_is_refused(tmp_path: Path):
    assert "nested" in refused(tmp_path, "a: &a\n  b: *a\n")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "empty"),
        ("# nothing\n", "empty"),
        ("- 1\n- 2\n", "a list"),
        ("just words", "a single value"),
        ("a: [1, 2", "no YAML"),
        ("a: b: c", "no YAML"),
        ("a: " + "[" * 200_000, "nested"),
        ("- " * 200_000, "nested"),
    ],
    ids=["nothing", "a comment", "a list", "words", "half", "colons", "brackets", "dashes"],
)
def test_what_is_no_mapping_is_refused(tmp_path: Path, text: str, part: str):
    assert part in refused(tmp_path, text)


def test_what_is_no_text_is_refused(tmp_path: Path):
    file = tmp_path / "env.yaml"
    file.write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(InputError, match="UTF-8"):
        load_yaml(file)


def test_a_missing_file_is_refused(tmp_path: Path):
    with pytest.raises(InputError, match="cannot be read"):
        load_yaml(tmp_path / "env.yaml")
