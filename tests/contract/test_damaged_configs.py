"""Whatever is wrong in a config: it is read, or refused in one message; never a traceback."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from isaaclab_mirror.contract import loading
from isaaclab_mirror.contract.contract import Contract
from isaaclab_mirror.contract.json_form import contract_json
from isaaclab_mirror.contract.resolve import resolve_contract
from isaaclab_mirror.contract.robot_edit import robot_of, sim_settings_of
from isaaclab_mirror.contract.safe_yaml import load_yaml
from isaaclab_mirror.contract.toml_text import from_toml, to_toml
from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.robot.model import Robot
from isaaclab_mirror.sims.mjcf_robot import mjcf_robot
from tests.contract.envs import ROBOT, env
from tests.contract.test_other_configs import DEPLOY, GYM, LEAPP
from tests.contract.test_robot_edit import MATERIAL

JUNK: tuple[Any, ...] = (
    *(None, 0, -1, 3.7, float("nan"), float("inf"), -5e300, True, "", "x", ".*", "(", "a:b:c"),
    *((), (1,), (1, 2, 3), ("a", "b"), (None,), ((1, 2),), {}, {"a": 1}, {".*": 2.0}, {".*": "y"}, {"func": 3}),
    {"name": "robot"},
)
GONE = object()
CONFIGS = {"env": env(events={"material": MATERIAL}), "deploy": DEPLOY, "gym": GYM, "leapp": LEAPP}


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    items = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, tuple) else ()
    for key, inner in items:
        yield from places(inner, (*path, key))


def damaged(value: Any, path: tuple[Any, ...], junk: Any) -> Any:
    if not path:
        return junk
    if isinstance(value, Mapping):
        changed = {key: damaged(inner, path[1:], junk) if key == path[0] else inner for key, inner in value.items()}
        return {key: inner for key, inner in changed.items() if inner is not GONE}
    changed = [damaged(inner, path[1:], junk) if k == path[0] else inner for k, inner in enumerate(value)]
    return tuple(inner for inner in changed if inner is not GONE)


def read_all(data: Mapping[str, Any], file: Path, robot: Robot) -> bool:
    """Everything that is made of a config; whether it was read."""
    reader = loading._reader(data)
    if reader is None:
        return False
    try:
        contract = resolve_contract(reader(file, data), robot)
        robot_of(contract, robot)
        sim_settings_of(contract, robot)
    except InputError:
        return False
    contract_json(contract)
    text = "schema = 1\n" + to_toml(contract, file.parent)
    again = from_toml(Contract, tomllib.loads(text), "contract.toml", file.parent)
    assert again == contract or "nan" in text  # nan, kept as data, is unequal to itself
    return True


@pytest.mark.parametrize("kind", sorted(CONFIGS))
def test_a_damaged_config_is_read_or_refused(tmp_path: Path, kind: str):
    (tmp_path / "model.xml").write_text(ROBOT)
    file = tmp_path / f"{kind}.yaml"
    file.write_text(yaml.safe_dump(CONFIGS[kind], sort_keys=False))
    data, robot, rng = load_yaml(file), mjcf_robot(tmp_path / "model.xml"), random.Random(7)  # noqa: S311
    paths = list(places(data))
    assert read_all(data, file, robot)
    count = sum(read_all(damaged(data, rng.choice(paths), rng.choice((*JUNK, GONE))), file, robot) for _ in range(250))
    assert 20 < count < 240
