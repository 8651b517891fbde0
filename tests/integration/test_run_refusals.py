"""What is wrong with a run is said at once, in one line, and leaves nothing behind."""

from __future__ import annotations

import json
import logging
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from train_toys import write_config, write_corpus

from switchout.cli import run
from switchout.files.writing import remove
from switchout.runs import result
from switchout.runs.config import Search
from switchout.runs.folder import open_run, read_run_config
from switchout.runs.job import corpus_of
from switchout.runs.train import make_trainer
from switchout.runs.trained import OpenRuns


@pytest.fixture
def toy(tmp_path) -> Path:
    write_corpus(tmp_path / "toy-xx-yy")
    write_config(tmp_path / "c.toml", tmp_path / "toy-xx-yy")
    return tmp_path


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> Path:
    """A run with a search of its own."""
    folder = tmp_path_factory.mktemp("trained")
    config = write_config(folder / "c.toml", write_corpus(folder / "corpus"))
    config.write_text(config.read_text().replace("beam = 2", "beam = 1\nlength_penalty = 0.0"))
    assert run(["train", str(config), "--out", str(folder / "run")]) == 0
    return folder / "run"


def everything(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def paths(run_folder: Path, **more: Path) -> list[str]:
    options = {"run": run_folder, **more}
    return [text for name, path in options.items() for text in (f"--{name}", str(path))]


def deep_toml() -> str:
    return "x = " + "[" * 20_000 + "]" * 20_000


REFUSED = {
    "init_from is nowhere": ["--init-from", "nowhere"],
    "init_from is longer than a name": ["--init-from", "y" * 5000],
    "init_from is no run": ["--init-from", "toy-xx-yy"],
    "vectors are nowhere": [
        *("--set", 'augment.source={policy = "similar", tau = 1.0, vectors = "nowhere.txt"}'),
    ],
    "vectors are damaged": [
        *("--set", 'augment.source={policy = "similar", tau = 1.0, vectors = "bad.txt"}'),
    ],
    "vocabulary of nothing": ["--set", "vocabulary.min_count=1000000"],
    "a pattern that is none": [
        *("--set", 'augment.source={policy = "switchout", tau = 1.0, special_pattern = "(a"}'),
    ],
    "no pair is short enough": ["--set", "data.max_length=1"],
    "more pairs than there are": ["--set", "data.train_pairs=1000000"],
    "a model for no memory": ["--set", "model.d_inner=16000000", "--set", "model.d_model=16000000"],
    "a folder for a configuration": [],
}


@pytest.mark.parametrize("mistake", REFUSED)
def test_a_refused_training_leaves_nothing_behind(toy, monkeypatch, capsys, mistake):
    monkeypatch.chdir(toy)
    Path("bad.txt").write_text("a1 1 2\na2 1\n")
    before = everything(toy)
    config = "toy-xx-yy" if mistake == "a folder for a configuration" else "c.toml"
    assert run(["train", config, "--out", "new/run", *REFUSED[mistake]]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert everything(toy) == before


def test_a_refused_restart_puts_the_old_run_back(toy, monkeypatch, capsys):
    monkeypatch.chdir(toy)
    assert run(["train", "c.toml", "--out", "run", "--set", "train.steps=2"]) == 0
    before = everything(toy)
    wrong = ["--set", "vocabulary.min_count=1000000"]
    assert run(["train", "c.toml", "--out", "run", "--restart", *wrong]) == 2
    assert everything(toy) == before


def test_a_test_set_that_stands_in_train_is_told_once(toy, caplog):
    corpus = toy / "toy-xx-yy"
    command = ["train", str(toy / "c.toml"), "--steps", "1", "--out"]

    def told() -> list[str]:
        found = [r.getMessage() for r in caplog.records if "stand in train" in r.getMessage()]
        caplog.clear()
        return found

    assert run([*command, str(toy / "apart")]) == 0
    assert told() == []
    for language in ("xx", "yy"):
        lines = (corpus / f"train.{language}").read_text().splitlines(keepends=True)
        (corpus / f"test.{language}").write_text("".join(lines[:10]))
    assert run([*command, str(toy / "seen")]) == 0
    assert told() == [
        "warning: 10 of 10 source sentences of test stand in train too: its scores will be too good"
    ]
    assert run([*command, str(toy / "seen")]) == 0  # the run is there already
    assert told() == []


def test_noise_that_changes_most_words_is_told_once(toy, caplog):
    command = ["train", str(toy / "c.toml"), "--steps", "1", "--tau-x", "1e9"]
    assert run([*command, "--out", str(toy / "run")]) == 0
    told = [r.getMessage() for r in caplog.records if "of the words" in r.getMessage()]
    assert told == [
        "warning: [augment.source]: switchout changes 50.0% of the words (usual: tau 0.5 to 1.1)"
    ]


def test_tags_that_noise_would_replace_are_told_and_the_cure_helps(toy, caplog):
    for name in ("train.xx", "dev.xx", "test.xx"):
        path = toy / "toy-xx-yy" / name
        path.write_text("".join(f">>yy<< {line}\n" for line in path.read_text().splitlines()))
    noise = 'policy = "switchout", tau = 5.0'
    runs = {"none": [], "noisy": [f"augment.source={{{noise}}}"]}
    runs["cured"] = [f"augment.source={{{noise}, special_pattern = '>>.*<<'}}"]
    replaced = {}
    for name, settings in runs.items():
        options = [option for setting in settings for option in ("--set", setting)]
        command = ["train", str(toy / "c.toml"), "--steps", "1", "--out", str(toy / name), *options]
        caplog.clear()
        assert run(command) == 0
        told = "[augment.source] '>>yy<<' looks like a tag" in caplog.text
        assert told == (name == "noisy")
        trainer = make_trainer(open_run(toy / name), "cpu")
        [tag] = open_run(toy / name).codecs[0].encode(">>yy<<")
        [batch] = trainer.batches(0)[1]
        replaced[name] = int((trainer.augmented(batch)[0][:, 0] != tag).sum())
    assert replaced["none"] == replaced["cured"] == 0
    assert replaced["noisy"] > 0


def test_a_published_corpus_that_is_here_in_part_is_told(tmp_path, monkeypatch, caplog):
    """A smaller corpus under the same name would be another study."""
    corpus = write_corpus(tmp_path / "multi30k-de-en")
    for path in [*corpus.iterdir()]:
        path.rename(path.with_suffix({".xx": ".de", ".yy": ".en"}[path.suffix]))
    monkeypatch.setenv("SWITCHOUT_DATA", str(tmp_path))
    config = write_config(tmp_path / "c.toml", corpus)
    config.write_text(config.read_text().replace(str(corpus), "multi30k-de-en"))
    command = ["train", str(config), "--set", "data.source=de", "--set", "data.target=en"]
    assert run([*command, "--steps", "1", "--out", str(tmp_path / "run")]) == 0
    n = len((corpus / "train.de").read_text().splitlines())
    expected = (
        f"warning: {corpus} has {n} training pairs here, 29,000 of the published corpus: "
        "scores are not comparable"
    )
    found = [r.getMessage() for r in caplog.records]
    assert found.count(expected) == 1
    caplog.clear()
    assert corpus_of(read_run_config(tmp_path / "run")).n_train == n  # the driver of a sweep
    assert [r.getMessage() for r in caplog.records] == [expected]


@pytest.mark.parametrize("kept", ["result.json", "resume", "checkpoints"])
def test_fewer_steps_than_are_done_are_refused(trained, tmp_path, capsys, kept):
    """Whatever of the run is left says how many there are: 24."""
    out = shutil.copytree(trained, tmp_path / "run")
    for name in {"result.json", "resume", "checkpoints"} - {kept}:
        remove(out / name)
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    command = ["train", str(trained.parent / "c.toml"), "--out", str(out)]
    assert run([*command, "--set", "train.steps=10"]) == 2
    told = f"{out}: 24 steps are done already; train.steps=10 is fewer: choose another folder"
    [line] = capsys.readouterr().err.splitlines()
    assert line.endswith(told)
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    ("name", "value"), [("WORLD_SIZE", "x"), ("WORLD_SIZE", "0"), ("RANK", "-1"), ("RANK", "")]
)
def test_a_wrong_environment_is_refused(toy, monkeypatch, capsys, name, value):
    monkeypatch.chdir(toy)
    monkeypatch.setenv(name, value)
    assert run(["train", "c.toml", "--out", "run"]) == 2
    assert f"{name} must be a whole number" in capsys.readouterr().err
    assert not Path("run").exists()


def test_more_processes_than_torchrun_started_are_refused(toy, monkeypatch, capsys):
    monkeypatch.chdir(toy)
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert run(["train", "c.toml", "--out", "run"]) == 2
    assert "torchrun" in capsys.readouterr().err
    assert not Path("run").exists()


@pytest.mark.parametrize("content", [deep_toml(), "x = 1" * 500_000, "seed = " + "9" * 9999])
def test_absurd_toml_is_one_line(toy, monkeypatch, capsys, content):
    monkeypatch.chdir(toy)
    Path("absurd.toml").write_text(content)
    assert run(["train", "absurd.toml", "--out", "run"]) == 2
    assert run(["sweep", "absurd.toml", "--out", "swept"]) == 2
    assert run(["train", "c.toml", "--out", "run", "--set", content]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 3
    assert not Path("run").exists()
    assert not Path("swept").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["--out", "full"],
        ["--out", "toy-xx-yy"],
        ["--out", "c.toml"],
        ["--out", "bt", "--tag", "two words"],
        ["--out", "bt", "--tag", "a\nb"],
        ["--out", "bt", "--tag", "a\tb"],
        ["--out", "bt", "--ratio", "nan"],
        ["--out", "bt", "--beam", "0"],
    ],
)
def test_backtranslation_is_refused_before_a_model_is_trained(toy, monkeypatch, capsys, arguments):
    monkeypatch.chdir(toy)
    monkeypatch.setenv("SWITCHOUT_RUNS", "runs")
    Path("full").mkdir()
    Path("full/thesis.tex").write_text("dear reader")
    Path("mono.yy").write_text("b1 b2\n")
    before = everything(toy)
    command = ["backtranslate", "--corpus", "toy-xx-yy", "--preset", "c.toml", "--mono", "mono.yy"]
    assert run([*command, *arguments]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert everything(toy) == before


def test_translate_searches_as_the_run_was_scored(trained, tmp_path):
    """The run's own translation of its test set comes out again, also from an export."""
    source = trained.parent / "corpus" / "test.xx"
    with OpenRuns([trained]) as runs:
        assert runs.search == Search(beam=1, length_penalty=0.0)
        assert runs.options(beam=3).beam == 3
    exported = tmp_path / "exported"
    assert (
        run(["export", "--run", str(trained), "--to", "safetensors", "--out", str(exported)]) == 0
    )
    for folder in (trained, exported):
        out = tmp_path / "out.hyp"
        assert (
            run(["translate", "--run", str(folder), "--input", str(source), "--output", str(out)])
            == 0
        )
        assert out.read_bytes() == (trained / "test.hyp").read_bytes()
        with OpenRuns([folder]) as runs:
            assert runs.options().beam == 1


def test_translate_takes_the_runs_device(trained, tmp_path, capsys):
    other = tmp_path / "run"
    shutil.copytree(trained, other)
    config = (other / "config.toml").read_text()
    (other / "config.toml").write_text(config.replace('device = "auto"', 'device = "cuda:99"'))
    facts = json.loads((other / "signature.json").read_text())
    del facts["seal"], facts["files"]["config.toml"]
    (other / "signature.json").write_text(json.dumps(facts))
    source = trained.parent / "corpus" / "test.xx"
    command = ["translate", "--run", str(other), "--input", str(source)]
    assert run(command) == 2
    assert "'cuda:99'" in capsys.readouterr().err
    assert run([*command, "--device", "cpu"]) == 0


def test_translate_never_reads_what_it_writes(trained, tmp_path):
    lines = (trained.parent / "corpus" / "test.xx").read_text()
    (tmp_path / "a").write_text(lines)
    for command in ("< a >> a", "--input a >> a"):
        done = subprocess.run(
            ["bash", "-c", f"{sys.executable} -m switchout translate --run {trained} {command}"],
            cwd=tmp_path, capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        assert done.returncode == 2, done.stderr
        assert "is also the input" in done.stderr
        assert (tmp_path / "a").read_text() == lines


@pytest.mark.parametrize(
    "name", ["vocab.src", "config.toml", "encoded", "dev.hyp", "checkpoints/step-24/manifest.json"]
)
def test_translate_never_writes_onto_the_run(trained, capsys, name):
    source = trained.parent / "corpus" / "test.xx"
    before = {p: p.read_bytes() for p in trained.rglob("*") if p.is_file()}
    for out in (trained / name, source):
        assert (
            run(["translate", "--run", str(trained), "--input", str(source), "--output", str(out)])
            == 2
        )
        assert "--output" in capsys.readouterr().err
    assert {p: p.read_bytes() for p in trained.rglob("*") if p.is_file() if p in before} == before


def test_a_run_of_the_old_format_goes_on(trained, tmp_path, caplog):
    """Without hashes, seals and notes in the checkpoints: what versions before wrote."""
    config = trained.parent / "c.toml"
    old, whole = tmp_path / "old", tmp_path / "whole"
    half = ["--set", "train.steps=10", "--set", 'train.schedule="constant"']
    assert run(["train", str(config), "--out", str(old), *half]) == 0
    (old / "result.json").unlink()
    facts = json.loads((old / "signature.json").read_text())
    del facts["seal"], facts["files"]
    (old / "signature.json").write_text(json.dumps(facts))
    caplog.set_level(logging.WARNING)
    longer = ["--set", 'train.schedule="constant"']
    assert run(["train", str(config), "--out", str(old), *longer]) == 0
    assert not caplog.records
    assert run(["train", str(config), "--out", str(whole), *longer]) == 0
    assert (old / "test.hyp").read_bytes() == (whole / "test.hyp").read_bytes()


def repository(root: Path, package: str, name: str) -> Path:
    """A repository with our package somewhere in it; return its result.py."""
    path = root / package / "runs" / "result.py"
    path.parent.mkdir(parents=True)
    path.write_text("")
    (root / "pyproject.toml").write_text(f'[project]\nname = "{name}"\n')
    git = ["git", "-C", str(root), "-c", "user.name=x", "-c", "user.email=x@example.org"]
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "first"], check=True)
    return path


@pytest.mark.parametrize(
    ("package", "name", "is_ours"),
    [
        ("src/switchout", "switchout", True),
        ("src/switchout", "their-thesis", False),
        (".venv/lib/python3.11/site-packages/switchout", "their-thesis", False),
        (".venv/lib/python3.11/site-packages/switchout", "switchout", False),
    ],
)
def test_a_record_never_names_the_commit_of_an_enclosing_repository(
    tmp_path, monkeypatch, package, name, is_ours
):
    path = repository(tmp_path, package, name)
    monkeypatch.setattr(result, "__file__", str(path))
    monkeypatch.setenv("GIT_DIR", str(Path(__file__).parents[2] / ".git"))
    assert (result._commit() is not None) == is_ours


def test_own_folder_trains_at_the_first_try(tmp_path, monkeypatch, caplog):
    """Raw text, plain names, nothing else: --corpus and --out are enough."""
    monkeypatch.chdir(tmp_path)
    folder = Path("mine-de-en")
    folder.mkdir()
    words = ["Haus", "Hund", "Katze", "Baum", "Kind"]
    for split, n in (("train", 60), ("dev", 5), ("test", 5)):
        lines = [f"Das ist {words[i % 5]}, sagt {words[i % 3]}." for i in range(n)]
        for language in ("de", "en"):
            (folder / f"{split}.{language}").write_text("".join(x + "\n" for x in lines))
    caplog.set_level(logging.INFO)
    quick = ["--set", "train.steps=3", "--set", "train.checkpoint_every=3"]
    asked = ["train", "--corpus", "mine-de-en", "--tau-x", "1", "--rate-y", "0.1", "--out", "run"]
    assert run([*asked, *quick]) == 0
    assert "de to en: 60 pairs; raw text, punctuation is split off" in caplog.text
    assert "noise: source switchout (tau 1), target raml (rate 0.1)" in caplog.text
    text = Path("run/config.toml").read_text()
    assert 'policy = "switchout"\ntau = 1.0' in text
    assert 'select = "dev-bleu"' in text
    assert "￭," in Path("run/vocab.src").read_text()
    assert run([*asked, *quick]) == 0  # the same command is the same run


def test_a_folder_that_does_not_say_its_direction_is_told_how(toy, monkeypatch, capsys):
    monkeypatch.chdir(toy)
    Path("toy-xx-yy").rename("mine")
    assert run(["train", "--corpus", "mine", "--out", "run"]) == 2
    assert "give --source and --target" in capsys.readouterr().err
    quick = ["--set", "train.steps=2"]
    languages = ["--source", "yy", "--target", "xx"]
    assert run(["train", "--corpus", "mine", *languages, "--out", "run", *quick]) == 0
    assert run(["train", "c.toml", "--corpus", "mine", *languages, "--out", "two", *quick]) == 0


def test_score_and_compare_take_folders_of_runs(trained, tmp_path, capsys):
    reference, hyp = trained.parent / "corpus" / "test.yy", trained / "test.hyp"
    found = []
    for output in (trained, hyp):
        assert run(["score", str(output), "--ref", str(reference), "--json"]) == 0
        [scores] = json.loads(capsys.readouterr().out)
        found.append(scores["bleu"])
    assert found[0] == found[1]
    copies = [shutil.copy(hyp, tmp_path / f"{i}.hyp") for i in (1, 2)]  # one file twice is refused
    names = ["--baseline", f"a={trained},{copies[0]}", "--system", str(copies[1])]
    assert run(["compare", "--ref", str(reference), *names, "--json"]) == 0
    [result] = json.loads(capsys.readouterr().out)
    assert result["delta"] == 0
    onto = ["--csv", str(hyp)]
    assert run(["compare", "--ref", str(reference), *names, *onto]) == 2
    assert "--csv" in capsys.readouterr().err
    assert run(["score", str(tmp_path), "--ref", str(reference)]) == 2
    assert "without test.hyp" in capsys.readouterr().err
