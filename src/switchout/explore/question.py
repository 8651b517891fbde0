"""What may be asked of the playground, with its limits: too much is refused, never cut."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    field_validator,
)

from switchout.explore.corpus_lines import words_apart
from switchout.ranges import SEED, Whole

MOST_CHARACTERS = 4_000
MOST_WORDS = 200
MOST_TAU = 100.0
MOST_VOCABULARY = 500_000
EPOCH = Whole(0, 2**31 - 1)


def in_words(expected: str) -> WrapValidator:
    """Refuse what does not fit in words like those of the command line."""

    def check(value: object, inner: ValidatorFunctionWrapHandler) -> object:
        try:
            return inner(value)
        except ValidationError:
            shown = repr(value) if len(repr(value)) <= 40 else f"{repr(value)[:40]}…"
            raise ValueError(f"must be {expected}, got {shown}") from None

    return WrapValidator(check)


PolicyName = Literal["none", "switchout", "raml", "hamming", "word_dropout"]
Strength = Literal["tau", "rate"]
Line = Annotated[str, Field(max_length=MOST_CHARACTERS, description="Words, split at white space.")]
Tau = Annotated[
    float,
    Field(ge=0, le=MOST_TAU, allow_inf_nan=False, description="Temperature."),
    in_words(f"a temperature >= 0, at most {MOST_TAU:g}"),
]
Rate = Annotated[
    float,
    Field(ge=0, le=1, allow_inf_nan=False, description="Wanted share."),
    in_words("a share of words from 0 to 1 (0.1: 10%)"),
]
VocabularyName = Annotated[
    str,
    Field(max_length=300, description="A name of /api/vocabularies; by default the user's files."),
]


class SideQuestion(BaseModel):
    """One side of a pair: the sentence, its vocabulary, and what to do to it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    line: Line = ""
    vocabulary: VocabularyName = "embedded"
    policy: PolicyName = "none"
    by: Strength = "tau"
    tau: Tau = 1.0
    rate: Rate = 0.1

    @property
    def strength(self) -> dict[str, float]:
        """The one setting that counts, as the factory of policies takes it."""
        return {"tau": self.tau} if self.by == "tau" else {"rate": self.rate}


class NoiseQuestion(BaseModel):
    """What to do to both sides, flat as a query string has it; ``x`` is the source."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    policy_x: PolicyName = "switchout"
    policy_y: PolicyName = "raml"
    by_x: Strength = "tau"
    by_y: Strength = "tau"
    tau_x: Tau = 1.0
    tau_y: Tau = 1.1
    rate_x: Rate = 0.1
    rate_y: Rate = 0.1
    seed: Annotated[int, Field(ge=0, le=SEED.most), in_words(f"a whole number from {SEED}")] = 1
    epoch: Annotated[int, Field(ge=0, le=EPOCH.most), in_words(f"a whole number from {EPOCH}")] = 0

    @property
    def source(self) -> SideQuestion:
        """The source side."""
        return self._side("x")

    @property
    def target(self) -> SideQuestion:
        """The target side."""
        return self._side("y")

    def _side(self, letter: str) -> SideQuestion:
        names = ("policy", "by", "tau", "rate")
        return SideQuestion(**{name: getattr(self, f"{name}_{letter}") for name in names})


class PlayQuestion(NoiseQuestion):
    """A sentence pair, its vocabularies, and what to do to it."""

    src: Line = ""
    tgt: Line = ""
    vocab_x: VocabularyName = ""  # `Site.filled` says which
    vocab_y: VocabularyName = ""
    n_samples: Annotated[int, Field(ge=1, le=50)] = 12

    @field_validator("src", "tgt")
    @classmethod
    def _one_line_of_words(cls, line: str) -> str:
        line = words_apart(line)
        n_words = len(line.split(" "))
        if n_words > MOST_WORDS:
            raise ValueError(f"{n_words} words; the playground takes {MOST_WORDS}")
        return line

    @property
    def source(self) -> SideQuestion:
        """The source side, with its sentence."""
        return super().source.model_copy(update={"line": self.src, "vocabulary": self.vocab_x})

    @property
    def target(self) -> SideQuestion:
        """The target side, with its sentence."""
        return super().target.model_copy(update={"line": self.tgt, "vocabulary": self.vocab_y})
