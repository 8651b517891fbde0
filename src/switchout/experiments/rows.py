"""The rows of the paper's tables and figures as configurations that differ in nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from switchout.experiments.paper import (
    BASELINE,
    BT,
    BT_RAML,
    BT_RAML_SWITCHOUT,
    BT_SWITCHOUT,
    FEWEST_SEEDS,
    RAML,
    RAML_SWITCHOUT,
    RAML_WORD_DROPOUT,
    SEEDS,
    SWITCHOUT,
    WORD_DROPOUT,
    WORD_DROPOUT_RATE,
)
from switchout.runs.config import Augment, Config, Side

TUNED = ", tuned"  # ends the name of a row at tuned temperatures


@dataclass(frozen=True)
class Question:
    """A comparison that a row asks for.

    Attributes:
        against: Rows it is compared with: the better one of them on dev.
        name: For people, if it was declared ("C1").
        is_paired: Declared beforehand: runs of the same seed are compared with each other.
    """

    against: tuple[str, ...]
    name: str = ""
    is_paired: bool = False


@dataclass(frozen=True)
class Row:
    """One row of a table.

    Attributes:
        name: As printed.
        config: With any seed.
        seeds: One run each.
        questions: What it is compared with; none: with nothing.
    """

    name: str
    config: Config
    seeds: tuple[int, ...]
    questions: tuple[Question, ...] = ()

    def configs(self) -> list[Config]:
        """Return a configuration per seed."""
        return [self.config.model_copy(update={"seed": seed}) for seed in self.seeds]


Trials = tuple[Row, ...]  # what was trained to choose on dev, and is no row of a table


@dataclass(frozen=True)
class TunedTaus:
    """Temperatures of a row chosen on dev, 0 where the row has no noise, and what was tried."""

    tau_x: float
    tau_y: float
    tried: Trials


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
        Row(name, with_noise(base, noise), _seeds(n_seeds or _paper(name)), _asked(against))
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
            _seeds(n_seeds or _paper(name)),
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
    seeds = _seeds(n_seeds or FEWEST_SEEDS)
    return [
        Row(name, with_noise(config, noise), seeds, _asked(against))
        for name, config, noise, against in rows
    ]


def wer_rows(base: Config, *, taus: tuple[float, float], n_seeds: int | None) -> list[Row]:
    """Return the two rows of figure 2: runs of table 1."""
    names = (RAML, RAML_SWITCHOUT)
    rows = [row for row in table1_rows(base, taus=taus, n_seeds=n_seeds) if row.name in names]
    return [
        Row(row.name, row.config, row.seeds, _asked((RAML,) if row.questions else ()))
        for row in rows
    ]


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
    """Return the configuration with other noise."""
    return base.model_copy(update={"augment": noise})


def _noise(base: Config, taus: tuple[float, float]) -> tuple[Side, Side, Side]:
    """SwitchOut and RAML at their temperatures, and word dropout."""
    unk_is_word = base.augment.source.unk_is_word or base.augment.target.unk_is_word
    return (
        Side(policy="switchout", tau=taus[0], unk_is_word=unk_is_word),
        Side(policy="raml", tau=taus[1], unk_is_word=unk_is_word),
        Side(policy="word_dropout", rate=WORD_DROPOUT_RATE, unk_is_word=unk_is_word),
    )


def _asked(against: tuple[str, ...]) -> tuple[Question, ...]:
    return (Question(against),) if against else ()


def _seeds(n: int) -> tuple[int, ...]:
    return tuple(range(1, n + 1))


def _paper(name: str) -> int:
    return SEEDS.get(name, FEWEST_SEEDS)
