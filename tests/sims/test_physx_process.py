"""PhysX in a child process: the same numbers; its crash, hang or end is one error, and nothing is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.sims.checker import check_simulator
from isaaclab_mirror.sims.physx_sim import PhysxSim, open_physx
from isaaclab_mirror.sims.state import ARRAYS
from tests.usda import ROOT, arm

from .conftest import needs_physx

pytestmark = [pytest.mark.physx, needs_physx]


def alive(pid: int) -> bool:
    """Whether a process runs or is left as a zombie."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def told(call) -> str:
    """What an E057 says."""
    with pytest.raises(InputError) as caught:
        call()
    assert caught.value.diagnostic.code == "E057"
    return caught.value.diagnostic.message


def test_a_child_gives_the_same_bits(cartpole: Path):
    with PhysxSim(cartpole, env_count=3) as here, PhysxSim(cartpole, env_count=3, isolated=True) as there:
        for sim in (here, there):
            sim.set_efforts({"slider": [1.0, -2.0, 3.0]})
            sim.step(20)
        a, b = here.read(), there.read()
        for name in (*ARRAYS, "joint_torque", "contact_force_w", "link_pos_w", "link_lin_vel_w"):
            assert np.array_equal(getattr(a, name), getattr(b, name), equal_nan=True), name
        assert np.array_equal(here.mass_matrix(), there.mass_matrix())
        assert np.array_equal(here.jacobian("pole_1"), there.jacobian("pole_1"))
        assert (here.process_id, there.process_id is None) == (None, False)


@pytest.mark.slow
def test_a_child_keeps_every_promise_of_a_simulator(go2: Path):
    assert check_simulator(lambda n: PhysxSim(go2, env_count=n, isolated=True)) == []


def test_a_killed_child_is_one_message_with_robot_and_time_and_can_be_made_again(cartpole: Path):
    sim = PhysxSim(cartpole, isolated=True)
    child = sim.process_id
    assert child is not None
    sim.step(10)
    os.kill(child, signal.SIGKILL)
    message = told(sim.step)
    assert "'cartpole' was killed (SIGKILL)" in message
    assert "t = 0.05 s" in message
    assert told(sim.read) == message  # and again, whatever is asked
    assert not alive(child)  # no zombie either
    sim.close()
    with PhysxSim(cartpole, isolated=True) as again:
        again.step(10)
        assert again.read().time_s[0] == pytest.approx(0.05)


def test_a_child_killed_in_the_middle_of_a_long_step_is_noticed_at_once(go2: Path):
    sim = PhysxSim(go2, env_count=16, isolated=True)
    child = sim.process_id
    killer = subprocess.Popen([sys.executable, "-c", f"import os, time; time.sleep(1); os.kill({child}, 9)"])
    start = time.monotonic()
    message = told(lambda: sim.step(1_000_000))
    assert "was killed (SIGKILL)" in message
    assert time.monotonic() - start < 20  # a million steps take an hour
    killer.wait()
    sim.close()


def test_a_crash_is_told_from_a_kill(cartpole: Path):
    sim = PhysxSim(cartpole, isolated=True)
    os.kill(sim.process_id or 0, signal.SIGSEGV)
    assert "'cartpole' crashed (SIGSEGV)" in told(sim.mass_matrix)


def test_a_hang_ends_after_the_timeout(cartpole: Path):
    sim = PhysxSim(cartpole, isolated=True, timeout_s=1.0)
    child = sim.process_id or 0
    os.kill(child, signal.SIGSTOP)
    start = time.monotonic()
    assert "did not answer within 1 s" in told(sim.step)
    assert time.monotonic() - start < 10
    assert not alive(child)


@pytest.mark.slow
def test_a_long_call_that_keeps_stepping_is_no_hang(go2: Path):
    with PhysxSim(go2, env_count=64, isolated=True, timeout_s=6.0) as sim:
        start = time.monotonic()
        while time.monotonic() - start < 7.0:  # more than the timeout in one call
            sim.step(1600)
        assert np.isfinite(sim.read().joint_pos).all()


def test_closing_forgetting_and_leaving_end_the_child(cartpole: Path):
    closed, forgotten = PhysxSim(cartpole, isolated=True), PhysxSim(cartpole, isolated=True)
    children = [closed.process_id or 0, forgotten.process_id or 0]
    closed.close()
    del forgotten
    assert not any(map(alive, children))


@pytest.mark.parametrize("ending", ["sys.exit(3)", "os.kill(os.getpid(), 9)", "os._exit(0)"])
def test_the_child_ends_with_its_parent_even_while_it_steps(cartpole: Path, ending: str):
    script = f"""
import os, sys, threading, time
from isaaclab_mirror.sims.physx_sim import PhysxSim
sim = PhysxSim({str(cartpole)!r}, isolated=True)
print(sim.process_id, flush=True)
threading.Thread(target=lambda: sim.step(10_000_000), daemon=True).start()
time.sleep(0.5)
{ending}
"""
    parent = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    child = int(parent.stdout.split()[0])
    deadline = time.monotonic() + 10
    while alive(child) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not alive(child)


def test_refusals_keep_their_code(tmp_path: Path):
    file = tmp_path / "rootless.usda"
    file.write_text(arm().replace(f'prepend apiSchemas = ["{ROOT}"]', ""))
    for isolated in (False, True):
        with pytest.raises(InputError) as caught:
            open_physx(file, isolated=isolated)
        assert caught.value.diagnostic.code == "E058"
        assert "PhysX makes no articulation of it" in caught.value.diagnostic.message


def test_files_of_others_run_in_a_child_unless_it_is_not_wanted(cartpole: Path, tmp_path: Path):
    copy = tmp_path / "cart pole é.usda"
    copy.write_bytes(cartpole.read_bytes())
    with open_physx(cartpole) as ours, open_physx(copy) as theirs, open_physx(copy, isolated=False) as asked:
        isolated = [sim.process_id is not None for sim in (ours, theirs, asked)]
    assert isolated == [False, True, False]


def test_physx_prints_nothing_to_stdout(cartpole: Path):
    script = f"""
from isaaclab_mirror.sims.physx_sim import PhysxSim
for isolated in (False, True):
    with PhysxSim({str(cartpole)!r}, env_count=3, isolated=isolated) as sim:
        sim.step(2)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")
