"""Exact samples of ``q(ŷ | y) ∝ exp(-edits(ŷ, y) / tau)``, edits = word-level Levenshtein distance.

Norouzi et al. 2016 draw the distance from counts that ignore repeated words. Here nothing is
ignored. An edit script walks through y and matches, substitutes, deletes or inserts words; each
edit weighs a = exp(-1 / tau). Drawing scripts by weight is easy (a chain of choices, whose weights
come from one backward pass), but a sentence that several scripts produce would come too often:

1. Rules leave few scripts per sentence, and always a shortest one, because an edit can be moved to
   the right, or saved, wherever they forbid one:
   no insertion next to a deletion; no substitution right after an insertion or a deletion;
   a word inserted before y_i differs from y_i; y_i is not matched right after deleting its equal.
2. A drawn sentence is accepted with probability exp(-edits / tau) / (weight of all its scripts),
   which is at most 1 because a shortest script is among them. What is accepted follows q exactly.

The weights sum up only if W·a < 1, W words to draw from; beyond, ever longer sentences would win.
The loops are in core/edits.h.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from switchout.core import compiled
from switchout.sampling.address import MAX_BLOCKS, Address

Ids = NDArray[np.int64]
Mask = NDArray[np.bool_]
MAX_WORDS = 1 << 16  # of an edited sentence
TOO_NEAR = "tau is too near its limit: sentences of {:,} words and more are likely"


@dataclass(frozen=True)
class EditLaw:
    """The law of edited sentences, and where its randomness is.

    Attributes:
        drawable: Sorted ids that may come in, [W].
        weight: Of one edit, a with 0 < a < 1 / W.
        address: All of the address but example and block; block after block is used.
    """

    drawable: Ids
    weight: float
    address: Address

    def draw(self, y: Ids, is_free: Mask, example: int) -> Ids:
        """Return an edited copy of ``y`` with at least one word, [new length].

        Args:
            y: Ids, [length].
            is_free: Which of them may be substituted or deleted, [length].
            example: Which example it is.
        """
        block = 0
        while block < MAX_BLOCKS:  # try by try, so that Ctrl-C is heard
            y_hat, block = self.draw_script(y, is_free, example, block=block)
            if y_hat.size:
                return y_hat
        raise ValueError(TOO_NEAR.format(MAX_WORDS))

    def draw_script(
        self, y: Ids, is_free: Mask, example: int, *, block: int = 0, accept_all: bool = False
    ) -> tuple[Ids, int]:
        """Draw a script by its weight; return the sentence (empty: rejected) and the next block."""
        where = self.address.seed, self.address.epoch, self.address.stream, example, block
        room = 4 * y.size + 64
        while room <= MAX_WORDS + 4 * y.size + 64:
            y_hat = np.empty(room, np.int64)
            n, next_block = compiled.draw_edited(
                y, is_free, self.drawable, self.weight, *where, accept_all, y_hat
            )
            if n >= 0:
                return y_hat[:n], next_block
            room *= 4
        raise ValueError(TOO_NEAR.format(MAX_WORDS))


def script_weight(y_hat: Ids, y: Ids, is_free: Mask, a: float) -> tuple[int, float]:
    """Return (edits, weight): the distance, and the weight of all scripts over a ** distance."""
    return compiled.script_weight(y, is_free, y[:0], a, y_hat)
