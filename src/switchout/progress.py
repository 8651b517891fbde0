"""Progress on stderr: a bar on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType

PLAIN_EVERY = 10.0  # seconds between two lines where no terminal is attached
WORTH_A_LINE = 1.0  # seconds: what took less is told by its result
BAR = 20  # columns of the bar itself, on 80
REMAINING = 9  # columns of the time that is left, with its space


def short(number: float) -> str:
    """Return a number in few characters.

    Example:
        >>> short(1_254_321), short(8_210), short(2.917)
        ('1.25M', '8.21k', '2.92')
    """
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.3g}{letter}"
    return f"{number:.3g}"


def amount(number: float) -> str:
    """Return how much was done; of a few megabytes two decimals count.

    Example:
        >>> amount(12_345.6), amount(3), amount(0.087)
        ('12,346', '3', '0.09')
    """
    return f"{number:,.2f}" if number < 10 and number != int(number) else f"{number:,.0f}"


def fitting(note: str, columns: int) -> str:
    """Return as many of the comma-separated parts of a note as fit, from the left.

    Example:
        >>> fitting("loss 5.76, 3,212 tokens/s, dev perplexity 12.4", 28)
        'loss 5.76, 3,212 tokens/s'
        >>> fitting("loss 5.76", -1)  # a terminal with no room at all
        ''
    """
    parts = note.split(", ")
    while parts and len(", ".join(parts)) > columns:
        parts.pop()
    return ", ".join(parts)


class Meter:
    """Counts work done and shows it.

    Example:
        >>> with Meter("reading", total=3, unit="lines") as meter:
        ...     for _ in range(3):
        ...         meter.advance(1, note="loss 1.23")
    """

    def __init__(self, label: str, *, total: float | None = None, unit: str = "", done: float = 0):
        self.label, self.total, self.unit, self.done = label, total, unit, done
        self._start = self._shown = time.monotonic()
        self._start_done = done
        self._is_terminal = sys.stderr.isatty()
        self._note = ""

    def __enter__(self) -> Meter:
        if self._is_terminal:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            console = Console(stderr=True)
            self._bar_width = max(4, min(BAR, console.width - 60))
            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(self._bar_width),
                TextColumn("{task.fields[count]}"),
                TimeRemainingColumn(),
                TextColumn("{task.fields[note]}", style="dim"),
                console=console,
            )
            self._bar.start()
            self._task = self._bar.add_task(
                self.label, total=self.total, completed=int(self.done), count="", note=""
            )
        return self

    @property
    def rate(self) -> float:
        """What was done here so far, a second."""
        return (self.done - self._start_done) / max(time.monotonic() - self._start, 1e-9)

    def advance(self, n: float = 1, *, note: str = "") -> None:
        """Add ``n`` to the work done; ``note`` stands beside the bar until the next one.

        Below 0 it is work of an earlier visit that was lost, and is to be done again.
        """
        self.done += n
        self._start_done += min(n, 0)
        self._note = note = note or self._note
        if self._is_terminal:
            count = self._count()
            taken = len(self.label) + 1 + self._bar_width + 1 + len(count) + 1 + REMAINING
            note = fitting(note, self._bar.console.width - taken)
            self._bar.update(self._task, completed=self.done, count=count, note=note)
            return
        now = time.monotonic()
        if now - self._shown >= PLAIN_EVERY:
            self._shown = now
            self._line(note)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._is_terminal:
            self._bar.stop()
        elif kind is None and time.monotonic() - self._start >= WORTH_A_LINE:
            self._line("done")

    def _count(self) -> str:
        of_total = f"/{amount(self.total)}" if self.total is not None else ""
        per = f" {self.unit}" if self.unit.isupper() else ""  # a measure such as MB is no count
        rate = f"{short(self.rate)}{per}/s"
        return f"{amount(self.done)}{of_total} {self.unit} {rate}".replace("  ", " ")

    def _line(self, note: str) -> None:
        print(f"{self.label}: {self._count()} {note}".rstrip(), file=sys.stderr, flush=True)
