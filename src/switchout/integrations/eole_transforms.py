"""eole's transforms: exact SwitchOut behind its own name, and what its own schema cannot say.

* The example is (corpus, line number); eole has no epochs, so a line number that falls back begins
  one. Workers read lines of their own: what a sentence becomes is the same in every run with the
  same number of workers. After ``train_from`` noise is fresh: the saved step is part of the seed.
* With ``huggingface_tokenize`` the model reads ids, not tokens: both change.
* Words keep their number, so alignments stay valid.
"""

from __future__ import annotations

import re
import zlib
from functools import wraps
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from eole.constants import TransformType
from eole.transforms import AVAILABLE_TRANSFORMS, register_transform
from eole.transforms.sampling import SwitchOutConfig
from eole.transforms.transform import ObservableStats, Transform, TransformConfig
from eole.utils.logging import logger
from pydantic import Field, model_validator

from switchout.errors import SwitchOutError
from switchout.pieces import Pieces
from switchout.policies import RAML, Policy, WordDropout
from switchout.policies.factory import OF_SIDE, make_policy
from switchout.policies.lists import NO_WORD, to_block
from switchout.sampling.address import Address
from switchout.words import Words

SIDES = {"src": "source", "tgt": "target"}


class ExactConfig(TransformConfig):  # type: ignore[misc]
    """tau is the temperature of the paper's text (eole's own setting is its inverse)."""

    tau_x: float | None = Field(default=None, description="Temperature of the source.")
    tau_y: float | None = Field(default=None, description="Temperature of the target.")
    rate_x: float | None = Field(default=None, description="Instead: share of source words.")
    rate_y: float | None = Field(default=None, description="Instead: share of target words.")


class RAMLConfig(TransformConfig):  # type: ignore[misc]
    tau: float | None = Field(default=None, description="Temperature of the target.")
    rate: float | None = Field(default=None, description="Instead: share of target words.")


class DropoutConfig(TransformConfig):  # type: ignore[misc]
    rate_x: float = Field(default=0.0, description="Share of source words dropped.")
    rate_y: float = Field(default=0.0, description="Share of target words dropped.")
    null: str = Field(default="<unk>", description="What a dropped word becomes.")

    @model_validator(mode="after")
    def _rates_are_shares(self) -> DropoutConfig:
        for name in ("rate_x", "rate_y"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} must be a share, 0 to 1, got {getattr(self, name)}")
        return self


class ChangedWords(ObservableStats):  # type: ignore[misc]
    """What eole prints at the end of a corpus."""

    __slots__ = ["changed", "total"]

    def __init__(self, changed: int, total: int) -> None:
        self.changed, self.total = changed, total

    def update(self, other: ChangedWords) -> None:
        self.changed += other.changed
        self.total += other.total


class ExactTransform(Transform):  # type: ignore[misc]
    """A policy for each side, at addresses; subclasses say which."""

    slot: ClassVar[int]  # transforms of one pipeline have randomness of their own
    type = TransformType.Train
    policies: dict[str, Policy]

    def policy(self, side: str, words: Words, tokens: list[str]) -> Policy | None:
        """Return the policy of "src" or "tgt"; ``tokens`` are the names of the ids."""
        raise NotImplementedError

    @classmethod
    def require_vocab(cls) -> bool:
        return True

    def _parse_config(self) -> None:
        self._last_line: dict[str, int] = {}
        self._epochs: dict[str, int] = {}
        # eole: -1 is no seed. The step that a training goes on from is the upper half: eole reads
        # its corpora from their first lines then, which would get the noise of the first epochs.
        self._step = _saved_step(self.full_config)
        self._seed = max(0, self.full_config.seed) + (self._step << 32)

    def warm_up(self, vocabs: Any = None) -> None:
        super().warm_up(vocabs)
        if self._step:
            logger.info(f"{self.name}: goes on from step {self._step}, with fresh noise")
        self.policies, self._names, self._ids = {}, {}, {}
        for side in SIDES:
            pieces = self._pieces(side)
            names = [name or "" for name in pieces.names]
            try:
                made = self.policy(side, Words(len(pieces), pieces.special), names)
            except ValueError as error:
                raise SwitchOutError(f"transforms_configs, {self.name}: {error}") from None
            if made is not None:
                self.policies[side] = made
                self._names[side] = names
                self._ids[side] = {name: i for i, name in enumerate(names)}
        if not self.policies:
            raise SwitchOutError(f"transforms_configs: {self.name} has no temperature and no rate")

    def _pieces(self, side: str) -> Pieces:
        if "huggingface_tokenize" in self.full_config.transforms:
            config = self.full_config.transforms_configs.huggingface_tokenize
            if config.path is not None:
                from tokenizers import Tokenizer

                return Pieces.of(Tokenizer.from_file(config.path))
        names, special = self.vocabs[side].ids_to_tokens, set(self.vocabs["specials"].values())
        return Pieces(names, {i for i, name in enumerate(names) if name in special})

    def apply(self, example: Any, is_train: bool = False, stats: Any = None, **others: Any) -> Any:
        batch = [(example, self, example.get("cid"))]
        return self.batch_apply(batch, is_train, stats=stats)[0][0]

    def batch_apply(
        self, batch: Any, is_train: bool = False, stats: Any = None, **others: Any
    ) -> Any:
        """Switch the examples of a training batch, whole columns at a time."""
        if is_train and batch:
            examples = [example for example, _, _ in batch]
            ids, epochs = self._addresses(examples)
            for side in self.policies:
                there = [i for i, example in enumerate(examples) if example.get(side) is not None]
                for epoch in np.unique(epochs[there]).tolist():
                    at = [i for i in there if epochs[i] == epoch]
                    address = Address(self._seed, epoch, SIDES[side], self.slot)
                    counts = self._switch([examples[i] for i in at], side, address, ids[at])
                    if stats is not None:
                        stats.update(ChangedWords(*counts))
        return [(example, self, corpus) for example, _, corpus in batch]

    def _addresses(self, examples: list[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        ids = np.empty(len(examples), np.uint64)
        epochs = np.empty(len(examples), np.int64)
        for i, example in enumerate(examples):
            corpus, line = str(example.get("cid")), int(example.get("cid_line_number", i))
            if line <= self._last_line.get(corpus, -1):
                self._epochs[corpus] = self._epochs.get(corpus, 0) + 1
            self._last_line[corpus] = line
            ids[i] = (zlib.crc32(corpus.encode()) >> 1) << 32 | line  # below 2^63
            epochs[i] = self._epochs.get(corpus, 0)
        return ids, epochs

    def _switch(
        self, examples: list[Any], side: str, address: Address, ids: npt.NDArray[Any]
    ) -> tuple[int, int]:
        for example in examples:
            if isinstance(example[side], str):  # no tokenizer: split as eole will
                example[side] = example[side].split(" ")
        numbers = [example.get(f"{side}_ids") for example in examples]
        known, names = self._ids[side].get, self._names[side]
        rows = [
            [known(token, NO_WORD) for token in example[side]] if given is None else given
            for example, given in zip(examples, numbers, strict=True)
        ]
        block = to_block(rows)
        new = self.policies[side].sample_at(block, address, example_ids=ids)
        changed = np.nonzero(new != block)
        for i, j in zip(*(axis.tolist() for axis in changed), strict=True):
            examples[i][side][j] = names[new[i, j]]
            if numbers[i] is not None:
                numbers[i][j] = int(new[i, j])
        return len(changed[0]), sum(map(len, rows))

    def _repr_args(self) -> str:
        return ", ".join(f"{side}: {policy!r}" for side, policy in self.policies.items())


@register_transform(name="switchout_exact")
class ExactSwitchOut(ExactTransform):
    """SwitchOut of the source, RAML of the target, a temperature or rate for each."""

    config_model = ExactConfig
    slot = 0

    def policy(self, side: str, words: Words, tokens: list[str]) -> Policy | None:
        xy = "x" if side == "src" else "y"
        tau, rate = getattr(self.config, f"tau_{xy}"), getattr(self.config, f"rate_{xy}")
        if tau is None and rate is None:
            return None
        return make_policy(OF_SIDE[SIDES[side]], words, tau=tau, rate=rate)


class OwnSwitchOut(ExactTransform):
    """Behind eole's own name, with its own schema: ``switchout_temperature`` is 1 / tau."""

    name = "switchout"
    config_model = SwitchOutConfig
    slot = 0

    def policy(self, side: str, words: Words, tokens: list[str]) -> Policy | None:
        inverse = self.config.switchout_temperature
        if inverse is None:
            return None
        tau = 1 / inverse if inverse else np.inf
        return make_policy(OF_SIDE[SIDES[side]], words, tau=tau)


@register_transform(name="raml_exact")
class ExactRAML(ExactTransform):
    """RAML of the target alone."""

    config_model = RAMLConfig
    slot = 1

    def policy(self, side: str, words: Words, tokens: list[str]) -> Policy | None:
        if side == "src" or (self.config.tau is None and self.config.rate is None):
            return None
        return RAML(words, self.config.tau, rate=self.config.rate)


@register_transform(name="dropout_exact")
class ExactDropout(ExactTransform):
    """Words of either side become the null token."""

    config_model = DropoutConfig
    slot = 2

    def policy(self, side: str, words: Words, tokens: list[str]) -> Policy | None:
        rate = self.config.rate_x if side == "src" else self.config.rate_y
        if rate == 0:
            return None
        if self.config.null not in tokens:
            raise ValueError(f"null: the {SIDES[side]} vocabulary has no {self.config.null!r}")
        return WordDropout(words, rate=rate, null_id=tokens.index(self.config.null))


def _saved_step(config: Any) -> int:
    """Return the step of the checkpoint that ``train_from`` names; 0: it was not trained here.

    It is the number of its folder, ``step_N``; eole links what is beside these folders to the last
    of them. Its own note of the step is a pickle, and we read none.
    """
    folder = getattr(getattr(config, "training", None), "train_from", None)
    if folder is None or not (saved := Path(folder, "optimizer.pt")).exists():
        return 0
    name = saved.resolve().parent.name
    if match := re.fullmatch(r"step_(\d+)", name):
        return int(match[1])
    logger.warning(f"train_from: {name} is not called step_N, so its noise begins as at step 0")
    return 0


AVAILABLE_TRANSFORMS["switchout"] = OwnSwitchOut
OURS = ("switchout_exact", "raml_exact", "dropout_exact")


def _without_ours(config: Any) -> Any:
    """Return a saved configuration that an eole without us can read."""
    for part in (config, *config.get("data", {}).values()):
        if part.get("transforms"):
            part["transforms"] = [name for name in part["transforms"] if name not in OURS]
    for name in OURS:
        config.get("transforms_configs", {}).pop(name, None)
    return config


def _strip_saved_configurations() -> None:
    """Have eole save models whose configuration names no transform of ours.

    Imported late: the saver imports eole's config, which must find our transforms registered.
    """
    from eole.models import model_saver

    saved = model_saver.recursive_model_fields_set

    @wraps(saved)
    def without_ours(config: Any) -> Any:
        return _without_ours(saved(config))

    model_saver.recursive_model_fields_set = without_ours


_strip_saved_configurations()
