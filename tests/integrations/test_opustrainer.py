"""OpusTrainer, streamed through its real command; and Marian's recipe without it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import Counter

import pytest
import scipy.stats
import yaml

import switchout as so
import toy_tokenizers as toys
from examples import run_example
from switchout.integrations.opustrainer import SwitchOutModifier

N = 300


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("opus")
    german, english = toys.text(N)
    alignments = [
        " ".join(f"{i}-{i}" for i in range(min(len(a.split()), len(b.split()))))
        for a, b in zip(german, english, strict=True)
    ]
    rows = zip(german, english, alignments, strict=True)
    (folder / "train.tsv").write_text("".join("\t".join(row) + "\n" for row in rows), "utf-8")
    for name, lines in (("de", german), ("en", english)):
        words = sorted({word for line in lines for word in line.split()})
        (folder / f"vocab.{name}").write_text("\n".join(words) + "\n", "utf-8")
    return folder


def settings(**changes):
    switch = {"SwitchOut": 1.0, "tau_x": 1.0, "tau_y": 1.1,
              "vocab_src": "vocab.de", "vocab_trg": "vocab.en"}  # fmt: skip
    return {
        "datasets": {"clean": "train.tsv"},
        "stages": ["start"],
        "start": ["clean 1.0", "until clean 2"],
        "modifiers": [switch | changes],
        "seed": 1111,
        "num_fields": 3,
        "trainer": "cat",
    }


def run(folder, config, *arguments):
    path = folder / "config.yml"
    path.write_text(yaml.safe_dump(config, sort_keys=False), "utf-8")
    command = [sys.executable, "-m", "switchout.integrations.opustrainer", "-c", str(path), "-d"]
    return subprocess.run(
        [*command, *arguments], capture_output=True, text=True, check=False, env=os.environ
    )


def test_any_number_of_workers_writes_the_same_lines(folder):
    outputs = []
    for workers in ("1", "2"):
        result = run(folder, settings(), "-j", workers)
        assert result.returncode == 0, result.stderr
        outputs.append(result.stdout)
    assert outputs[0] == outputs[1]
    lines = outputs[0].splitlines()
    assert len(lines) == 2 * N
    clean = set((folder / "train.tsv").read_text("utf-8").splitlines())
    changed = [line for line in lines if line not in clean]
    assert 0.4 < len(changed) / len(lines) < 0.9
    first, second = Counter(lines[:N]), Counter(lines[N:])  # fresh noise in the second epoch
    assert sum((first & second).values()) < 0.6 * N


def test_alignments_stay_valid(folder):
    result = run(folder, settings(rate_x=0.4, rate_y=0.4, tau_x=None, tau_y=None), "-j", "1")
    assert result.returncode == 0, result.stderr
    clean = Counter(
        (len(s.split()), len(t.split()), a)
        for s, t, a in (
            line.split("\t") for line in (folder / "train.tsv").read_text("utf-8").splitlines()
        )
    )
    made = Counter()
    for line in result.stdout.splitlines():
        source, target, alignment = line.split("\t")
        made[len(source.split()), len(target.split()), alignment] += 1
    assert made == Counter({key: 2 * n for key, n in clean.items()})


def test_the_share_of_lines_and_the_law_of_changed_words(folder):
    words = (folder / "vocab.de").read_text("utf-8").split()
    modifier = SwitchOutModifier(0.5, tau_x=1.0, vocab_src=folder / "vocab.de")
    line = " ".join(words[:6]) + "\tx\t0-0"
    n = 16_000
    counts = Counter()
    for _ in range(n // 16):
        for made in modifier([line] * 16):
            source, target, alignment = made.split("\t")
            assert (target, alignment) == ("x", "0-0")
            pairs = zip(words[:6], source.split(), strict=True)
            counts[sum(a != b for a, b in pairs)] += 1
    law = so.SwitchOut(so.Words(len(words), ()), tau=1.0).change_probabilities(6) * 0.5
    law[0] += 0.5
    observed = [counts[k] for k in range(7)]
    assert scipy.stats.chisquare(observed, law * n).pvalue > 0.001


def test_one_column_and_other_modifiers(folder):
    modifier = SwitchOutModifier(1.0, rate_x=0.5, vocab_src=folder / "vocab.de")
    german, _ = toys.text(N)
    made = list(modifier(list(german)))
    assert len(made) == N
    assert not any("\t" in line for line in made)
    config = settings()
    config["modifiers"].append({"UpperCase": 1.0})
    result = run(folder, config, "-j", "1")
    assert result.returncode == 0, result.stderr
    assert result.stdout == result.stdout.upper()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tau_x": None, "tau_y": None}, "give tau_x, tau_y, rate_x or rate_y"),
        ({"vocab_src": None}, "give vocab_src"),
        ({"vocab_src": "nowhere"}, "nowhere"),
        ({"tau_x": -1.0}, "tau"),
        ({"taux": 1.0}, "unknown key 'taux' (did you mean 'tau_x'?)"),
        ({"vocab_tgt": "vocab.en"}, "unknown key 'vocab_tgt' (did you mean 'vocab_trg'?)"),
    ],
)
def test_a_mistake_in_the_yaml_is_one_line(folder, changes, message):
    result = run(folder, settings(**changes), "-j", "1")
    assert result.returncode == 2
    assert "Traceback" not in result.stderr
    last = result.stderr.strip().splitlines()[-1]
    assert last.startswith("switchout: could not initialize modifier 'SwitchOut'")
    assert message in last


def test_tags_must_come_later(folder):
    config = settings()
    config["modifiers"].insert(0, {"Tags": 0.1})
    result = run(folder, config, "-j", "1")
    assert result.returncode == 2
    assert "must stand before Tags" in result.stderr.splitlines()[-1]


def test_speed(folder, capsys):
    modifier = SwitchOutModifier(
        1.0, tau_x=1.0, tau_y=1.1, vocab_src=folder / "vocab.de", vocab_trg=folder / "vocab.en"
    )
    lines = (folder / "train.tsv").read_text("utf-8").splitlines()
    list(modifier(lines[:16]))
    start = time.process_time()
    done = 0
    while time.process_time() - start < 1:
        for i in range(0, N - 15, 16):
            done += len(list(modifier(lines[i : i + 16])))
    with capsys.disabled():
        print(f"\nOpusTrainer: {done / (time.process_time() - start):,.0f} pairs/s, chunks of 16")
    assert done > 5_000


def test_marian_reads_a_stream_of_epochs(folder):
    """The recipe of docs/recipes/marian.md, with cat in the place of marian."""
    script = """
        for epoch in 0 1 2; do
            switchout augment --pairs - --out-pairs - --tau-x 1.0 --tau-y 1.1 --seed 1 \\
                --vocab-src vocab.de --vocab-tgt vocab.en --epoch $epoch < pairs.tsv
        done | cat > seen.tsv
    """
    pairs = [
        line.split("\t")[:2] for line in (folder / "train.tsv").read_text("utf-8").splitlines()
    ]
    (folder / "pairs.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in pairs), "utf-8")
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    program = folder / "switchout"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m switchout "$@"\n')
    program.chmod(0o755)
    subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=folder, check=True,
                   env={**os.environ, "PATH": path}, capture_output=True)  # fmt: skip
    seen = (folder / "seen.tsv").read_text("utf-8").splitlines()
    assert len(seen) == 3 * N
    augmenter = so.LineAugmenter(
        source_words=folder / "vocab.de", target_words=folder / "vocab.en", tau_x=1.0, tau_y=1.1,
        seed=1,
    )  # fmt: skip
    for epoch in range(3):
        want = ["\t".join(pair) for pair in augmenter([tuple(p) for p in pairs], epoch=epoch)]
        assert seen[epoch * N : (epoch + 1) * N] == want


def test_the_example_runs(tmp_path):
    assert "400 lines, of them changed" in run_example("opustrainer_marian.py", tmp_path)
