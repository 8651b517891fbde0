"""What numba does not offer by itself: an address, and a word to the cache."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_BYTE, _INT32 = ir.IntType(8), ir.IntType(32)


def pointer(context: Any, builder: Any, kind: Any, array: Any, index: Any) -> Any:
    """Return the address of ``array.flat[index]``; the array is contiguous."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), _BYTE.as_pointer())


@intrinsic
def prefetch(context, array, index):
    """Ask for ``array.flat[index]`` to be brought into the cache."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address = pointer(context, builder, signature.args[0], args[0], args[1])
        kind = ir.FunctionType(ir.VoidType(), [_BYTE.as_pointer(), _INT32, _INT32, _INT32])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [address, _INT32(0), _INT32(3), _INT32(1)])
        return context.get_dummy_value()

    return types.none(array, types.int64), codegen
