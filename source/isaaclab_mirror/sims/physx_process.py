"""ProcessEngine: a `PhysxEngine` in a child process, so that a crash or a hang of PhysX is an error message.

A fresh process (PhysX hangs after a fork), a socket, and nothing that outlives either: no shared memory, no file with a
name. The child ends with its parent whatever way that ends.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.sims.physx_engine import Advance, Layout, require_physx
from isaaclab_mirror.sims.physx_wire import receive, send, tail

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array32 = NDArray[np.float32]

CHILD = "isaaclab_mirror.sims.physx_child"
LOAD_TIMEOUT_S = 900.0
"""Cooking the meshes of one published drone takes 100 s."""
STEP_TIMEOUT_S = 120.0
"""For one step or one question, not for `step(1000)`: a child that steps says so."""


class ProcessEngine:
    """The methods of `PhysxEngine`, answered by a child."""

    def __init__(
        self,
        file: Path,
        *,
        threads: int | None = None,
        robot: str = "the robot",
        time_s: Callable[[], float] = float,
        timeout_s: float = STEP_TIMEOUT_S,
        load_timeout_s: float = LOAD_TIMEOUT_S,
    ) -> None:
        """Start the child and load. `robot` and `time_s` are for messages."""
        require_physx()
        self._robot, self._time_s, self._timeout_s = robot, time_s, timeout_s
        self._load_timeout_s = load_timeout_s
        self._lost: InputError | None = None
        self._shapes: dict[str, tuple[int, ...]] = {}
        self._layout: Layout | None = None
        self._start()
        self._ask("load", load_timeout_s, file=str(file), threads=threads)

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        end, lifeline = os.pipe()
        log = tempfile.TemporaryFile()  # noqa: SIM115 - kept open for as long as the child runs; has no name
        package_root = str(Path(__file__).resolve().parents[2])
        path = os.pathsep.join(filter(None, [package_root, os.environ.get("PYTHONPATH")]))
        try:
            self._child = subprocess.Popen(  # noqa: S603
                # -P: what lies in the working folder is not imported
                [sys.executable, "-P", "-m", CHILD, str(theirs.fileno()), str(end)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=(theirs.fileno(), end),
                env={**os.environ, "PYTHONPATH": path},
            )
        finally:
            theirs.close()
            os.close(end)
        self._channel, self._lifeline, self._log = ours, lifeline, log
        ours.settimeout(self._load_timeout_s)
        self._finalizer = weakref.finalize(self, _end, os.getpid(), self._child, ours, lifeline, log)

    @property
    def process_id(self) -> int:
        """The child's."""
        return self._child.pid

    def _ask(self, call: str, timeout_s: float | None = None, **message: Any) -> tuple[dict[str, Any], list[Any]]:
        """Send a question and wait for its answer."""
        self._tell(call, **message)
        limit = self._timeout_s if timeout_s is None else timeout_s

        def wait() -> None:
            if not select.select([self._channel], [], [], limit)[0]:
                raise TimeoutError

        try:
            answer: dict[str, Any] = {"beat": True}
            arrays: list[Any] = []
            while "beat" in answer:
                answer, arrays = receive(self._channel, wait)
        except TimeoutError:
            raise self._end_with(f"did not answer within {limit:g} s", call) from None
        except (EOFError, OSError, ValueError):
            raise self._end_with(None, call) from None
        except BaseException:  # Ctrl-C: the answer would be taken for that of the next question
            self._end_with("was interrupted", call)
            raise
        if "error" in answer:
            found = answer["error"]
            raise InputError(found["code"], found["where"], found["message"], found["hint"])
        if "raised" in answer:
            raise self._end_with(f"failed: {' '.join(answer['raised'].split())[:300]}", call)
        return answer, arrays

    def _tell(self, call: str, *arrays: Any, **message: Any) -> None:
        """Send, without waiting for it to be done."""
        if self._lost is not None:
            raise self._lost
        if not self._finalizer.alive:
            raise InputError("E054", "PhysX", "the simulator is closed", "make a new one")
        try:
            send(self._channel, {"call": call, **message}, *arrays)
        except TimeoutError:
            raise self._end_with(f"took nothing within {self._load_timeout_s:g} s", call) from None
        except OSError:
            raise self._end_with(None, call) from None

    def _end_with(self, what: str | None, call: str) -> InputError:
        """End the child; what is to be said of it from now on. None: it ended by itself."""
        if what is None:
            try:
                what = _ending(self._child.wait(timeout=5.0))
            except subprocess.TimeoutExpired:
                what = "closed its channel"
        chatter = _last_error(tail(self._log.fileno()))
        self._finalizer()
        message = f"the process that runs {self._robot} {what} (in {call!r}, t = {self._time_s():.4g} s){chatter}"
        self._lost = InputError("E057", "PhysX", message, "close this simulator and make a new one")
        return self._lost

    def articulations(self) -> list[str]:
        """See `PhysxEngine`."""
        return self._ask("articulations", self._load_timeout_s)[0]["paths"]

    def clone(self, source: str, targets: Sequence[str], poses: Sequence[Sequence[float]]) -> None:
        """See `PhysxEngine`."""
        plain = [[float(x) for x in pose] for pose in poses]
        self._ask("clone", self._load_timeout_s, source=source, targets=list(targets), poses=plain)

    def warm_up(self, articulations: Sequence[str], sensors: Sequence[str]) -> None:
        """See `PhysxEngine`."""
        self._ask("warm_up", self._load_timeout_s, articulations=list(articulations), sensors=list(sensors))

    @property
    def sensor_paths(self) -> list[str]:
        """See `PhysxEngine`."""
        return self._ask("sensor_paths")[0]["paths"]

    def layout(self) -> Layout:
        """See `PhysxEngine`."""
        if self._layout is None:
            answer, _ = self._ask("layout")
            names = (tuple(answer["body_names"]), tuple(answer["dof_names"]))
            self._layout = Layout(*names, bool(answer["fixed_base"]))
        return self._layout

    def shape(self, name: str) -> tuple[int, ...]:
        """See `PhysxEngine`."""
        if name not in self._shapes:
            self._shapes[name] = tuple(self._ask("shape", name=name)[0]["shape"])
        return self._shapes[name]

    def read(self, name: str) -> Any:
        """A tensor."""
        return self._ask("read", names=[name])[1][0]

    def read_all(self, names: Sequence[str]) -> list[Any]:
        """Several tensors in one answer."""
        return self._ask("read", names=list(names))[1]

    def write(self, name: str, values: Any, rows: Any = None) -> None:
        """See `PhysxEngine`; does not wait."""
        import numpy as np

        arrays: list[Any] = [np.asarray(values, dtype=np.float32)]
        if rows is not None:
            arrays.append(np.asarray(rows, dtype=np.int32))
        self._tell("write", *arrays, name=name)

    def update_kinematics(self) -> None:
        """See `PhysxEngine`; does not wait."""
        self._tell("update_kinematics")

    def advance(self, dt_s: float, substeps: int, count: int, limit: float) -> Advance:
        """See `PhysxEngine`."""
        answer, _ = self._ask("advance", dt_s=dt_s, substeps=substeps, count=count, limit=limit)
        return Advance(answer["done"], answer["stable"])

    def contact_forces(self) -> Any:
        """See `PhysxEngine`."""
        return self._ask("contact_forces")[1][0]

    def close(self) -> None:
        """End the child: politely, then not. Twice is once."""
        if self._finalizer.alive:
            with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                self._channel.settimeout(1.0)
                send(self._channel, {"call": "close"})
                self._child.wait(timeout=5.0)
            self._finalizer()


def _end(owner: int, child: subprocess.Popen[bytes], channel: socket.socket, lifeline: int, log: Any) -> None:
    """Whatever state it is in, the child is gone afterwards, and no zombie. A fork of the owner leaves it alone."""
    if os.getpid() != owner:
        return
    channel.close()
    with contextlib.suppress(OSError):
        os.close(lifeline)
    if child.poll() is None:
        child.kill()
    child.wait()
    log.close()


def _ending(code: int) -> str:
    if code >= 0:
        return f"ended with code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return f"was killed ({name})" if name in ("SIGKILL", "SIGTERM") else f"crashed ({name})"


def _last_error(log: str) -> str:
    """The last thing that the engine called an error."""
    lines = [line.strip() for line in log.splitlines() if "rror" in line]
    return f"; it said: {' '.join(lines[-1].split())[:200]}" if lines else ""
