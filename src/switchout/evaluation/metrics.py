"""Sufficient statistics per sentence, and corpus scores from their sums.

sacrebleu tokenises and extracts the statistics (n-gram matches, edits, lengths), so case and
signature are its own; only BLEU's n-grams are counted here, in `ngrams`, faster and equal. Corpus
scores depend on a test set only through the *sum* of its sentences' statistics; a resampled test
set is another sum. The formulas are sacrebleu's, written for whole arrays of sums: BLEU with
exponential smoothing, chrF of effective order, TER.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from switchout.errors import SwitchOutError, did_you_mean
from switchout.evaluation.ngrams import ORDER, ReferenceNgrams

Array = NDArray[np.float64]

logger = logging.getLogger(__name__)
MANY_LINES = 100


def bleu_from_sums(sums: Array) -> Array:
    """Return BLEU of sums [..., (hyp length, ref length, 4 matches, 4 totals)]."""
    hyp_length, ref_length = sums[..., 0], sums[..., 1]
    matches, totals = sums[..., 2 : 2 + ORDER], sums[..., 2 + ORDER :]
    # exponential smoothing: the k-th order without a match counts as 2^-k matches
    zeros = np.cumsum(matches == 0, axis=-1)
    smoothed = np.where(matches == 0, 0.5**zeros, matches)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_precision = np.log(100.0 * smoothed / totals).mean(axis=-1)
        brevity = np.minimum(0.0, 1.0 - ref_length / hyp_length)
        scores = np.exp(brevity + log_precision)
    # no match at all, or too short for a 4-gram anywhere: zero, as in sacrebleu
    is_defined = (matches.sum(axis=-1) > 0) & (totals.min(axis=-1) > 0)
    return np.where(is_defined, scores, 0.0)


def chrf_from_sums(sums: Array) -> Array:
    """Return chrF2 of sums [..., 6 times (hyp, ref, matching) character n-grams]."""
    hyp, ref, matching = sums[..., 0::3], sums[..., 1::3], sums[..., 2::3]
    is_counted = (hyp > 0) & (ref > 0)
    orders = np.maximum(is_counted.sum(axis=-1), 1)
    precision = (is_counted * matching / np.maximum(hyp, 1)).sum(axis=-1) / orders
    recall = (is_counted * matching / np.maximum(ref, 1)).sum(axis=-1) / orders
    denominator = 4 * precision + recall
    score = 100 * 5 * precision * recall / np.where(denominator > 0, denominator, 1.0)
    return np.asarray(score)


def ter_from_sums(sums: Array) -> Array:
    """Return TER of sums [..., (edits, reference words)]; words without reference: 100."""
    edits, ref_length = sums[..., 0], sums[..., 1]
    rate = edits / np.where(ref_length > 0, ref_length, 1.0)
    return 100 * np.where(ref_length > 0, rate, edits > 0)


FORMULAS: dict[str, Callable[[Array], Array]] = {
    "bleu": bleu_from_sums,
    "chrf": chrf_from_sums,
    "ter": ter_from_sums,
}
LABELS = {"bleu": "BLEU", "chrf": "chrF", "ter": "TER"}
HIGHER_IS_BETTER = {"bleu": True, "chrf": True, "ter": False}


class Measure:
    """How sums of statistics become a score: all that a comparison of stored statistics needs.

    Example:
        >>> ter = Measure("ter", signature="case:lc")
        >>> ter.score(np.array([[1.0, 4.0], [0.0, 6.0]]))
        10.0
    """

    def __init__(self, name: str, signature: str):
        if name not in FORMULAS:
            raise SwitchOutError(f"no such metric {name!r}{did_you_mean(name, list(FORMULAS))}")
        self.name, self.label = name, LABELS[name]
        self.higher_is_better = HIGHER_IS_BETTER[name]
        self.from_sums = FORMULAS[name]
        self._signature = signature

    def score(self, statistics: Array) -> float:
        """Return the corpus score of statistics [sentence, statistic]."""
        return float(self.from_sums(statistics.sum(axis=0)))

    @property
    def signature(self) -> str:
        """sacrebleu's signature."""
        return self._signature


class Metric(Measure):
    """One of sacrebleu's metrics, with the references prepared once for many systems.

    As on sacrebleu's command line, ``tokenize`` and ``lowercase`` concern BLEU; chrF keeps the
    case and TER ignores it.

    Example:
        >>> bleu = Metric("bleu", ["a b c d e", "f g h i"])
        >>> statistics = bleu.statistics(["a b c d f", "f g h i"])
        >>> round(bleu.score(statistics), 2)
        79.84
    """

    def __init__(
        self,
        name: str,
        references: Sequence[str],
        *,
        tokenize: str = "13a",
        lowercase: bool = False,
    ):
        super().__init__(name, signature="")  # of the scorer, once it has seen what it scores
        if not references:
            raise SwitchOutError("the reference is empty: nothing to score")
        self._n_sentences = len(references)
        self._tokenize, self._has_warned = tokenize, False
        self._scorer = _sacrebleu_metric(name, tokenize, lowercase)
        self._scorer.num_refs = 1  # for the signature
        self._ngrams = None
        if name == "bleu":
            self._ngrams = ReferenceNgrams(self._prepared(references))
        else:
            self._scorer._ref_cache = self._scorer._cache_references([references])

    def statistics(self, hypotheses: Sequence[str]) -> Array:
        """Return sacrebleu's statistics per sentence, [sentence, statistic]."""
        if len(hypotheses) != self._n_sentences:
            raise SwitchOutError(
                f"{len(hypotheses)} hypotheses for {self._n_sentences} references: "
                "they must match line by line"
            )
        if self._ngrams is not None:
            self._warn_if_tokenised(hypotheses)
            return self._ngrams.match(self._prepared(hypotheses)).astype(float)
        return np.array(self._scorer._extract_corpus_statistics(hypotheses, None), dtype=float)

    def _warn_if_tokenised(self, hypotheses: Sequence[str]) -> None:
        """Say once what sacrebleu says: scores of tokenised text are not comparable."""
        if self._tokenize == "none" or self._has_warned:
            return
        n_lines = sum(line.endswith(" .") for line in hypotheses)
        if n_lines >= MANY_LINES:
            self._has_warned = True
            logger.warning(
                "%d outputs end in ' .' and look tokenised: detokenise them, or say tokenize none",
                n_lines,
            )

    def _prepared(self, lines: Sequence[str]) -> list[str]:
        return [self._scorer._preprocess_segment(line) for line in lines]

    def score(self, statistics: Array) -> float:
        """Return the corpus score by sacrebleu's own formula, to its last bit."""
        sums = [int(value) for value in statistics.sum(axis=0)]
        return float(self._scorer._compute_score_from_stats(sums).score)

    @property
    def signature(self) -> str:
        """sacrebleu's signature."""
        return str(self._scorer.get_signature())


def _sacrebleu_metric(name: str, tokenize: str, lowercase: bool):  # type: ignore[no-untyped-def]
    from sacrebleu.metrics import BLEU, CHRF, TER

    if name == "chrf":
        return CHRF()
    if name == "ter":
        return TER()
    if tokenize not in BLEU.TOKENIZERS:
        choices = did_you_mean(tokenize, list(BLEU.TOKENIZERS))
        raise SwitchOutError(f"no such tokenizer {tokenize!r}{choices}")
    _refuse_download(tokenize)
    try:
        return BLEU(tokenize=tokenize, lowercase=lowercase)
    except (ImportError, RuntimeError) as error:  # a tokenizer whose package is not installed
        raise SwitchOutError(f"tokenizer {tokenize!r}: {error}") from None


def _refuse_download(tokenize: str) -> None:
    """sacrebleu fetches a missing model from the net by itself: nobody asked for that."""
    from sacrebleu.tokenizers.tokenizer_spm import SPM_MODELS
    from sacrebleu.utils import SACREBLEU_DIR

    if tokenize not in SPM_MODELS:
        return
    address = SPM_MODELS[tokenize]["url"]
    model = Path(SACREBLEU_DIR) / "models" / address.rpartition("/")[2]
    if not model.exists():
        raise SwitchOutError(
            f"tokenizer {tokenize!r} needs {model}, which is not here: fetch it from {address}"
        )
