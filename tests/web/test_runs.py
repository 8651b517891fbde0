"""The pages of runs, with a training that goes on while they are open."""

from __future__ import annotations

import subprocess
import sys

import pytest
from playwright.sync_api import expect

from conftest import opened, serving

TOML = """
seed = 3
[data]
corpus = "phrasebook"
train_pairs = 300
[model]
layers = 1
heads = 2
d_head = 8
d_model = 16
d_inner = 16
[augment.source]
policy = "switchout"
tau = 1.0
[train]
steps = 100000
log_every = 5
checkpoint_every = 40
save_every = 100000
dev_bleu = false
tensorboard = false
"""


@pytest.fixture
def training(tmp_path):
    """A real training that nobody waits for."""
    (tmp_path / "config.toml").write_text(TOML)
    out = tmp_path / "runs" / "live"
    command = [sys.executable, "-m", "switchout", "train", str(tmp_path / "config.toml")]
    process = subprocess.Popen(
        [*command, "--out", str(out)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    yield out
    process.kill()
    process.wait()


def wait_for(path) -> None:
    import time

    for _ in range(1200):
        if path.exists() and path.read_bytes().count(b"\n") > 1:
            return
        time.sleep(0.1)
    raise AssertionError(f"{path} never came")


def test_pages_follow_a_training(chromium, training):
    wait_for(training / "metrics.jsonl")
    with serving(training.parent) as (address, _), opened(chromium, address) as page:
        page.goto(address + "runs")
        row = page.locator("tr", has_text="live")
        expect(row).to_contain_text("training")
        page.locator('[name="run"]').check()
        step = row.locator("td").nth(4)
        before = step.inner_text()
        expect(step).not_to_have_text(before, timeout=60_000)
        assert page.locator('[name="run"]').is_checked()  # what was chosen stays chosen

        page.get_by_role("link", name="live").click()
        step, curve = page.locator("#step"), page.locator("polyline").first
        before, path = step.inner_text(), curve.get_attribute("points")
        page.locator("summary", has_text="Configuration").click()
        expect(step).not_to_have_text(before, timeout=60_000)
        expect(curve).not_to_have_attribute("points", path or "", timeout=60_000)
        assert page.locator("details").first.get_attribute("open") is not None
        expect(page.locator("figcaption", has_text="Dev perplexity")).to_be_visible(timeout=120_000)


def test_runs_are_filtered_sorted_and_compared(page, address):
    page.goto(address + "runs")
    page.locator('[name="find"]').fill("noisy")
    expect(page.locator("tbody tr")).to_have_count(2)
    page.locator('[name="find"]').fill("")
    expect(page.locator("tbody tr")).to_have_count(5)
    page.get_by_role("link", name="test BLEU").click()
    page.get_by_role("link", name="test BLEU").click()
    expect(page.locator("th[aria-sort=descending]")).to_contain_text("test BLEU")
    assert "noisy" in page.locator("tbody tr").first.inner_text()
    for name in ("plain-1", "plain-2", "sweep/noisy-1", "sweep/noisy-2"):
        page.get_by_label(f"compare {name}").check()
    page.get_by_role("button", name="Compare the chosen runs").click()
    expect(page.locator("h1")).to_have_text("2 systems compared")
    assert page.locator("polygon").count() == 1  # the forest plot has one difference
    assert page.locator("polyline").count() >= 8  # the curves of four runs
    page.get_by_role("link", name="The whole report").click()
    folds = page.locator("details")
    assert folds.count() > 1
    folds.first.locator("summary").click()
    assert folds.first.locator("table").first.is_visible()


def test_two_runs_translate_side_by_side(chromium, tmp_path):
    from explored import write_run
    from made_runs import make_config, write_corpus
    from tiny_run import make_run

    for seed in (1, 2):
        folder = make_run(tmp_path / "runs" / f"run-{seed}", seed=seed)
        config = make_config(
            tmp_path / "corpus" if seed == 2 else write_corpus(tmp_path / "corpus")
        )
        made = write_run(tmp_path / f"facts-{seed}", config, wrong=0.0)
        for name in ("config.toml", "signature.json"):
            (made / name).rename(folder / name)
        result = folder / "result.json"
        result.write_text(result.read_text().replace("{", '{"state": "done", "steps": 150, ', 1))
    with serving(tmp_path / "runs") as (address, _), opened(chromium, address) as page:
        page.goto(address + "translate")
        page.locator('[name="line"]').fill("s3 s7 s1")
        page.get_by_role("button", name="Translate").click()
        expect(page.locator(".translation")).to_have_count(2, timeout=60_000)
        names = page.locator("#translated figcaption").all_inner_texts()
        assert names == ["run-1", "run-2"]
        for text in page.locator(".translation").all_inner_texts():
            assert set(text.split()) <= {f"t{i}" for i in range(27)}
            assert len(text.split()) >= 1
