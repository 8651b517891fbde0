"""One run from start to finish in a process of its own, whoever started the process."""

from __future__ import annotations

import logging
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from switchout.errors import SwitchOutError
from switchout.runs.config import Config
from switchout.runs.finished import finished
from switchout.runs.leases import lease

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Visit:
    """How a worker left a run. ``busy``: another worker has it; ``stopped``: asked to stop."""

    state: Literal["done", "busy", "stopped", "failed"]
    reason: str = ""


def work(config: Config, folder: Path) -> Visit:
    """Train the run in ``folder`` to its end, go on with it, or find it done."""
    with lease(folder) as is_ours:
        if not is_ours:
            return Visit("busy")
        if finished(folder) is not None:
            return Visit("done")
        _talk_to(folder / ".log")
        try:
            from switchout.runs.record import write_record
            from switchout.runs.train import train_held

            result = train_held(config, folder)
            if result["state"] != "done":
                return Visit("stopped")
            write_record(folder)
        except SwitchOutError as error:
            return Visit("failed", str(error))
        except Exception as error:  # one broken run must not end the table
            log.exception("failed")
            return Visit("failed", f"{type(error).__name__}: {error} (see {folder / '.log'})")
    return Visit("done")


def _talk_to(path: Path) -> None:
    """Send everything this process says to a file: the terminal belongs to the driver."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    sys.stdout.flush()
    sys.stderr.flush()
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    os.close(descriptor)
    logging.basicConfig(format="%(message)s", level=logging.INFO, stream=sys.stderr, force=True)
