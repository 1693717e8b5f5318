"""exp(x) for x ≤ 0 in a form that the compiler turns into vector instructions, which a call of libm is not.

The reduction x = k log 2 + r with |r| ≤ ½ log 2 is that of Cody & Waite (1980), Software manual for the elementary
functions; e^r is by its series, and the error below two units in the last place.
"""

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from svmstat._tools.compiled import OFF, compiled

_LOG2_HIGH, _LOG2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_LEAST = -700.0
"""Where exp is 1e-304, short of the numbers that lose digits."""

_SERIES = tuple(1.0 / math.factorial(j) for j in range(13, -1, -1))


def _power_of_two(typingctx, k):
    """2^k for a whole number −1022 ≤ k ≤ 0."""

    def codegen(context, builder, signature, args):
        double, int64 = ir.DoubleType(), ir.IntType(64)
        in_the_low_bits = builder.fadd(args[0], ir.Constant(double, 2.0**52 + 1023.0))
        exponent = builder.shl(builder.bitcast(in_the_low_bits, int64), ir.Constant(int64, 52))
        return builder.bitcast(exponent, double)

    return types.float64(types.float64), codegen


power_of_two: Any = np.exp2 if OFF else intrinsic(_power_of_two)


@compiled(inline="always")
def exp_of_negative(x):
    """exp(max(x, −700)) for x ≤ 0, not NaN."""
    bounded = x if x > _LEAST else _LEAST
    k = np.floor(bounded * 1.4426950408889634 + 0.5)
    r = (bounded - k * _LOG2_HIGH) - k * _LOG2_LOW
    series = _SERIES[0]
    for j in range(1, 14):
        series = _SERIES[j] + r * series
    return series * power_of_two(k)
