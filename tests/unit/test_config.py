"""Configurations: what is read, what is refused, and what makes a run another run."""

from __future__ import annotations

import math
import tomllib

import pytest

from switchout.errors import SwitchOutError
from switchout.runs.config import FREE_KEYS, Augment, Config, Side, flatten
from switchout.runs.config_file import (
    changed_keys,
    load_config,
    parse_config,
    preset_names,
    preset_text,
    run_key,
    to_toml,
)

# The table of appendix A.4, as printed: layers, heads, d_k, d_model, d_inner, init, clip, dropout,
# 1/tau_x, 1/tau_y.
PAPER = {
    "en-de": (8, 6, 64, 512, 1024, 0.04, 25.0, 0.10, 1.00, 0.80),
    "de-en": (8, 5, 64, 288, 507, 0.035, 25.0, 0.25, 0.95, 0.90),
    "en-vi": (4, 4, 64, 256, 384, 0.035, 20.0, 0.15, 1.00, 0.90),
}


@pytest.mark.parametrize("name", PAPER)
def test_preset_is_the_papers_table(name):
    config = load_config(name)
    m, t, a = config.model, config.train, config.augment
    shape = (m.layers, m.heads, m.d_head, m.d_model, m.d_inner, m.init, t.clip, m.dropout)
    assert shape == PAPER[name][:8]
    assert (a.source.policy, a.target.policy) == ("switchout", "raml")
    assert (1 / a.source.tau, 1 / a.target.tau) == pytest.approx(PAPER[name][8:])
    assert (t.steps, t.checkpoint_every, t.select) == (100_000, 2500, "dev-perplexity")
    if name == "en-de":
        assert t.schedule == "noam"
    else:
        decay = (t.schedule, t.learning_rate, t.decay, t.decay_every, t.decay_from, t.warmup)
        assert decay == ("steps", 0.001, 0.97, 1000, 8000, 0)


@pytest.mark.parametrize("name", PAPER)
@pytest.mark.parametrize(
    "key",
    [
        *("batch_tokens", "warmup", "beta1", "beta2", "epsilon", "label_smoothing"),
        *("tied", "norm", "beam", "length_penalty", "max_length"),
    ],
)
def test_what_the_paper_does_not_say_is_marked(name, key):
    [line] = [x for x in preset_text(name).splitlines() if x.startswith(f"{key} =")]
    assert "# our choice" in line


def test_there_are_presets_for_every_need():
    assert set(preset_names()) == {*PAPER, "phrasebook", "multi30k"}


@pytest.mark.parametrize("name", ["en-vi", "de-en", "en-de", "phrasebook", "multi30k"])
def test_written_config_reads_back_equal(name):
    config = load_config(name)
    assert parse_config(tomllib.loads(to_toml(config)), where="") == config


def test_infinite_tau_and_odd_strings_survive_writing():
    config = load_config(
        "phrasebook",
        overrides=["augment.source.tau=inf", 'data.corpus="a \\"b\\" \\\\ ü"', "seed=0"],
    )
    assert config.augment.source.tau == math.inf
    again = parse_config(tomllib.loads(to_toml(config)), where="")
    assert again == config
    assert again.seed == 0


OVERRIDES = {
    "integer": ("train.steps=10", lambda c: c.train.steps == 10),
    "float": ("model.dropout=0.5", lambda c: c.model.dropout == 0.5),
    "bare string": ("train.select=last", lambda c: c.train.select == "last"),
    "quoted string": ('train.select="last"', lambda c: c.train.select == "last"),
    "boolean": ("train.compile=true", lambda c: c.train.compile is True),
    "path with spaces": ("data.corpus=/a b", lambda c: c.data.corpus == "/a b"),
    "new table": ("search.beam=3", lambda c: c.search.beam == 3),
    "policy off": (
        "augment.source.policy=none",
        lambda c: (c.augment.source.policy, c.augment.source.tau) == ("none", None),
    ),
    "whole table": (
        'augment.source={policy="word_dropout", rate=0.1}',
        lambda c: (c.augment.source.rate, c.augment.source.tau) == (0.1, None),
    ),
    "seed 0": ("seed=0", lambda c: c.seed == 0),
    "largest seed": (f"seed={2**64 - 1}", lambda c: c.seed == 2**64 - 1),
}


@pytest.mark.parametrize(("override", "holds"), OVERRIDES.values(), ids=OVERRIDES.keys())
def test_override_changes_one_value(override, holds):
    assert holds(load_config("phrasebook", overrides=[override]))


MISTAKES = {
    "misspelt key": ("train.stepz=3", ["'train.stepz'", "did you mean 'steps'"]),
    "misspelt table": ("trian.steps=3", ["'trian'", "did you mean 'train'"]),
    "misspelt deep key": ("augment.source.taux=3", ["'augment.source.taux'", "'tau'"]),
    "key without its table": ("steps=3", ["'steps'", "did you mean 'train.steps'?"]),
    "one of two keys": ("tau=1", ["mean 'augment.source.tau' or 'augment.target.tau'?"]),
    "an option of augment": ("tau_x=1", ["'tau_x'", "did you mean 'augment.source.tau'?"]),
    "wrong type": ("train.steps=many", ["train.steps", "'many'"]),
    "wrong choice": ("train.select=dev_bleu", ["train.select", "did you mean 'dev-bleu'"]),
    "unknown policy": ("augment.source.policy=swichout", ["did you mean 'switchout'"]),
    "negative tau": ("augment.source.tau=-1", ["augment.source.tau", "-1"]),
    "tau is nan": ("augment.source.tau=nan", ["augment.source.tau", "nan"]),
    "rate too high": ("augment.source.rate=0.9", ["augment.source", "rate"]),
    "schedule of nothing": ("augment.until=0", ["augment.until", "0"]),
    "no steps": ("train.steps=0", ["train.steps", "0"]),
    "dropout of all": ("model.dropout=1.0", ["model.dropout"]),
    "no layer": ("model.layers=0", ["model.layers", "0"]),
    "weights from nowhere": ("model.init=nan", ["model.init"]),
    "two norms": ("model.norm=both", ["model.norm", "both"]),
    "negative seed": ("seed=-1", ["seed"]),
    "seed too large": (f"seed={2**64}", ["seed"]),
    "true for steps": ("train.steps=true", ["train.steps", "got True"]),
    "half a step": ("train.steps=1.5", ["train.steps", "whole number"]),
    "true for a seed": ("seed=true", ["seed", "got True"]),
    "true for tau": ("augment.source.tau=true", ["augment.source.tau", "got True"]),
    "1 for true": ("train.compile=1", ["train.compile"]),
    "a word for a number": ("train.steps=many", ["train.steps", "many"]),
    "too many threads": ("train.threads=100000", ["train.threads", "1,024"]),
    "too many steps": ("train.steps=99999999999999999999", ["train.steps"]),
    "a width of a planet": ("model.d_model=99999999999", ["model.d_model"]),
    "infinite rate": ("train.learning_rate=inf", ["train.learning_rate"]),
    "clip of nan": ("train.clip=nan", ["train.clip", "nan"]),
    "no value": ("train.steps", ["key=value"]),
    "value as table": ("seed.x=1", ["seed is a value"]),
    "noam without warmup": ("train.schedule=noam", ["warmup"]),
    "sentences without positions": ("data.max_length=600", ["model.max_length"]),
    "half a vocabulary": ("vocabulary.source_file=x", ["target_file"]),
    "bleu unmeasured": ("train.select=dev-bleu", ["dev_bleu"]),
}
FIRST = {"noam without warmup": "train.warmup=0", "bleu unmeasured": "train.dev_bleu=false"}


@pytest.mark.parametrize("case", MISTAKES)
def test_mistake_is_one_line_that_names_the_key(case):
    override, named = MISTAKES[case]
    overrides = [FIRST[case], override] if case in FIRST else [override]
    with pytest.raises(SwitchOutError) as error:
        load_config("phrasebook", overrides=overrides)
    assert "\n" not in str(error.value)
    for text in named:
        assert text in str(error.value)


def test_mistake_in_a_file_names_the_file(tmp_path):
    path = tmp_path / "my.toml"
    path.write_text('[data]\ncorpus = "x"\n[model]\nlayer = 3\n')
    with pytest.raises(SwitchOutError, match=r"my\.toml: unknown key 'model\.layer' .*'layers'"):
        load_config(path)
    path.write_text("[data\n")
    with pytest.raises(SwitchOutError, match=r"my\.toml: not valid TOML"):
        load_config(path)
    path.write_text("seed = 1\n")
    with pytest.raises(SwitchOutError, match=r"my\.toml: key 'data' is missing"):
        load_config(path)


def test_a_misspelt_key_is_named_before_what_is_missing(tmp_path):
    path = tmp_path / "my.toml"
    path.write_text("[train]\nstpes = 3\n")
    expected = (
        r"my\.toml: unknown key 'train\.stpes' \(did you mean 'steps'\?\) \(also wrong: data\)$"
    )
    with pytest.raises(SwitchOutError, match=expected):
        load_config(path)


def test_neither_file_nor_preset():
    with pytest.raises(SwitchOutError, match=r"^no-such-preset\.toml: no such file$"):
        load_config("no-such-preset.toml")
    with pytest.raises(SwitchOutError, match=r"multi30k2: no such file.*did you mean 'multi30k'"):
        load_config("multi30k2")
    with pytest.raises(SwitchOutError, match="did you mean 'en-vi'"):
        preset_text("en-iv")


def test_a_folder_of_its_name_does_not_hide_a_preset(tmp_path, monkeypatch):
    """Else `train phrasebook --out phrasebook` could not be given again, which resumes."""
    expected = load_config("phrasebook")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "phrasebook").mkdir()
    (tmp_path / "phrasebook" / "config.toml").write_text("a run")
    assert load_config("phrasebook") == expected
    (tmp_path / "mine").mkdir()
    with pytest.raises(SwitchOutError, match="mine: is a folder, expected a TOML file or a preset"):
        load_config("mine")


def base(**train: object) -> Config:
    return Config.model_validate({"data": {"corpus": "phrasebook"}, "train": train})


@pytest.mark.parametrize(("n_pairs", "steps"), [(100, 500), (1024, 960)])
def test_somebodys_folder_is_trained_for_sixty_epochs_but_not_below_500_steps(
    n_pairs, steps, tmp_path
):
    """A step takes 1,024 words: here 64 pairs, the words of the longer side counted."""
    for split in ("train", "dev"):
        (tmp_path / f"{split}.de").write_text("ein Hund\n" * n_pairs)
        (tmp_path / f"{split}.en").write_text(f"{' '.join(['a'] * 16)}\n" * n_pairs)
    train = load_config(
        None, corpus=str(tmp_path), overrides=["data.source='de'", "data.target='en'"]
    ).train
    assert (train.steps, train.batch_tokens) == (steps, 1024)


def test_changed_keys_are_listed_but_not_the_free_ones():
    old = base()
    changed = base(clip=1.0, steps=7, save_every=3, device="cpu", log_every=9)
    assert changed_keys(old, changed) == ["train.clip: 0.0 -> 1.0"]
    assert changed_keys(old, old) == []


def test_only_length_saving_logging_and_device_are_free():
    assert sorted(key.removeprefix("train.") for key in FREE_KEYS) == [
        *("checkpoint_every", "device", "log_every", "save_every", "save_minutes", "steps"),
        *("tensorboard", "threads"),
    ]
    assert flatten(base()).keys() >= FREE_KEYS


KEYS = {  # written on 17 November 2026; finished runs are found by them
    "de-en": "84c32e4d776b0f0a",
    "en-de": "6804fbbebe5a11f5",
    "en-vi": "3acadd5a069b1bb1",
    "multi30k": "042fdac4564eea74",
    "phrasebook": "bdf3359933fb6d72",
}


@pytest.mark.parametrize("preset", KEYS)
def test_run_keys_stay_what_they_were(preset):
    assert run_key(load_config(preset), "data") == KEYS[preset]


def test_run_key_of_other_values_stays_what_it_was():
    overrides = [
        "augment.source={policy = 'switchout', rate = 0.1, unk_is_word = true}",
        *("train.steps=7", "seed=9", "model.tied='all'"),
    ]
    key = run_key(load_config("phrasebook", overrides=overrides), "data")
    assert key == "02b7d46465910b98"


def test_run_key_depends_on_what_decides_the_result():
    key = run_key(base(), "data")
    assert key == run_key(base(clip=0.0), "data")  # a default written out is still the default
    assert key == run_key(base(device="cpu", save_every=1, threads=2), "data")
    others = [
        run_key(base(), "other data"),
        run_key(base(steps=7), "data"),
        run_key(base(checkpoint_every=7), "data"),
        run_key(base(clip=1.0), "data"),
        run_key(base().model_copy(update={"seed": 2}), "data"),
    ]
    assert len({key, *others}) == len(others) + 1


def test_run_key_knows_vocabulary_files_by_their_content(tmp_path):
    paths = [tmp_path / "a", tmp_path / "b"]

    def key() -> str:
        vocabulary = {"kind": "file", "source_file": str(paths[0]), "target_file": str(paths[1])}
        values = {"data": {"corpus": "x"}, "vocabulary": vocabulary}
        return run_key(Config.model_validate(values), "data")

    for path in paths:
        path.write_text("<unk>\n")
    before = key()
    assert key() == before
    paths[1].write_text("<unk>\nword\n")
    assert key() != before


@pytest.mark.parametrize(("n", "batch", "steps"), [(1, 4096, 100_000), (4, 16384, 25_000)])
def test_paper_gpus_make_larger_batches_and_fewer_updates(n, batch, steps):
    train = load_config("en-vi").with_paper_gpus(n).train
    assert (train.batch_tokens, train.steps) == (batch, steps)


NO_NOISE = ["augment.source.policy=none", "augment.target.policy=none"]


@pytest.mark.parametrize("base", ["corpus", "written", "preset"])
@pytest.mark.parametrize("strength", ["source.tau=1.0", "source.tau=abc", "target.rate=0.1"])
def test_a_strength_without_a_policy_is_never_swallowed(base, strength, tmp_path, caplog):
    """A configuration that says "none", or that suits a corpus, once trained without noise."""
    caplog.set_level("INFO")
    written = tmp_path / "written.toml"  # as a run leaves it: "none" stands there
    written.write_text(to_toml(load_config("phrasebook", overrides=NO_NOISE)), encoding="utf-8")
    source = {"corpus": None, "written": written, "preset": "multi30k"}[base]
    options = {"corpus": "phrasebook", "overrides": [f"augment.{strength}"]}
    with pytest.raises(SwitchOutError, match=r"\[augment\.|must be"):
        load_config(source, **options)
    assert not caplog.messages  # nothing is told about a training that will not be


def test_a_strength_beside_an_asked_none_is_off():
    overrides = ["augment.source.policy=none", "augment.source.tau=1.0"]
    side = load_config(None, corpus="phrasebook", overrides=overrides).augment.source
    assert (side.policy, side.tau) == ("none", None)


def test_vectors_go_with_the_policy_that_reads_them(tmp_path):
    """Else a run without them would need their file, and be another run for it."""
    side = "augment.source."
    asked = [f"{side}policy=similar", f"{side}vectors=away", f"{side}neighbors=9"]
    similar = load_config("phrasebook", overrides=asked)
    assert (similar.augment.source.vectors, similar.augment.source.neighbors) == ("away", 9)
    (tmp_path / "c.toml").write_text(to_toml(similar))
    for policy, expected in (("switchout", load_config("phrasebook")), ("similar", similar)):
        assert load_config(tmp_path / "c.toml", overrides=[f"{side}policy={policy}"]) == expected


def test_noise_is_told_with_all_that_changes_it():
    noise = Augment(source=Side(policy="hamming", tau=0.9, rescaled=True), until=0.67)
    said = "source hamming (tau 0.9, rescaled), target none, in the first 67% of the steps"
    assert str(noise) == said
    assert noise.more() == {"rescaled": True, "until": 0.67}
    assert Augment(target=Side(policy="raml", rate=0.1)).more() == {"rate_y": 0.1}
    assert str(Augment()) == "source none, target none"
    assert Augment().more() == {}
