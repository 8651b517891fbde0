"""OpusTrainer's modifier, for its YAML.

.. code-block:: yaml

    modifiers:
      - SwitchOut: 1.0           # share of the lines that it looks at
        tau_x: 1.0
        tau_y: 1.1               # or rate_x, rate_y; either side alone works too
        vocab_src: vocab.de      # words, one a line; the path is relative to the YAML
        vocab_trg: vocab.en

The number of words does not change, so alignments in the third column stay valid.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Optional, Union

from opustrainer import trainer
from opustrainer.modifiers import Modifier
from opustrainer.modifiers.placeholders import PlaceholderTagModifier

from switchout.errors import SwitchOutError, did_you_mean
from switchout.text import LineAugmenter

_SEED = 0  # the addresses are random numbers that OpusTrainer's own seed gives


class SwitchOutModifier(Modifier):  # type: ignore[misc]
    """Switches words of the first column (source) and the second (target); see the module."""

    # OpusTrainer reads these hints to convert settings, and knows Union but not ``X | Y``.
    def __init__(
        self,
        probability: float,
        tau_x: Optional[float] = None,  # noqa: UP045
        tau_y: Optional[float] = None,  # noqa: UP045
        rate_x: Optional[float] = None,  # noqa: UP045
        rate_y: Optional[float] = None,  # noqa: UP045
        vocab_src: Union[Path, None] = None,  # noqa: UP007
        vocab_trg: Union[Path, None] = None,  # noqa: UP007
        **unknown: object,
    ) -> None:
        super().__init__(probability)
        noise = {"tau_x": tau_x, "tau_y": tau_y, "rate_x": rate_x, "rate_y": rate_y}
        for name in unknown:
            keys = [*noise, "vocab_src", "vocab_trg"]
            raise SwitchOutError(f"unknown key {name!r}{did_you_mean(name, keys)}")
        given: Any = {name: value for name, value in noise.items() if value is not None}
        if not given:
            raise SwitchOutError("give tau_x, tau_y, rate_x or rate_y")
        for xy, vocabulary, name in (("x", vocab_src, "vocab_src"), ("y", vocab_trg, "vocab_trg")):
            if vocabulary is None and {f"tau_{xy}", f"rate_{xy}"} & given.keys():
                raise SwitchOutError(f"a side with a tau or rate needs its words: give {name}")
        self._augment = LineAugmenter(
            source_words=vocab_src, target_words=vocab_trg, seed=_SEED, **given
        )

    def validate(self, context: list[Modifier]) -> None:
        before = context[: context.index(self)]
        if any(isinstance(modifier, PlaceholderTagModifier) for modifier in before):
            raise SwitchOutError("SwitchOut must stand before Tags, whose words it would switch")

    def __call__(self, batch: list[str]) -> Iterator[str]:
        # OpusTrainer seeds `random` for each chunk: the same for any number of workers, and after a
        # resume. So lines need no numbers of their own: their addresses are drawn.
        first_line = random.getrandbits(62)
        is_hit = [random.random() < self.probability for _ in batch]
        fields = [line.split("\t", 2) for line in batch]
        pairs = [(columns[0], columns[1] if len(columns) > 1 else "") for columns in fields]
        new = self._augment(pairs, first_line)
        for line, columns, pair, hit in zip(batch, fields, new, is_hit, strict=True):
            n_columns = min(2, len(columns))
            yield "\t".join([*pair[:n_columns], *columns[2:]]) if hit else line


trainer.MODIFIERS["SwitchOut"] = SwitchOutModifier
