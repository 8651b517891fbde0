"""The sampler: draw which words change and what they become, then apply it.

Every policy that replaces words independently of what they are is a `Rule`: draw how likely a
word of this sentence is to be hit (a count n out of L, or a constant), hit each word with that
probability, put another word (or the null word) there. All in integers, from the addressed random
words of `switchout.sampling.address`; the only floats are in the tables of
`switchout.sampling.laws`. So every framework returns the same ids.

`corrupt` is the one entry: arrays whose values are at hand run the compiled loops (`host`);
traced arrays and those on a device run `corrupt_arrays`, the same algorithm over array operations.
"""

from __future__ import annotations

from typing import Any

from switchout.sampling.address import Address
from switchout.sampling.arrays import corrupt_arrays
from switchout.sampling.backends import Array, backend_of
from switchout.sampling.checks import check_example_ids, check_tokens
from switchout.sampling.host import corrupt_on_host
from switchout.sampling.rule import Rule
from switchout.words import Words


def corrupt(
    tokens: Array,
    rule: Rule,
    *,
    words: Words,
    address: Address,
    example_ids: Any,
    frozen: Array | None = None,
    lengths: Any = None,
    out: Array | None = None,
) -> Array:
    """Return ``tokens`` [batch, time] with words replaced; the same type, dtype and device.

    Args:
        tokens: Word ids of any supported array library; left as they are unless ``out`` is them.
        rule: What to draw.
        words: Which ids are words.
        address: Seed, epoch, side and slot.
        example_ids: Which example each row is, [batch] integers.
        frozen: Further positions to leave alone, bool [batch, time].
        lengths: Number of words of each sentence, if known [batch]; trusted, saves a pass.
        out: Where to write; may be ``tokens`` itself.
    """
    backend = backend_of(tokens)
    check_tokens(backend, tokens, words, frozen)
    if backend.on_host(tokens):
        return corrupt_on_host(
            backend, tokens, rule, words=words, address=address, example_ids=example_ids,
            frozen=frozen, lengths=lengths, out=out,
        )  # fmt: skip
    if lengths is not None or out is not None:
        raise TypeError("out= and lengths= need an array whose values are at hand on the CPU")
    if "uint64" in str(tokens.dtype):  # from 2^63 on they would turn into negative, special ids
        raise TypeError("tokens of uint64 need an array whose values are at hand: use int64")
    example_ids = check_example_ids(example_ids, tokens.shape[0])
    return corrupt_arrays(backend, tokens, rule, words, address, example_ids, frozen)
