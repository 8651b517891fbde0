"""Threads that take turns: order, the first error, an interrupt."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from switchout.text.relay import Relay

THREADS = [1, 2, 3, 8]


@pytest.mark.parametrize("n_threads", THREADS)
def test_order_is_kept_though_early_items_take_longest(n_threads: int) -> None:
    written: list[int] = []

    def work(i: int) -> int:
        time.sleep(0.002 * (9 - i % 10))
        return i

    Relay(iter(range(40)), work, written.append).run(n_threads)
    assert written == list(range(40))


def test_several_items_are_worked_on_at_once() -> None:
    both = threading.Barrier(2)
    Relay(iter(range(4)), lambda _: both.wait(timeout=10), lambda _: None).run(2)  # else: broken
    assert not both.broken


@pytest.mark.parametrize("n_threads", THREADS)
def test_first_item_that_fails_is_named_whoever_is_quicker(n_threads: int) -> None:
    written: list[int] = []

    def work(i: int) -> int:
        if i >= 5:
            time.sleep(0.05 if i == 5 else 0)
            raise ValueError(f"item {i}")
        return i

    with pytest.raises(ValueError, match="item 5"):
        Relay(iter(range(100)), work, written.append).run(n_threads)
    assert written == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("n_threads", THREADS)
def test_reading_that_fails_comes_after_all_that_was_read(n_threads: int) -> None:
    written: list[int] = []

    def items() -> Iterator[int]:
        yield from range(6)
        raise OSError("no more")

    def work(i: int) -> int:
        time.sleep(0.01)
        return i

    with pytest.raises(OSError, match="no more"):
        Relay(items(), work, written.append).run(n_threads)
    assert written == list(range(6))


@pytest.mark.parametrize("n_threads", THREADS)
def test_nothing_is_written_after_writing_failed(n_threads: int) -> None:
    tried: list[int] = []

    def write(i: int) -> None:
        tried.append(i)
        if i == 3:
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        Relay(iter(range(50)), lambda i: i, write).run(n_threads)
    assert tried == [0, 1, 2, 3]


def test_interrupt_does_not_wait_for_a_thread_that_is_stuck() -> None:
    main, stuck, release = threading.current_thread(), threading.Event(), threading.Event()

    def work(i: int) -> int:
        if threading.current_thread() is main:
            assert stuck.wait(10)
            raise KeyboardInterrupt
        return i

    def write(_: int) -> None:
        stuck.set()
        release.wait(10)

    def items() -> Iterator[int]:  # item 0 must go to the other thread
        yield 0
        yield 1

    class OthersFirst(Relay[int, int]):
        def _loop(self) -> None:
            if threading.current_thread() is main:
                assert stuck.wait(10)
            super()._loop()

    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        OthersFirst(items(), work, write).run(2)
    assert time.monotonic() - started < 5
    release.set()
