"""unitree_rl_gym's deployment YAML (`g1.yaml`, `h1.yaml`, …): a policy of legged_gym, trained in Isaac Gym.

The file has numbers only; what they mean is in the author's `deploy_mujoco.py`, which runs the policy on his own MJCF:
explicit PD at every physics step, joints depth first as in that file, observation = angular velocity, gravity,
command, joint positions from the default, joint velocities, last action, and (two more numbers) sine and cosine of a
gait clock of 0.8 s.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from isaaclab_mirror.contract.contract import (
    ActuatorKind,
    Contract,
    ObservationGroup,
    Order,
    OrderSource,
    RobotSpec,
    SourceInfo,
    SourceKind,
)
from isaaclab_mirror.contract.loaders.plain import (
    COMMAND,
    GAIT,
    NOT_STATED,
    joint_positions,
    legged_sim,
    observation,
    pd_group,
    time_out,
    velocity_command,
)
from isaaclab_mirror.contract.node import Node
from isaaclab_mirror.contract.places import place
from isaaclab_mirror.diagnostics import Diagnostics

PERIOD_S = 0.8
CLOCK = 2
"""Numbers of the gait clock."""
RANGE = (-1.0, 1.0)
"""legged_gym's commands [m/s, rad/s]."""


def is_rl_gym(data: Mapping[str, Any]) -> bool:
    """Whether a YAML document is such a file."""
    return all(key in data for key in ("control_decimation", "simulation_dt", "kps", "num_actions"))


def load_rl_gym(file: Path, data: Mapping[str, Any]) -> Contract:
    """The contract of such a file, joints numbered depth first."""
    found = Diagnostics()
    top = Node(data, file)
    count = top.whole("num_actions", least=1)
    names = tuple(place(k) for k in range(count))
    terms = [
        observation("base_ang_vel", "base_ang_vel", 3, scale=(top.number("ang_vel_scale"),)),
        observation("projected_gravity", "projected_gravity", 3),
        observation(
            "velocity_commands",
            "generated_commands",
            3,
            scale=top.numbers("cmd_scale", 3),
            params={"command_name": COMMAND},
        ),
        observation("joint_pos", "joint_pos_rel", count, scale=(top.number("dof_pos_scale"),)),
        observation("joint_vel", "joint_vel_rel", count, scale=(top.number("dof_vel_scale"),)),
        observation("actions", "last_action", count),
    ]
    size, known = top.whole("num_obs", least=1), 9 + 3 * count
    if size == known + CLOCK:
        terms.append(observation("gait_phase", GAIT, CLOCK, params={"period": PERIOD_S}))
    elif size != known:
        raise top.wrong("num_obs", f"{known}, or {known + CLOCK} with the gait clock, for {count} joints")
    found.info(
        "E110",
        top.where(),
        "the layout of the observation is that of the author's deploy_mujoco.py; the file does not have it",
        "write a contract.toml if your script computes another",
    )
    return Contract(
        name=file.parent.name,
        source=SourceInfo(kind=SourceKind.UNITREE_RL_GYM, files=(file,), framework="isaacgym", version="unknown"),
        sim=legged_sim(top.number("simulation_dt"), top.whole("control_decimation", least=1), "isaacgym"),
        robot=RobotSpec(
            reference=top.text("xml_path", ""),
            joint_places=tuple(range(count)),
            joint_pos_patterns=dict(zip(names, top.numbers("default_angles", count), strict=True)),
        ),
        joints=Order(source=OrderSource.GUESS, note="Isaac Gym: depth first, as in the author's MJCF"),
        quat_order="xyzw",
        actuators=(
            pd_group(
                ActuatorKind.IDEAL_PD,
                names,
                stiffness=top.numbers("kps", count),
                damping=top.numbers("kds", count),
            ),
        ),
        observations=(ObservationGroup(name="policy", terms=tuple(terms)),),
        actions=(joint_positions(names, scale=(top.number("action_scale"),) * count),),
        commands=(velocity_command(RANGE, RANGE, RANGE),),
        terminations=(time_out(),),
        extras={"policy_names": (top.text("policy_path", ""),)},
        provenance={
            "sim.dt": f"{file.name}:simulation_dt",
            "sim.decimation": f"{file.name}:control_decimation",
            "sim.material": f"{NOT_STATED}friction 1, multiplied",
            "robot.default_joint_pos": f"{file.name}:default_angles",
            "actuators.joints.stiffness": f"{file.name}:kps",
            "actuators.joints.damping": f"{file.name}:kds",
            "observations": f"{file.name}: scales; order of the author's deploy_mujoco.py",
            "actions": f"{file.name}:action_scale",
            "commands": f"{NOT_STATED}legged_gym's ±1",
        },
        diagnostics=tuple(found),
    )
