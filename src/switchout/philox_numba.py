"""Philox4x32-10 in the kernels' loops; apart from `philox`, so that addresses need no numba."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types
from numba.extending import intrinsic

from switchout.intrinsics import spread
from switchout.sampling.philox import MASK, MULTIPLIER_0, MULTIPLIER_1, ROUNDS, WEYL_0, WEYL_1

AT_ONCE = 4  # words of `hit_bits`: as many as fill a register
_INT64 = ir.IntType(64)
_VECTOR = ir.VectorType(_INT64, AT_ONCE)


@njit(inline="always")
def philox4x32(c0: Any, c1: Any, c2: Any, c3: Any, k0: Any, k1: Any) -> Any:
    """Return the four words at one counter; all arguments and results are uint32 in uint64."""
    m0, m1 = np.uint64(MULTIPLIER_0), np.uint64(MULTIPLIER_1)
    w0, w1 = np.uint64(WEYL_0), np.uint64(WEYL_1)
    mask, half = np.uint64(MASK), np.uint64(32)
    for _ in range(ROUNDS):
        # Only the lower halves count; masked here, where the multiplication does it for nothing.
        p0, p1 = m0 * (c0 & mask), m1 * (c2 & mask)
        c0, c1, c2, c3 = (p1 >> half) ^ c1 ^ k0, p1, (p0 >> half) ^ c3 ^ k1, p0
        k0, k1 = (k0 + w0) & mask, (k1 + w1) & mask
    return c0 & mask, c1 & mask, c2 & mask, c3 & mask


@intrinsic
def hit_bits(context, c0, c1, c2, c3, k0, k1, scale, bound):
    """Return four bits: j says whether word 0 at counter ``c3 + j``, times ``scale``, < ``bound``.

    Written for LLVM, because its own vectors of `philox4x32` would have to be stored and read.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        def constant(value: int) -> Any:
            return ir.Constant(_VECTOR, [value] * AT_ONCE)

        def times(a: Any, b: Any) -> Any:
            return builder.mul(builder.and_(a, constant(MASK)), b)

        def mixed(product: Any, c: Any, k: Any) -> Any:
            return builder.xor(builder.lshr(product, constant(32)), builder.xor(c, k))

        def raised(k: Any, weyl: int) -> Any:
            return builder.and_(builder.add(k, constant(weyl)), constant(MASK))

        c0, c1, c2, c3, k0, k1, scale, bound = (spread(builder, v, _VECTOR) for v in args)
        c3 = builder.add(c3, ir.Constant(_VECTOR, list(range(AT_ONCE))))
        for _ in range(ROUNDS):
            p0, p1 = times(c0, constant(MULTIPLIER_0)), times(c2, constant(MULTIPLIER_1))
            c0, c1, c2, c3 = mixed(p1, c1, k0), p1, mixed(p0, c3, k1), p0
            k0, k1 = raised(k0, WEYL_0), raised(k1, WEYL_1)
        is_hit = builder.icmp_signed("<", times(c0, scale), bound)
        return builder.zext(builder.bitcast(is_hit, ir.IntType(AT_ONCE)), _INT64)

    return types.uint64(*[types.uint64] * 7, types.int64), codegen
