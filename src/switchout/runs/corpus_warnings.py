"""What is worth knowing of a corpus before it is trained on."""

from __future__ import annotations

import logging
from itertools import islice

from switchout.corpora import Corpus
from switchout.corpora.codec import Codecs
from switchout.corpora.corpus import Side as CorpusSide
from switchout.corpora.opening import LOOKED_AT
from switchout.corpora.registry import find_entry
from switchout.corpora.tags import find_tags
from switchout.corpora.vocabulary import SPECIALS
from switchout.runs.config import Augment, Side

log = logging.getLogger(__name__)


def warn_if_seen(corpus: Corpus) -> None:
    """Say if most of dev or test stands in train; of registered corpora that is known."""
    if find_entry(corpus.name) is not None:
        return
    for split, (seen, of) in corpus.seen_in_train().items():
        if seen > of / 2:
            log.warning(
                "warning: %s of %s source sentences of %s stand in train too: its scores will be"
                " too good", f"{seen:,}", f"{of:,}", split,
            )  # fmt: skip


def warn_of_tags(augment: Augment, corpus: Corpus, codecs: Codecs) -> None:
    """Say if noise would replace tags such as ``>>en<<`` as if they were words."""
    sides: tuple[CorpusSide, CorpusSide] = ("source", "target")
    for side, codec in zip(sides, codecs, strict=True):
        noise: Side = getattr(augment, side)
        if noise.policy == "none":
            continue
        vocabulary = codec.vocabulary
        words = vocabulary.words(
            unk_is_word=noise.unk_is_word, special_pattern=noise.special_pattern
        )
        special = {vocabulary.tokens[id] for id in words.special_ids}
        known = {*vocabulary.tokens} - special - {*SPECIALS}
        lines = (codec.tokens(line) for line in islice(corpus.lines("train", side), LOOKED_AT))
        for tag, pattern in find_tags(lines, known.__contains__):
            log.warning(
                "warning: [augment.%s] %r looks like a tag, but is a word like others, to be"
                " replaced and drawn: special_pattern = '%s' there leaves it alone",
                side, tag, pattern,
            )  # fmt: skip


def warn_if_small(corpus: Corpus) -> None:
    """Say if a registered corpus is here in part: its scores are not those of the whole."""
    entry = find_entry(corpus.name)
    whole = entry.pairs.get("train", 0) if entry else 0
    if not whole or corpus.train_pairs is not None or "train" not in corpus.splits:
        return  # and does not count its lines, which reads them all
    if corpus.n_train < 0.99 * whole:
        log.warning(
            "warning: %s has %s training pairs here, %s of the published corpus: scores are not"
            " comparable", corpus.where, f"{corpus.n_train:,}", f"{whole:,}",
        )  # fmt: skip
