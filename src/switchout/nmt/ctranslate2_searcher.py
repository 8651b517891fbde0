"""The same search by CTranslate2: C++, several times faster on a CPU.

Its beam search has the same definition as ours, except at the length limit, where it leaves a
hypothesis unfinished and ours ends it with EOS. Sums differ in their last bits, so ties may too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import torch

from switchout.errors import SwitchOutError
from switchout.nmt.export import import_ctranslate2
from switchout.nmt.search import Hypothesis, default_limit
from switchout.nmt.translate import SearchOptions

_BATCH_WORDS = 1500


class CTranslate2Searcher:
    """Searches with an exported model; see `switchout.nmt.translate.Engine`."""

    def __init__(
        self,
        folder: Path,
        *,
        src_tokens: Sequence[str],
        tgt_tokens: Sequence[str],
        max_words: int,
        device: str = "cpu",
    ):
        try:
            self.translator = import_ctranslate2().Translator(
                str(folder), device=device, intra_threads=torch.get_num_threads()
            )
        except (RuntimeError, ValueError) as error:
            raise SwitchOutError(f"{folder}: CTranslate2 cannot load it ({error})") from None
        self.src_tokens = src_tokens
        self.tgt_ids = {token: id for id, token in enumerate(tgt_tokens)}
        self.max_words = max_words

    def search(
        self, sentences: Sequence[list[int]], options: SearchOptions, done: Callable[[int], None]
    ) -> list[list[Hypothesis]]:
        """See `Searcher`."""
        found: list[list[Hypothesis]] = [[] for _ in sentences]
        # CTranslate2 takes one length limit a call, ours follows from the length of the source.
        by_length = sorted(range(len(sentences)), key=lambda i: -len(sentences[i]))
        for length, group in groupby(by_length, key=lambda i: len(sentences[i])):
            same = list(group)
            limit = min(int(default_limit(torch.tensor(length + 1))), self.max_words)
            results = self._translate([sentences[i] for i in same], options, limit)
            for i, result in zip(same, results, strict=True):
                found[i] = self._hypotheses(result)
            done(len(same))
        return found

    def _translate(
        self, sentences: list[list[int]], options: SearchOptions, limit: int
    ) -> list[Any]:
        # In a batch, beam search of CTranslate2 4.8 returns for the first word of a sentence the
        # attention of another sentence.
        alone = options.need_attention and options.beam > 1
        results: list[Any] = self.translator.translate_batch(
            [[self.src_tokens[id] for id in ids] for ids in sentences],
            max_batch_size=1 if alone else _BATCH_WORDS,
            batch_type="examples" if alone else "tokens",
            beam_size=options.beam,
            length_penalty=options.length_penalty,
            num_hypotheses=options.n_best,
            max_input_length=0,
            max_decoding_length=limit,
            min_decoding_length=0,
            return_scores=True,
            return_attention=options.need_attention,
            return_end_token=True,  # so that, as with us, EOS counts in the length
        )
        return results

    def _hypotheses(self, result: Any) -> list[Hypothesis]:
        found = []
        for i, tokens in enumerate(result.hypotheses):
            ids = [self.tgt_ids[token] for token in tokens if token != "</s>"]
            looks = torch.tensor(result.attention[i]) if result.attention else None
            found.append(Hypothesis(ids, result.scores[i], looks))
        return found
