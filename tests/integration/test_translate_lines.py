"""``switchout translate`` on a small trained run, through the command line."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from tiny_run import make_run, sentences

from switchout import cli
from switchout.corpora.codec import Codec
from switchout.nmt.checkpoint import write_checkpoint
from switchout.nmt.search import SearchOptions
from switchout.nmt.translate import translate_lines, translate_windows
from switchout.runs.trained import OpenRuns, load_ensemble, load_model


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("runs") / "one", seed=1, steps=250)


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("runs") / "two", seed=2, steps=60)


class Translate:
    """Calls ``switchout translate`` with stdin, returns exit code, stdout and stderr."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
        self.capsys, self.monkeypatch = capsys, monkeypatch

    def __call__(self, text: str | bytes, *arguments: str) -> tuple[int, str, str]:
        content = text.encode() if isinstance(text, str) else text
        self.monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        code = cli.run(["translate", *arguments])
        return code, *self.capsys.readouterr()


@pytest.fixture
def translated(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Translate:
    return Translate(capsys, monkeypatch)


def test_every_line_has_its_line(
    run: Path, translated: Translate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("switchout.progress.WORTH_A_LINE", 0)
    src, tgt = sentences(40, seed=5)
    src.insert(7, "")
    tgt.insert(7, "")
    code, out, err = translated("\n".join(src), "--run", str(run))
    lines = out.split("\n")
    assert code == 0
    assert lines.pop() == ""
    assert len(lines) == 41
    assert lines[7] == ""
    assert sum(a == b for a, b in zip(lines, tgt, strict=True)) > 20
    assert "41 lines" in err


def test_only_newline_ends_a_line(run: Path, translated: Translate) -> None:
    code, out, _ = translated("s1 s2\u2028s3\x0bs4\r\ns5\n", "--run", str(run))
    assert code == 0
    assert out.count("\n") == 2


def test_answer_comes_before_the_next_question(run: Path) -> None:
    command = [sys.executable, "-m", "switchout", "translate", "--run", str(run)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for question in (b"s1 s2\n", b"s3\n"):
            process.stdin.write(question)
            process.stdin.flush()
            assert process.stdout.readline().startswith(b"t")
        process.stdin.close()


def test_batches_windows_and_order_change_nothing(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from switchout.nmt import translate

    src, _ = sentences(60, seed=6)
    models, codecs = load_ensemble([run])
    whole = translate_lines(models, src, codecs)
    monkeypatch.setattr(translate, "WINDOW", 7)
    monkeypatch.setattr(translate, "BATCH_WORDS", 20)
    assert translate_lines(models, src, codecs) == whole
    assert translate_lines(models, src[::-1], codecs) == whole[::-1]


def test_json_and_n_best_are_ranked(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    src, _ = sentences(5, seed=7)
    path = run.parent / "in.txt"
    path.write_text("\n".join([*src, ""]) + "\n")
    arguments = ["translate", "--run", str(run), "--input", str(path), "--n-best", "3"]
    assert cli.run([*arguments, "--json"]) == 0
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [r["line"] for r in records] == list(range(6))
    for record in records:
        scores = [t["score"] for t in record["translations"]]
        assert len(scores) == 3
        assert scores == sorted(scores, reverse=True)
    assert cli.run(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    best = records[0]["translations"][0]
    assert lines[0] == f"0 ||| {best['text']} ||| {best['score']:.6f}"
    assert len(lines) == 18


def test_ensemble_of_a_run_with_itself_is_the_run(run: Path, other: Path) -> None:
    src, _ = sentences(30, seed=8)
    models, codecs = load_ensemble([run])
    twice, _ = load_ensemble([run, run])
    mixed, _ = load_ensemble([run, other])
    alone = translate_lines(models, src, codecs)
    assert translate_lines(twice, src, codecs) == alone
    assert translate_lines(mixed, src, codecs) != alone


def test_ensemble_over_different_vocabularies_is_refused(
    run: Path, other: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = shutil.copytree(other, tmp_path / "odd")
    Codec.word(["u1 u2 u3"]).save(odd, "tgt")
    assert cli.run(["translate", "--run", str(run), "--run", str(odd)]) == 2
    assert "odd/vocab.tgt differs" in capsys.readouterr().err


def test_vocabulary_of_another_run_is_refused(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = shutil.copytree(run, tmp_path / "odd")
    Codec.word(["u1 u2 u3"]).save(odd, "src")
    assert cli.run(["translate", "--run", str(odd)]) == 2
    assert "vocab.src has 7 words, its model 28" in capsys.readouterr().err


def test_overlong_line_is_cut_and_named(
    run: Path, translated: Translate, caplog: pytest.LogCaptureFixture
) -> None:
    code, out, _ = translated("s1\n" + "s2 " * 60 + "\n", "--run", str(run), "--beam", "2")
    assert code == 0
    assert out.count("\n") == 2
    assert caplog.messages == ["line 2: 60 words, cut to the model's 39"]


def test_unknown_word_is_kept_dropped_or_copied(run: Path, tmp_path: Path) -> None:
    """A model that says <unk> all the time."""
    model = load_model(run)
    src_codec = Codec.load(run, "src")
    tgt_codec = Codec.load(run, "tgt")
    with torch.no_grad():
        model.decoder_norm.weight.zero_()  # the decoder says the same whatever it reads …
        model.decoder_norm.bias.fill_(1.0)
        model.output.weight.zero_()
        model.output.weight[3] = 1.0  # … and that is <unk>
    from switchout.nmt.translate import TorchSearcher

    def texts(unk: str) -> list[str]:
        options = SearchOptions(beam=1, need_attention=True)
        windows = translate_windows(
            TorchSearcher([model]),
            [["s1 zebra s3"]],
            (src_codec, tgt_codec),
            options=options,
            unk=unk,
        )
        return next(iter(windows))[0][0].text.split()

    kept = texts("keep")
    assert set(kept) == {"<unk>"}
    assert texts("drop") == []
    copied = texts("copy")
    assert len(copied) == len(kept)
    assert set(copied) <= {"s1", "zebra", "s3"}


def test_copy_takes_the_word_most_looked_at(run: Path) -> None:
    from switchout.nmt.search import Hypothesis

    class Reader:
        """Looks at word 2, then 0, then the end."""

        max_words = 9

        def search(self, sentences, options, done):
            looks = torch.tensor([[0.1, 0.2, 0.6, 0.1], [0.4, 0.3, 0.2, 0.1], [0.1, 0.1, 0.1, 0.7]])
            return [[Hypothesis([3, 4], -1.0, looks)] for _ in sentences]

    codecs = Codec.load(run, "src"), Codec.load(run, "tgt")
    windows = translate_windows(
        Reader(), [["eins zwei drei"]], codecs, options=SearchOptions(), unk="copy"
    )
    known = codecs[1].vocabulary.tokens[4]
    assert next(iter(windows))[0][0].text == f"drei {known}"


def test_step_names_the_checkpoint(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = shutil.copytree(run, tmp_path / "copy")
    model = load_model(run)
    zeros = {name: torch.zeros_like(p) for name, p in model.named_parameters()}
    facts = {"model": model.spec.to_dict()}
    for name in ("step-5", "average"):
        write_checkpoint(copy / "checkpoints" / name, {"model": zeros}, facts)
    assert any(p.any() for p in load_model(copy).parameters())
    for step in ("5", "average"):
        assert not any(p.any() for p in load_model(copy, step=step).parameters())
    assert cli.run(["translate", "--run", str(copy), "--step", "77"]) == 2
    assert "steps kept: 5, 250" in capsys.readouterr().err


def test_failed_command_leaves_no_output(run: Path, tmp_path: Path, translated: Translate) -> None:
    out = tmp_path / "out.txt"
    code, _, err = translated(
        b"s1\ns2 \xff\n", "--run", str(run), "--output", str(out), "--beam", "1"
    )
    assert code == 2
    assert err.splitlines()[-1].startswith("switchout: <stdin>:2: not valid UTF-8")
    assert list(tmp_path.iterdir()) == []


def test_byte_order_mark_on_stdin_is_refused(run: Path, translated: Translate) -> None:
    code, out, err = translated(b"\xef\xbb\xbfs1\n", "--run", str(run), "--beam", "1")
    assert (code, out) == (2, "")
    assert "standard input: begins with a byte-order mark" in err.splitlines()[-1]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--run", "nowhere"], "nowhere: no such run"),
        (["--run", "{run}", "--input", "nowhere.txt"], "nowhere.txt: no such file"),
        (["--run", "{run}", "--n-best", "9"], "n-best = 9"),
        (["--run", "{run}", "--beam", "0"], "beam"),
        (["--run", "{run}", "--device", "abacus"], "device 'abacus'"),
        (["--run", "{run}", "--run", "{run}", "--engine", "ctranslate2"], "no ensembles"),
        ([], "run"),
    ],
)
def test_mistake_is_one_line(
    run: Path,
    arguments: list[str],
    named: str,
    translated: Translate,
) -> None:
    code, out, err = translated("s1 s2\n", *(a.format(run=run) for a in arguments))
    assert (code, out) == (2, "")
    assert named in err
    assert err.count("\n") == 1


def test_open_runs_gives_the_python_way(run: Path) -> None:
    with OpenRuns([run]) as runs:
        (window,) = translate_windows(
            runs.searcher, [["s1 s2", ""]], runs.codecs, options=SearchOptions(beam=2)
        )
    assert [best.text == "" for best, *_ in window] == [False, True]
