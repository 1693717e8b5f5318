"""The functions h_t of an additive machine, f = b + Σ_t h_t."""

from dataclasses import dataclass
from functools import partial
from typing import cast

import numpy as np

from svmstat._tools.arrays import Codes, Floats
from svmstat.kernels import Additive
from svmstat.machine.fit import Machine
from svmstat.machine.groups import expansion
from svmstat.machine.pairs import Products, expanded, products_by


def kernel_of(machine: Machine) -> Additive:
    """The kernel of an additive machine."""
    return cast("Additive", machine.kernel)


def term_values(machine: Machine, X: Floats) -> Floats:
    """h_t(x) (m, P, T) for rows X (m, p): θ_t Σ_i α_i y_i K_t(x, x_i), zero where θ_t is.

    Examples
    --------
    >>> from svmstat.formula.smooth import TermColumns
    >>> from svmstat.kernels import RBF, additive_kernel
    >>> from svmstat.machine import contrasts, fit_machine
    >>> terms = [TermColumns(f"s({k})", "s", ((k,),), None, None, None, (), False) for k in range(2)]
    >>> X = np.random.default_rng(1).normal(size=(30, 2))
    >>> kernel = additive_kernel(terms, RBF()).resolve(X)
    >>> machine = fit_machine(kernel, X, (X[:, 0] > 0).astype(int), np.ones(30), contrasts([(1, 0)], "hinge"), C=1.0)
    >>> h = term_values(machine, X)
    >>> bool(abs(h.sum(axis=2) + machine.intercept - machine.decision_values).max() < 1e-12)
    True
    >>> bool(abs(h.mean(axis=0)).max() < 1e-12)
    True
    """
    support, coefficients, products = expanded(machine.pairs, machine.gram.n)
    kernel, rows = kernel_of(machine), machine.groups.first[support]
    h = np.zeros((len(X), len(machine.pairs), len(kernel.names)))
    for t in range(len(kernel.names)):
        h[:, :, t] = _expansion(machine, X, t, rows, coefficients, products)
    return h


def term_at(machine: Machine, t: int, X: Floats, pair: int, rows: Codes, coefficients: Floats) -> Floats:
    """h_t (m, B) of one pair at rows X (m, p) for other coefficients α y (B, S) of the groups ``rows`` (S,)."""
    products = partial(products_by, machine.pairs[pair].solution)
    return _expansion(machine, X, t, machine.groups.first[rows], coefficients.T, products)


@dataclass(frozen=True, slots=True)
class TermSizes:
    """How large the functions are.

    Attributes
    ----------
    norm : (P, T) ‖h_t‖ in the space of θ_t K_t: the squares of a pair add up to ‖h‖²
    sd : (P, T) weighted standard deviations of h_t over the rows, with the divisor Σw
    """

    norm: Floats
    sd: Floats


def term_sizes(machine: Machine) -> TermSizes:
    """Norms and standard deviations of the terms."""
    h, weights = term_values(machine, machine.X[machine.groups.first]), machine.groups.weights
    squares = np.zeros(h.shape[1:])
    for p, pair in enumerate(machine.pairs):
        squares[p] = pair.coefficients @ h[pair.rows, p]
    variances = np.einsum("i,ipt->pt", weights / weights.sum(), h**2)
    return TermSizes(np.sqrt(np.maximum(squares, 0.0)), np.sqrt(variances))


def _expansion(machine: Machine, X: Floats, t: int, rows: Codes, coefficients: Floats, products: Products) -> Floats:
    kernel = kernel_of(machine)
    if kernel.theta[t] == 0.0:
        return np.zeros((len(X), coefficients.shape[1]))
    return kernel.theta[t] * expansion(kernel.kernels[t], X, machine.X, rows, coefficients, products)
