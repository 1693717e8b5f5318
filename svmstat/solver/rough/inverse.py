"""A number's inverse, nearly, without a division: for passes over rows that divisions would hold up.

The bits of a floating point number, read as a whole number, are nearly its logarithm, so that a constant less those of
x is nearly those of 1/x: to 6 %. A step of Newton's, r (2 − x r), squares that error.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from svmstat._tools.compiled import OFF

_BITS: dict[Any, tuple[Any, Any, int]] = {
    types.float32: (ir.FloatType(), ir.IntType(32), 0x7EF311C7),
    types.float64: (ir.DoubleType(), ir.IntType(64), 0x7FDE623822FC16E6),
}
"""The numbers, whole numbers of as many bits, and the constant that makes the error of the first guess small."""


def _rough_inverse(typingctx, number):
    """1/x to 0.3 %, never more than it is, for x > 0 that is neither so small nor so large that x or 1/x loses bits."""
    numbers, wholes, constant = _BITS[number]

    def codegen(context, builder, signature, args):
        (x,) = args
        guess = builder.bitcast(builder.sub(ir.Constant(wholes, constant), builder.bitcast(x, wholes)), numbers)
        return builder.fmul(guess, builder.fsub(ir.Constant(numbers, 2.0), builder.fmul(x, guess)))

    return number(number), codegen


rough_inverse: Any = (lambda x: 1.0 / x) if OFF else intrinsic(_rough_inverse)
