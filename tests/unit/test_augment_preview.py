"""A preview shows what `augment_files` will write, and expects what happens."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from switchout.cli import run
from switchout.text import augment_files
from switchout.text.preview import preview

WORDS = [f"w{i}" for i in range(30)]


@pytest.fixture
def corpus(tmp_path):
    rng = np.random.default_rng(4)
    for name in ("src", "tgt"):
        lines = [" ".join(rng.choice([*WORDS, "<s>"], rng.integers(0, 30))) for _ in range(200)]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    return tmp_path


def test_samples_are_the_lines_of_augment_files(corpus):
    how = {"tau_x": 2.0, "rate_y": 0.2, "seed": 3}
    seen = preview(corpus / "src", corpus / "tgt", lines=20, epochs=2, epoch=5, **how)
    shown = {(s.side, s.epoch, s.line): s for s in seen.samples}
    assert len(shown) == len(seen.samples) == 2 * 2 * 20
    for side, name in (("source", "src"), ("target", "tgt")):
        only = {
            k: v for k, v in how.items() if k == "seed" or k.endswith("_" + "xy"[name == "tgt"])
        }
        for epoch in (5, 6):
            augment_files(
                **{side: corpus / name, f"out_{side}": corpus / "out"}, **only, epoch=epoch
            )
            before, after = ((corpus / f).read_text().split("\n") for f in (name, "out"))
            for line in range(20):
                words = shown[side, epoch, line].words
                assert [word.text for word in words] == after[line].split()
                assert [word.was for word in words] == before[line].split()
    assert any(word.is_changed for sample in seen.samples for word in sample.words)


@pytest.mark.parametrize(
    "how",
    [
        {"tau_x": 1.0},
        {"rate_x": 0.1},
        {"policy_x": "hamming", "tau_x": 0.3},
        {"policy_x": "word_dropout", "rate_x": 0.1},
    ],
    ids=str,
)
def test_expected_shares_are_those_of_a_run(corpus, how):
    copies = 200  # enough for a standard error far below the tolerance
    (effect,) = preview(corpus / "src", seed=1, vocab_source=WORDS, **how).effects
    done = augment_files(
        corpus / "src", out_source=corpus / "out", vocab_source=WORDS, seed=1, copies=copies,
        stats=True, **how,
    )["source"]  # fmt: skip
    assert effect.words == done["words"]
    assert effect.known == done["known_words"] / done["words"] < 1
    assert effect.changed == pytest.approx(done["changed"], rel=0.03)
    assert effect.untouched == pytest.approx(done["untouched"], rel=0.03)
    assert sum(group.lines for group in effect.by_length) < effect.lines  # some are empty
    share = sum(g.changed * g.lines for g in effect.by_length)
    assert share > 0
    short, long = effect.by_length[0], effect.by_length[-1]
    if how == {"tau_x": 1.0}:
        assert short.changed > 3 * long.changed


def test_the_command_prints_80_columns_and_writes_nothing(corpus, capfd):
    before = sorted(corpus.iterdir())
    flags = ["--src", str(corpus / "src"), "--tau-x", "3", "--seed", "1"]
    assert run(["augment", *flags, "--preview", "4"]) == 0
    by_augment = capfd.readouterr().out
    assert run(["preview", *flags, "--lines", "4"]) == 0
    assert capfd.readouterr().out == by_augment
    assert max(map(len, by_augment.splitlines())) <= 80
    shown = re.findall(r"^  epoch (\d)|in epochs? ([\d, ]+)", by_augment, flags=re.MULTILINE)
    epochs = [epoch for one, many in shown for epoch in (one or many).split(", ")]
    assert sorted(epochs) == ["0"] * 4 + ["1"] * 4 + ["2"] * 4  # every line in every epoch
    assert "[w" in by_augment
    assert run(["preview", *flags, "--lines", "4", "--json"]) == 0
    plain = json.loads(capfd.readouterr().out)
    assert {"line", "side", "epoch", "words"} == set(plain["samples"][0])
    changed = [w for sample in plain["samples"] for w in sample["words"] if isinstance(w, list)]
    assert changed
    assert sorted(corpus.iterdir()) == before


def test_noise_for_a_side_that_is_not_there_is_refused(corpus, capfd):
    assert run(["preview", "--src", str(corpus / "src"), "--tau-y", "1", "--seed", "1"]) == 2
    assert "--tau-y, --rate-y and --policy-y are for the target: give --tgt" in (
        capfd.readouterr().err
    )


def test_the_closing_summary_says_it_in_per_cent(corpus, capfd):
    out = corpus / "out"
    flags = ["--src", str(corpus / "src"), "--out-src", str(out), "--tau-x", "3", "--seed", "1"]
    assert run(["augment", *flags, "--copies", "2"]) == 0
    said = capfd.readouterr().out
    before, after = ((corpus / f).read_text().split("\n")[:-1] for f in ("src", "out"))
    twice = [line.split() for line in before for _ in range(2)]
    changes = [
        sum(a != b for a, b in zip(old, new.split(), strict=True))
        for old, new in zip(twice, after, strict=True)
    ]
    share = 100 * sum(changes) / sum(map(len, twice))
    untouched = 100 * changes.count(0) / len(changes)
    assert f"source: {share:.1f}% of the words changed ({sum(changes):,})" in said
    assert f"{untouched:.1f}% of the lines untouched" in said
    assert f"words of the source: {out}.vocab (give it as --vocab-src)" in said


def test_the_closing_summary_says_so_where_noise_changes_nothing(corpus, capfd):
    flags = ["--src", str(corpus / "src"), "--out-src", str(corpus / "out"), "--seed", "1"]
    flags += ["--tgt", str(corpus / "tgt"), "--out-tgt", str(corpus / "out2")]
    assert run(["augment", *flags, "--tau-x", "0"]) == 0
    said = capfd.readouterr().out
    assert "source: 0.0% of the words changed (0), 100.0% of the lines untouched" in said
    assert "\ntarget: no words changed, as there is no --tau-y or --rate-y\n" in said


@pytest.mark.parametrize("verb", ["augment", "preview"])
def test_noise_that_changes_most_words_is_warned_about(tmp_path, caplog, verb):
    (tmp_path / "in").write_text("".join(f"w{i} w{i + 1}\n" for i in range(500)))
    flags = ["--src", str(tmp_path / "in"), "--policy-x", "hamming", "--seed", "1"]
    flags += ["--out-src", str(tmp_path / "out")] if verb == "augment" else []
    assert run([verb, *flags, "--rate-x", "0.1"]) == 0
    assert caplog.text == ""
    assert run([verb, *flags, "--tau-x", "1"]) == 0
    assert "source: hamming changes 99.5% of the words; a rate of 0.1" in caplog.text
    flags[flags.index("hamming")] = "switchout"
    for tau in ("1e9", "inf"):  # as near to all words as it gets
        caplog.clear()
        assert run([verb, *flags, "--tau-x", tau]) == 0
        (record,) = caplog.records
        assert record.getMessage() == (
            "warning: source: switchout changes 50.0% of the words (usual: tau 0.5 to 1.1)"
        )


def test_pairs_as_a_stream_are_those_of_a_file_in_every_epoch(corpus):
    import subprocess
    import sys

    lines = zip(*((corpus / f).read_text().split("\n") for f in ("src", "tgt")), strict=True)
    content = "".join(f"{a}\t{b}\t0-0\n" for a, b in lines if a and b).encode()
    (corpus / "pairs.tsv").write_bytes(content)
    (corpus / "vocab").write_text("\n".join(WORDS))
    seen = set()
    for epoch in range(2):
        flags = {
            "--pairs": "-", "--out-pairs": "-", "--tau-x": 1, "--tau-y": 1, "--seed": 1,
            "--epoch": epoch, "--vocab-src": corpus / "vocab", "--vocab-tgt": corpus / "vocab",
        }  # fmt: skip
        command = [str(item) for pair in flags.items() for item in pair]
        done = subprocess.run(
            [sys.executable, "-m", "switchout", "augment", *command], input=content,
            capture_output=True, check=True,
        )  # fmt: skip
        augment_files(
            pairs=corpus / "pairs.tsv", out_pairs=corpus / "out", tau_x=1.0, tau_y=1.0, seed=1,
            epoch=epoch, vocab_source=WORDS, vocab_target=WORDS,
        )  # fmt: skip
        assert done.stdout == (corpus / "out").read_bytes()
        assert all(line.endswith(b"\t0-0") for line in done.stdout.splitlines())
        seen.add(done.stdout)
    assert len(seen) == 2


def test_words_end_at_ascii_blanks_only(tmp_path):
    """French has a no-break space before a colon, within what is a word here."""
    words = ["mot\u00a0:", "\u3000x", "a\u2028b", "plain"]
    (tmp_path / "src").write_text("".join(" ".join(words) + "\n" for _ in range(9)))
    seen = preview(tmp_path / "src", lines=9, epochs=2, tau_x=9.0, seed=1)
    assert {word.text for sample in seen.samples for word in sample.words} == {*words}
    assert all(len(sample.words) == len(words) for sample in seen.samples)


def test_one_line_is_not_one_lines(tmp_path, capsys):
    (tmp_path / "in").write_text("a b c\n")
    assert run(["preview", "--src", str(tmp_path / "in"), "--tau-x", "1", "--seed", "1"]) == 0
    assert "expected, for the first line (100% of" in capsys.readouterr().out


def test_a_text_as_its_own_translation_is_warned_of(corpus, caplog):
    preview(corpus / "src", corpus / "tgt", tau_x=1.0, seed=1)
    assert caplog.text == ""
    (corpus / "link").symlink_to("src")
    preview(corpus / "src", corpus / "link", tau_x=1.0, seed=1)
    assert "warning: source and target are one file" in caplog.text
