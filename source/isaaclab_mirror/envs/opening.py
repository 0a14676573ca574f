"""open_mirror: from a contract or what a policy's author left to a running `Mirror`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from isaaclab_mirror.adapter.adapter import Adapter
from isaaclab_mirror.contract.contract import Contract
from isaaclab_mirror.contract.loading import load_contract
from isaaclab_mirror.contract.robot_edit import robot_of, sim_settings_of
from isaaclab_mirror.contract.robot_file import load_robot_file
from isaaclab_mirror.diagnostics import Diagnostic, InputError
from isaaclab_mirror.envs.commanding import hold_commands
from isaaclab_mirror.envs.mirror import Mirror
from isaaclab_mirror.envs.randomizing import randomized
from isaaclab_mirror.envs.scene import SimulatedScene
from isaaclab_mirror.physics.options import Fidelity
from isaaclab_mirror.robot.model import Robot
from isaaclab_mirror.sims.settings import SimSettings
from isaaclab_mirror.sims.simulator import Simulator

SIMS = ("mujoco", "physx")
RATES = ("timestep_s", "decimation")


@dataclass(frozen=True, slots=True, kw_only=True)
class MirrorOptions:
    """What a replay may be asked for beside the contract."""

    sim: str = "mujoco"
    """`mujoco` or `physx`."""
    fidelity: Fidelity | str = Fidelity.PHYSX
    """MuJoCo's: `nominal`, `physx`, `emulate`."""
    env_count: int = 1
    seed: int = 0
    noise: bool = False
    """Observation noise, where the task has it."""
    randomize: bool = False
    """The task's own randomisation of masses, centres of mass, friction, gains and joints: one draw by `seed`."""
    pushes: bool = False
    """Events that disturb the robot during an episode."""
    rewards: bool = True
    visuals: bool = False
    """Keep what is only seen, for pictures."""
    threads: int | None = None
    commands: Mapping[str, Sequence[float]] = field(default_factory=dict[str, Sequence[float]])
    """Command term → values that it is held at; `velocity` is whatever the task calls its velocity command."""
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Fields of `SimSettings` that are to be others than the contract's; rates are the contract's own."""


def open_mirror(
    run: Contract | str | Path,
    options: MirrorOptions | None = None,
    *,
    robot_file: str | Path | None = None,
    policy_file: str | Path | None = None,
) -> Mirror:
    """Environments for a contract, or for a run folder or config that one is loaded from."""
    options = options or MirrorOptions()
    contract = run if isinstance(run, Contract) else load_contract(run, robot_file=robot_file, policy_file=policy_file)
    file = contract.robot.file
    if file is None or not contract.is_resolved:
        raise InputError(
            "E108",
            contract.name,
            f"the robot {contract.robot.reference or ''} is not here".replace("  ", " "),
            "give its file with --robot",
        )
    if not options.pushes:
        contract = replace(contract, events=tuple(term for term in contract.events if term.mode != "interval"))
    asset = load_robot_file(file, contract.robot)
    left_out: list[Diagnostic] = []
    robot = robot_of(contract, asset)
    if options.randomize:
        contract, change, left_out = randomized(contract, options.seed)
        robot = change(robot_of(contract, asset))
    settings = changed_settings(sim_settings_of(contract, asset), options.settings)
    simulator = open_simulator(robot, settings, options)
    try:
        adapter = Adapter(
            contract,
            joint_names=simulator.joint_names,
            link_names=simulator.link_names,
            env_count=options.env_count,
            scene=SimulatedScene(simulator, contract.sim.terrain.height),
            seed=options.seed,
            noise=options.noise,
            rewards=options.rewards,
        )
        hold_commands(adapter, options.commands)
        adapter.missing += left_out
        return Mirror(contract, robot, simulator, adapter)
    except BaseException:
        simulator.close()
        raise


def changed_settings(settings: SimSettings, changes: Mapping[str, Any]) -> SimSettings:
    """The contract's settings with what the caller states; the step and the decimation are the policy's."""
    for name in RATES:
        if name in changes:
            raise InputError("E050", "settings", f"{name} is what the policy was trained at: it cannot be changed")
    provenance = {**settings.provenance, **dict.fromkeys(changes, "caller")}
    return replace(settings, **changes, provenance=provenance) if changes else settings


def open_simulator(robot: Robot, settings: SimSettings, options: MirrorOptions) -> Simulator:
    """The engine that is asked for."""
    if options.sim == "physx":
        from isaaclab_mirror.sims.physx_sim import open_physx

        return open_physx(robot, env_count=options.env_count, settings=settings, threads=options.threads)
    if options.sim != "mujoco":
        raise InputError("E091", "sim", f"{options.sim!r} is no simulator", f"one of {', '.join(SIMS)}")
    from isaaclab_mirror.sims.mujoco_sim import MujocoSim

    return MujocoSim(
        robot,
        env_count=options.env_count,
        settings=settings,
        fidelity=options.fidelity,
        visuals=options.visuals,
        threads=options.threads,
    )
