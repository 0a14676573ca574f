"""load_contract: from whatever a policy's author left to one `Contract`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from isaaclab_mirror.contract.contract import Contract, PolicyKind, SourceKind
from isaaclab_mirror.contract.finding import find_policy, find_robot, policy_spec
from isaaclab_mirror.contract.loaders.io_descriptor import is_descriptor, load_descriptor, with_descriptor
from isaaclab_mirror.contract.loaders.isaaclab_agent import library_of, with_agent
from isaaclab_mirror.contract.loaders.isaaclab_env import is_env, load_env
from isaaclab_mirror.contract.loaders.leapp import is_leapp, load_leapp
from isaaclab_mirror.contract.loaders.onnx_metadata import is_self_describing, load_onnx_metadata, read_metadata
from isaaclab_mirror.contract.loaders.rl_sar import is_rl_sar, load_rl_sar
from isaaclab_mirror.contract.loaders.unitree_deploy import is_deploy, load_deploy
from isaaclab_mirror.contract.loaders.unitree_rl_gym import is_rl_gym, load_rl_gym
from isaaclab_mirror.contract.node import Node
from isaaclab_mirror.contract.resolve import rename_joints, resolve_contract
from isaaclab_mirror.contract.robot_file import load_robot_file
from isaaclab_mirror.contract.safe_yaml import load_yaml, read_text
from isaaclab_mirror.contract.toml_file import read_contract
from isaaclab_mirror.diagnostics import Diagnostics, InputError
from isaaclab_mirror.robot.model import Robot

YAML = (".yaml", ".yml")


def load_contract(
    path: str | Path,
    *,
    robot_file: str | Path | None = None,
    policy_file: str | Path | None = None,
    resolve: bool = True,
) -> Contract:
    """What the policy at `path` expects.

    `path` is an Isaac Lab run folder, a folder with a policy and its author's config, a config file, an ONNX file with
    metadata, or a contract.toml. With `resolve` the robot's file, where it is given or found, turns patterns into
    joints and nulls into numbers; where none is, the contract comes back unresolved, and a diagnostic says so.
    """
    source = Path(path).absolute()
    if not source.exists():
        raise InputError("E100", source, "there is no such file or folder", "check the path")
    folder = source if source.is_dir() else source.parent
    if folder.name == "params":
        folder = folder.parent
    contract = _load(source, folder)
    contract = _with_policy(contract, folder, None if policy_file is None else Path(policy_file))
    contract = _with_robot(contract, folder, None if robot_file is None else Path(robot_file))
    if not resolve or contract.robot.file is None or (contract.is_resolved and robot_file is None):
        return contract
    contract, robot = _read_robot(contract, contract.robot.file)
    return rename_joints(contract, robot) if contract.is_resolved else resolve_contract(contract, robot)


def _load(source: Path, folder: Path) -> Contract:
    if source.is_file():
        return _load_file(source, folder)
    if (run := source / "params" / "env.yaml").is_file():
        return _load_run(run, source)
    for file in (source / "contract.toml", source / "env.yaml", source / "deploy.yaml"):
        if file.is_file():
            return _load_file(file, source)
    known = [(file, data) for file in _configs(source) if (data := load_yaml(file)) and _reader(data) is not None]
    if len(known) == 1:
        return _load_file(known[0][0], source)
    if known:
        listing = ", ".join(file.name for file, _ in known)
        raise InputError("E100", source, f"several files may be the policy's config: {listing}", "name the file itself")
    for file in sorted(source.glob("*.onnx")):
        if is_self_describing(metadata := read_metadata(file)):
            return load_onnx_metadata(file, metadata)
    raise InputError(
        "E100",
        source,
        "no config of a policy is in this folder",
        "give an Isaac Lab run folder, a folder with env.yaml or deploy.yaml, or a contract.toml",
    )


def _configs(folder: Path) -> list[Path]:
    return [file for file in sorted(folder.iterdir()) if file.suffix.lower() in YAML and file.is_file()]


def _load_file(file: Path, folder: Path) -> Contract:
    if file.suffix.lower() == ".toml":
        return read_contract(file)
    if file.suffix.lower() == ".onnx":
        return load_onnx_metadata(file, read_metadata(file))
    if file.suffix.lower() not in YAML:
        raise InputError(
            "E100", file, f"no config of a policy has the suffix {file.suffix!r}", "give .yaml, .toml or .onnx"
        )
    if file.name == "env.yaml" and file.parent.name == "params":
        return _load_run(file, folder)
    data = load_yaml(file)
    reader = _reader(data)
    if reader is None:
        raise InputError(
            "E100", file, "its keys are those of no config that is known", "known: env.yaml, deploy.yaml, contract.toml"
        )
    return reader(file, data)


Loader = Callable[[Path, Mapping[str, Any]], Contract]
YAML_LOADERS: tuple[tuple[Callable[[Mapping[str, Any]], bool], Loader], ...] = (
    (is_env, load_env),
    (is_deploy, load_deploy),
    (is_rl_gym, load_rl_gym),
    (is_rl_sar, load_rl_sar),
    (is_descriptor, load_descriptor),
    (is_leapp, load_leapp),
)
"""What tells a kind of config by its keys, and what reads it."""


def _reader(data: Mapping[str, Any]) -> Loader | None:
    return next((load for tells, load in YAML_LOADERS if tells(data)), None)


def _load_run(env: Path, folder: Path) -> Contract:
    """A run folder of Isaac Lab: params/, run.json, io_descriptors/."""
    contract = load_env(env)
    source = replace(contract.source, kind=SourceKind.ISAACLAB_RUN, task=_task(folder / "run.json"))
    contract = replace(contract, name=folder.name, source=source)
    for name in DESCRIPTORS:
        if (file := folder / name).is_file():
            return with_descriptor(contract, file)
    return contract


DESCRIPTORS = ("io_descriptors/IO_descriptors.yaml", "params/IO_descriptors.yaml", "IO_descriptors.yaml")


def _task(file: Path) -> str:
    """The registered id, where run.json (3.x) has one."""
    try:
        document: Any = json.loads(read_text(file)) if file.is_file() else {}
    except ValueError:
        return ""
    task = cast(Mapping[str, Any], document).get("task") if isinstance(document, Mapping) else None
    return task if isinstance(task, str) else ""


def _with_policy(contract: Contract, folder: Path, given: Path | None) -> Contract:
    """The policy's file: as given, as the contract says, or as found; agent.yaml says how to rebuild a checkpoint."""
    written = contract.policy
    config: Mapping[str, Any] = {} if written is None else written.config
    library: PolicyKind | None = None
    if written is None and (agent_file := _agent_file(folder)) is not None:
        config = load_yaml(agent_file)
        library = library_of(Node(config, agent_file))
        contract = with_agent(contract, agent_file)
    if given is None and written is not None and written.file.is_file():
        return contract
    named = [Path(name).name for name in contract.extras.get("policy_names", ()) if name]
    file = given or (find_policy(folder, named) if written is None else written.file)
    if file is not None:
        return replace(contract, policy=policy_spec(file.absolute(), config, library))
    found = Diagnostics()
    if "E107" not in {known.code for known in contract.diagnostics}:
        found.warn("E107", folder.name, "there is no policy in this folder", "give one with --policy")
    return replace(contract, diagnostics=(*contract.diagnostics, *found))


def _agent_file(folder: Path) -> Path | None:
    return next((f for f in (folder / "params" / "agent.yaml", folder / "agent.yaml") if f.is_file()), None)


def _read_robot(contract: Contract, file: Path) -> tuple[Contract, Robot]:
    """The robot, and the contract without variants that its file does not have: Isaac Lab goes on without them too."""
    try:
        return contract, load_robot_file(file, contract.robot)
    except InputError as error:
        if error.diagnostic.code != "E016" or not contract.robot.variants:
            raise
        found = Diagnostics()
        found.warn("E016", error.diagnostic.where, f"{error.diagnostic.message}: read without", error.diagnostic.hint)
        spec = replace(contract.robot, variants={})
        contract = replace(contract, robot=spec, diagnostics=(*contract.diagnostics, *found))
        return contract, load_robot_file(file, spec)


def _with_robot(contract: Contract, folder: Path, given: Path | None) -> Contract:
    if given is not None:
        if not given.is_file():
            raise InputError("E108", given, "there is no such robot file", "check the path")
        return replace(contract, robot=replace(contract.robot, file=given.absolute()))
    if contract.robot.file is not None:
        return contract
    found = Diagnostics()
    where = contract.source.files[0].name if contract.source.files else contract.name
    file = find_robot(contract.robot.reference, folder, found, where)
    if file is None:
        found.warn(
            "E108",
            where,
            f"the robot file {contract.robot.reference or '(none is named)'} is not here: joints stay patterns",
            "give it with --robot, or the root of Isaac's assets in ISAACLAB_MIRROR_ASSETS",
        )
    return replace(
        contract,
        robot=replace(contract.robot, file=file),
        diagnostics=(*contract.diagnostics, *found),
    )
