"""``switchout score`` and ``compare`` as a user calls them, sacrebleu's command line as oracle."""

from __future__ import annotations

import csv
import json
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from switchout.cli import run
from switchout.files import read_lines
from switchout.runs.config_file import load_config, to_toml
from switchout.runs.sealed import write_sealed

DATA = Path(os.environ.get("SWITCHOUT_DATA", Path(__file__).parents[3] / "shared" / "data"))


def write(path: Path, lines: list[str]) -> str:
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return str(path)


def damaged(lines: list[str], share: float, seed: int) -> list[str]:
    rng = random.Random(seed)
    words = [word for line in lines for word in line.split()]
    return [
        " ".join(rng.choice(words) if rng.random() < share else word for word in line.split())
        for line in lines
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = random.Random(0)
    words = ["the", "cat", "sat", "on", "a", "mat", ".", "<unk>", "R&D", "Mary's"]
    reference = [" ".join(rng.choices(words, k=rng.randint(4, 12))) for _ in range(80)]
    write(tmp_path / "ref", reference)
    for i in range(3):
        write(tmp_path / f"base{i}", damaged(reference, 0.35, i))
        write(tmp_path / f"new{i}", damaged(reference, 0.15, 10 + i))
    return tmp_path


def outcome(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    code = run([str(a) for a in arguments])
    out, err = capsys.readouterr()
    return code, out, err


@pytest.mark.parametrize(
    ("corpus", "language", "options"),
    [("tatoeba_de_en", "en", []), ("multi30k_de_en", "en", ["--tokenize", "none"]),
     ("iwslt15_en_vi", "vi", ["--lowercase"])],
    ids=["raw", "tokenised", "lowercase"],
)  # fmt: skip
def test_scores_equal_sacrebleus_command_line(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    corpus: str,
    language: str,
    options: list[str],
) -> None:
    source = DATA / corpus / f"test.{language}.gz"
    if not source.exists():
        pytest.skip(f"no real corpora here: set SWITCHOUT_DATA ({source} is missing)")
    reference = read_lines(source)[:100]
    ref = write(tmp_path / "ref", reference)
    hyps = [write(tmp_path / f"hyp{i}", damaged(reference, 0.2 + i / 10, i)) for i in range(2)]
    code, out, _ = outcome(capsys, "score", *hyps, "--ref", ref, "--json", *options)
    assert code == 0
    ours = json.loads(out)
    assert [record["system"] for record in ours] == hyps
    command = [sys.executable, "-m", "sacrebleu", ref, "-m", "bleu", "chrf", "ter", "-w", "10"]
    for record in ours:
        theirs = json.loads(
            subprocess.run(
                [*command, "-i", record["system"], *options],
                check=True,
                capture_output=True,
                text=True,
            ).stdout
        )
        for key, their in zip(("bleu", "chrf", "ter"), theirs, strict=True):
            assert record[key] == pytest.approx(their["score"], abs=1e-9)
            assert record["signatures"][key] == their["signature"]
            low, high = record["ci95"][key]
            assert low < record[key] < high
        assert record["signature"] == theirs[0]["signature"]


def test_compare_writes_everything_it_is_asked_for(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [",".join(str(folder / f"{name}{i}") for i in range(3)) for name in ("base", "new")]
    (folder / "bare").write_bytes((folder / "base1").read_bytes())
    code, out, _ = outcome(
        capsys, "compare", "--ref", folder / "ref", "--baseline", f"base={runs[0]}",
        "--system", f"new={runs[1]}", "--system", folder / "bare", "--json",
        "--resamples", "500", "--html", folder / "o.html", "--csv", folder / "o.csv",
        "--latex", folder / "o.tex", "--src", folder / "ref", "--train", folder / "new2",
    )  # fmt: skip
    assert code == 0
    new, bare = json.loads(out)
    assert (new["metric"], new["baseline"], new["system"]) == ("bleu", "base", "new")
    assert new["delta"] > 0
    assert new["p_seeds"] < 0.05
    assert new["ci95"][0] > 0
    assert new["p_bootstrap"] == new["p_randomization"] == pytest.approx(1 / 501)
    assert bare["system"] == str(folder / "bare")
    assert bare["p_seeds"] is None
    page = (folder / "o.html").read_text(encoding="utf-8")
    assert "&lt;unk&gt;" in page
    assert "Gain by WER to the nearest training sentence" in page
    with (folder / "o.csv").open(newline="") as handle:
        rows = list(csv.DictReader(handle))
    assert [float(row["delta"]) for row in rows] == [new["delta"], bare["delta"]]
    assert r"\toprule" in (folder / "o.tex").read_text()
    assert not list(folder.glob(".*"))


@pytest.mark.parametrize(
    ("verb", "flag", "name"),
    [
        ("compare", "--html", "o.html"),
        ("compare", "--csv", "o.csv"),
        ("compare", "--latex", "o.tex"),
        ("buckets", "--plot", "o.svg"),
    ],
)
def test_an_earlier_result_is_replaced_and_somebodys_file_is_not(
    folder: Path, capsys: pytest.CaptureFixture[str], verb: str, flag: str, name: str
) -> None:
    command = [verb, "--ref", folder / "ref", "--baseline", folder / "base0",
               "--system", folder / "new0", "--resamples", "100", flag, folder / name]  # fmt: skip
    assert [outcome(capsys, *command)[0] for _ in range(2)] == [0, 0]
    (folder / name).write_text("precious\n")
    code, _, err = outcome(capsys, *command)
    assert (code, f"{flag} {folder / name}: a file that does not begin with" in err) == (2, True)
    assert (folder / name).read_text() == "precious\n"


def test_text_output_has_the_verdict_and_the_signature(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("switchout.progress.WORTH_A_LINE", 0)
    code, out, err = outcome(
        capsys, "compare", "--ref", folder / "ref", "--baseline", f"old={folder / 'base0'}",
        "--system", f"new={folder / 'new0'}", "--metric", "ter", "--metric", "bleu",
    )  # fmt: skip
    assert code == 0
    assert "new is better than old" in out
    assert "tok:13a" in out
    assert "10,000 resamples" in out
    assert "too few to settle" in out
    assert "outputs" in err  # progress


def test_same_seed_same_numbers(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["compare", "--ref", folder / "ref", "--baseline", folder / "base0",
               "--system", folder / "base1", "--json"]  # fmt: skip
    first, second = (outcome(capsys, *command, "--seed", "0")[1] for _ in range(2))
    other = outcome(capsys, *command, "--seed", "1")[1]
    assert first == second
    assert first != other


def test_a_path_with_an_equals_sign_is_a_path(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = folder / "tau=1,0.hyp"
    odd.write_bytes((folder / "new0").read_bytes())
    code, out, _ = outcome(
        capsys, "compare", "--ref", folder / "ref", "--baseline", folder / "base0",
        "--system", odd, "--json",
    )  # fmt: skip
    assert code == 0
    assert json.loads(out)[0]["system"] == str(odd)


def test_empty_lines_are_scored_as_sacrebleu_scores_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from sacrebleu.metrics import BLEU, TER

    references = ["the cat sat on the mat", "", "a dog ran over the hill"]
    hypotheses = ["the cat sat on the mat", "noise", ""]
    ref, hyp = write(tmp_path / "r", references), write(tmp_path / "h", hypotheses)
    code, out, _ = outcome(capsys, "score", hyp, "--ref", ref, "--json")
    assert code == 0
    [record] = json.loads(out)
    assert record["bleu"] == BLEU().corpus_score(hypotheses, [references]).score
    assert record["ter"] == TER().corpus_score(hypotheses, [references]).score


def test_what_people_read_fits_the_terminal(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(folder)
    asked = ["compare", "--ref", "ref", "--baseline", "plain=base0,base1,base2"]
    asked += ["--system", "with-switchout=new0,new1,new2", "--metric", "bleu", "--metric", "chrf"]
    code, narrow, _ = outcome(capsys, *asked)
    assert code == 0
    assert max(map(len, narrow.splitlines())) <= 80
    assert all(title in narrow for title in ("p bootstrap", "p randomization", "p seeds", "p Holm"))
    monkeypatch.setenv("COLUMNS", "300")
    _, wide, _ = outcome(capsys, *asked)
    assert max(map(len, wide.splitlines())) > 200  # a verdict
    assert {*narrow.split()} == {*wide.split()}
    _, out, _ = outcome(capsys, *asked, "--json")
    monkeypatch.setenv("COLUMNS", "80")
    assert outcome(capsys, *asked, "--json")[1] == out


@pytest.mark.parametrize(
    ("verb", "width", "groups"),
    [
        ("score", "80", ["BLEU 95% interval", "chrF 95% interval", "TER 95% interval"]),
        ("score", "40", ["BLEU 95% interval", "chrF 95% interval", "TER 95% interval"]),
        ("compare", "40", ["Δ 95% from to"]),
        ("buckets", "40", ["Δ 95% from to", "slope 95% from to per"]),
    ],
)
def test_an_interval_stands_beside_its_number(
    verb: str, width: str, groups: list[str], folder: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("COLUMNS", width)
    monkeypatch.chdir(folder)
    sides = ["--baseline", "base0", "--system", "a-rather-long-name=new0"]
    (folder / "switchout-seed-1.hyp").write_bytes((folder / "new0").read_bytes())
    outputs = ["base0", "switchout-seed-1.hyp"]
    asked = {"score": outputs, "compare": sides, "buckets": [*sides, "--by", "length"]}
    code, out, _ = outcome(capsys, verb, "--ref", "ref", *asked[verb])
    assert code == 0
    headings = [" ".join(line.split()) for line in out.splitlines() if "95%" in line]
    assert out.count("95%") == out.count("(95%") + len(groups)  # a verdict has one, too
    assert all(any(group in heading for heading in headings) for group in groups)
    if verb == "score":
        inside = re.findall(r"([\d.]+) +([\d.]+) to ([\d.]+)", out)
        assert len(inside) == 2 * len(groups)
        assert all(float(low) < float(score) < float(high) for score, low, high in inside)


def test_a_file_gets_tables_in_one_piece(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.delenv("COLUMNS", raising=False)
    code, out, _ = outcome(capsys, "score", "base0", "new0", "--ref", "ref")
    assert code == 0
    heading, *rows = [line.split() for line in out.splitlines()[:3]]
    assert heading == ["system"] + [
        w for m in ("BLEU", "chrF", "TER") for w in (m, "95%", "interval")
    ]
    assert [len(row) for row in rows] == [1 + 3 * 4] * 2
    # the same on a terminal
    monkeypatch.setattr(shutil, "get_terminal_size", lambda: os.terminal_size((60, 24)))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert outcome(capsys, "score", "base0", "new0", "--ref", "ref")[1].count("system") > 1


def test_text_of_buckets_fits_the_terminal(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    asked = ["buckets", "--ref", "ref", "--system", "new0", "--by", "length"]
    asked += ["--baseline", "a baseline whose name alone takes a good half of the line=base0"]
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = outcome(capsys, *asked)
    assert code == 0
    shown = out.replace("\n", " ")
    assert "takes a good half of the line by" in shown
    assert "except that of the length itself." in shown
    prose = [line for line in out.splitlines() if "  " not in line]
    assert [line for line in prose if len(line) > 80] == []


def test_one_sentence_is_scored_without_an_interval(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ref, hyp = write(tmp_path / "r", ["the cat sat down"]), write(tmp_path / "h", ["the cat sat"])
    code, out, _ = outcome(capsys, "score", hyp, "--ref", ref, "--json")
    assert code == 0
    assert json.loads(out)[0]["ci95"]["bleu"] is None
    code, out, _ = outcome(
        capsys, "compare", "--ref", ref, "--baseline", hyp, "--system", ref, "--json",
        "--html", tmp_path / "o.html",
    )  # fmt: skip
    assert code == 0
    assert json.loads(out)[0]["p_bootstrap"] == 1


@pytest.mark.parametrize(
    ("hypotheses", "reference", "extra", "message"),
    [
        (b"a\n", b"a\nb\n", [], "hyp has 1 lines but"),
        (b"", b"a\n", [], "hyp has 0 lines but"),
        (b"", b"", [], "ref: the reference is empty"),
        (b"a\n\xff\n", b"a\nb\n", [], "hyp:2: not valid UTF-8"),
        (b"a\n", b"\xff\n", [], "ref:1: not valid UTF-8"),
        (b"a\n", b"a\n", ["--metric", "blue"], "did you mean 'bleu'"),
        (b"a\n", b"a\n", ["--tokenize", "14a"], "no such tokenizer '14a'"),
        (b"a\n", b"a\n", ["--seed", "-1"], "--seed"),
    ],
    ids=["unequal", "empty hyp", "empty ref", "bad hyp", "bad ref", "metric", "tokenizer", "seed"],
)
@pytest.mark.parametrize("verb", ["score", "compare"])
def test_bad_input_is_one_line_and_exit_code_2(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    verb: str,
    hypotheses: bytes,
    reference: bytes,
    extra: list[str],
    message: str,
) -> None:
    (tmp_path / "hyp").write_bytes(hypotheses)
    (tmp_path / "copy").write_bytes(hypotheses)
    (tmp_path / "ref").write_bytes(reference)
    (tmp_path / "o.html").write_text("<!DOCTYPE html> precious")
    hyp = str(tmp_path / "hyp")
    inputs = [hyp] if verb == "score" else [
        "--baseline", hyp, "--system", f"x={tmp_path / 'copy'}", "--html", str(tmp_path / "o.html")
    ]  # fmt: skip
    code, out, err = outcome(capsys, verb, *inputs, "--ref", tmp_path / "ref", "--json", *extra)
    assert code == 2
    assert out == ""
    assert message in err
    assert err.count("\n") == 1
    assert (tmp_path / "o.html").read_text() == "<!DOCTYPE html> precious"


def test_a_page_replaces_only_a_page(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = folder / "o.html"
    ask = [
        "compare", "--ref", folder / "ref", "--baseline", folder / "base0",
        "--system", folder / "new0", "--resamples", "100", "--html", page,
    ]  # fmt: skip
    page.write_text("my own notes\n")
    code, _, err = outcome(capsys, *ask)
    assert code == 2
    assert f"--html {page}: a file that does not begin with '<!doctype html' is there" in err
    assert page.read_text() == "my own notes\n"
    page.write_text("")
    assert outcome(capsys, *ask)[0] == 0
    first = page.read_text()
    assert outcome(capsys, *ask)[0] == 0
    assert page.read_text() == first


@pytest.mark.parametrize("flag", ["--src", "--train", "--neighbors"])
def test_what_only_the_page_shows_needs_a_page(
    folder: Path, capsys: pytest.CaptureFixture[str], flag: str
) -> None:
    """Not even whether the file is there would be noticed."""
    ask = ["compare", "--ref", folder / "ref", "--baseline", folder / "base0"]
    code, _, err = outcome(capsys, *ask, "--system", folder / "new0", flag, folder / "ref")
    assert code == 2
    assert f"{flag} is for the page: give --html" in err


@pytest.mark.parametrize(
    ("neighbors", "extra", "message"),
    [("0.5\t1\n", [], "nn.tsv has 1 lines but"), ("0.5\t1\n" * 80, ["--train", "ref"], "--src")],
    ids=["other test set", "train without src"],
)
def test_bad_material_for_buckets_is_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], neighbors: str, extra: list[str], message: str
) -> None:
    (folder / "nn.tsv").write_text(neighbors)
    code, _, err = outcome(
        capsys, "compare", "--ref", folder / "ref", "--baseline", folder / "base0",
        "--system", folder / "new0", "--html", folder / "o.html",
        "--neighbors", folder / "nn.tsv", *extra,
    )  # fmt: skip
    assert code == 2
    assert message in err
    assert not (folder / "o.html").exists()


@pytest.mark.parametrize(
    ("system", "message"),
    [("=a,b", "expected NAME=file1"), ("x=a,,b", "expected NAME=file1"), ("x=", "expected NAME"),
     ("nowhere", "nowhere: no such file"), ("x=nowhere", "nowhere: no such file")],
    ids=["no name", "hole", "no file", "bare", "named"],
)  # fmt: skip
def test_bad_system_is_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], system: str, message: str
) -> None:
    code, _, err = outcome(
        capsys, "compare", "--ref", folder / "ref", "--baseline", folder / "base0",
        "--system", system,
    )  # fmt: skip
    assert code == 2
    assert message in err


FACTS = {
    "name": "toy", "title": "toy", "source": "de", "target": "en", "tokenizer": "space",
    "bleu": {"tokenize": "none", "lowercase": False},
}  # fmt: skip


def make_run(folder: Path, corpus: Path, hypotheses: list[str]) -> Path:
    """What `score` and `compare` read of a run: its configuration and its translations."""
    folder.mkdir()
    (folder / "config.toml").write_text(
        f'[data]\ncorpus = "{corpus}"\nsource = "de"\ntarget = "en"\n', encoding="utf-8"
    )
    write(folder / "test.hyp", hypotheses)
    return folder


@pytest.fixture
def runs(folder: Path) -> Path:
    """Two runs on one corpus, which is scored as tokenised, and one on another."""
    reference = [line.replace("<unk>", "dog") for line in read_lines(folder / "ref")]
    write(folder / "ref", reference)
    for name, lines in (("corpus", reference), ("other", damaged(reference, 0.5, 7))):
        (folder / name).mkdir()
        (folder / name / "corpus.json").write_text(json.dumps(FACTS))
        for split in ("train", "dev", "test"):
            write(folder / name / f"{split}.de", lines)
            write(folder / name / f"{split}.en", lines)
    for run_name, corpus in (("old", "corpus"), ("new", "corpus"), ("odd", "other")):
        output = damaged(reference, 0.1 if run_name == "new" else 0.4, len(run_name))
        make_run(folder / run_name, folder / corpus, output)
    return folder


def test_runs_know_their_reference(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ask = ["compare", "--baseline", runs / "old", "--system", runs / "new", "--json"]
    code, out, _ = outcome(capsys, *ask)
    assert code == 0
    assert out == outcome(capsys, *ask, "--ref", runs / "ref", "--tokenize", "none")[1]
    assert out != outcome(capsys, *ask, "--ref", runs / "ref")[1]  # 13a, as of plain text
    code, out, _ = outcome(capsys, "score", runs / "old", runs / "new", "--json")
    assert code == 0
    assert "tok:none" in json.loads(out)[0]["signature"]


@pytest.mark.parametrize("verb", ["score", "compare"])
def test_another_reference_than_the_runs_own_is_told(
    verb: str, runs: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    both = [runs / "old", runs / "new"]
    words = both if verb == "score" else ["--baseline", both[0], "--system", both[1]]
    for ref, told in (
        (runs / "other" / "test.en", ["old"]),  # once, not for every run
        (runs / "ref", []),
        (runs / "other" / "test.en", []),  # nothing is known: the corpus is not here any more
    ):
        assert outcome(capsys, verb, *words, "--ref", ref)[0] == 0
        assert [record.getMessage() for record in caplog.records] == [
            f"warning: {ref} is not the reference that {runs / name} was scored with"
            for name in told
        ]
        caplog.clear()
        if ref == runs / "ref":
            shutil.rmtree(runs / "corpus")


def test_runs_of_two_test_sets_are_not_compared(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (
        ["compare", "--baseline", runs / "old", "--system", f"new={runs / 'new'},{runs / 'odd'}"],
        ["score", runs / "old", runs / "odd"],
    ):
        code, _, err = outcome(capsys, *words)
        assert code == 2
        assert f"{runs / 'old'} and {runs / 'odd'} have different test sets" in err


def test_a_file_needs_its_reference(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = outcome(capsys, "score", runs / "old", runs / "base0")
    assert code == 2
    assert f"{runs / 'base0'} is not the folder of a run: give its reference as --ref" in err
    for words in (["score", "no/such"], ["compare", "--baseline", runs / "old", "--system", "no"]):
        code, _, err = outcome(capsys, *words)
        assert code == 2
        assert f"{words[-1]}: no such file or folder" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--baseline b=base0,base1,base0 --system s=new0,new1", "base0 is given twice as runs"),
        ("--baseline b=base0 --baseline b=base1 --system s=new0", "--baseline is given twice"),
        ("--baseline b=base0 --system s=new0 --system s=new1", "two systems are called 's'"),
        ("--baseline b=base0 --system b=new0", "two systems are called 'b'"),
        ("--baseline base0 --system base0", "base0 is a run of 'base0' and of 'base0'; give"),
        ("--baseline b=base0,new1 --system s=new0,./new1", "./new1 is a run of 'b' and of 's'"),
        ("--baseline b=base0 --system s=new0 --system t=new0", "new0 is a run of 's' and of 't'"),
    ],
)
def test_what_would_count_twice_or_not_at_all_is_refused(
    folder: Path, words: str, message: str, capsys: pytest.CaptureFixture[str], monkeypatch
) -> None:
    monkeypatch.chdir(folder)
    assert run(["compare", "--ref", "ref", *words.split()]) == 2
    assert message in capsys.readouterr().err


def test_a_copy_of_a_run_is_warned_of(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    (folder / "copy").write_bytes((folder / "new0").read_bytes())
    systems = ["--baseline", f"b={folder}/base0,{folder}/base1", "--system"]
    call = ["compare", "--ref", str(folder / "ref"), "--resamples", "100", *systems]
    assert run([*call, f"s={folder}/new0,{folder}/new1"]) == 0
    assert "the same, line by line" not in caplog.text
    assert run([*call, f"s={folder}/new0,{folder}/copy"]) == 0
    assert "the same, line by line: are they one run?" in caplog.text


def made_run(folder: Path, *settings: str, **result: object) -> Path:
    """A finished run of the phrasebook, as far as `compare` reads it."""
    config = load_config("phrasebook", overrides=settings)
    folder.mkdir()
    write(folder / "test.hyp", damaged(config.data.open().pairs("test")[1], 0.3, config.seed))
    (folder / "config.toml").write_text(to_toml(config))
    write_sealed(folder / "result.json", {"steps": config.train.steps, **result})
    return folder


def test_what_runs_differ_in_besides_noise_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    base = made_run(tmp_path / "base", "augment.source.policy=none", "train.threads=2")
    other = made_run(tmp_path / "other", "seed=2", "train.log_every=7")
    quick = ["--resamples", "100", "--baseline", str(base)]
    assert run(["compare", *quick, "--system", str(other)]) == 0
    assert caplog.text == ""
    long = made_run(
        tmp_path / "long",
        "seed=3",
        "train.steps=5000",
        "model.dropout=0.3",
        steps_before=[200, 400],
    )
    assert run(["compare", *quick, "--system", f"new={other},{long}"]) == 0
    assert [record.message for record in caplog.records] == [
        "besides noise and seed, the runs differ in model.dropout (0.1, 0.3), "
        "train.steps (2500, 5000)",
        f"{long}: its steps were 200, 400 before they were 5000, so it is not a run of 5000 steps "
        "from the start",
    ]


def test_runs_of_one_system_have_one_noise(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    plain = [
        made_run(tmp_path / f"p{i}", "augment.source.policy=none", f"seed={i}") for i in (1, 2)
    ]
    noisy = [made_run(tmp_path / f"n{i}", f"seed={i}") for i in (1, 2)]
    quick = ["compare", "--resamples", "100"]
    good = [f"plain={plain[0]},{plain[1]}", f"noisy={noisy[0]},{noisy[1]}"]
    assert run([*quick, "--baseline", good[0], "--system", good[1]]) == 0
    assert caplog.text == ""
    mixed = [f"plain={plain[0]},{noisy[1]}", f"noisy={noisy[0]},{plain[1]}"]
    assert run([*quick, "--baseline", mixed[0], "--system", mixed[1]]) == 0
    told = [record.message for record in caplog.records]
    assert len(told) == 2
    assert told[0].startswith("plain: its runs differ in augment.source.policy (none, switchout)")
    assert told[1].startswith("noisy: its runs differ in augment.source.policy (switchout, none)")


def test_runs_paired_by_seed_have_the_same_seed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a1, a2, b1, b2 = (
        made_run(tmp_path / name, f"seed={name[1]}") for name in ("a1", "a2", "b1", "b2")
    )
    command = ["compare", "--paired", "--resamples", "100", "--baseline", f"a={a1},{a2}"]
    assert outcome(capsys, *command, "--system", f"b={b1},{b2}")[0] == 0
    code, _, err = outcome(capsys, *command, "--system", f"b={b2},{b1}")
    assert (code, f"--paired: {a1} has seed 1 and {b2} has seed 2" in err) == (2, True)
