"""The paper: what it reports, and its rows as configurations that differ in nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from switchout.corpora.registry import find_entry
from switchout.experiments.experiment import Question, Row, Trials
from switchout.runs.config import Augment, Config, Side

BASELINE, WORD_DROPOUT, SWITCHOUT = "Transformer", "+WordDropout", "+SwitchOut"
RAML, RAML_WORD_DROPOUT, RAML_SWITCHOUT = "+RAML", "+RAML +WordDropout", "+RAML +SwitchOut"
BT, BT_RAML = "+BT", "+BT +RAML"
BT_SWITCHOUT, BT_RAML_SWITCHOUT = "+BT +SwitchOut", "+BT +RAML +SwitchOut"
TUNED = ", tuned"  # ends the name of a row at tuned temperatures

SEEDS = {SWITCHOUT: 9, RAML_SWITCHOUT: 9}  # of table 1; the other rows have 4, table 2 has 4
FEWEST_SEEDS = 4
WORD_DROPOUT_RATE = 0.1

# Temperatures (tau_x, tau_y): the hyper-parameter table prints their inverses.
TAUS = {
    "wmt15-en-de": (1 / 1.00, 1 / 0.80),
    "iwslt14-de-en": (1 / 0.95, 1 / 0.90),
    "iwslt15-en-vi": (1 / 1.00, 1 / 0.90),
}
OTHER_TAUS = TAUS["iwslt15-en-vi"]  # for corpora that are not in the paper

# Test BLEU; medians. Marked by the paper as significant: see DAGGERS.
TABLE1 = {
    "wmt15-en-de": (21.73, 20.63, 22.78, 22.83, 20.69, 23.13),
    "iwslt14-de-en": (29.81, 29.97, 29.94, 30.66, 30.79, 30.98),
    "iwslt15-en-vi": (27.97, 28.56, 28.67, 28.88, 28.86, 29.09),
}
TABLE1_ROWS = (BASELINE, WORD_DROPOUT, SWITCHOUT, RAML, RAML_WORD_DROPOUT, RAML_SWITCHOUT)
TABLE2 = {"wmt15-en-de": (21.73, 22.78, 21.82, 21.53, 22.93, 23.76)}
TABLE2_ROWS = (BASELINE, SWITCHOUT, BT, BT_RAML, BT_SWITCHOUT, BT_RAML_SWITCHOUT)
DAGGERS = {
    ("wmt15-en-de", SWITCHOUT),
    ("iwslt15-en-vi", SWITCHOUT),
    ("wmt15-en-de", RAML_SWITCHOUT),
    ("iwslt14-de-en", RAML_SWITCHOUT),
}


@dataclass(frozen=True)
class TunedTaus:
    """Temperatures of a row chosen on dev, 0 where the row has no noise, and what was tried."""

    tau_x: float
    tau_y: float
    tried: Trials


def taus_for(corpus: str) -> tuple[float, float]:
    """Return the paper's (tau_x, tau_y) for a corpus, those of en-vi for a corpus it has not."""
    entry = find_entry(corpus)
    return TAUS.get(entry.name, OTHER_TAUS) if entry else OTHER_TAUS


def reported(kind: str, corpus: str) -> dict[str, float]:
    """Return the paper's test BLEU by row; empty where the paper has none."""
    entry = find_entry(corpus)
    table, rows = (TABLE2, TABLE2_ROWS) if kind == "table2" else (TABLE1, TABLE1_ROWS)
    numbers = table.get(entry.name, ()) if entry else ()
    return dict(zip(rows, numbers, strict=False))


def table1_rows(base: Config, *, taus: tuple[float, float], n_seeds: int | None) -> list[Row]:
    """Return the six rows of table 1; ``n_seeds`` None: as many as in the paper."""
    switchout, raml, dropout = _noise(base, taus)
    rows = (
        (BASELINE, Augment(), ()),
        (WORD_DROPOUT, Augment(source=dropout), ()),
        (SWITCHOUT, Augment(source=switchout), (BASELINE, WORD_DROPOUT)),
        (RAML, Augment(target=raml), ()),
        (RAML_WORD_DROPOUT, Augment(source=dropout, target=raml), ()),
        (RAML_SWITCHOUT, Augment(source=switchout, target=raml), (RAML, RAML_WORD_DROPOUT)),
    )
    return [
        Row(name, with_noise(base, noise), _seeds(name, n_seeds), _asked(against))
        for name, noise, against in rows
    ]


def tuned_rows(base: Config, tuned: Mapping[str, TunedTaus], *, n_seeds: int | None) -> list[Row]:
    """Return the rows of table 1 at temperatures tuned on dev, to stand below the paper's."""
    against = {
        SWITCHOUT: (BASELINE, WORD_DROPOUT),
        RAML_SWITCHOUT: (RAML, RAML_WORD_DROPOUT, tuned_name(RAML)),
    }
    return [
        Row(
            tuned_name(name),
            with_taus(base, taus.tau_x, taus.tau_y),
            _seeds(name, n_seeds),
            _asked(against.get(name, ())),
        )
        for name, taus in tuned.items()
    ]


def tuned_name(name: str) -> str:
    """Return the name of a row of table 1 at tuned temperatures."""
    return f"{name}{TUNED}"


def table2_rows(
    base: Config, synthetic: Config, *, taus: tuple[float, float], n_seeds: int | None
) -> list[Row]:
    """Return the six rows of table 2; ``synthetic`` has the corpus with back-translated pairs."""
    switchout, raml, _ = _noise(base, taus)
    rows = (
        (BASELINE, base, Augment(), ()),
        (SWITCHOUT, base, Augment(source=switchout), (BASELINE,)),
        (BT, synthetic, Augment(), (BASELINE,)),
        (BT_RAML, synthetic, Augment(target=raml), (BT,)),
        (BT_SWITCHOUT, synthetic, Augment(source=switchout), (BT,)),
        (BT_RAML_SWITCHOUT, synthetic, Augment(source=switchout, target=raml), (BT, BT_RAML)),
    )
    seeds = _seeds(BASELINE, n_seeds)  # no row of table 2 has more than the fewest
    return [
        Row(name, with_noise(config, noise), seeds, _asked(against))
        for name, config, noise, against in rows
    ]


def wer_rows(base: Config, *, taus: tuple[float, float], n_seeds: int | None) -> list[Row]:
    """Return the two rows of figure 2: runs of table 1."""
    by_name = {row.name: row for row in table1_rows(base, taus=taus, n_seeds=n_seeds)}
    return [by_name[RAML], replace(by_name[RAML_SWITCHOUT], questions=_asked((RAML,)))]


def tau_name(tau_x: float, tau_y: float) -> str:
    """Return the name of a cell of the grid.

    Example:
        >>> tau_name(1.0, 1 / 0.9)
        'tau_x 1, tau_y 1.111'
    """
    return f"tau_x {tau_x:.4g}, tau_y {tau_y:.4g}"


def with_taus(base: Config, tau_x: float, tau_y: float) -> Config:
    """Return the configuration with SwitchOut on the source and RAML on the target."""
    switchout, raml, _ = _noise(base, (tau_x, tau_y))
    off = Side()
    return with_noise(
        base, Augment(source=switchout if tau_x else off, target=raml if tau_y else off)
    )


def with_noise(base: Config, noise: Augment) -> Config:
    """Return the configuration with other noise, which ends when that of ``base`` does."""
    if noise != Augment():
        noise = noise.model_copy(update={"until": base.augment.until})
    return base.model_copy(update={"augment": noise})


def _noise(base: Config, taus: tuple[float, float]) -> tuple[Side, Side, Side]:
    """SwitchOut and RAML at their temperatures, and word dropout; what is a word is as in base."""
    source, target = base.augment.source, base.augment.target
    common: dict[str, Any] = {"unk_is_word": source.unk_is_word or target.unk_is_word}
    on_source = {**common, "special_pattern": source.special_pattern}
    on_target = {**common, "special_pattern": target.special_pattern}
    return (
        Side(policy="switchout", tau=taus[0], **on_source),
        Side(policy="raml", tau=taus[1], **on_target),
        Side(policy="word_dropout", rate=WORD_DROPOUT_RATE, **on_source),
    )


def _asked(against: tuple[str, ...]) -> tuple[Question, ...]:
    return (Question(against),) if against else ()


def _seeds(name: str, n_seeds: int | None) -> tuple[int, ...]:
    """As many as were asked for, or as the paper has for a row of table 1."""
    return tuple(range(1, 1 + (n_seeds or SEEDS.get(name, FEWEST_SEEDS))))
