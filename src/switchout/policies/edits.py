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
"""

from __future__ import annotations

import numpy as np
from numba import njit

from switchout.philox_numba import philox4x32

_HALF, _MASK = np.uint64(32), np.uint64(0xFFFFFFFF)
_FAR = 1 << 30  # the cost of a cell that no script reaches
_MAX_BLOCKS = 1 << 24
_TOOK, _INSERTED, _DELETED = 0, 1, 2  # the last step of a script; the first two wrote a word


@njit(nogil=True, cache=True)
def draw_edited(y, is_free, drawable, a, example_id, key, epoch, stream):  # type: ignore[no-untyped-def]
    """Return an edited copy of ``y`` with at least one word, [new length].

    Args:
        y: Ids, [length].
        is_free: Which of them may be substituted or deleted, [length].
        drawable: Sorted ids that may come in, [W].
        a: Weight of one edit, with 0 < a < 1 / W.
        example_id, key, epoch, stream: Address of the randomness; block after block is used.
    """
    plan = _plan(y, is_free, drawable, a)
    block = np.uint64(0)
    while block < _MAX_BLOCKS:
        y_hat, block = _draw_script(
            y, is_free, drawable, a, plan, example_id, key, epoch, stream, block
        )
        u, _ = _random(example_id, key, epoch, stream, block)
        block += np.uint64(1)
        if y_hat.size and u * script_weight(y_hat, y, is_free, a)[1] < 1.0:
            return y_hat
    raise ValueError("tau is too near its limit: sentences of millions of words are likely")


@njit(nogil=True, cache=True)
def script_weight(y_hat, y, is_free, a):  # type: ignore[no-untyped-def]
    """Return (edits, weight): the distance, and the weight of all scripts over a ** distance.

    One cell per prefix of y, prefix of y_hat and state.
    """
    n = y_hat.size
    cost = np.full((2, n + 1, 3), _FAR)
    mass = np.zeros((2, n + 1, 3))
    for i in range(y.size + 1):
        here, above = i & 1, (i & 1) ^ 1
        for j in range(n + 1):
            cost[here, j], mass[here, j] = _FAR, 0.0
            if i == 0 and j == 0:
                cost[here, j, _TOOK], mass[here, j, _TOOK] = 0, 1.0
            if i > 0 and j > 0 and y_hat[j - 1] == y[i - 1]:
                _add(cost, mass, here, j, _TOOK, above, j - 1, _TOOK, 0, a)
                _add(cost, mass, here, j, _TOOK, above, j - 1, _INSERTED, 0, a)
                if i == 1 or y[i - 1] != y[i - 2]:
                    _add(cost, mass, here, j, _TOOK, above, j - 1, _DELETED, 0, a)
            elif i > 0 and j > 0 and is_free[i - 1]:
                _add(cost, mass, here, j, _TOOK, above, j - 1, _TOOK, 1, a)
            if j > 0 and (i == y.size or y_hat[j - 1] != y[i]):
                _add(cost, mass, here, j, _INSERTED, here, j - 1, _TOOK, 1, a)
                _add(cost, mass, here, j, _INSERTED, here, j - 1, _INSERTED, 1, a)
            if i > 0 and is_free[i - 1]:
                _add(cost, mass, here, j, _DELETED, above, j, _TOOK, 1, a)
                _add(cost, mass, here, j, _DELETED, above, j, _DELETED, 1, a)
    last = y.size & 1
    for state in (_INSERTED, _DELETED):
        _add(cost, mass, last, n, _TOOK, last, n, state, 0, a)
    return cost[last, n, _TOOK], mass[last, n, _TOOK]


@njit(inline="always")
def _add(cost, mass, row, column, state, from_row, from_column, from_state, price, a):  # type: ignore[no-untyped-def]
    """Add the scripts of one cell, extended by an edit of ``price`` 0 or 1, to another cell."""
    old, new = cost[row, column, state], cost[from_row, from_column, from_state] + price
    added = mass[from_row, from_column, from_state]
    if added == 0.0:
        return
    if new < old:
        cost[row, column, state] = new
        mass[row, column, state] = added + mass[row, column, state] * a ** (old - new)
    else:
        mass[row, column, state] += added * a ** (new - old)


@njit(inline="always")
def _random(example_id, key, epoch, stream, block):  # type: ignore[no-untyped-def]
    """Return a uniform number on [0, 1) and 64 more random bits."""
    w0, w1, w2, w3 = philox4x32(
        example_id & _MASK, example_id >> _HALF, epoch, stream + block, key & _MASK, key >> _HALF
    )
    return np.float64((w0 << np.uint64(21)) | (w3 >> np.uint64(11))) * 2.0**-53, w2 << _HALF | w1


@njit(inline="always")
def _word(drawable, rank, bits):  # type: ignore[no-untyped-def]
    """Return a drawable word, uniform, other than the one of ``rank`` (-1: any)."""
    choices = np.uint64(drawable.size - (rank >= 0))
    high, low = bits >> _HALF, bits & _MASK
    step = np.int64((choices * high + ((choices * low) >> _HALF)) >> _HALF)
    return drawable[(rank + 1 + step) % drawable.size]


@njit(inline="always")
def _plan(y, is_free, drawable, a):  # type: ignore[no-untyped-def]
    """Return rank, others and ratio, all [length + 1]: what `_weights` needs at each position.

    ``rank`` of y_i among the drawable words (-1: none), number of drawable words ``others`` than
    y_i, and the ``ratio`` D / F of all scripts from there on, after a deletion and after no edit.
    """
    n = y.size
    rank = np.full(n + 1, -1)
    others = np.full(n + 1, drawable.size)
    ratio = np.full(n + 1, 1.0 - a * drawable.size)
    for i in range(n - 1, -1, -1):
        r = np.searchsorted(drawable, y[i])
        if r < drawable.size and drawable[r] == y[i]:
            rank[i], others[i] = r, drawable.size - 1
        if i > 0:
            ratio[i] = 1.0
            start = _weights(y, is_free, a, others, ratio, i, _TOOK)
            after = _weights(y, is_free, a, others, ratio, i, _DELETED)
            ratio[i] = sum(after) / sum(start)
    return rank, others, ratio


@njit(inline="always")
def _weights(y, is_free, a, others, ratio, i, state):  # type: ignore[no-untyped-def]
    """Return the weights of deleting y_i, inserting before it, substituting and matching it.

    Each sums up the scripts that go on so, over F of the next position; at the end of y, "to
    match" is to stop. 1 / (1 - a·others) sums up the further insertions.
    """
    is_end = i == y.size
    is_word = not is_end and is_free[i]
    delete = a * ratio[i + 1] if is_word and state != _INSERTED else 0.0
    insert = a * others[i] / (1.0 - a * others[i]) if state != _DELETED else 0.0
    substitute = a * others[i] if is_word and state == _TOOK else 0.0
    match = 0.0 if state == _DELETED and not is_end and y[i] == y[i - 1] else 1.0
    return delete, insert, substitute, match


@njit
def _draw_script(  # type: ignore[no-untyped-def]
    y, is_free, drawable, a, plan, example_id, key, epoch, stream, block
):
    """Draw a script by its weight; return the sentence it makes and the next unused block."""
    rank, others, ratio = plan
    y_hat = np.empty(2 * y.size + 8, np.int64)
    n = i = 0
    state = _TOOK
    while block < _MAX_BLOCKS:
        if n == y_hat.size:
            y_hat = np.concatenate((y_hat, np.empty_like(y_hat)))
        delete, insert, substitute, match = _weights(y, is_free, a, others, ratio, i, state)
        u, bits = _random(example_id, key, epoch, stream, block)
        block += np.uint64(1)
        u *= delete + insert + substitute + match
        if u < delete or match == 0.0:
            state = _DELETED
        elif u < delete + insert:
            state = _INSERTED
        elif i == y.size:
            return y_hat[:n], block
        else:
            state = _TOOK
        if state != _DELETED:
            is_new = state == _INSERTED or u < delete + insert + substitute
            y_hat[n] = _word(drawable, rank[i], bits) if is_new else y[i]
            n += 1
        if state != _INSERTED:
            i += 1
    return y_hat[:0], block
