"""What every simulator must pass, as gymnasium's `check_env` does for environments.

`check_simulator(make)` loads simulators through `make(env_count)`, tries what the protocol promises, and returns what
was not kept: an empty list is a pass. It knows nothing of the engine but its name and how exactly it keeps numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.sims.simulator import Simulator
from isaaclab_mirror.sims.state import ARRAYS, Start, State

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

MakeSimulator = Callable[[int], Simulator]
"""env_count → a simulator, loaded anew."""

KEPT = {"MuJoCo": 1e-9, "PhysX": 2e-5}
"""Engine → how exactly a number written is read back: PhysX's are float32, some of them beside an offset of 10 m."""
ENV_COUNT = 3


@dataclass(frozen=True, slots=True)
class Fault:
    """A promise that was not kept."""

    check: str
    message: str

    def __str__(self) -> str:
        return f"{self.check}: {self.message}"


class UnkeptError(Exception):
    """Says which promise."""


def _keep(promise: object, message: str) -> None:
    """Not `assert`, which Python leaves out with -O."""
    if not promise:
        raise UnkeptError(message)


class _Trial:
    """One simulator under test, with the random numbers of its checks."""

    def __init__(self, sim: Simulator, make: MakeSimulator, seed: int, kept: float) -> None:
        import numpy as np

        self.sim, self.make, self.kept = sim, make, kept
        self.rng = np.random.default_rng(seed)

    def positions(self, count: int) -> Array:
        """Joint positions inside the limits, near the robot's own start; (count, joints)."""
        import numpy as np

        self.sim.reset()
        home = self.sim.read().joint_pos[:1]
        limits = self.sim.joint_limits()
        spread = np.minimum(0.2, np.where(np.isfinite(limits).all(axis=1), 0.2 * np.ptp(limits, axis=1), 0.2))
        asked = home + self.rng.uniform(-1, 1, (count, home.shape[1])) * spread
        return np.clip(asked, limits[:, 0], limits[:, 1])

    def start(self) -> Start:
        """A start of its own for every environment; a floating base is moved, turned and thrown."""
        sim, rng, n = self.sim, self.rng, self.sim.env_count
        joint_pos = self.positions(n)
        joint_vel = rng.uniform(-0.1, 0.1, joint_pos.shape)
        if sim.fixed_base:
            return Start(joint_pos=joint_pos, joint_vel=joint_vel)
        turn = rng.normal(size=(n, 4)) * 0.3 + [1.0, 0.0, 0.0, 0.0]
        turn /= (turn**2).sum(axis=1, keepdims=True) ** 0.5
        return Start(
            root_pos_w=rng.uniform([-1, -1, 2], [1, 1, 4], (n, 3)),
            root_quat_wxyz=turn,
            root_lin_vel_w=rng.uniform(-1, 1, (n, 3)),
            root_ang_vel_w=rng.uniform(-1, 1, (n, 3)),
            joint_pos=joint_pos,
            joint_vel=joint_vel,
        )

    def near(self, what: str, got: Any, wanted: Any, within: float | None = None) -> None:
        """Fail where two arrays differ by more than the engine's rounding."""
        import numpy as np

        got, wanted = np.asarray(got, dtype=float), np.asarray(wanted, dtype=float)
        error = float(np.abs(got - wanted).max()) if got.size else 0.0
        if not error <= (self.kept if within is None else within):
            raise UnkeptError(f"{what} is off by {error:.3g}")

    def same(self, what: str, got: State, wanted: State, names: Sequence[str] = ARRAYS) -> None:
        """Fail where two states differ in a single bit."""
        import numpy as np

        for name in names:
            if not np.array_equal(getattr(got, name), getattr(wanted, name), equal_nan=True):
                error = np.abs(getattr(got, name) - getattr(wanted, name)).max()
                raise UnkeptError(f"{what}: {name} differs by {error:.3g}")


def check_simulator(
    make: MakeSimulator, *, seed: int = 0, tolerance: float | None = None, leave_out: Sequence[str] = ()
) -> list[Fault]:
    """Try everything; what was not kept. `tolerance` replaces the engine's rounding (`KEPT`)."""
    faults: list[Fault] = []
    checks = {name: check for name, check in CHECKS.items() if name not in leave_out}
    sim = make(ENV_COUNT)
    try:
        kept = KEPT.get(sim.engine, 1e-6) if tolerance is None else tolerance
        for name, check in checks.items():
            try:
                check(_Trial(sim, make, seed, kept))
            except (UnkeptError, InputError) as error:
                faults.append(Fault(name, str(error)))
    finally:
        sim.close()
    return faults


def _protocol(t: _Trial) -> None:
    sim = t.sim
    _keep(isinstance(sim, Simulator), "it lacks methods of Simulator")
    _keep(sim.env_count == ENV_COUNT, f"env_count is {sim.env_count}")
    _keep(sim.step_s == sim.settings.timestep_s, "step_s is not the settings' time step")
    for kind, names in (("joint", sim.joint_names), ("link", sim.link_names)):
        _keep(len(set(names)) == len(names), f"{kind} names repeat")


def _shapes(t: _Trial) -> None:
    sim = t.sim
    sim.reset()
    n, joints, links = sim.env_count, len(sim.joint_names), len(sim.link_names)
    size = joints + (0 if sim.fixed_base else 6)
    state = sim.read()
    _keep((state.joint_names, state.link_names) == (sim.joint_names, sim.link_names), "the state names others")
    shapes: dict[str, tuple[int, ...]] = {
        "time_s": (n,),
        "joint_pos": (n, joints),
        "joint_vel": (n, joints),
        "joint_torque": (n, joints),
        "contact_force_w": (n, links, 3),
        "root_quat_wxyz": (n, 4),
        "link_quat_wxyz": (n, links, 4),
    }
    shapes |= {f"root_{k}": (n, 3) for k in ("pos_w", "lin_vel_w", "com_lin_vel_w", "ang_vel_w")}
    shapes |= {f"link_{k}": (n, links, 3) for k in ("pos_w", "lin_vel_w", "com_lin_vel_w", "ang_vel_w")}
    for name, shape in shapes.items():
        array = getattr(state, name)
        _keep(array.shape == shape, f"{name} has shape {array.shape}, not {shape}")
        _keep(array.dtype == float, f"{name} is {array.dtype}")
    for name, array, shape in (
        ("mass_matrix", sim.mass_matrix(), (n, size, size)),
        ("bias", sim.bias(), (n, size)),
        ("jacobian", sim.jacobian(sim.link_names[-1]), (n, 6, size)),
        ("masses", sim.masses(), (links,)),
        ("joint_limits", sim.joint_limits(), (joints, 2)),
        ("effort_limits", sim.effort_limits(), (joints,)),
        ("stiffness", sim.gains()[0], (joints,)),
        ("damping", sim.gains()[1], (joints,)),
    ):
        _keep(array.shape == shape, f"{name} has shape {array.shape}, not {shape}")


def _reset(t: _Trial) -> None:
    """A start is read back as it was given, whatever went before; targets become the positions."""
    import numpy as np

    sim = t.sim
    sim.reset()
    sim.step(2)
    start = t.start()
    sim.reset(start)
    state = sim.read()
    t.near("time", state.time_s, 0.0, 0.0)
    for name in ("root_pos_w", "root_lin_vel_w", "root_ang_vel_w", "joint_pos", "joint_vel"):
        if getattr(start, name) is not None:
            t.near(name, getattr(state, name), getattr(start, name))
    if start.root_quat_wxyz is not None:
        wanted = np.asarray(start.root_quat_wxyz)
        t.near("root_quat_wxyz", np.abs((state.root_quat_wxyz * wanted).sum(axis=1)), 1.0)
    t.near("contact forces after a reset", np.nan_to_num(state.contact_force_w), 0.0, 0.0)
    sim.reset(replace(start, joint_vel=None))
    t.near("torque after a reset without joint velocity", _scaled(sim, sim.read().joint_torque), 0.0, 10 * t.kept)


def _scaled(sim: Simulator, torque: Array) -> Array:
    """Per what a radian and a radian per second would bring: gains reach 1e8."""
    kp, kd = sim.gains()
    return torque / (1 + kp + kd)


def _reset_to_state(t: _Trial) -> None:
    """A state that was read can be reset to."""
    import numpy as np

    sim = t.sim
    sim.reset(t.start())
    sim.step(2)
    before = sim.read()
    sim.step(3)
    sim.reset(before)
    after = sim.read()
    for name in ARRAYS[1:]:
        within = t.kept * (1 + np.abs(getattr(before, name)).max(initial=0.0))
        t.near(name, getattr(after, name), getattr(before, name), within)


def _names(t: _Trial) -> None:
    """A joint that is set by name moves its own column and no other."""
    sim = t.sim
    sim.reset()
    home = sim.read().joint_pos
    asked = t.positions(1)[0]
    for column in t.rng.permutation(len(sim.joint_names))[:6]:
        sim.reset(Start(joint_pos={sim.joint_names[column]: asked[column]}))
        wanted = home.copy()
        wanted[:, column] = asked[column]
        t.near(f"joint_pos after setting {sim.joint_names[column]!r}", sim.read().joint_pos, wanted)


def _frames(t: _Trial) -> None:
    """Link velocities are the Jacobian's, and the Jacobian is the change of link poses: orders and frames agree."""
    import numpy as np

    sim = t.sim
    sim.reset(t.start())
    state = sim.read()
    u = state.joint_vel
    if not sim.fixed_base:
        u = np.concatenate([state.root_com_lin_vel_w, state.root_ang_vel_w, u], axis=1)
    size = 1 + np.abs(state.link_pos_w - state.root_pos_w[:, None]).max()
    for k in _some(t, len(sim.link_names)):
        twist = np.einsum("nij,nj->ni", sim.jacobian(sim.link_names[k]), u)
        own = np.concatenate([state.link_lin_vel_w[:, k], state.link_ang_vel_w[:, k]], axis=1)
        t.near(f"velocity of link {sim.link_names[k]!r} against its Jacobian", twist, own, 20 * t.kept * size)
    t.near("root pose among the links", state.link_pos_w[:, 0], state.root_pos_w)
    t.near("root velocity among the links", state.link_lin_vel_w[:, 0], state.root_lin_vel_w, 5 * t.kept)
    t.near("root COM velocity among the links", state.link_com_lin_vel_w[:, 0], state.root_com_lin_vel_w, 5 * t.kept)


def _kinematics(t: _Trial) -> None:
    """The Jacobian's columns are how link origins move when one joint does."""
    import numpy as np

    sim = t.sim
    if not sim.joint_names:
        return
    asked = t.positions(1)
    step = 1e-2 if t.kept > 1e-7 else 1e-5
    for column in _some(t, len(sim.joint_names)):
        ends = []
        for sign in (-1.0, 1.0):
            moved = asked.copy()
            moved[0, column] += sign * step
            sim.reset(Start(joint_pos=moved))
            ends.append(sim.read().link_pos_w)
        sim.reset(Start(joint_pos=asked))
        change = (ends[1] - ends[0]) / (2 * step)
        reach = 1 + np.abs(change).max()
        place = column + (0 if sim.fixed_base else 6)
        if ":" in sim.joint_names[column]:
            continue  # a ball's coordinates are a rotation vector: their change is no velocity
        for k in _some(t, len(sim.link_names)):
            rows = sim.jacobian(sim.link_names[k])[:, :3, place]
            within = (2 * t.kept / step + step**2) * reach
            what = f"link {sim.link_names[k]!r} per joint {sim.joint_names[column]!r}"
            t.near(what, rows, change[:, k], max(within, 1e-6))


def _dynamics(t: _Trial) -> None:
    """Symmetric positive definite; a floating base weighs what its links weigh; the bias holds gravity."""
    import numpy as np

    sim = t.sim
    sim.reset(Start(joint_pos=t.positions(1)))
    matrix = sim.mass_matrix()
    scale = np.abs(matrix).max() if matrix.size else 1.0
    t.near("mass matrix against its transpose", matrix / scale, np.swapaxes(matrix, 1, 2) / scale)
    if matrix.size:
        _keep(np.linalg.eigvalsh(matrix).min() > -1e-6 * scale, "the mass matrix is not positive definite")
    if not sim.fixed_base:
        # Bodies that only a loop ties to the robot float on their own: the base does not carry them.
        carried = [np.allclose(sim.jacobian(link)[0, :3, :3], np.eye(3), atol=1e-4) for link in sim.link_names]
        total = sim.masses()[carried].sum()
        t.near("mass in the mass matrix", matrix[:, :3, :3] / total, np.eye(3), max(t.kept, 1e-6))
        weight = -np.array(sim.settings.gravity)
        t.near("weight in the bias", sim.bias()[:, :3] / total, weight, max(20 * t.kept, 1e-6))


def _environments(t: _Trial) -> None:
    """What is done to one environment leaves the others as they are, bit by bit."""
    import numpy as np

    sim = t.sim
    sim.reset(t.start())
    sim.step(2)
    before = sim.read()
    sim.reset(None, [1])
    after = sim.read()
    others = np.array([0, 2])
    was, now = before.rows(others), after.rows(others)
    # A root on a rail goes where its joint says, which is computed again for all.
    derived = [name for name in ARRAYS if sim.fixed_base and name.startswith("root_")]
    t.same("another environment after reset of 1", now, was, [name for name in ARRAYS if name not in derived])
    for name in derived:
        t.near(f"{name} of another environment after reset of 1", getattr(now, name), getattr(was, name))
    t.near("time of the environment that was reset", after.time_s[1], 0.0, 0.0)
    mask = [False, True, False]
    sim.reset(before.rows([1]), mask)
    t.near("joint_pos given for one environment", sim.read().joint_pos[1], before.joint_pos[1])
    if sim.joint_names:
        bound = sim.effort_limits()
        sim.reset()
        sim.set_efforts({sim.joint_names[0]: [0.5]}, [2])
        effort = sim.read().joint_torque[:, 0]
        t.near("effort of one environment", effort, [0.0, 0.0, min(0.5, bound[0])], max(t.kept * 1e3, 1e-6))


def _determinism(t: _Trial) -> None:
    """The same calls on a simulator loaded anew end in the same bits, whatever another environment does."""
    start = t.start()
    first, again, beside = (_fresh_run(t, start, push) for push in (0.0, 0.0, 0.7))
    t.same("a second run", again, first)
    t.same("environments 1 and 2 beside another 0", beside.rows([1, 2]), first.rows([1, 2]))


def _fresh_run(t: _Trial, start: Start, push: float, counts: Sequence[int] = (1,) * 8) -> State:
    """From a fresh load: an engine may remember contacts across a reset, as PhysX does."""
    with t.make(ENV_COUNT) as sim:
        sim.reset(start)
        _drive(sim, counts, push)
        return sim.read()


def _drive(sim: Simulator, counts: Sequence[int], push: float) -> None:
    """Some steps after targets that are the same at every call, with an effort in environment 0 alone."""
    import numpy as np

    home = sim.read().joint_pos
    sim.set_position_targets(home + 0.05 * np.random.default_rng(7).uniform(-1, 1, home.shape))
    if sim.joint_names:
        sim.set_efforts({sim.joint_names[0]: push}, [0])
    for count in counts:
        sim.step(count)


def _time(t: _Trial) -> None:
    """step(3) is three steps."""
    start = t.start()
    once, thrice = (_fresh_run(t, start, 0.0, counts) for counts in ((3,), (1, 1, 1)))
    t.near("time after three steps", once.time_s, 3 * t.sim.step_s, 1e-12)
    # Between calls a solver may start from elsewhere; it ends within its own tolerance.
    t.near("joint_pos of step(3) against three steps", once.joint_pos, thrice.joint_pos, max(t.kept, 1e-6))


def _copies(t: _Trial) -> None:
    """A state does not change later, and changing it changes nothing."""
    import numpy as np

    sim = t.sim
    sim.reset(t.start())
    sim.step()
    state = sim.read()
    names = (*ARRAYS, "joint_torque", "contact_force_w", "link_pos_w", "link_lin_vel_w")
    fresh = {name: np.array(getattr(sim.read(), name)) for name in names}
    sim.step(2)
    for name in names:
        _keep(np.array_equal(getattr(state, name), fresh[name], equal_nan=True), f"{name} changed with a later step")
    now = sim.read()
    wanted = {name: np.array(getattr(now, name)) for name in names}
    for name in names:
        getattr(now, name)[:] = 7.0
    for name in names:
        got = getattr(sim.read(), name)
        _keep(np.array_equal(got, wanted[name], equal_nan=True), f"writing into {name} of a state reached the engine")


def _targets(t: _Trial) -> None:
    """Targets are taken by name, are held, add up, and are bounded; the joints that are not named keep theirs."""
    import numpy as np

    sim = t.sim
    plain = [k for k, name in enumerate(sim.joint_names) if ":" not in name]  # a ball has no drive of its own
    if not plain:
        return
    column = plain[-1]
    name, kp, bound = sim.joint_names[column], sim.gains()[0][column], sim.effort_limits()[column]
    sim.reset()
    sim.set_position_targets(sim.read().joint_pos)  # as the engine keeps them
    home = sim.read()
    small = 1e-3 * min(1.0, bound / kp if kp > 0 else 1.0)
    changes: list[Array] = []
    for times in (1.0, 2.0):
        sim.set_position_targets({name: home.joint_pos[:, column] + times * small})
        changes.append(sim.read().joint_torque - home.joint_torque)
    one, two = changes
    others = np.delete(np.arange(len(sim.joint_names)), column)
    t.near("torque of joints that were not named", _scaled(sim, one)[:, others], 0.0, 0.0)
    t.near("torque of twice the target", two[:, column] / (1 + kp * small), 2 * one[:, column] / (1 + kp * small), 1e-9)
    _keep(kp == 0 or (one[:, column] > 0).all(), f"a target ahead of {name!r} does not pull it forward")
    sim.set_position_targets(home.joint_pos)
    efforts = np.array([0.1, 0.2, 0.3]) * min(1.0, bound)
    sim.set_efforts({name: efforts})
    within = max(1e-9, 10 * t.kept * (1 + kp))  # positions of float32 times the gain
    t.near("torque of an effort", sim.read().joint_torque[:, column], efforts, within)
    if np.isfinite(bound):
        sim.set_efforts({name: 3 * bound + 1})
        t.near("an effort beyond the bound", sim.read().joint_torque[:, column] / (1 + bound), bound / (1 + bound))


def _gains(t: _Trial) -> None:
    """Gains by name leave the others, and can be put back."""
    import numpy as np

    sim = t.sim
    if not sim.joint_names:
        return
    kp, kd = sim.gains()
    name = sim.joint_names[0]
    sim.set_gains({name: 12.5}, {name: 0.75})
    new_kp, new_kd = sim.gains()
    sim.set_gains(kp, kd)
    _keep((new_kp[0], new_kd[0]) == (12.5, 0.75), f"gains of {name!r} are {new_kp[0]}, {new_kd[0]}")
    _keep(np.array_equal(new_kp[1:], kp[1:]), "the other stiffnesses changed")
    _keep(np.array_equal(new_kd[1:], kd[1:]), "the other dampings changed")
    _keep(np.array_equal(sim.gains()[0], kp), "gains put back are not the same")


def _refusals(t: _Trial) -> None:
    """Bad input is refused with its code, and nothing has changed."""
    import numpy as np

    sim = t.sim
    sim.reset(t.start())
    before, torque = sim.read(), sim.read().joint_torque
    joints = len(sim.joint_names)
    for what, code, call in _bad_calls(sim, joints):
        try:
            call()
        except InputError as error:
            found = error.diagnostic.code
            _keep(found == code, f"{what} is refused with {found}, not {code}")
        else:
            raise UnkeptError(f"{what} is taken")
    after = sim.read()
    t.same("the state after refused calls", after, before)
    _keep(np.array_equal(after.joint_torque, torque), "targets changed although the call was refused")


def _bad_calls(sim: Simulator, joints: int) -> Iterator[tuple[str, str, Callable[[], None]]]:
    import numpy as np

    yield "an unknown joint", "E051", lambda: sim.set_position_targets({"no such joint": 0.0})
    yield "an unknown joint in a start", "E051", lambda: sim.reset(Start(joint_pos={"no such joint": 0.0}))
    yield "an unknown link", "E051", lambda: void(sim.jacobian("no such link"))
    yield "a target too long", "E052", lambda: sim.set_position_targets(np.zeros(joints + 1))
    yield "a target for too many environments", "E052", lambda: sim.set_efforts(np.zeros((ENV_COUNT + 1, joints)))
    yield "a start too long", "E052", lambda: sim.reset(Start(joint_pos=np.zeros(joints + 2)))
    yield "an environment that is not there", "E052", lambda: sim.reset(None, [ENV_COUNT])
    yield "a negative environment", "E052", lambda: sim.set_efforts(0.0, [-1])
    yield "environments that are no whole numbers", "E052", lambda: sim.reset(None, [0.5])  # type: ignore[list-item]
    yield "no step", "E052", lambda: sim.step(0)
    if joints:
        name = sim.joint_names[0]
        yield "a nan target", "E053", lambda: sim.set_position_targets({name: np.nan})
        yield "nan among targets", "E053", lambda: sim.set_velocity_targets(np.full(joints, np.nan))
        yield "an infinite effort", "E053", lambda: sim.set_efforts(np.inf)
        yield "a nan start", "E053", lambda: sim.reset(Start(joint_vel=np.full(joints, np.nan)))
        yield "a negative gain", "E053", lambda: sim.set_gains({name: -1.0})
        yield "a target that is text", "E052", lambda: sim.set_position_targets(["left"] * joints)
        yield "a named target that is text", "E052", lambda: sim.set_position_targets({name: "left"})  # type: ignore[dict-item]
    if not sim.fixed_base:
        yield "a nan root", "E053", lambda: sim.reset(Start(root_pos_w=[np.nan, 0.0, 0.0]))
        yield "a quaternion of no length", "E053", lambda: sim.reset(Start(root_quat_wxyz=[0.0, 0.0, 0.0, 0.0]))


def void(value: object) -> None:
    """Drop it."""
    del value


def _close(t: _Trial) -> None:
    """Closing twice is closing once; afterwards every call says so."""
    sim = t.make(1)
    sim.close()
    sim.close()
    calls: dict[str, Callable[[], object]] = {
        "step": sim.step,
        "read": sim.read,
        "reset": sim.reset,
        "mass_matrix": sim.mass_matrix,
        "bias": sim.bias,
        "set_efforts": lambda: sim.set_efforts(0.0),
        "set_gains": lambda: sim.set_gains(1.0),
    }
    for name, call in calls.items():
        try:
            call()
        except InputError as error:
            _keep(error.diagnostic.code == "E054", f"{name} after close is refused with {error.diagnostic.code}")
        else:
            raise UnkeptError(f"{name} works after close")


def _some(t: _Trial, count: int, most: int = 4) -> list[int]:
    return sorted({int(k) for k in t.rng.permutation(count)[:most]} | {count - 1})


CHECKS: dict[str, Callable[[_Trial], None]] = {
    "protocol": _protocol,
    "shapes": _shapes,
    "reset": _reset,
    "reset to a state": _reset_to_state,
    "names": _names,
    "frames": _frames,
    "kinematics": _kinematics,
    "dynamics": _dynamics,
    "environments": _environments,
    "determinism": _determinism,
    "time": _time,
    "copies": _copies,
    "targets": _targets,
    "gains": _gains,
    "refusals": _refusals,
    "close": _close,
}
"""Name → check."""
