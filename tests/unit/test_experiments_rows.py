"""Rows of the paper's tables: what varies, and that nothing else does."""

from __future__ import annotations

import pytest

from switchout.cli import run
from switchout.errors import SwitchOutError
from switchout.experiments import demo
from switchout.experiments.paper import (
    TABLE1_ROWS,
    TABLE2_ROWS,
    TunedTaus,
    reported,
    table1_rows,
    table2_rows,
    taus_for,
    tuned_rows,
    wer_rows,
    with_taus,
)
from switchout.experiments.reproduce import Request, base_config, check_overrides, reproduce
from switchout.experiments.tuning import TUNING_SEED
from switchout.runs.config import flatten
from switchout.runs.config_file import load_config

TAUS = (1.0, 1 / 0.9)


def against_of(row):
    return tuple(name for question in row.questions for name in question.against)


@pytest.fixture
def base():
    return load_config("phrasebook")


def test_rows_of_a_table_differ_in_noise_and_in_nothing_else(base):
    for row in table1_rows(base, taus=TAUS, n_seeds=2):
        changed = {k for k, v in flatten(row.config).items() if v != flatten(base)[k]}
        assert all(key.startswith("augment.") for key in changed)


def test_table1_is_the_papers(base):
    rows = table1_rows(base, taus=TAUS, n_seeds=None)
    sides = {r.name: (r.config.augment.source, r.config.augment.target) for r in rows}
    noise = {name: (x.policy, x.tau or x.rate, y.policy, y.tau) for name, (x, y) in sides.items()}
    assert tuple(noise) == TABLE1_ROWS
    assert noise == {
        "Transformer": ("none", None, "none", None),
        "+WordDropout": ("word_dropout", 0.1, "none", None),
        "+SwitchOut": ("switchout", 1.0, "none", None),
        "+RAML": ("none", None, "raml", 1 / 0.9),
        "+RAML +WordDropout": ("word_dropout", 0.1, "raml", 1 / 0.9),
        "+RAML +SwitchOut": ("switchout", 1.0, "raml", 1 / 0.9),
    }
    assert [len(row.seeds) for row in rows] == [4, 4, 9, 4, 4, 9]


def test_noise_of_a_table_ends_when_it_was_asked_to():
    base = load_config("phrasebook", overrides=["augment.until=0.67"])
    ends = {row.name: row.config.augment.until for row in table1_rows(base, taus=TAUS, n_seeds=1)}
    assert ends == {name: 1.0 if name == "Transformer" else 0.67 for name in TABLE1_ROWS}
    assert with_taus(base, 0, 1).augment.until == 0.67


def test_what_is_no_word_on_ones_own_corpus_is_none_in_any_row():
    """The configuration that suits a corpus says "none": it once swallowed what stood beside it."""
    overrides = ["augment.source.special_pattern=>>.*<<", "augment.target.unk_is_word=true"]
    base = load_config(None, corpus="phrasebook", overrides=overrides)
    assert base.augment.source.policy == "none"
    for row in table1_rows(base, taus=TAUS, n_seeds=1):
        side = row.config.augment.source
        assert side.special_pattern == (None if side.policy == "none" else ">>.*<<")
        assert side.unk_is_word == (side.policy != "none")


def test_more_seeds_keep_the_runs_there_are(base):
    few, many = (table1_rows(base, taus=TAUS, n_seeds=n)[2].configs() for n in (2, 5))
    assert many[:2] == few


def test_switchout_is_compared_with_the_rows_above_it_in_its_block(base):
    against = {row.name: against_of(row) for row in table1_rows(base, taus=TAUS, n_seeds=1)}
    assert against["+SwitchOut"] == ("Transformer", "+WordDropout")
    assert against["+RAML +SwitchOut"] == ("+RAML", "+RAML +WordDropout")
    assert sum(map(bool, against.values())) == 2


def test_tuned_rows_have_their_temperatures_fresh_seeds_and_fair_rivals(base):
    tuned = {
        "+SwitchOut": TunedTaus(0.7, 0.0, ()),
        "+RAML": TunedTaus(0.0, 1.3, ()),
        "+RAML +SwitchOut": TunedTaus(0.7, 1.0, ()),
    }
    rows = {row.name: row for row in tuned_rows(base, tuned, n_seeds=None)}
    noise = {n: (r.config.augment.source.tau, r.config.augment.target.tau) for n, r in rows.items()}
    assert noise == {
        "+SwitchOut, tuned": (0.7, None),
        "+RAML, tuned": (None, 1.3),
        "+RAML +SwitchOut, tuned": (0.7, 1.0),
    }
    assert [len(row.seeds) for row in rows.values()] == [9, 4, 9]
    assert all(TUNING_SEED not in row.seeds for row in rows.values())
    assert against_of(rows["+SwitchOut, tuned"]) == ("Transformer", "+WordDropout")
    assert "+RAML, tuned" in against_of(rows["+RAML +SwitchOut, tuned"])


def test_rows_at_tuned_temperatures_equal_to_the_papers_are_the_same_runs(base):
    tuned = {"+RAML +SwitchOut": TunedTaus(*TAUS, ())}
    [row] = tuned_rows(base, tuned, n_seeds=2)
    assert row.configs() == table1_rows(base, taus=TAUS, n_seeds=2)[5].configs()


def test_figure2_uses_the_runs_of_table1(base):
    table = {row.name: row.configs() for row in table1_rows(base, taus=TAUS, n_seeds=3)}
    for row in wer_rows(base, taus=TAUS, n_seeds=3):
        assert row.configs() == table[row.name]


def test_table2_has_synthetic_pairs_in_the_rows_that_say_so(base):
    data = base.data.model_copy(update={"corpus": "with-bt"})
    synthetic = base.model_copy(update={"data": data})
    rows = table2_rows(base, synthetic, taus=TAUS, n_seeds=None)
    assert tuple(row.name for row in rows) == TABLE2_ROWS
    for row in rows:
        assert (row.config.data.corpus == "with-bt") == ("BT" in row.name)
        assert len(row.seeds) == 4


def test_temperature_zero_is_no_noise(base):
    noise = with_taus(base, 0.0, 0.9).augment
    assert (noise.source.policy, noise.target.policy, noise.target.tau) == ("none", "raml", 0.9)


@pytest.mark.parametrize(
    ("corpus", "inverse_x", "inverse_y"),
    [("wmt15-en-de", 1.0, 0.8), ("iwslt14-de-en", 0.95, 0.9), ("iwslt15-en-vi", 1.0, 0.9)],
)
def test_temperatures_are_the_inverse_of_the_hyper_parameter_table(corpus, inverse_x, inverse_y):
    tau_x, tau_y = taus_for(corpus)
    assert (1 / tau_x, 1 / tau_y) == pytest.approx((inverse_x, inverse_y))


def test_corpora_outside_the_paper_have_no_numbers_of_the_paper():
    assert reported("table1", "phrasebook") == {}
    assert reported("table1", "iwslt15-en-vi")["+SwitchOut"] == 28.67
    assert reported("table2", "wmt15-en-de")["+BT +RAML +SwitchOut"] == 23.76


def test_unknown_words_are_treated_as_the_preset_says():
    for name, is_word in (("en-vi", True), ("multi30k", False)):
        rows = table1_rows(load_config(name), taus=TAUS, n_seeds=1)
        assert rows[2].config.augment.source.unk_is_word is is_word


def test_a_folder_of_ones_own_is_trained_as_long_as_by_train(tmp_path):
    """It once took 6,000 steps a run, as a preset made for another corpus."""
    for name in ("train.de", "train.en", "dev.de", "dev.en"):
        (tmp_path / name).write_text("a b\n" * 50)
    overrides = ["data.source=de", "data.target=en"]
    base = base_config(str(tmp_path), Request([str(tmp_path)], overrides=overrides))
    assert base == load_config(None, corpus=str(tmp_path), languages=("de", "en"))
    assert base_config("phrasebook", Request(["phrasebook"])) == load_config("phrasebook")


@pytest.mark.parametrize(
    ("setting", "key", "instead"),
    [
        ("seed=77", "seed", "--seeds"),
        ("data.corpus=other", "data.corpus", "--corpus"),
        ("data={corpus='other'}", "data.corpus", "--corpus"),
        ("augment.source.tau=0.3", "augment.source.tau", "--tau-x and --tau-y"),
        ("augment.target.policy=none", "augment.target.policy", "--tau-x and --tau-y"),
        ("augment.target.rescaled=true", "augment.target.rescaled", "--tau-x and --tau-y"),
        (
            'augment.source={policy="word_dropout", rate=0.2}',
            "augment.source.policy",
            "make a sweep",
        ),
        ("augment={source={rate=0.2}}", "augment.source.rate", "make a sweep"),
    ],
)
@pytest.mark.parametrize("kind", ["table1", "tau"])
def test_a_setting_that_no_row_would_have_is_refused(
    kind, setting, key, instead, tmp_path, monkeypatch, capsys
):
    """They were passed over: the table was that of the paper's temperatures, of seeds 1, 2, …"""
    monkeypatch.chdir(tmp_path)
    assert run(["reproduce", kind, "--set", "train.steps=9", "--set", setting]) == 2
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert f"--set {key}: has no effect here" in message
    assert instead in message
    assert not any(tmp_path.iterdir())


def test_a_setting_without_effect_is_refused_from_python_too(tmp_path):
    with pytest.raises(SwitchOutError, match="seed: has no effect here"):
        reproduce("wer", Request(["phrasebook"], overrides=["seed=77"]), tmp_path / "out")


def test_settings_that_rows_take_are_not_refused():
    check_overrides(
        [
            *(*demo.SETTINGS, *demo.QUICK),
            *("augment.until=0.67", "augment.source.unk_is_word=true", "data.train_pairs=9"),
            "augment.target.special_pattern=>>.*<<",
            'augment.source={special_pattern=">>.*<<", unk_is_word=true}',
            *('data.source="de"', "data.synthetic=false"),
        ]
    )
