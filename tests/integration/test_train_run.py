"""``switchout train`` through its command line: the folder it leaves, and what it refuses."""

from __future__ import annotations

import errno
import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from train_toys import write_config, write_corpus

from switchout.cli import run
from switchout.errors import SwitchOutError
from switchout.evaluation import scores
from switchout.evaluation.metrics import Metric
from switchout.nmt import loop as loop
from switchout.nmt import machine
from switchout.nmt.checkpoint import digest, read_facts, read_tensors, step_folders
from switchout.nmt.metrics import read_metrics
from switchout.nmt.trainer import Trainer
from switchout.runs.config_file import load_config, to_toml
from switchout.runs.folder import open_run, removed_if_refused
from switchout.runs.leases import RunIsBusyError, held
from switchout.runs.preparing import SYNTHETIC_IDS

RESULT_KEYS = {
    *("signature", "state", "policy", "tau_x", "tau_y", "seed", "steps", "selected_step"),
    *("dev_perplexity", "dev_bleu", "test_bleu", "test_chrf", "seconds", "tokens_per_second"),
}


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_corpus(tmp_path / "corpus")


def train(config: Path, out: Path, *options: str) -> int:
    return run(["train", str(config), "--out", str(out), *options])


def weights(out: Path, step: int) -> str:
    return digest(read_tensors(out / "checkpoints" / f"step-{step}", "model"))


def test_only_scores_that_are_kept_are_computed(tmp_path, corpus, monkeypatch):
    """TER of a dev set takes longer than its translation; nobody reads it."""
    computed = []

    def metric(name, *args, **options):
        computed.append(name)
        return Metric(name, *args, **options)

    monkeypatch.setattr(scores, "Metric", metric)
    config = write_config(tmp_path / "c.toml", corpus)
    assert train(config, tmp_path / "run", "--set", "train.dev_bleu=true") == 0
    n_validations = 3
    assert sorted(computed) == ["bleu"] * (n_validations + 2) + ["chrf"] * 2  # dev and test


def test_run_leaves_the_promised_folder(tmp_path, corpus, capsys):
    config, out = write_config(tmp_path / "c.toml", corpus), tmp_path / "run"
    assert train(config, out, "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert result == json.loads((out / "result.json").read_text())
    assert result.keys() >= RESULT_KEYS
    assert (result["state"], result["steps"], result["seed"]) == ("done", 24, 3)
    assert (result["policy"], result["tau_x"], result["tau_y"]) == ("none", 0, 0)
    names = {"config.toml", "signature.json", "vocab.src", "vocab.tgt", "metrics.jsonl"}
    assert names | {"dev.hyp", "test.hyp"} <= {path.name for path in out.iterdir()}
    assert [f.name for f in step_folders(out / "checkpoints")] == ["step-10", "step-20", "step-24"]
    assert len(step_folders(out / "resume")) == 2
    for split in ("dev", "test"):
        assert len((out / f"{split}.hyp").read_text().split("\n")) == 11
    losses = [r["step"] for r in read_metrics(out / "metrics.jsonl") if "loss" in r]
    assert losses == list(range(1, 25))
    assert load_config(out / "config.toml") == load_config(config)


def test_selected_step_has_the_lowest_dev_perplexity(tmp_path, corpus):
    out = tmp_path / "run"
    train(write_config(tmp_path / "c.toml", corpus), out)
    result = json.loads((out / "result.json").read_text())
    by_step = {v["step"]: v["dev_perplexity"] for v in result["validations"]}
    assert list(by_step) == [10, 20, 24]
    assert result["selected_step"] == min(by_step, key=by_step.get)
    assert result["weights"] == f"checkpoints/step-{result['selected_step']}"
    noted = read_facts(out / result["weights"])
    assert noted["dev_perplexity"] == result["dev_perplexity"]


@pytest.mark.parametrize(
    ("select", "chosen"),
    [("last", 24), ("dev-bleu", "dev_bleu"), ("dev-perplexity", "dev_perplexity")],
)
def test_every_rule_selects_what_it_says(tmp_path, corpus, select, chosen):
    out = tmp_path / "run"
    config = write_config(tmp_path / "c.toml", corpus)
    train(config, out, "--set", f"train.select={select}", "--set", "train.dev_bleu=true")
    result = json.loads((out / "result.json").read_text())
    if chosen != 24:
        values = [v[chosen] for v in result["validations"]]
        best = max(values) if chosen == "dev_bleu" else min(values)
        chosen = result["validations"][values.index(best)]["step"]
    assert result["selected_step"] == chosen


def test_same_command_again_changes_nothing(tmp_path, corpus, capsys):
    config, out = write_config(tmp_path / "c.toml", corpus), tmp_path / "run"
    train(config, out, "--json")
    first, before = json.loads(capsys.readouterr().out), weights(out, 24)
    assert train(config, out, "--json") == 0
    assert json.loads(capsys.readouterr().out) == first
    assert weights(out, 24) == before


def test_longer_run_continues_and_equals_the_uninterrupted_one(tmp_path, corpus):
    config = write_config(tmp_path / "c.toml", corpus, train='schedule = "constant"')
    train(config, tmp_path / "a", "--set", "train.steps=10")
    train(config, tmp_path / "a")
    train(config, tmp_path / "b")
    assert weights(tmp_path / "a", 24) == weights(tmp_path / "b", 24)


OTHER_LENGTHS = {
    "linear": ('schedule = "linear"', "", False),
    "constant": ('schedule = "constant"', "", True),
    "noam": ('schedule = "noam"', "", True),
    "noise that ends": ('schedule = "constant"', "ENDING_NOISE", False),
    "no noise to end": ('schedule = "constant"', "[augment]\nuntil = 0.2", True),
}


@pytest.mark.parametrize("case", OTHER_LENGTHS)
def test_a_resume_at_another_length_promises_what_it_keeps(tmp_path, corpus, caplog, case):
    of_train, extra, is_same = OTHER_LENGTHS[case]
    extra = extra.replace("ENDING_NOISE", ENDING_NOISE)
    config = write_config(tmp_path / "c.toml", corpus, train=of_train, extra=extra)
    caplog.set_level("INFO")
    train(config, tmp_path / "a", "--set", "train.steps=10")
    train(config, tmp_path / "a")
    [told] = [text for text in caplog.messages if text.startswith("resuming")]
    train(config, tmp_path / "b")
    assert (weights(tmp_path / "a", 24) == weights(tmp_path / "b", 24)) == is_same
    assert ("bitwise" in told) == is_same
    assert ("steps were 10, are 24" in told) == (not is_same)
    result = json.loads((tmp_path / "a" / "result.json").read_text())
    assert result.get("steps_before", []) == ([] if is_same else [10])


def test_a_run_begun_with_other_arithmetic_is_not_called_bitwise(
    tmp_path, corpus, caplog, monkeypatch
):
    config = write_config(tmp_path / "c.toml", corpus)
    caplog.set_level("INFO")
    monkeypatch.setattr(machine, "ARITHMETIC", 1)
    train(config, tmp_path / "a", "--set", "train.steps=10")
    monkeypatch.setattr(machine, "ARITHMETIC", 2)
    train(config, tmp_path / "a")
    [told] = [text for text in caplog.messages if text.startswith("resuming")]
    assert "to rounding only (arithmetic 1 -> 2)" in told
    assert "bitwise" not in told


def test_a_run_of_another_length_remembers_it(tmp_path, corpus, caplog):
    config = write_config(tmp_path / "c.toml", corpus, train='schedule = "linear"')
    caplog.set_level("INFO")
    for steps in (4, 6, 8, 12):  # four are within the warm-up, which is the same in all
        train(config, tmp_path / "a", "--set", f"train.steps={steps}")
    (tmp_path / "a" / "result.json").unlink()
    shutil.rmtree(tmp_path / "a" / "resume")  # as a finished run of a table
    train(config, tmp_path / "a", "--set", "train.steps=12")
    assert "steps were 6, 8, are 12" in caplog.text
    assert json.loads((tmp_path / "a" / "result.json").read_text())["steps_before"] == [6, 8]


ENDING_NOISE = """
[augment]
until = 0.5
[augment.source]
policy = "switchout"
tau = 2.0
"""


@pytest.mark.parametrize("at", [10, 14])
def test_noise_ends_at_the_same_step_in_an_interrupted_run(tmp_path, corpus, monkeypatch, at):
    """Interrupted before and after the switch at step 12; the last save was two steps earlier."""
    config = write_config(tmp_path / "c.toml", corpus, extra=ENDING_NOISE)
    train(config, tmp_path / "whole")
    update = Trainer.update

    def interrupted(trainer, *batch, **stop):
        if trainer.progress.step == at:
            raise KeyboardInterrupt
        return update(trainer, *batch, **stop)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "update", interrupted)
        assert train(config, tmp_path / "run") == 130
    train(config, tmp_path / "run")
    assert weights(tmp_path / "run", 24) == weights(tmp_path / "whole", 24)
    train(config, tmp_path / "noisy", "--set", "augment.until=1.0")
    assert weights(tmp_path / "noisy", 10) == weights(tmp_path / "whole", 10)
    assert weights(tmp_path / "noisy", 24) != weights(tmp_path / "whole", 24)


def test_metrics_are_cut_back_to_the_checkpoint(tmp_path, corpus):
    """Steps after the last save are told once, though they were made twice."""
    config, out = write_config(tmp_path / "c.toml", corpus), tmp_path / "run"
    train(config, out, "--set", "train.steps=10")
    with (out / "metrics.jsonl").open("a") as handle:
        handle.write('{"step": 11, "loss": 99.0}\n{"step": 12, "lo')
    train(config, out, "--set", "train.tensorboard=true")
    records = [r for r in read_metrics(out / "metrics.jsonl") if "loss" in r]
    assert [r["step"] for r in records] == list(range(1, 25))
    assert all(r["loss"] < 99 for r in records)
    steps = _tensorboard_steps(out / "tensorboard")
    assert steps == sorted(steps)
    assert set(steps) == set(range(1, 25))


def _tensorboard_steps(folder: Path) -> list[int]:
    pytest.importorskip("tensorboard")
    from tensorboard.compat.proto.event_pb2 import Event

    [path] = folder.iterdir()
    content, steps, at = path.read_bytes(), [], 0
    while at < len(content):
        size = int.from_bytes(content[at : at + 8], "little")
        event = Event.FromString(content[at + 12 : at + 12 + size])
        steps += [event.step] if event.HasField("summary") else []
        at += 16 + size
    return steps


def test_changed_config_is_refused_listing_the_keys(tmp_path, corpus, capsys):
    config, out = write_config(tmp_path / "c.toml", corpus), tmp_path / "run"
    train(config, out)
    before = weights(out, 24)
    options = ("--set", "model.dropout=0.3", "--set", "seed=4", "--set", "train.save_every=7")
    assert train(config, out, *options) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert "model.dropout: 0.1 -> 0.3" in error
    assert "seed: 3 -> 4" in error
    assert "save_every" not in error
    assert "--restart to move this run aside" in error
    assert weights(out, 24) == before


def test_restart_moves_the_old_run_aside(tmp_path, corpus):
    config, out = write_config(tmp_path / "c.toml", corpus), tmp_path / "run"
    train(config, out)
    before = weights(out, 24)
    assert train(config, out, "--restart", "--set", "seed=4") == 0
    assert weights(out, 24) != before
    assert weights(tmp_path / "run.old-1", 24) == before


def test_changed_text_is_refused(tmp_path, corpus, capsys):
    config, out = write_config(tmp_path / "c.toml", corpus), tmp_path / "run"
    train(config, out, "--set", "train.steps=4")
    (corpus / "dev.xx").write_text("a1\n" * 10)
    assert train(config, out) == 2
    assert "has changed" in capsys.readouterr().err


def test_early_stopping_counts_validations(tmp_path, corpus):
    """A learning rate of nothing never improves: the first validation stays the best."""
    config = write_config(
        tmp_path / "c.toml", corpus, train="patience = 2\nlearning_rate = 1e-12\n"
    )
    out = tmp_path / "run"
    options = ("--set", "train.checkpoint_every=4", "--set", "train.select=dev-bleu")
    assert train(config, out, *options, "--set", "train.dev_bleu=true") == 0
    result = json.loads((out / "result.json").read_text())
    assert (result["state"], result["steps"], result["selected_step"]) == ("done", 12, 4)
    assert train(config, out, *options, "--set", "train.dev_bleu=true") == 0
    assert json.loads((out / "result.json").read_text()) == result


def test_average_is_the_mean_of_the_last_weights(tmp_path, corpus):
    config, out = write_config(tmp_path / "c.toml", corpus), tmp_path / "run"
    train(config, out, "--set", "train.average=2", "--set", "train.select=last")
    a, b = (read_tensors(out / "checkpoints" / f"step-{s}", "model") for s in (20, 24))
    mean = {name: (a[name] + b[name]) / 2 for name in a}
    assert digest(read_tensors(out / "checkpoints" / "average", "model")) == digest(mean)
    assert json.loads((out / "result.json").read_text())["weights"] == "checkpoints/average"


def test_init_from_starts_with_the_other_runs_weights(tmp_path, corpus):
    config = write_config(tmp_path / "c.toml", corpus)
    train(config, tmp_path / "a")
    options = ("--set", "train.learning_rate=1e-30", "--set", "train.steps=1")
    assert train(config, tmp_path / "b", "--init-from", str(tmp_path / "a"), *options) == 0
    result = json.loads((tmp_path / "a" / "result.json").read_text())
    selected = digest(read_tensors(tmp_path / "a" / result["weights"], "model"))
    assert weights(tmp_path / "b", 1) == selected


def test_changed_vectors_are_refused(tmp_path, corpus, capsys):
    """Under the same path another table of similar words: it would be called the same run."""
    vectors = tmp_path / "vectors.txt"
    lines = [f"a{digit} {digit} {digit % 3}\n" for digit in range(10)]
    vectors.write_text("".join(lines))
    noise = '[augment.source]\npolicy = "similar"\ntau = 1.0\nneighbors = 4\n'
    noise += f'vectors = "{vectors}"\n'
    config, out = write_config(tmp_path / "c.toml", corpus, extra=noise), tmp_path / "run"
    assert train(config, out, "--set", "train.steps=4") == 0
    vectors.write_text("".join(reversed(lines)))
    assert train(config, out, "--set", "train.steps=8") == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert f"{vectors} (augment.source.vectors) has changed" in error
    vectors.write_text("".join(lines))
    assert train(config, out, "--set", "train.steps=8") == 0


@pytest.mark.parametrize("at", [10, 2])
def test_a_run_cut_to_the_steps_of_a_saved_state_is_measured_there(
    tmp_path, corpus, monkeypatch, at
):
    """Interrupted between two validations, or before the first, and asked for no more steps."""
    config, out = write_config(tmp_path / "c.toml", corpus), tmp_path / "run"
    update = Trainer.update

    def interrupted(trainer, *batch, **stop):
        if trainer.progress.step == at:
            raise KeyboardInterrupt
        return update(trainer, *batch, **stop)

    every = ("--set", "train.checkpoint_every=8", "--set", "train.save_every=2")
    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "update", interrupted)
        assert train(config, out, *every) == 130
    assert step_folders(out / "resume")[-1].name == f"step-{at}"
    assert train(config, out, *every, "--set", f"train.steps={at}") == 0
    result = json.loads((out / "result.json").read_text())
    assert (result["state"], result["steps"]) == ("done", at)
    assert result["validations"][-1]["step"] == at
    assert weights(out, at)


def test_init_from_another_vocabulary_is_refused(tmp_path, corpus, capsys):
    config = write_config(tmp_path / "c.toml", corpus)
    train(config, tmp_path / "a", "--set", "vocabulary.max_size=8")
    assert train(config, tmp_path / "b", "--init-from", str(tmp_path / "a")) == 2
    assert "vocab.src is another vocabulary" in capsys.readouterr().err


def test_non_finite_loss_stops_and_keeps_the_last_checkpoint(tmp_path, corpus, capsys):
    config, out = write_config(tmp_path / "c.toml", corpus), tmp_path / "run"
    assert train(config, out, "--set", "train.learning_rate=1e30") == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert "at step" in error
    assert "examples" in error
    assert json.loads((out / "result.json").read_text())["state"] == "non-finite"
    assert not (out / "test.hyp").exists()


def test_weights_that_no_sentence_survives_stop_at_the_validation(tmp_path, corpus, capsys):
    """The loss before the only update was finite."""
    config, out = write_config(tmp_path / "c.toml", corpus), tmp_path / "run"
    settings = ("train.learning_rate=1e30", "train.steps=1", "train.warmup=0")
    assert train(config, out, *(word for key in settings for word in ("--set", key))) == 2
    assert "on dev: stopped" in capsys.readouterr().err.splitlines()[-1]
    assert json.loads((out / "result.json").read_text())["state"] == "non-finite"


@pytest.mark.parametrize("at", [1, 3, 5])
def test_full_disk_stops_with_one_line_and_costs_nothing(tmp_path, corpus, capsys, monkeypatch, at):
    config, out = write_config(tmp_path / "c.toml", corpus), tmp_path / "run"
    real, calls = loop.write_checkpoint, []

    def full(folder, tensors, facts):
        calls.append(folder)
        if len(calls) == at:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(folder, tensors, facts)

    monkeypatch.setattr(loop, "write_checkpoint", full)
    assert train(config, out) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert f"{calls[-1]}: could not be written (No space left on device)" in error
    monkeypatch.undo()
    assert train(config, out) == 0
    assert train(config, tmp_path / "undisturbed") == 0
    assert weights(out, 24) == weights(tmp_path / "undisturbed", 24)


def test_result_of_a_shorter_run_does_not_outlive_it(tmp_path, corpus, monkeypatch):
    config, out = write_config(tmp_path / "c.toml", corpus), tmp_path / "run"
    train(config, out, "--set", "train.steps=4")
    monkeypatch.setattr(loop, "write_checkpoint", lambda *_: (out / "missing").stat())
    assert train(config, out) == 2
    assert not (out / "result.json").exists()


def test_deleted_ids_are_made_again(tmp_path, corpus):
    config, out = write_config(tmp_path / "c.toml", corpus), tmp_path / "run"
    train(config, out, "--set", "train.steps=4")
    shutil.rmtree(out / "encoded" / "train")
    assert train(config, out) == 0


def test_without_tensorboard_the_run_is_the_same(tmp_path, corpus, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorboard.compat.proto.event_pb2", None)
    config, out = write_config(tmp_path / "c.toml", corpus), tmp_path / "run"
    assert train(config, out, "--set", "train.tensorboard=true", "--set", "train.steps=3") == 0
    assert not (out / "tensorboard").exists()
    assert read_metrics(out / "metrics.jsonl")


def _cut(path: Path, lines: int) -> None:
    path.write_text("".join(line + "\n" for line in path.read_text().split("\n")[:lines]))


BAD_CORPORA = {
    "unequal sides": (lambda c: _cut(c / "train.yy", 59), "train"),
    "unequal dev": (lambda c: _cut(c / "dev.xx", 3), "dev"),
    "empty dev": (lambda c: [_cut(c / f"dev.{x}", 0) for x in ("xx", "yy")], "dev"),
    "no dev": (lambda c: [(c / f"dev.{x}").unlink() for x in ("xx", "yy")], "dev"),
    "not UTF-8": (lambda c: (c / "train.xx").write_bytes(b"a\xff\n" * 60), "train.xx:1"),
}


@pytest.mark.parametrize(("spoil", "named"), BAD_CORPORA.values(), ids=BAD_CORPORA.keys())
def test_bad_corpus_is_refused_before_anything_is_trained(tmp_path, corpus, capsys, spoil, named):
    spoil(corpus)
    out = tmp_path / "run"
    assert train(write_config(tmp_path / "c.toml", corpus), out) == 2
    error = capsys.readouterr().err
    assert named in error
    assert len(error.splitlines()) == 1
    assert not (out / "checkpoints").exists()
    assert not (out / "signature.json").exists()


def test_mended_corpus_trains_in_the_same_folder(tmp_path, corpus):
    saved = (corpus / "train.yy").read_text()
    _cut(corpus / "train.yy", 59)
    config, out = write_config(tmp_path / "c.toml", corpus), tmp_path / "run"
    assert train(config, out) == 2
    (corpus / "train.yy").write_text(saved)
    assert train(config, out) == 0


def test_long_and_empty_pairs_are_dropped_counted_and_told(tmp_path, corpus, caplog):
    for language, long in (("xx", "a1 " * 30), ("yy", "b1 " * 3)):
        with (corpus / f"train.{language}").open("a") as handle:
            handle.write(f"{long.strip()}\n{long[:2] if language == 'xx' else ''}\n")
    caplog.set_level("INFO")
    out = tmp_path / "run"
    assert train(write_config(tmp_path / "c.toml", corpus), out, "--set", "data.max_length=20") == 0
    assert "train: 60 pairs, dropped: 1 empty, 1 too long" in caplog.text


def test_folder_with_other_things_is_refused(tmp_path, corpus, capsys):
    out = tmp_path / "run"
    out.mkdir()
    (out / "thesis.tex").write_text("dear reader")
    assert train(write_config(tmp_path / "c.toml", corpus), out) == 2
    assert "not empty" in capsys.readouterr().err
    assert (out / "thesis.tex").read_text() == "dear reader"


def test_damaged_selected_weights_are_named_and_the_next_best_used(tmp_path, corpus, caplog):
    config, out = write_config(tmp_path / "c.toml", corpus), tmp_path / "run"
    train(config, out)
    before = json.loads((out / "result.json").read_text())
    path = out / before["weights"] / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-1])
    assert train(config, out) == 0
    after = json.loads((out / "result.json").read_text())
    assert before["weights"] in caplog.text
    others = [v for v in before["validations"] if v["step"] != before["selected_step"]]
    assert after["selected_step"] == min(others, key=lambda v: v["dev_perplexity"])["step"]


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(signal.SIGTERM, id="SIGTERM"),
        pytest.param(signal.SIGHUP, id="SIGHUP"),
        pytest.param(signal.SIGINT, id="SIGINT", marks=pytest.mark.slow),
    ],
)
def test_signal_saves_and_the_same_command_goes_on(tmp_path, corpus, number):
    config, out = write_config(tmp_path / "c.toml", corpus), tmp_path / "run"
    command = [sys.executable, "-m", "switchout", "train", str(config), "--out", str(out)]
    many = ["--set", "train.steps=1000000", "--set", "train.save_every=1000000"]
    process = subprocess.Popen([*command, *many, "--set", "train.checkpoint_every=1000000"])
    while not read_metrics(out / "metrics.jsonl"):
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(number)
    assert process.wait(timeout=60) == 143
    [saved] = step_folders(out / "resume")
    steps = read_facts(saved)["trainer"]["step"]
    result = json.loads((out / "result.json").read_text())
    assert (result["state"], result["steps"]) == ("stopped", steps)
    assert train(config, out, "--set", f"train.steps={steps + 2}") == 0
    assert json.loads((out / "result.json").read_text())["state"] == "done"


def test_two_trainers_never_share_a_folder(tmp_path, corpus, capsys):
    config, out = write_config(tmp_path / "c.toml", corpus), tmp_path / "run"
    with held(out):
        for options in ((), ("--restart",)):
            assert train(config, out, *options) == 2
            assert "another process" in capsys.readouterr().err
    assert train(config, out) == 0


def test_who_finds_a_new_run_taken_removes_nothing(tmp_path):
    def refused(folder, error):
        with removed_if_refused(folder):
            folder.mkdir()
            (folder / "vocab.src").touch()
            raise error

    for error, is_left in ((RunIsBusyError("another's"), True), (SwitchOutError("bad"), False)):
        folder = tmp_path / type(error).__name__
        with pytest.raises(type(error)):
            refused(folder, error)
        assert folder.exists() == is_left


def test_steps_and_seed_are_short_for_settings(tmp_path, corpus):
    config, out = write_config(tmp_path / "c.toml", corpus), tmp_path / "run"
    assert train(config, out, "--steps", "3", "--seed", "8") == 0
    result = json.loads((out / "result.json").read_text())
    assert (result["steps"], result["seed"]) == (3, 8)


def test_paper_gpus_scale_batch_and_steps_once(tmp_path, corpus):
    config, out = write_config(tmp_path / "c.toml", corpus), tmp_path / "run"
    assert train(config, out, "--paper-gpus", "4") == 0
    made = load_config(out / "config.toml").train
    assert (made.batch_tokens, made.steps) == (256, 6)
    assert train(config, out, "--paper-gpus", "4") == 0  # the same command again: the same run


def test_synthetic_pairs_have_ids_of_their_own(tmp_path, corpus):
    for language, letter in (("xx", "a"), ("yy", "b")):
        (corpus / f"synthetic.{language}").write_text(f"{letter}1\n{letter}2 {letter}3\n")
    out = tmp_path / "run"
    assert train(write_config(tmp_path / "c.toml", corpus), out) == 0
    ids = open_run(out).train.example_ids.tolist()
    assert ids == [*range(60), SYNTHETIC_IDS, SYNTHETIC_IDS + 1]


def test_print_config_prints_a_preset_that_loads(tmp_path, capsys):
    assert run(["train", "--print-config", "en-vi"]) == 0
    path = tmp_path / "printed.toml"
    path.write_text(capsys.readouterr().out)
    assert load_config(path) == load_config("en-vi")


def test_print_config_prints_what_would_be_trained(tmp_path, corpus, capsys):
    """The settings that suit a folder, and what options change in them or in a preset."""
    path = tmp_path / "printed.toml"
    asked = ["--corpus", str(corpus), "--source", "xx", "--target", "yy", "--tau-x", "1"]
    for start in ([], ["phrasebook"]):
        assert run(["train", *start, *asked, "--print-config"]) == 0
        path.write_text(capsys.readouterr().out)
        wanted = load_config(path)
        assert wanted.data.corpus == str(corpus)
        assert wanted.augment.source.tau == 1
        changed = load_config(
            *(start or [None]), corpus=str(corpus), languages=("xx", "yy"),
            overrides=['augment.source={policy = "switchout", tau = 1.0}'],
        )  # fmt: skip
        assert wanted == changed


@pytest.mark.parametrize(
    ("options", "source"),
    [
        (["--tau-x", "2"], {"policy": "switchout", "tau": 2, "rate": None}),
        (["--rate-x", "0.1"], {"policy": "switchout", "tau": None, "rate": 0.1}),
    ],
)
def test_the_noise_options_leave_what_counts_as_a_word(options, source, tmp_path, capsys):
    config = tmp_path / "tagged.toml"
    tagged = 'unk_is_word = true, special_pattern = ">>.*<<"'
    hamming = f'{{policy = "hamming", tau = 0.9, rescaled = true, {tagged}}}'
    before = load_config("en-vi", overrides=[f"augment.source={hamming}"])
    config.write_text(to_toml(before))
    assert run(["train", str(config), *options, "--print-config"]) == 0
    (tmp_path / "printed.toml").write_text(capsys.readouterr().out)
    wanted = load_config(tmp_path / "printed.toml").augment
    assert {key: getattr(wanted.source, key) for key in source} == source
    assert wanted.source.unk_is_word
    assert wanted.source.special_pattern == ">>.*<<"
    assert not wanted.source.rescaled  # which is of the policy that was replaced
    assert wanted.target == before.augment.target


def test_print_config_of_nothing_lists_the_presets(capsys):
    assert run(["train", "--print-config"]) == 2
    said = capsys.readouterr().err
    assert "a preset (de-en, en-de, en-vi, multi30k, phrasebook)" in said
    assert "--out" not in said


def test_device_that_is_not_there_is_refused(tmp_path, corpus, capsys):
    config = write_config(tmp_path / "c.toml", corpus, train='device = "cuda:99"')
    assert train(config, tmp_path / "run") == 2
    assert "train.device = 'cuda:99'" in capsys.readouterr().err


def test_finished_run_needs_no_resume_checkpoints(tmp_path, corpus, capsys):
    """Whoever saves space by deleting them keeps the result."""
    config, out = write_config(tmp_path / "c.toml", corpus), tmp_path / "run"
    train(config, out, "--json")
    first = json.loads(capsys.readouterr().out)
    shutil.rmtree(out / "resume")
    assert train(config, out, "--json") == 0
    assert json.loads(capsys.readouterr().out) == first
