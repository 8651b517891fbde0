"""SIGTERM and SIGHUP end the command as Ctrl-C does: half-written files go away first."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

ENDING = (signal.SIGTERM, signal.SIGHUP)


class Ended(KeyboardInterrupt):
    """The system, or a terminal that was closed, asks us to end."""


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise `Ended` where a signal would end the process; the second one does end it.

    A signal that is ignored stays so: ``nohup`` means it.
    """
    before = {number: signal.getsignal(number) for number in ENDING}
    ours = [number for number, handler in before.items() if handler == signal.SIG_DFL]
    if threading.current_thread() is not threading.main_thread():  # Python allows it there only
        ours = []
    process = os.getpid()

    def end(number: int, _: Any) -> None:
        signal.signal(number, signal.SIG_DFL)
        if os.getpid() != process:  # a forked worker has nothing to say
            os.kill(os.getpid(), number)
        raise Ended(number)

    for number in ours:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


def exit_code(interrupt: KeyboardInterrupt) -> int:
    """Return what a shell says of a command that this signal ended.

    Example:
        >>> exit_code(KeyboardInterrupt()), exit_code(Ended(signal.SIGTERM))
        (130, 143)
    """
    return 128 + (interrupt.args[0] if isinstance(interrupt, Ended) else signal.SIGINT)
