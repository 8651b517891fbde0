"""Ray, started and used the way we promise, for every layer that can use a cluster.

* Usage statistics are off before ray is imported; no dashboard; a small object store.
* The working folder is never uploaded: nodes need the package installed and a shared folder.
* Our signal handlers survive: ``ray.init`` replaces the one for SIGTERM.

A Ray that we start here listens on the loopback address only and asks for a token, new each time.
Nothing of it is left running: `end_processes` ends what a shutdown leaves, and a guard process does
so when this process is killed. A cluster that the user brings is as safe as the user made it.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from switchout.engines.pool import THREADS, Call, Lost
from switchout.errors import SwitchOutError, needs

OBJECT_STORE_BYTES = 100 * 2**20  # tasks exchange file names, not data; Ray's minimum is 75 MiB
LEAST_VERSION = (2, 52)  # the first with tokens
LOOPBACK = "127.0.0.1"
MARK = "SWITCHOUT_RAY_SESSION"  # environment of all processes of a session
PATIENCE = 10.0  # seconds until we give up on what cannot be killed
RETRIES = 10  # of a task whose node was lost
_ONLY_LOOPBACK = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"  # 0: a node's address is the loopback one


@contextmanager
def start_ray(*, address: str | None = None, workers: int | None = None) -> Iterator[Any]:
    """Yield the ``ray`` module, connected; disconnect afterwards unless it was connected before.

    Args:
        address: Of a running cluster ("auto", "host:6379"); None starts Ray on this machine.
        workers: Processors that a Ray started here may use; None: all of this machine.

    Example:
        with start_ray(workers=2) as ray:
            double = ray.remote(lambda x: 2 * x)
            print(ray.get(double.remote(21)))
    """
    ray = import_ray()
    if ray.is_initialized():
        yield ray
        return
    with _private_ray(ray, workers) if address is None else _connected(ray, address):
        yield ray


@contextmanager
def ray_pool(
    folder: Path, *, workers: int | None, address: str | None, gpus: float
) -> Iterator[RayPool]:
    """Yield a pool on a running cluster, or on Ray started here; its tasks end with the block."""
    folder.mkdir(parents=True, exist_ok=True)
    with start_ray(address=address, workers=workers) as ray:
        check_nodes_see(ray, folder)
        pool = RayPool(ray, gpus)
        try:
            yield pool
        finally:
            pool.close()


class RayPool:
    """Tasks that each make one call. There is always room: Ray queues what does not fit.

    A task lost with its node starts again elsewhere.
    """

    has_room = True

    def __init__(self, ray: Any, gpus: float):
        self._ray, self._gpus = ray, gpus
        self._running: dict[Any, Any] = {}
        self._task = ray.remote(max_retries=RETRIES, max_calls=1)(_work)

    @property
    def running(self) -> list[Any]:
        return list(self._running.values())

    def start(self, key: Any, call: Call) -> None:
        """See `Pool`."""
        task = self._task.options(num_cpus=call.threads, num_gpus=self._gpus)
        here = {"SWITCHOUT_DATA": os.environ.get("SWITCHOUT_DATA", "")}
        self._running[task.remote(call, str(Path.cwd()), here)] = key

    def ended(self) -> list[tuple[Any, Any]]:
        """See `Pool`."""
        if not self._running:
            return []
        n = len(self._running)
        done, _ = self._ray.wait(list(self._running), num_returns=n, timeout=0)
        return [(self._running.pop(promise), self._answer(promise)) for promise in done]

    def close(self) -> None:
        """End all that still runs."""
        for promise in list(self._running):
            self._ray.cancel(promise, force=True)

    def _answer(self, promise: Any) -> Any:
        try:
            return self._ray.get(promise)
        except self._ray.exceptions.RayError as error:
            return Lost(f"Ray gave it up: {str(error).splitlines()[0]}")


def check_nodes_see(ray: Any, folder: Path) -> None:
    """Refuse a folder that some node of the cluster cannot read and write."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    def answer(probe: str) -> bool:
        try:
            return Path(probe).exists() and os.access(Path(probe).parent, os.W_OK)
        except OSError:
            return False

    nodes = {n["NodeID"]: n["NodeManagerHostname"] for n in ray.nodes() if n["Alive"]}
    probe = folder.resolve() / f".probe-{uuid.uuid4().hex}"
    probe.touch()
    try:
        ask = ray.remote(answer)
        answers = {
            host: ask.options(
                num_cpus=0, scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False)
            ).remote(str(probe))
            for node, host in nodes.items()
        }
        blind = sorted(host for host, reply in answers.items() if not ray.get(reply))
    finally:
        probe.unlink(missing_ok=True)
    if blind:
        raise SwitchOutError(
            f"{folder}: not visible and writable on {', '.join(blind)}; use a shared file system"
        )


def import_ray() -> Any:
    """Return the ``ray`` module, its statistics off."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ["RAY_ENABLE_UV_RUN_RUNTIME_ENV"] = "0"  # its hook uploads the working folder
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # silences a warning
    with needs("ray"):
        import ray
    if tuple(map(int, ray.__version__.split(".")[:2])) < LEAST_VERSION:
        least = ".".join(map(str, LEAST_VERSION))
        raise SwitchOutError(
            f"Ray {ray.__version__} knows no tokens: pip install --upgrade 'ray>={least}'"
        )
    return ray


@contextmanager
def _connected(ray: Any, address: str) -> Iterator[None]:
    """Join a cluster that somebody else has started."""
    try:
        _init(ray, address=address)
    except ConnectionError as error:
        reason = str(error).splitlines()[0]
        raise SwitchOutError(f"ray_address={address}: no Ray cluster answers ({reason})") from None
    try:
        yield
    finally:
        ray.shutdown()


@contextmanager
def _private_ray(ray: Any, workers: int | None) -> Iterator[None]:
    """Start a Ray for this process alone; afterwards nothing of it is left."""
    from ray._private import ray_constants

    mark = uuid.uuid4().hex
    secret = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    folder = tempfile.mkdtemp(prefix="switchout-ray-")  # readable by this user alone
    was_cluster = ray_constants.ENABLE_RAY_CLUSTER
    guard = subprocess.Popen(
        [sys.executable, "-m", "switchout.engines.ray", mark, folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C is for us
    )
    try:
        with _environment(secret):
            ray_constants.ENABLE_RAY_CLUSTER = False  # the variable is read at the first import
            _reread_configuration(ray)
            with _environment({MARK: mark, _ONLY_LOOPBACK: "0"}):
                _init(
                    ray,
                    address="local",
                    num_cpus=workers,
                    include_dashboard=False,
                    object_store_memory=OBJECT_STORE_BYTES,
                    _temp_dir=folder,
                )
            _check_loopback(ray)
            yield
    finally:
        ray.shutdown()
        ray_constants.ENABLE_RAY_CLUSTER = was_cluster
        _reread_configuration(ray)
        end_processes(mark)
        shutil.rmtree(folder, ignore_errors=True)
        guard.kill()
        guard.communicate()


def _init(ray: Any, **options: Any) -> None:
    """Call ``ray.init``, quietly, and put our signal handlers back."""
    in_main = threading.current_thread() is threading.main_thread()
    handlers = {s: signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM) if in_main}
    try:
        ray.init(log_to_driver=False, logging_level="ERROR", **options)
    finally:
        for which, handler in handlers.items():
            signal.signal(which, handler)


def _reread_configuration(ray: Any) -> None:
    """Ray keeps a copy of its environment, and of the token, from its first import."""
    ray._raylet.Config.initialize("")
    ray._raylet.AuthenticationTokenLoader.instance().reset_cache()


def _check_loopback(ray: Any) -> None:
    addresses = {node["NodeManagerAddress"] for node in ray.nodes()}
    if addresses != {LOOPBACK}:
        raise SwitchOutError(
            f"Ray {ray.__version__} would listen on {', '.join(sorted(addresses))}, not only on "
            "this machine: use engine=local, or start a cluster and give ray_address"
        )


@contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ |= values
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _work(call: Call, here: str, environment: dict[str, str]) -> Any:
    """Make a call as if in the driver's folder: corpora may be named relative to it."""
    if Path(here).is_dir():
        os.chdir(here)
    os.environ |= {name: value for name, value in environment.items() if value}
    os.environ |= dict.fromkeys(THREADS, str(call.threads))
    function: Callable[..., Any] = call.function
    return function(*call.arguments)


def end_processes(mark: str) -> None:
    """Kill every process of a session but this one, and those they start meanwhile.

    Example:
        >>> end_processes("a session that never was")
    """
    deadline = time.monotonic() + PATIENCE
    while (found := marked_processes(mark)) and time.monotonic() < deadline:
        for pid in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)


def marked_processes(mark: str) -> list[int]:
    """Return the living processes that carry the mark, but not this one."""
    wanted, found = f"{MARK}={mark}".encode(), []
    for path in Path("/proc").glob("[0-9]*/environ"):
        pid = int(path.parent.name)
        with suppress(OSError):  # it has just ended, or is not ours to read
            if pid != os.getpid() and wanted in path.read_bytes().split(b"\0"):
                found.append(pid)
    return found


def _guard() -> None:
    """Wait for the driver's end, however it comes, and end what is left of its session.

    Ray's own reaper leaves its agents running when the driver is killed. Our standard input ends
    with the driver. Where there is no ``/proc`` (macOS) nothing is found.
    """
    mark, folder = sys.argv[1:]
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while sys.stdin.buffer.read(1):
        pass
    end_processes(mark)
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    _guard()
