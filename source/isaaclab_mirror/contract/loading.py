"""load_contract: from whatever a policy's author left to one `Contract`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from isaaclab_mirror.contract.contract import Contract, PolicyKind, SourceKind
from isaaclab_mirror.contract.finding import find_policy, find_robot, policy_spec
from isaaclab_mirror.contract.loaders.isaaclab_agent import library_of, with_agent
from isaaclab_mirror.contract.loaders.isaaclab_env import is_env, load_env
from isaaclab_mirror.contract.node import Node
from isaaclab_mirror.contract.resolve import resolve_contract
from isaaclab_mirror.contract.robot_file import load_robot_file
from isaaclab_mirror.contract.safe_yaml import load_yaml
from isaaclab_mirror.diagnostics import Diagnostics, InputError

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
    if not resolve or contract.robot.file is None:
        return contract
    return resolve_contract(contract, load_robot_file(contract.robot.file, contract.robot))


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
    raise InputError(
        "E100",
        source,
        "no config of a policy is in this folder",
        "give an Isaac Lab run folder, a folder with env.yaml or deploy.yaml, or a contract.toml",
    )


def _configs(folder: Path) -> list[Path]:
    return [file for file in sorted(folder.iterdir()) if file.suffix.lower() in YAML and file.is_file()]


def _load_file(file: Path, folder: Path) -> Contract:
    if file.suffix.lower() not in YAML:
        raise InputError("E100", file, f"no config of a policy has the suffix {file.suffix!r}", "give .yaml or .toml")
    if file.name == "env.yaml" and file.parent.name == "params":
        return _load_run(file, folder)
    data = load_yaml(file)
    reader = _reader(data)
    if reader is None:
        raise InputError(
            "E100", file, "its keys are those of no config that is known", "known: env.yaml, deploy.yaml, contract.toml"
        )
    return reader(file, data)


def _reader(data: Mapping[str, Any]) -> Callable[[Path, Mapping[str, Any]], Contract] | None:
    return load_env if is_env(data) else None


def _load_run(env: Path, folder: Path) -> Contract:
    """A run folder of Isaac Lab: params/, run.json, io_descriptors/."""
    contract = load_env(env)
    return replace(contract, name=folder.name, source=replace(contract.source, kind=SourceKind.ISAACLAB_RUN))


def _with_policy(contract: Contract, folder: Path, given: Path | None) -> Contract:
    agent_file = next((f for f in (folder / "params" / "agent.yaml", folder / "agent.yaml") if f.is_file()), None)
    agent: Mapping[str, Any] = {}
    library: PolicyKind | None = None
    if agent_file is not None:
        agent = load_yaml(agent_file)
        library = library_of(Node(agent, agent_file))
        contract = with_agent(contract, agent_file)
    file = given or (contract.policy.file if contract.policy is not None else find_policy(folder))
    if file is None:
        found = Diagnostics()
        found.warn("E107", folder.name, "there is no policy in this folder", "give one with --policy")
        return replace(contract, diagnostics=(*contract.diagnostics, *found))
    return replace(contract, policy=policy_spec(file.absolute(), agent, library))


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
