"""What a robot is asked to do so that two engines can be told apart: configurations, steps, chirps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from isaaclab_mirror.robot.joints import AxisKind
from isaaclab_mirror.robot.model import Robot
from isaaclab_mirror.sims.robots import axis_names, home_positions
from isaaclab_mirror.sims.simulator import Simulator
from isaaclab_mirror.sims.state import Start

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

SWEEP_HZ = (0.2, 2.0)
SHARE = 0.5
"""Of its effort and speed limit that a joint's targets may ask for."""
LARGEST = {"rad": 0.25, "m": 0.05}
"""Amplitudes of targets."""
STEP_AT_S = 0.1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JointFacts:
    """What excitation needs of the joints, (joints,) each, by `names`."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    """`rad` or `m`."""
    lower: Array
    upper: Array
    home: Array
    stiffness: Array
    damping: Array
    effort_limit: Array
    velocity_limit: Array
    """[rad/s or m/s]; inf where there is none."""
    followers: NDArray[np.bool_]
    """Led by another joint: has no target of its own."""
    reach: Array
    """Largest amplitude that drives can follow; inf where nothing bounds it."""

    @property
    def centre(self) -> Array:
        """Home, moved a tenth of the range into the limits where it stands at one of them."""
        import numpy as np

        span = np.where(np.isfinite(self.upper - self.lower), self.upper - self.lower, 0.0)
        low, high = self.lower + 0.1 * span, self.upper - 0.1 * span
        return np.where(self.followers, self.home, np.minimum(np.maximum(self.home, low), high))

    @property
    def room(self) -> Array:
        """From the centre to the nearer limit [rad or m]; inf without limits."""
        import numpy as np

        return np.minimum(self.upper - self.centre, self.centre - self.lower)

    @property
    def amplitude(self) -> Array:
        """Of targets: a quarter radian or five centimetres, 0.8 of the room, or what the drives can follow."""
        import numpy as np

        largest = np.array([LARGEST[unit] for unit in self.units])
        wanted = np.where(self.followers, 0.0, np.clip(0.8 * self.room, 0.0, largest))
        return np.minimum(wanted, self.reach)

    @property
    def held(self) -> NDArray[np.bool_]:
        """Driven to positions."""
        return (self.stiffness > 0) & (self.effort_limit > 0) & ~self.followers

    @property
    def spun(self) -> NDArray[np.bool_]:
        """Driven to velocities: damping without stiffness."""
        return (self.stiffness <= 0) & (self.damping > 0) & (self.effort_limit > 0) & ~self.followers


def units_of(robot: Robot) -> dict[str, str]:
    """Joint → `rad` or `m`."""
    return {name: "m" if axis.kind is AxisKind.SLIDE else "rad" for axis in robot.axes() for name in axis_names(axis)}


def joint_facts(robot: Robot, sim: Simulator, names: Sequence[str]) -> JointFacts:
    """Of some joints, as the robot states them and a simulator of it runs them."""
    import numpy as np

    columns = np.array([sim.joint_names.index(name) for name in names], dtype=np.intp)
    limits, (stiffness, damping) = sim.joint_limits()[columns], sim.gains()
    units, home = units_of(robot), home_positions(robot)
    led = {mimic.follower for mimic in robot.mimics if mimic.active}
    return JointFacts(
        names=tuple(names),
        units=tuple(units[name] for name in names),
        lower=limits[:, 0],
        upper=limits[:, 1],
        home=np.array([home[name] for name in names], dtype=float),
        stiffness=stiffness[columns],
        damping=damping[columns],
        effort_limit=sim.effort_limits()[columns],
        velocity_limit=_velocity_limits(robot, names),
        followers=np.array([name in led for name in names], dtype=bool),
        reach=np.full(len(names), np.inf),
    )


def _velocity_limits(robot: Robot, names: Sequence[str]) -> Array:
    import numpy as np

    stated = {name: axis.limits.velocity for axis in robot.axes() for name in axis_names(axis)}
    return np.array([np.inf if (limit := stated[name]) is None else limit for name in names], dtype=float)


def within_reach(facts: JointFacts, sim: Simulator) -> JointFacts:
    """With the amplitudes at which the sweep asks at most half of every drive's effort and of every speed limit.

    The effort of joint j at the fastest end of the sweep is at most |bias_j| + Σ_k |M_jk|·A_k·ω²; a drive that is
    saturated by its own targets tells of its limit, not of its tracking.
    """
    import numpy as np

    columns = np.array([sim.joint_names.index(name) for name in facts.names], dtype=np.intp)
    sim.reset(Start(joint_pos=dict(zip(facts.names, facts.centre.tolist(), strict=True))))
    mass, bias = sim.mass_matrix()[0], sim.bias()[0]
    picked = len(bias) - len(sim.joint_names) + columns
    omega = 2 * np.pi * SWEEP_HZ[1]
    asked = np.abs(mass[np.ix_(picked, picked)]) * omega**2
    driven = (facts.held | facts.spun) & np.isfinite(facts.effort_limit)
    left = np.where(driven, facts.effort_limit - np.abs(bias[picked]), 0.0)
    room = np.where(driven, np.maximum(SHARE * left, 0.05 * np.where(driven, facts.effort_limit, 0.0)), np.inf)
    amplitude = np.minimum(facts.amplitude, SHARE * facts.velocity_limit / omega)
    for _ in range(100):
        parts = asked * amplitude
        load = parts.sum(axis=1) / np.maximum(room, 1e-12)
        j = int(load.argmax())
        if load[j] <= 1.0:
            break
        blamed = parts[j] >= parts[j].max() / 2  # whoever asks this drive for most
        amplitude = np.where(blamed, amplitude / max(1.05, min(load[j], 2.0)), amplitude)
    return replace(facts, reach=amplitude)


def random_configurations(facts: JointFacts, count: int, seed: int = 0, unlimited: float = 2.0) -> Array:
    """(count, joints) within the limits; the first is the robot's own start."""
    import numpy as np

    rng = np.random.default_rng(seed)
    free = np.where([unit == "m" for unit in facts.units], 0.2, unlimited)
    low = np.where(np.isfinite(facts.lower), facts.lower, facts.home - free)
    high = np.where(np.isfinite(facts.upper), facts.upper, facts.home + free)
    result = low + (high - low) * rng.uniform(0.02, 0.98, (count, len(facts.names)))
    result[:, facts.followers] = facts.home[facts.followers]
    result[0] = facts.home
    return result


def chirp(
    facts: JointFacts, seconds: float, seed: int = 1
) -> tuple[Callable[[float], Array], Callable[[float], Array]]:
    """Position and velocity targets: every joint swept through `SWEEP_HZ` about its centre, each with its own phase."""
    import numpy as np

    phase = np.random.default_rng(seed).uniform(0, 2 * np.pi, len(facts.names))
    first, last = SWEEP_HZ
    centre, amplitude = facts.centre, facts.amplitude

    def angle(t: float) -> float:
        return 2 * np.pi * (first * t + 0.5 * (last - first) * t * t / seconds)

    def position(t: float) -> Array:
        fade = min(1.0, t / 0.5)  # from the centre, without a jump
        return centre + fade * amplitude * np.sin(angle(t) + phase)

    def velocity(t: float) -> Array:
        rate = 2 * np.pi * (first + (last - first) * t / seconds)
        return np.where(facts.spun, amplitude * rate * np.cos(angle(t) + phase), 0.0)

    return position, velocity


def step(facts: JointFacts, share: float = 0.8) -> tuple[Callable[[float], Array], Callable[[float], Array]]:
    """Targets that jump at `STEP_AT_S` by a share of the amplitude; velocity drives to 1 rad/s or 0.1 m/s."""
    import numpy as np

    centre, jump = facts.centre, share * facts.amplitude
    speed = np.where([unit == "m" for unit in facts.units], 0.1, 1.0) * facts.spun

    def position(t: float) -> Array:
        return centre + jump * (t >= STEP_AT_S - 1e-9)

    def velocity(t: float) -> Array:
        return speed * (t >= STEP_AT_S - 1e-9)

    return position, velocity


def worst(names: Sequence[str], values: Array) -> tuple[float, str]:
    """The largest of per-joint values and whose it is."""
    import numpy as np

    if not len(names):
        return 0.0, ""
    if not np.isfinite(values).all():
        return float("nan"), names[int((~np.isfinite(values)).argmax())]
    k = int(values.argmax())
    return float(values[k]), names[k]
