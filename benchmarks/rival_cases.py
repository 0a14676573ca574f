"""The ten robots of `rival.py`: where they start and what their joints are asked to do."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from isaaclab_mirror.comparison.excitation import JointFacts

Array = NDArray[np.float64]
Values = Mapping[str, float]
"""Pattern of joint names → value, as Isaac Lab's `init_state.joint_pos`."""
FADE_S = 0.5
"""Motions begin without a jump."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """One robot, one motion: `track` joints on sinusoids, `gait` of legs that stand, `roll` on wheels."""

    name: str
    usd: str
    """Below the folder of the corpora."""
    motion: str
    text: str
    seconds: float = 3.0
    pose: Values = field(default_factory=dict)
    """Start [rad or m]; joints that no pattern names start at the centre of their targets."""
    swing: Values = field(default_factory=dict)
    """Amplitude of a gait or of steering [rad]; for `track` where it is not the usual one."""
    opposite: str = ""
    """Joints that swing the other way."""
    hertz: float = 2.0
    fix_base: bool | None = None
    """None: as the file says."""

    @property
    def grounded(self) -> bool:
        """Whether it stands on a plane."""
        return self.motion != "track"

    def start(self, facts: JointFacts) -> Array:
        """Of all joints."""
        named = matched(self.pose, facts.names)
        return np.where(np.isnan(named), facts.centre, named)

    def targets(self, facts: JointFacts, times_s: Array) -> tuple[Array, Array]:
        """Position and velocity targets, (times, joints)."""
        rows = {"track": self._track, "gait": self._gait, "roll": self._roll}[self.motion]
        return rows(facts, self.start(facts), times_s[:, None])

    def _track(self, facts: JointFacts, start: Array, t: Array) -> tuple[Array, Array]:
        """Every driven joint on a sinusoid of its own, 0.5 to 1.7 Hz."""
        rng = np.random.default_rng(sum(self.name.encode()))
        hertz, phase = rng.uniform(0.5, 1.7, len(start)), rng.uniform(0, 2 * math.pi, len(start))
        named = matched(self.swing, facts.names)
        size = np.where(facts.held, np.where(np.isnan(named), facts.amplitude, named), 0.0)
        rows = start + np.minimum(1.0, t / FADE_S) * size * np.sin(2 * math.pi * hertz * t + phase)
        return rows, np.zeros_like(rows)

    def _gait(self, facts: JointFacts, start: Array, t: Array) -> tuple[Array, Array]:
        """Half a second of standing, then the swing."""
        later = np.maximum(0.0, t - FADE_S)
        rows = start + np.minimum(1.0, later / FADE_S) * self._size(facts) * np.sin(2 * math.pi * self.hertz * later)
        return rows, np.zeros_like(rows)

    def _roll(self, facts: JointFacts, start: Array, t: Array) -> tuple[Array, Array]:
        """Wheels (joints without limits) run ahead at 3 rad/s, reached smoothly; the others swing."""
        later = np.maximum(0.0, t - FADE_S)
        speed = 3.0 * (1.0 - np.exp(-later / FADE_S))
        ahead = 3.0 * (later - FADE_S * (1.0 - np.exp(-later / FADE_S)))
        wheels = ~np.isfinite(facts.upper)
        rows = start + np.where(wheels, ahead, self._size(facts) * np.sin(2 * math.pi * self.hertz * later))
        return rows, np.where(wheels, speed, 0.0)

    def _size(self, facts: JointFacts) -> Array:
        size = np.nan_to_num(matched(self.swing, facts.names))
        return np.array([-s if re.fullmatch(self.opposite, n) else s for s, n in zip(size, facts.names, strict=True)])


def matched(values: Values, names: Sequence[str]) -> Array:
    """The value of the pattern that a name fits; nan where none does."""
    result = np.full(len(names), np.nan)
    for pattern, value in values.items():
        hits = [k for k, name in enumerate(names) if re.fullmatch(pattern, name)]
        if not hits:
            raise SystemExit(f"no joint fits {pattern!r} among {', '.join(names)}")
        result[hits] = value
    return result


CASES = (
    Case(
        name="cartpole",
        usd="corpus/cartpole/cartpole_physx.usda",
        motion="track",
        text="cart on a sinusoid, pole hangs and swings free",
        pose={"hinge_1": 2.6},
    ),
    Case(name="franka_panda", usd="corpus/franka_panda/franka_panda_physx.usda", motion="track", text="arm, sinusoids"),
    Case(name="so_100", usd="corpus-native/so_100/so_100.usd", motion="track", text="small arm, sinusoids"),
    Case(
        name="leap_hand",
        usd="corpus/leap_hand/leap_hand_physx.usda",
        motion="track",
        text="hand, sinusoids; fingers kept apart",
        swing={".*_rot": 0.02},
    ),
    Case(
        name="go2_held",
        usd="corpus-layered/go2_flat_urdf/go2_flat_urdf.usda",
        motion="track",
        text="quadruped held at its trunk, sinusoids",
        pose={
            ".*L_hip_joint": 0.1,
            ".*R_hip_joint": -0.1,
            "F._thigh_joint": 0.8,
            "R._thigh_joint": 1.0,
            ".*_calf_joint": -1.5,
        },
        fix_base=True,
    ),
    Case(
        name="unitree_go2",
        usd="corpus/unitree_go2/unitree_go2_physx.usda",
        motion="gait",
        text="quadruped, trot at 2 Hz",
        pose={
            ".*L_hip_joint": 0.1,
            ".*R_hip_joint": -0.1,
            "F._thigh_joint": 0.8,
            "R._thigh_joint": 1.0,
            ".*_calf_joint": -1.5,
        },
        swing={".*_thigh_joint": 0.2, ".*_calf_joint": 0.2},
        opposite="(FR|RL)_.*",
    ),
    Case(
        name="anymal_c",
        usd="corpus/anymal_c/anymal_c_physx.usda",
        motion="gait",
        text="quadruped, squats at 1 Hz",
        pose={".*HAA": 0.0, ".*F_HFE": 0.4, ".*H_HFE": -0.4, ".*F_KFE": -0.8, ".*H_KFE": 0.8},
        swing={".*F_HFE": 0.1, ".*H_HFE": -0.1, ".*F_KFE": -0.2, ".*H_KFE": 0.2},
        hertz=1.0,
    ),
    Case(
        name="ant",
        usd="corpus-native/ant_multi/ant.usda",
        motion="gait",
        text="four legs, trot at 2 Hz",
        pose={".*_leg": 0.0, "(front_left|right_back)_foot": 1.0, "(front_right|left_back)_foot": -1.0},
        swing={".*_leg": 0.2, ".*_foot": 0.2},
        opposite="(front_right|left_back)_.*",
    ),
    Case(
        name="unitree_g1",
        usd="corpus/unitree_g1/unitree_g1_physx.usda",
        motion="gait",
        text="humanoid, squats at 1 Hz",
        pose={
            ".*_hip_pitch_joint": -0.2,
            ".*_knee_joint": 0.42,
            ".*_ankle_pitch_joint": -0.23,
            ".*_elbow_joint": 0.87,
            "left_shoulder_roll_joint": 0.2,
            "right_shoulder_roll_joint": -0.2,
        },
        swing={".*_hip_pitch_joint": -0.05, ".*_knee_joint": 0.1, ".*_ankle_pitch_joint": -0.05},
        hertz=1.0,
    ),
    Case(
        name="aau_rover",
        usd="corpus-native/aau_rover_simple/rover_instance.usd",
        motion="roll",
        text="six wheels, rolls and steers",
        pose={".*": 0.0},
        swing={".*_Steer_.*": 0.2},
        hertz=0.5,
    ),
)
