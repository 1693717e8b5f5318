"""Kernels: each an object with its formula in the docstring, to be passed, added, scaled and put on columns.

`RBF`, `Laplace`, `Linear`, `Polynomial` and `Spline` have formulas, `CustomKernel` is a function, `Precomputed` a
matrix; `Sum`, `Scaled`, `On`, `Product`, `Centred` and `Normed` are made of others, and `Additive` of one for each term
of a formula; `Nystrom` approximates one.
"""

from svmstat.kernels.additive import Additive, Inherited, additive_kernel
from svmstat.kernels.base import Kernel, On, Scaled, Sum, family, gram
from svmstat.kernels.centred import Centred, centred_gram, values_between
from svmstat.kernels.columns import on_fewer_columns, on_other_columns
from svmstat.kernels.formulas import RBF, Linear, Polynomial, Spline
from svmstat.kernels.gamma import resolve_gamma
from svmstat.kernels.given import CustomKernel, Precomputed, called
from svmstat.kernels.gram_checks import NOT_CONVEX, check_gram, clearly_indefinite, warn_if_indefinite
from svmstat.kernels.laplace import Laplace
from svmstat.kernels.make import ARGUMENTS, arguments_of, make_kernel
from svmstat.kernels.names import KERNELS, named
from svmstat.kernels.nystrom import Nystrom
from svmstat.kernels.parameters import declared, is_rule, parameter
from svmstat.kernels.points import PointKernel
from svmstat.kernels.product import Normed, Product
from svmstat.kernels.rows import Rows

__all__ = [
    "ARGUMENTS",
    "KERNELS",
    "NOT_CONVEX",
    "RBF",
    "Additive",
    "Centred",
    "CustomKernel",
    "Inherited",
    "Kernel",
    "Laplace",
    "Linear",
    "Normed",
    "Nystrom",
    "On",
    "PointKernel",
    "Polynomial",
    "Precomputed",
    "Product",
    "Rows",
    "Scaled",
    "Spline",
    "Sum",
    "additive_kernel",
    "arguments_of",
    "called",
    "centred_gram",
    "check_gram",
    "clearly_indefinite",
    "declared",
    "family",
    "gram",
    "is_rule",
    "make_kernel",
    "named",
    "on_fewer_columns",
    "on_other_columns",
    "parameter",
    "resolve_gamma",
    "values_between",
    "warn_if_indefinite",
]
