"""Kernels: each an object with its formula in the docstring; gram and cross-gram matrices; the width γ."""

from svmstat.kernels.base import Kernel, Rows, gram
from svmstat.kernels.centred import centred_gram
from svmstat.kernels.formulas import RBF, Linear, Polynomial, Spline
from svmstat.kernels.gamma import resolve_gamma
from svmstat.kernels.given import CustomKernel, Precomputed
from svmstat.kernels.gram_checks import check_gram, clearly_indefinite, warn_if_indefinite
from svmstat.kernels.make import make_kernel

__all__ = [
    "RBF",
    "CustomKernel",
    "Kernel",
    "Linear",
    "Polynomial",
    "Precomputed",
    "Rows",
    "Spline",
    "centred_gram",
    "check_gram",
    "clearly_indefinite",
    "gram",
    "make_kernel",
    "resolve_gamma",
    "warn_if_indefinite",
]
