"""Starting Ray the way we promise, for every layer that can use a cluster.

* Usage statistics are off before ray is imported; no dashboard; a small object store.
* The working folder is never uploaded: nodes need the package installed and a shared folder.
* Our signal handlers survive: ``ray.init`` replaces the one for SIGTERM.
"""

from __future__ import annotations

import os
import signal
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from switchout.errors import SwitchOutError

OBJECT_STORE_BYTES = 100 * 2**20  # tasks exchange file names, not data; Ray's minimum is 75 MiB


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
    ray = _import_ray()
    if ray.is_initialized():
        yield ray
        return
    in_main = threading.current_thread() is threading.main_thread()
    handlers = {s: signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM) if in_main}
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if address is None:
        options |= {
            "num_cpus": workers,
            "include_dashboard": False,
            "object_store_memory": OBJECT_STORE_BYTES,
        }
    try:
        ray.init(address=address or "local", **options)
    except ConnectionError as error:
        reason = str(error).splitlines()[0]
        raise SwitchOutError(
            f"--ray-address {address}: no Ray cluster answers ({reason})"
        ) from None
    finally:
        for which, handler in handlers.items():
            signal.signal(which, handler)
    try:
        yield ray
    finally:
        ray.shutdown()


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


def _import_ray() -> Any:
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ["RAY_ENABLE_UV_RUN_RUNTIME_ENV"] = "0"  # its hook uploads the working folder
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # silences a warning
    try:
        import ray
    except ImportError:
        raise SwitchOutError("Ray is not installed: pip install 'switchout[ray]'") from None
    return ray
