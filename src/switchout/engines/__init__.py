"""The one pool: functions called in processes of this machine, or as tasks of a Ray cluster.

* A process serves one call, so that nothing is inherited from another.
* What is called must be importable; the user's script is never run again in a worker.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from switchout.engines.pool import Call, Lost, Pool
from switchout.errors import SwitchOutError, did_you_mean

ENGINES = ["local", "ray"]

__all__ = ["Call", "Engine", "Lost", "Pool"]


@dataclass(frozen=True)
class Engine:
    """Which pool to use: ``local`` processes or ``ray``, with so many workers.

    Example:
        >>> import operator, time
        >>> with Engine(workers=1).open(Path(".")) as pool:
        ...     pool.start("sum", Call(operator.add, (20, 22)))
        ...     while not (ended := pool.ended()):
        ...         time.sleep(0.01)
        >>> ended
        [('sum', 42)]
    """

    name: str = "local"
    workers: int | None = None
    ray_address: str | None = None
    gpus: float = 0.0  # that a call needs; on Ray only

    def __post_init__(self) -> None:
        if self.name not in ENGINES:
            raise SwitchOutError(
                f"engine must be local or ray, got {self.name!r}{did_you_mean(self.name, ENGINES)}"
            )
        for name, value in (("ray_address", self.ray_address), ("gpus", self.gpus)):
            if value and self.name != "ray":
                raise SwitchOutError(f"{name}= needs engine=ray")

    def open(self, folder: Path, *, preload: Sequence[str] = ()) -> AbstractContextManager[Pool]:
        """Return the pool, to be entered; leaving it ends all that still runs.

        Args:
            folder: That the workers write to; every node of a cluster must see it.
            preload: Modules that local processes import once, for all of them.
        """
        if self.name == "local":
            from switchout.engines.local import local_pool

            return local_pool(self.workers, preload=preload)
        from switchout.engines.ray import ray_pool

        return ray_pool(folder, workers=self.workers, address=self.ray_address, gpus=self.gpus)
