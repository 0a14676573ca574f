"""`params/agent.yaml`: which library trained the policy, which observation groups it sees, what its wrapper clips."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

from isaaclab_mirror.contract.contract import Contract, PolicyKind, Wrapper
from isaaclab_mirror.contract.node import Node
from isaaclab_mirror.contract.safe_yaml import load_yaml

UNBOUNDED_SPACE = {"3.x": 1.0}
"""sb3 clips actions to the space, which Isaac Lab's wrapper bounds where the task does not: ±1 in 3.x, ±100 before."""


def library_of(agent: Node) -> PolicyKind | None:
    """Whose config it is; None where nothing tells."""
    data = agent.data
    if "num_steps_per_env" in data or "runner_class_name" in data or data.get("class_name") == "OnPolicyRunner":
        return PolicyKind.RSL_RL
    if "trainer" in data and "models" in data:
        return PolicyKind.SKRL
    if isinstance(data.get("params"), dict) and ("config" in agent.child("params") or "algo" in agent.child("params")):
        return PolicyKind.RL_GAMES
    if "n_timesteps" in data or "policy_kwargs" in data:
        return PolicyKind.SB3
    return None


def with_agent(contract: Contract, file: Path) -> Contract:
    """The contract with what agent.yaml says."""
    agent = Node(load_yaml(file), file)
    kind = library_of(agent)
    groups, said = policy_groups(agent, contract)
    provenance = dict(contract.provenance)
    if said:
        provenance["policy_groups"] = f"{file.name}:{said}"
    wrapper = wrapper_of(agent, kind, contract.source.version)
    if wrapper != Wrapper():
        provenance["wrapper"] = file.name
    return replace(
        contract,
        policy_groups=groups,
        wrapper=wrapper,
        source=replace(contract.source, files=(*contract.source.files, file)),
        provenance=provenance,
    )


def policy_groups(agent: Node, contract: Contract) -> tuple[tuple[str, ...], str]:
    """Groups of the policy's input in order, and the key that says so. An absent set is the group `policy`."""
    sets = agent.child("obs_groups")
    known = {group.name for group in contract.observations}
    for key in ("actor", "policy"):
        names = sets.names(key)
        if names:
            lost = [name for name in names if name not in known]
            if lost:
                raise sets.error(key, f"the task has no observation group {lost[0]!r}", f"it has {', '.join(known)}")
            return names, f"obs_groups.{key}"
        if key in known and key == "actor":
            return (key,), ""
    return contract.policy_groups, ""


def wrapper_of(agent: Node, kind: PolicyKind | None, version: str) -> Wrapper:
    """Clips between policy and environment."""
    if kind is PolicyKind.RSL_RL:
        return Wrapper(clip_actions=_both(agent.optional_number("clip_actions")))
    if kind is PolicyKind.RL_GAMES:
        env = agent.child("params").child("env")
        observations = env.number("clip_observations", math.inf) if "clip_observations" in env else math.inf
        actions = env.number("clip_actions", math.inf) if "clip_actions" in env else math.inf
        return Wrapper(
            clip_actions=_both(actions),
            clip_observations=observations if math.isfinite(observations) else None,
        )
    if kind is PolicyKind.SB3:
        return Wrapper(clip_actions=_both(UNBOUNDED_SPACE.get(version, 100.0)))
    return Wrapper()


def _both(bound: float | None) -> tuple[tuple[float, float], ...]:
    return ((-bound, bound),) if bound is not None and math.isfinite(bound) else ()
