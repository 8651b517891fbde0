"""The help of every verb has one look: -h, an example, defaults, 80 columns."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from switchout.cli import VERBS, run
from switchout.cli.verb import commands_of, parser_of

COMMANDS = [command.split() for verb in VERBS for command in commands_of(verb)]


def shown(capsys, *words: str) -> str:
    assert run(list(words)) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_help_fits_a_terminal_and_has_an_example(words, capsys):
    text = shown(capsys, *words, "--help")
    assert [line for line in text.splitlines() if len(line) > 80] == []
    assert f"switchout {' '.join(words)}" in text.partition("xample")[2]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_values_have_names_that_people_use(words, capsys):
    text = shown(capsys, *words, "--help")
    assert not any(odd in text for odd in ("<path>", "<int", "<float", "<str>", "<list"))


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_three_ways_to_ask_say_the_same(words, capsys):
    text = shown(capsys, *words, "--help")
    assert shown(capsys, *words, "-h") == text
    assert shown(capsys, "help", *words) == text


def test_help_alone_lists_the_verbs(capsys):
    text = shown(capsys, "help")
    assert all(f"\n  {verb}" in text for verb in VERBS)
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("switchout comp", "compare"),
        ("switchout data ge", "get"),
        ("switchout train --rest", "--restart"),
    ],
)
def test_a_shell_gets_completions(line, expected):
    words = line.split()
    asked = {
        "_SWITCHOUT_COMPLETE": "bash_complete",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
    }
    done = subprocess.run(
        [sys.executable, "-m", "switchout"], env=os.environ | asked, capture_output=True, text=True
    )
    assert f"plain,{expected}" in done.stdout.split()


def test_completion_script_is_shell(tmp_path, capsys):
    (tmp_path / "script").write_text(shown(capsys, "completion", "bash"), encoding="utf-8")
    assert subprocess.run(["bash", "-n", tmp_path / "script"]).returncode == 0
    assert run(["completion", "tcsh"]) == 2


def test_a_reader_that_goes_away_is_no_traceback():
    for _ in range(5):
        done = subprocess.run(
            ["bash", "-c", f"{sys.executable} -m switchout --help | true"], capture_output=True
        )
        assert done.stderr == b""


@pytest.mark.parametrize("verb", [["reproduce", "table1"], ["backtranslate"]], ids=" ".join)
def test_a_corpus_that_does_not_say_its_direction_can_be_told(verb, tmp_path, capsys):
    for name in ("train", "dev", "test"):
        for language in ("aa", "bb"):
            (tmp_path / f"{name}.{language}").write_text("a b\nc d\n")
    asked = [*verb, "--corpus", str(tmp_path), "--out", str(tmp_path / "out")]
    assert run(asked) == 2
    assert "which way?" in capsys.readouterr().err
    assert run([*asked, "--source", "xx", "--target", "bb"]) == 2
    assert "no text in 'xx'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("augment --src a --tau-y 1 --seed 1 --out-src b", "are for the target: give --tgt"),
        (
            "augment --src a --tau-x 1 --seed 1 --out-src b --vocab-tgt a",
            "--vocab-tgt is for the target: give --tgt",
        ),
        ("augment --src - --out-src b --tau-x 1 --seed 1", "(made by 'switchout vocab')"),
        ("augment --src a --out-src a --tau-x 1 --seed 1", "--out-src a: is also the input --src"),
        ("augment --src a --seed 1 --rate-z 1", "--rate-z"),
        ("augment --tau 1", "'--tau'. Did you mean '--tau-x' (source) or '--tau-y' (target)? (see"),
        ("augment -tau-x 1", "No such option '-tau-x'. Did you mean '--tau-x' (source)? (see"),
        ("augment -tau=1", "'-tau'. Did you mean '--tau-x' (source) or '--tau-y' (target)? (see"),
        ("train --rate 1", "Did you mean '--rate-x' (source) or '--rate-y' (target)?"),
        ("preview --policy raml", "Did you mean '--policy-x' (source) or '--policy-y' (target)?"),
        ("augment --version", "'--version'. Did you mean 'switchout --version'?"),
        ("--seed 1 augment", "options go after the verb: switchout augment --seed …"),
        ("--src data augment", "options go after the verb: switchout augment --src …"),
        ("--no-restart data train", "options go after the verb: switchout train --no-restart …"),
        ("--src=a data augment", "options go after the verb: switchout augment --src=a …"),
        ("-- train", "the verb goes first: switchout train …"),
        ("--", "the verb goes first: switchout VERB …"),
        ("train --no-restar", "'--no-restar'. Did you mean '--no-restart'? (see"),
        ("train --config a", "'--config'. CONFIG is given without a flag (see"),
        ("sweep --config a", "'--config'. CONFIG.toml is given without a flag (see"),
        ("data get --name a", "'--name'. NAME is given without a flag (see"),
        ("data prepare --folder a", "'--folder'. NAME|FOLDER is given without a flag (see"),
        ("score --hyp a", "'--hyp'. HYP… is given without a flag (see"),
        ("train --s 1", "Did you mean '--source', '--steps', '--seed' or '--set'? (see"),
        ("train --restrat", "'--restrat'. Did you mean '--restart'? (see"),
        ("--bogus", "options go after the verb: switchout VERB --bogus …"),
        ("augment --source a --seed 1", "No such option '--source'. Did you mean '--src'? (see"),
        ("augment", "'--seed', as in: switchout augment --src train.de --tgt train.en --tau-x 1 "),
        ("augment --src empty --out-src b --tau-x 1 --seed 1", "empty: no word in it; is the file"),
        ("augment a a --tau-x 1 --seed 1", "(a a), as in: switchout augment --src train.de --tgt"),
        ("preview --src empty --vocab-src pieces --tau-x 1 --seed 1", "empty: is empty"),
        ("preview --src a --vocab-src pieces --tau-x 1 --seed 1", "'▁'; --encode splits raw text"),
        ("preview --src a --tau-x 1 --seed 1 --lines 0", "--lines must be a whole number from 1 "),
        (
            "augment --src a --out-src b --tau-x 1 --seed 1 --preview 0",
            "--preview must be a whole number from 1 ",
        ),
        ("augment --pairs a --out-src b --tau-x 1 --seed 1", "--pairs and --out-pairs go together"),
        ("augment --tgt a --out-src b --tau-y 1 --seed 1", "--tgt and --out-tgt go together"),
        (
            "augment --tgt a --out-tgt b --tau-y 1 --seed 1 --encode",
            "--encode needs --vocab-tgt FILE (a sentencepiece .model",
        ),
        ("translate --run folder --input a --output b.hyp", "folder: not the folder of a run"),
        ("sweep", "'CONFIG.toml', as in: switchout sweep sweep.toml --out sweep (see"),
        ("compare a b", "as in: switchout compare --baseline runs/plain --system runs/noisy"),
        ("train .", "give --out RUN"),
        ("train folder --out run", "folder: is a folder"),
        ("train phrasebook --out run --set train.stepz=3", "--set train.stepz=3"),
        ("train phrasebook --out run --set tau_x=1", "--set tau_x=1: unknown key 'tau_x' (did"),
        ("train phrasebook --out run --set steps=1", "--set steps=1: unknown key 'steps' (did"),
        ("train phrasebook --out run --tau-x 1 --rate-x 0.1", "either --tau-x or --rate-x, not"),
        ("train phrasebook --out run --rate-y 0.6", "--rate-y must be"),
        ("sweep a --engine spark", "--engine must be local or ray"),
        ("sweep a --ray-address auto", "--ray-address needs --engine ray"),
        ("sweep a --gpus 1", "--gpus needs --engine ray"),
        ("neighbors --train a --test b --out c --ray-address auto", "needs --engine ray"),
        ("report =1+1", "=1+1: no such folder"),
        ("report loop", "loop: no such folder"),
        ("completion a=b", "no completion for 'a=b'"),
        ("train phrasebook --out . --restart", ".: is not empty and not a run"),
        ("train phrasebook --out run --steps 1000000000000", "--steps must be a whole number"),
        ("reproduce table1 --preset= --out run", ".: is a folder"),
        ("buckets --ref a --baseline a --system b --by wer", "--neighbors, or --train and --test"),
        ("reproduce table9", "(did you mean 'table1' or 'table2'?)"),
        ("export --nosuch", "No such option '--nosuch' (see"),
        ("reproduce --nosuch a", "No such option '--nosuch' (see"),
        ("trian", "did you mean 'train'?"),
        ("data get --ouut x y", "--ouut"),
        ("data", "Missing command: list, get, prepare"),
    ],
    ids=str,
)  # fmt: skip
def test_a_mistake_is_one_line_that_names_flags(words, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "a").write_text("ein Hund bellt\n")
    (tmp_path / "b").write_text("ein Hund\n")
    (tmp_path / "empty").touch()
    (tmp_path / "pieces").write_text("▁ein\n▁Hund\n")
    before = {path.name for path in tmp_path.iterdir()}
    assert run(words.split()) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1
    assert {path.name for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("width", [80, 40])
def test_the_list_of_corpora_fits_the_terminal(width, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SWITCHOUT_DATA", "data")
    monkeypatch.setenv("COLUMNS", str(width))
    narrow = shown(capsys, "data", "list")
    assert max(map(len, narrow.splitlines())) <= width
    monkeypatch.setenv("COLUMNS", "300")
    assert {*shown(capsys, "data", "list").split()} == {*narrow.split()}


def test_help_says_which_presets_have_noise(capsys):
    from switchout.runs.config_file import load_config, preset_names

    text = " ".join(shown(capsys, "train", "--help").split())
    told = text.partition("or a preset: ")[2].partition(" without noise.")[0]
    with_noise, _, without = told.partition(" with noise on both sides, ")
    for name in preset_names():
        augment = load_config(name).augment
        noisy = augment.source.policy != "none" and augment.target.policy != "none"
        assert name in (with_noise if noisy else without)


def test_preview_has_no_option_that_writes(capsys):
    text = shown(capsys, "preview", "--help")
    assert not any(
        word in text for word in ("--out", "--stats", "--copies", "--parts", "--workers")
    )
    assert "--vocab-src FILE" in text


def test_every_option_of_augment_is_known_to_the_library():
    from switchout.text.file_augmenter import FileOptions
    from switchout.text.side_noise import NoiseOptions

    known = {
        *NoiseOptions.__annotations__,
        *FileOptions.__annotations__,
        "seed",
        "source",
        "target",
    }
    known |= {"out_source", "out_target", "as_json", "preview"}
    assert {parameter.name for parameter in parser_of("augment").params} == known


def test_usage_tells_what_may_be_left_out(capsys):
    assert shown(capsys, "train", "--help").startswith(
        "Usage: switchout train [OPTIONS] [CONFIG]\n"
    )
    assert "[OPTIONS] WHAT\n" in shown(capsys, "reproduce", "--help")


@pytest.mark.parametrize("more", [[], ["augment"], ["--json"], ["--help"]], ids=" ".join)
def test_version_is_printed_whatever_follows(more, capsys):
    assert shown(capsys, "--version", *more).split()[0] == "switchout"
    assert shown(capsys, "--version", *more) == shown(capsys, "--version")
