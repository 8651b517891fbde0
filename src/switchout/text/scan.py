"""Bytes 64 at a time: where lines end, where words begin and end, and which word it is.

* A line ends at ``\\n`` and nowhere else. Words are what ``bytes.split()`` gives: separated by
  ASCII white space (space, tab, carriage return, vertical tab, form feed); all else is word.
* Comparing a block of 64 bytes and packing the answers into one 64-bit integer is a few machine
  instructions; walking over the set bits then costs per word, not per byte.
* Every array of bytes here is followed by at least `PADDING` readable bytes.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from switchout.intrinsics import pointer

ALL_BITS = np.uint64(0xFFFFFFFFFFFFFFFF)
GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # multiplicative hashing: 2^64 / golden ratio
_BYTE, _WORD = ir.IntType(8), ir.IntType(64)

kernel = njit(error_model="numpy")
inlined = njit(error_model="numpy", forceinline=True)


def _block_test(test: Callable[[Any, Any, Callable[[int], Any]], Any]) -> Callable[..., Any]:
    """Return code that loads 64 bytes and packs the answers of ``test`` into 64 bits."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        block = ir.VectorType(_BYTE, 64)
        address = pointer(context, builder, signature.args[0], args[0], args[1])
        loaded = builder.load(builder.bitcast(address, block.as_pointer()))
        loaded.align = 1
        bits = test(builder, loaded, lambda value: ir.Constant(block, [value] * 64))
        return builder.bitcast(bits, _WORD)

    return codegen


@intrinsic
def newline_bits(context, data, position):
    """Return bit i = is ``data[position + i]`` a newline."""
    return types.uint64(data, types.int64), _block_test(
        lambda builder, block, constant: builder.icmp_unsigned("==", block, constant(0x0A))
    )


@intrinsic
def space_bits(context, data, position):
    """Return bit i = is ``data[position + i]`` ASCII white space."""

    def is_space(builder: Any, block: Any, constant: Callable[[int], Any]) -> Any:
        from_tab = builder.sub(block, constant(0x09))
        return builder.or_(
            builder.icmp_unsigned("==", block, constant(0x20)),
            builder.icmp_unsigned("<", from_tab, constant(5)),  # \t \n \v \f \r
        )

    return types.uint64(data, types.int64), _block_test(is_space)


@intrinsic
def load_8_bytes(context, data, position):
    """Return the 8 bytes at ``position`` as one integer."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address = pointer(context, builder, signature.args[0], args[0], args[1])
        loaded = builder.load(builder.bitcast(address, _WORD.as_pointer()))
        loaded.align = 1
        return loaded

    return types.uint64(data, types.int64), codegen


@intrinsic
def lowest_bit(context, bits):
    """Return the index of the lowest set bit."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), codegen


@intrinsic
def copy_bytes(context, out, at, data, position, count):
    """Copy ``data[position:position + count]`` to ``out[at:]``."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        target = pointer(context, builder, signature.args[0], args[0], args[1])
        source = pointer(context, builder, signature.args[2], args[2], args[3])
        cgutils.raw_memcpy(builder, target, source, args[4], 1)
        return context.get_dummy_value()

    return types.none(out, types.int64, data, types.int64, types.int64), codegen


@inlined
def find_words(data, start, end, edges):
    """Fill in start, end, start, end, … of the words of a line; return how many words."""
    count, carry = 0, np.uint64(0)
    for base in range(start, end, 64):
        word = ~space_bits(data, base)
        if base + 64 > end:
            word &= ALL_BITS >> np.uint64(base + 64 - end)
        changes = word ^ (word << np.uint64(1) | carry)  # where a word starts or has just ended
        carry = word >> np.uint64(63)
        while changes:
            edges[count] = base + lowest_bit(changes)
            count += 1
            changes &= changes - np.uint64(1)
    if count & 1:
        edges[count] = end
        count += 1
    return count >> 1


@inlined
def is_blank(data, start, end):
    """Return whether a line has no word."""
    for base in range(start, end, 64):
        word = ~space_bits(data, base)
        if base + 64 > end:
            word &= ALL_BITS >> np.uint64(base + 64 - end)
        if word:
            return False
    return True


@inlined
def word_keys(data, start, size):
    """Return 128 bits for a word: up to 16 bytes they are its bytes, beyond that partly a hash."""
    if size <= 8:
        return load_8_bytes(data, start) & (ALL_BITS >> np.uint64(64 - 8 * size)), np.uint64(0)
    low, high = load_8_bytes(data, start), load_8_bytes(data, start + size - 8)
    for position in range(start + 8, start + size - 8, 8):
        low = (low ^ load_8_bytes(data, position)) * GOLDEN
        low ^= low >> np.uint64(32)
    return low, high


@inlined
def first_slot(low, high, n_slots):
    """Return the first of ``n_slots`` (a power of two) to look into for a word of these keys."""
    mixed = (low ^ high >> np.uint64(29)) * GOLDEN + high
    return np.int64((mixed ^ mixed >> np.uint64(32)) & np.uint64(n_slots - 1))


@inlined
def same_bytes(left, i, right, j, size):
    """Return whether two words of more than 8 bytes are equal."""
    for position in range(0, size - 8, 8):
        if load_8_bytes(left, i + position) != load_8_bytes(right, j + position):
            return False
    return load_8_bytes(left, i + size - 8) == load_8_bytes(right, j + size - 8)


@inlined
def find_word(data, start, size, low, high, slots, blob):
    """Return the id of a word, or -1 - the empty slot where it would go.

    Args:
        data, start, size: The word.
        low, high: Its `word_keys`.
        slots: [n_slots, 4]: both keys; size << 32 | id, or 0 where empty; where it is in ``blob``.
            All that a word of up to 16 bytes needs is thus in one place of the memory.
        blob: The bytes of all words.
    """
    slot = first_slot(low, high, len(slots))
    while True:
        entry = slots[slot, 2]
        if entry == np.uint64(0):
            return -1 - slot
        if (
            slots[slot, 0] == low
            and slots[slot, 1] == high
            and (entry >> np.uint64(32)) == np.uint64(size)
        ):
            word = np.int64(entry & np.uint64(0xFFFFFFFF))
            if size <= 16 or same_bytes(data, start, blob, np.int64(slots[slot, 3]), size):
                return word
        slot = (slot + 1) & (len(slots) - 1)


@inlined
def enter_word(slots, slot, low, high, size, word, offset):
    """Fill an empty slot."""
    slots[slot, 0] = low
    slots[slot, 1] = high
    slots[slot, 2] = np.uint64(size) << np.uint64(32) | np.uint64(word)
    slots[slot, 3] = np.uint64(offset)
