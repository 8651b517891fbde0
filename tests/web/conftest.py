"""A real server, started as a user starts it, and a real Chromium. Run by ``make test-web``."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS / "unit"), str(TESTS / "integration")]
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1280, "height": 800}


@contextmanager
def serving(runs: Path, *options: str) -> Iterator[tuple[str, int]]:
    """Run ``switchout explore`` on a free port; yield its address and its process."""
    command = [sys.executable, "-m", "switchout", "explore", "--runs", str(runs), "--port", "0"]
    server = subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        yield server.stdout.readline().split()[0], server.pid
    finally:
        server.terminate()
        server.wait(timeout=20)


@pytest.fixture(scope="session")
def runs(tmp_path_factory) -> Path:
    from explored import write_runs

    return write_runs(tmp_path_factory.mktemp("web") / "runs")


@pytest.fixture(scope="session")
def served(runs) -> Iterator[tuple[str, int]]:
    with serving(runs) as found:
        yield found


@pytest.fixture(scope="session")
def address(served) -> str:
    return served[0]


@pytest.fixture(scope="session")
def server(served) -> int:
    return served[1]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        path = os.environ.get("CHROMIUM", "/usr/bin/chromium")
        browser = playwright.chromium.launch(executable_path=path, args=QUIET)
        yield browser
        browser.close()


def _is_fault(message: ConsoleMessage) -> bool:
    """Chromium notes our refusals, which some tests ask for."""
    return message.type == "error" and "status of 422" not in message.text


@contextmanager
def opened(browser: Browser, address: str, **options: object) -> Iterator[Page]:
    """Yield a page; an error of a script, or a request to another machine, is a failure."""
    context = browser.new_context(**{"viewport": DESKTOP, **options})
    page = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda m: faults.append(m.text) if _is_fault(m) else None)
    page.on(
        "request", lambda r: None if r.url.startswith((address, "data:")) else faults.append(r.url)
    )
    yield page
    context.close()
    assert faults == []


@pytest.fixture
def page(chromium, address) -> Iterator[Page]:
    with opened(chromium, address) as found:
        yield found
