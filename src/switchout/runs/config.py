"""What a run is made of. Every key of the TOML file is a field here; an unknown key is an error.

Config objects stop at this layer: `switchout.nmt` gets plain values.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

from switchout import ranges
from switchout.corpora import Corpus, open_corpus
from switchout.corpora.codec import CodecPlan
from switchout.policies.factory import make_policy
from switchout.words import Words

Seed = Annotated[int, BeforeValidator(ranges.SEED.check)]
Count = Annotated[int, BeforeValidator(ranges.COUNT.check)]
Steps = Annotated[int, BeforeValidator(ranges.STEPS.check)]
CountOrNone = Annotated[int, BeforeValidator(ranges.COUNT_OR_NONE.check)]
Size = Annotated[int, BeforeValidator(ranges.SIZE.check)]
Beam = Annotated[int, BeforeValidator(ranges.BEAM.check)]
Penalty = Annotated[float, BeforeValidator(ranges.PENALTY.check)]
Threads = Annotated[int, BeforeValidator(ranges.WORKERS.check)]
Share = Annotated[float, BeforeValidator(ranges.SHARE.check)]
Rate = Annotated[float, BeforeValidator(ranges.RATE.check)]
Tau = Annotated[float, BeforeValidator(ranges.TAU.check)]
Positive = Annotated[float, BeforeValidator(ranges.POSITIVE.check)]
Amount = Annotated[float, BeforeValidator(ranges.AMOUNT.check)]
UpToOne = Annotated[float, BeforeValidator(ranges.Real(0, 1, above=True).check)]
Flag = Annotated[bool, Field(strict=True)]  # neither 1 nor "yes"
# What may change when a run is resumed: how long, how often and where, but not what is learned.
FREE_KEYS = frozenset(
    f"train.{name}"
    for name in (
        *("steps", "checkpoint_every", "save_every", "save_minutes"),
        *("log_every", "tensorboard", "device", "threads"),
    )
)
PolicyName = Literal["none", "switchout", "hamming", "word_dropout", "raml", "similar"]


class Keys(BaseModel):
    """A table of the file: unknown keys are refused, values never change after reading."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=True)


class Data(Keys):
    """Where the sentences come from."""

    corpus: str
    source: str | None = None
    target: str | None = None
    train_pairs: Count | None = None
    synthetic: Flag = True  # use the corpus's back-translated pairs, if it has any
    max_length: Count = 256  # words of a side; longer training pairs are dropped and counted

    def open(self) -> Corpus:
        """Open the corpus."""
        return open_corpus(
            self.corpus, source=self.source, target=self.target, train_pairs=self.train_pairs
        )


class VocabularyKeys(Keys):
    """How text becomes ids; see `switchout.corpora.codec`."""

    kind: Literal["word", "sentencepiece", "file"] = "word"
    min_count: Count = 1
    max_size: Size | None = None
    model: Literal["bpe", "unigram"] = "bpe"
    shared: Flag = False
    case: Literal["keep", "lower"] = "keep"
    tokenizer: Literal["space", "punctuation"] | None = None
    source_file: str | None = None
    target_file: str | None = None

    @model_validator(mode="after")
    def _files_come_in_pairs(self) -> VocabularyKeys:
        if (self.source_file is None) != (self.target_file is None):
            raise ValueError("give both source_file and target_file, or neither")
        if self.source_file is not None and self.kind != "file":
            raise ValueError(f"source_file needs kind = 'file', not {self.kind!r}")
        return self

    def plan(self) -> CodecPlan:
        """Return the same for `build_codecs`."""
        keys = self.model_dump(exclude={"source_file", "target_file"})
        files = (self.source_file or "", self.target_file or "") if self.source_file else None
        return CodecPlan(**keys, files=files)


class Model(Keys):
    """The Transformer; see `switchout.nmt.model.ModelSpec`."""

    layers: Size = 2
    heads: Size = 4
    d_head: Size = 32
    d_model: Size = 128
    d_inner: Size = 256
    dropout: Share = 0.1
    init: Positive = 0.035
    tied: Flag | Literal["all"] = False
    norm: Literal["pre", "post"] = "pre"
    max_length: Size = 512  # ids that have a position


class Side(Keys):
    """The policy of one side: ``tau`` is the temperature, ``rate`` the expected share of words."""

    policy: PolicyName = "none"
    tau: Tau | None = None
    rate: Rate | None = None
    rescaled: Flag = False  # of policy "hamming": tau in (0, 1] is usable; see `Hamming.rescaled`
    unk_is_word: Flag = False  # the paper replaces and draws <unk> like any word
    special_pattern: str | None = None  # words it matches whole, such as tags, are left alone
    vectors: str | None = None  # of policy "similar": a text file of word vectors
    neighbors: Size = 32  # of policy "similar": candidates per word

    @model_validator(mode="before")
    @classmethod
    def _none_is_none(cls, values: Any) -> Any:
        """``policy = "none"`` alone switches a preset's policy off, whatever stands beside it."""
        is_off = isinstance(values, dict) and values.get("policy") == "none"
        return {"policy": "none"} if is_off else values

    @property
    def temperature(self) -> float | None:
        """0 without a policy, None where a rate was given instead."""
        return 0.0 if self.policy == "none" else self.tau

    def __str__(self) -> str:
        if self.policy == "none":
            return "none"
        strength = f"rate {self.rate:g}" if self.tau is None else f"tau {self.tau:g}"
        return f"{self.policy} ({strength}{', rescaled' if self.rescaled else ''})"

    @field_validator("special_pattern")
    @classmethod
    def _is_a_pattern(cls, pattern: str | None) -> str | None:
        try:
            re.compile(pattern or "")
        except re.error as error:
            raise ValueError(f"{pattern!r} is no regular expression ({error})") from None
        return pattern

    @model_validator(mode="after")
    def _one_strength(self) -> Side:
        if self.policy == "none" and (self.tau is not None or self.rate is not None):
            raise ValueError('tau and rate need a policy, such as policy = "switchout"')
        if self.policy == "similar" and self.vectors is None:
            raise ValueError("policy 'similar' needs vectors, a file of word vectors")
        if self.policy == "similar" and self.tau is None:
            raise ValueError("policy 'similar' needs tau, not rate")
        if self.policy not in ("none", "similar"):  # any words will do to check the strength
            words = Words(3, special_ids=())
            make_policy(self.policy, words, tau=self.tau, rate=self.rate, rescaled=self.rescaled)
        return self


class Augment(Keys):
    """Noise of the training data, in the first ``until`` share of the steps."""

    source: Side = Side()
    target: Side = Side()
    until: UpToOne = 1.0

    def __str__(self) -> str:
        span = "" if self.until == 1 else f", in the first {self.until:.0%} of the steps"
        return f"source {self.source}, target {self.target}{span}"

    def summary(self) -> dict[str, Any]:
        """Return the policies in one word, such as ``switchout+raml``, and both temperatures."""
        policies = [side.policy for side in (self.source, self.target) if side.policy != "none"]
        name = "+".join(policies) or "none"
        return {
            "policy": name,
            "tau_x": self.source.temperature,
            "tau_y": self.target.temperature,
        }

    def more(self) -> dict[str, Any]:
        """Return what tells apart noise of the same policies and temperatures, where it is set."""
        rates = {"rate_x": self.source.rate, "rate_y": self.target.rate}
        found: dict[str, Any] = {name: rate for name, rate in rates.items() if rate is not None}
        if self.source.rescaled or self.target.rescaled:
            found["rescaled"] = True
        return found | ({"until": self.until} if self.until < 1 else {})


class Train(Keys):
    """Updates, validation and saving."""

    steps: Steps = 2500
    batch_tokens: Count = 1024  # global; rows x the longer of longest source and longest target
    device_tokens: Count | None = None  # most of it one process computes at once
    schedule: Literal["noam", "steps", "linear", "constant"] = "linear"
    learning_rate: Positive = 0.002
    warmup: CountOrNone = 200
    decay: UpToOne = 0.97
    decay_every: Count = 1000
    decay_from: Count = 8000
    beta1: Share = 0.9
    beta2: Share = 0.98
    epsilon: Positive = 1e-9
    clip: Amount = 0.0  # 0: never
    label_smoothing: Share = 0.1
    select: Literal["dev-perplexity", "dev-bleu", "last"] = "dev-perplexity"
    dev_bleu: Flag = True  # translate the dev set greedily at every validation
    patience: Count | None = None  # validations without improvement before stopping
    average: Count = 1  # so many checkpoints, up to the selected one
    init_from: str | None = None  # a run or checkpoint folder to start from
    precision: Literal["float32", "bfloat16"] = "float32"
    compile: Flag = False
    deterministic: Flag = False  # on CUDA; a CPU always is
    checkpoint_every: Count = 2500
    save_every: Count = 200
    save_minutes: Positive = 5.0
    log_every: Count = 50
    tensorboard: Flag = True
    device: str = "auto"
    threads: Threads = 1

    @model_validator(mode="after")
    def _rules_that_need_two_keys(self) -> Train:
        if self.schedule == "noam" and self.warmup == 0:
            raise ValueError("schedule 'noam' needs warmup of at least 1")
        if self.select == "dev-bleu" and not self.dev_bleu:
            raise ValueError("select = 'dev-bleu' needs dev_bleu = true")
        return self


class Search(Keys):
    """How dev and test are translated at the end."""

    beam: Beam = 5
    length_penalty: Penalty = 1.0


class Config(Keys):
    """A whole run."""

    seed: Seed = 1
    data: Data
    vocabulary: VocabularyKeys = VocabularyKeys()
    model: Model = Model()
    augment: Augment = Augment()
    train: Train = Train()
    search: Search = Search()

    @model_validator(mode="after")
    def _every_training_pair_has_positions(self) -> Config:
        if self.data.max_length >= self.model.max_length:
            raise ValueError(
                f"data.max_length = {self.data.max_length} must be below "
                f"model.max_length = {self.model.max_length}"
            )
        return self

    def with_paper_gpus(self, n: int) -> Config:
        """Return what the paper does on n GPUs: n times the batch, 1/n of the updates."""
        train = self.train
        changed = {"batch_tokens": train.batch_tokens * n, "steps": -(-train.steps // n)}
        return self.model_copy(update={"train": train.model_copy(update=changed)})


def flatten(table: Keys, *, prefix: str = "") -> dict[str, Any]:
    """Return all values by dotted key."""
    flat: dict[str, Any] = {}
    for name in type(table).model_fields:
        value = getattr(table, name)
        nested = isinstance(value, Keys)
        flat |= flatten(value, prefix=f"{prefix}{name}.") if nested else {prefix + name: value}
    return flat
