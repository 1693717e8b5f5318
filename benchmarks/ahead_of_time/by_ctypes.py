"""What Python needs to call the Rust library; the same would call one of C."""

import ctypes
from types import SimpleNamespace

import numpy as np

Whole, Real, Size = ctypes.c_int64, ctypes.c_double, ctypes.c_size_t


def arrays(kind, dimensions):
    return np.ctypeslib.ndpointer(kind, dimensions, flags="C_CONTIGUOUS")


def functions(path):
    """``smo`` and ``walk_all``, types and dimensions of their arguments checked at the call."""
    library, vector, matrix = ctypes.CDLL(str(path)), arrays(float, 1), arrays(float, 2)
    library.smo.restype, library.walk_all.restype = Whole, None
    library.smo.argtypes = [matrix, Size, Size, *[vector] * 4, Real, Whole, ctypes.POINTER(Real)]
    library.walk_all.argtypes = [
        Size, Size, matrix, *[vector] * 3, *[matrix] * 4, arrays(np.int8, 2), vector, matrix, matrix, Whole,
        arrays(np.int8, 1), arrays(np.int64, 1),
    ]  # fmt: skip

    def smo(gram, p, lo, hi, beta, h, tolerance, max_steps):
        violation = Real()
        return library.smo(gram, len(h), p, lo, hi, beta, h, tolerance, max_steps, violation), violation.value

    def walk_all(T, T_b, side, diagonal, beta, *others):
        library.walk_all(len(side), len(beta), T, T_b, side, diagonal, beta, *others)

    return SimpleNamespace(smo=smo, walk_all=walk_all)
