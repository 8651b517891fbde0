"""Addressed randomness: every random number is a word of Philox4x32-10.

Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011). A 128-bit counter and a
64-bit key give four 32-bit words; nothing is consumed, so the same address always holds the same
numbers. The address (docs/algorithm.md):

=========  =====================================================================
key        seed, low word first
c0, c1     example id, low word first
c2         epoch
c3         side << 31 | slot << 24 | block
=========  =====================================================================

Block 0 serves the sentence (word 0: the count n), block 1 + i its i-th real word (word 0: replace?
words 1 and 2, low word first: which word).
"""

from __future__ import annotations

ROUNDS = 10
MULTIPLIER_0, MULTIPLIER_1 = 0xD2511F53, 0xCD9E8D57
WEYL_0, WEYL_1 = 0x9E3779B9, 0xBB67AE85
MASK = 0xFFFFFFFF
MAX_SLOTS = 1 << 7
MAX_BLOCKS = 1 << 24  # one for the sentence, one for each word
