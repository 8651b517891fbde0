"""Leases keep two workers off one run, and never for longer than the holder lives."""

from __future__ import annotations

import json
import multiprocessing
import os
import threading
import time
from pathlib import Path

import pytest

from switchout.runs import leases
from switchout.runs.leases import is_held, lease


def hold(folder: Path, taken: object) -> None:
    with lease(folder) as is_ours:
        taken.set() if is_ours else None  # type: ignore[attr-defined]
        time.sleep(60)


def test_one_holder_at_a_time_and_free_afterwards(tmp_path):
    with lease(tmp_path) as first, lease(tmp_path) as second:
        assert (first, second, is_held(tmp_path)) == (True, False, True)
    assert not is_held(tmp_path)
    with lease(tmp_path) as again:
        assert again


def test_the_lease_of_a_killed_process_is_free_at_once(tmp_path):
    context = multiprocessing.get_context("fork")
    taken = context.Event()
    holder = context.Process(target=hold, args=(tmp_path, taken))
    holder.start()
    assert taken.wait(10)
    assert is_held(tmp_path)
    holder.kill()
    holder.join()
    assert not is_held(tmp_path)
    with lease(tmp_path) as is_ours:
        assert is_ours


def foreign(folder: Path) -> Path:
    path = folder / ".lease"
    path.write_text(json.dumps({"token": "x", "place": "another machine", "pid": 1}))
    return path


@pytest.mark.parametrize("hours", [-48, 0, 48], ids=["old", "now", "from the future"])
def test_a_silent_holder_elsewhere_is_given_up_after_a_while(tmp_path, hours):
    """Whatever the clocks say: what counts is that nothing happens while we watch."""
    path = foreign(tmp_path)
    when = time.time() + 3600 * hours
    os.utime(path, (when, when))
    assert is_held(tmp_path, stale=0.4)
    time.sleep(0.5)
    assert not is_held(tmp_path, stale=0.4)
    begun = time.monotonic()
    with lease(tmp_path, stale=0.4) as is_ours:
        assert is_ours
    assert time.monotonic() - begun >= 0.4


@pytest.mark.parametrize("hours", [-48, 0, 48], ids=["clock ahead", "same clock", "clock behind"])
def test_a_living_holder_elsewhere_is_never_given_up(tmp_path, hours):
    path = foreign(tmp_path)
    stop = threading.Event()

    def beat() -> None:
        while not stop.wait(0.1):
            when = time.time() + 3600 * hours
            os.utime(path, (when, when))

    thread = threading.Thread(target=beat)
    thread.start()
    try:
        for _ in range(3):
            with lease(tmp_path, stale=0.5) as is_ours:
                assert not is_ours
            assert is_held(tmp_path, stale=0.5)
    finally:
        stop.set()
        thread.join()


def test_a_number_given_to_another_process_is_not_the_holder(tmp_path):
    path = tmp_path / ".lease"
    with lease(tmp_path):
        holder = json.loads(path.read_text())
    path.write_text(json.dumps(holder | {"began": "1"}))
    assert not is_held(tmp_path)
    path.write_text(json.dumps(holder))
    assert is_held(tmp_path)


def test_a_heart_beats_so_that_a_living_holder_is_never_given_up(tmp_path):
    with lease(tmp_path, beat=0.05, stale=0.4):
        for _ in range(10):
            time.sleep(0.1)
            with lease(tmp_path, stale=0.4) as is_ours:
                assert not is_ours


def test_a_holder_whose_lease_was_taken_over_stops_and_leaves_it_alone(tmp_path, monkeypatch):
    signals: list[int] = []
    monkeypatch.setattr(leases.os, "kill", lambda pid, number: signals.append(number))
    other = json.dumps({"token": "other", "place": "another machine", "pid": 1})
    with lease(tmp_path, beat=0.05):
        (tmp_path / ".lease").write_text(other)
        time.sleep(0.3)
    assert leases.signal.SIGTERM in signals
    assert (tmp_path / ".lease").read_text() == other


@pytest.mark.parametrize("content", ['{"token": "x", "pl', "[]", "7", '{"token": 1}', "[" * 9999])
def test_a_damaged_lease_is_free(tmp_path, content):
    (tmp_path / ".lease").write_text(content)
    assert not is_held(tmp_path)
    with lease(tmp_path) as is_ours:
        assert is_ours
