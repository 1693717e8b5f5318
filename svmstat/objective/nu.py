"""The 2ν parameters: fractions of margin errors and support vectors in the place of a cost [004].

    min_α ½ α'Qα    s.t.  0 ≤ α_i ≤ γ w_i / n (events), (1 − γ) w_i / n (others),  Σ_{y=+1} α = Σ_{y=−1} α = ν/2
    ν = 2ν₊ν₋n₊n₋ / ((ν₊n₊ + ν₋n₋) n),   γ = ν₋n₋ / (ν₊n₊ + ν₋n₋)

with n₊, n₋ the sums of the weights of the classes and n = n₊ + n₋. The weight of the margin errors of a class is at
most ν₊n₊ or ν₋n₋ and that of its support vectors at least as much, unless the solution is h = 0 [004: Proposition 1];
there is a solution if and only if ν₊ and ν₋ do not exceed one [004: Proposition 3]. It is that of the cost C = 1/(ρn)
with class weights γ and 1 − γ [004: Theorem 2].

The ordinary ν-SVM, with bounds w_i/n and Σα = ν, has γ = ½, ν₊ = νn/(2n₊) and ν₋ = νn/(2n₋): its ν is twice that above.
"""

import numbers
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from svmstat._tools.arrays import Floats
from svmstat._tools.checks import fraction, is_real, refuse
from svmstat.errors import ArgumentError

_ALLOWED = "a number in (0, 1], or two of them, for the event and for the other level"

_LEAST = 1e-100
"""Of smaller numbers squares and quotients are none that a double can hold."""


@dataclass(frozen=True, slots=True)
class Nu:
    """The parameters for a sample; they stay as they are when a row is left out, or rows are drawn again.

    Attributes
    ----------
    event, other : ν₊ and ν₋
    n_event, n_other : sums n₊ and n₋ of the case weights
    single : whether they are those of a single ν

    Examples
    --------
    >>> nu = Nu(0.5, 0.25, 40.0, 60.0)
    >>> round(nu.total, 4), round(nu.gamma, 4)
    (0.0857, 0.4286)
    """

    event: float
    other: float
    n_event: float
    n_other: float
    single: bool = field(default=False, kw_only=True, repr=False)

    @property
    def n(self) -> float:
        """n = Σw."""
        return self.n_event + self.n_other

    @property
    def gamma(self) -> float:
        """γ = ν₋n₋ / (ν₊n₊ + ν₋n₋), the weight of the events."""
        event, other = self.event * self.n_event, self.other * self.n_other
        return other / (event + other)

    @property
    def gamma_other(self) -> float:
        """1 − γ, the weight of the others, with the digits that a difference would lose where γ is nearly one."""
        event, other = self.event * self.n_event, self.other * self.n_other
        return event / (event + other)

    @property
    def total(self) -> float:
        """ν/2, the sum of α over either class."""
        event, other = self.event * self.n_event, self.other * self.n_other
        return event * other / ((event + other) * self.n)

    def of(self, n_event: float, n_other: float) -> "Nu":
        """What the same argument is for other sums, both > 0: a single ν is one of all rows.

        Examples
        --------
        >>> nu_of_sample(0.5, np.array([1.0, 1.0, 1.0, -1.0]), np.ones(4)).of(2.0, 1.0)
        Nu(event=0.375, other=0.75, n_event=2.0, n_other=1.0)
        """
        if not self.single:
            return Nu(self.event, self.other, n_event, n_other)
        each = self.event * self.n_event / self.n * (n_event + n_other)
        return Nu(each / n_event, each / n_other, n_event, n_other, single=True)

    def cost(self, rho: float) -> float:
        """C = 1/(ρn) of the equivalent problem, infinite where ρ = 0."""
        return 1.0 / (rho * self.n) if rho > 0.0 else np.inf


def check_nu(nu: Any) -> float | tuple[float, float]:
    """The argument ``nu``: one number or two in (0, 1].

    Examples
    --------
    >>> check_nu([0.5, 1])
    (0.5, 1.0)
    """
    if is_real(nu):
        return _large_enough("nu", fraction("nu", nu))
    if isinstance(nu, str | bytes) or not isinstance(nu, Sequence | np.ndarray) or np.shape(nu) != (2,):
        raise refuse("nu", nu, _ALLOWED)
    if not all(isinstance(value, numbers.Real) for value in nu):
        raise refuse("nu", nu, _ALLOWED)
    event, other = (fraction(f"nu[{k}]", nu[k].item() if isinstance(nu[k], np.generic) else nu[k]) for k in (0, 1))
    return _large_enough("nu[0]", event), _large_enough("nu[1]", other)


def _large_enough(name: str, value: float) -> float:
    if value < _LEAST:
        raise refuse(name, value, f"at least {_LEAST:g}: below the share of one row a smaller nu changes nothing")
    return value


def largest_single(n_event: float, n_other: float) -> float:
    """The largest ν for which the ordinary ν-SVM has a solution, for sums n₊ and n₋ of the case weights."""
    return 2.0 * min(n_event, n_other) / (n_event + n_other)


def nu_of_sample(nu: float | tuple[float, float], y: Floats, weights: Floats) -> Nu:
    """ν₊ and ν₋ for labels y (n,) and case weights (n,).

    Raises
    ------
    ArgumentError
        For a single ν that exceeds twice the share of the smaller class: there is no solution then.

    Examples
    --------
    >>> nu_of_sample(0.5, np.array([1.0, 1.0, 1.0, -1.0]), np.ones(4))
    Nu(event=0.333..., other=1.0, n_event=3.0, n_other=1.0)
    """
    n_event, n_other = float(weights[y > 0].sum()), float(weights[y < 0].sum())
    if isinstance(nu, tuple):
        return Nu(*nu, n_event, n_other)
    n, most = n_event + n_other, largest_single(n_event, n_other)
    if nu > most * (1.0 + 1e-12):
        raise ArgumentError(
            f"nu={nu!r} is not allowed: a single nu is at most twice the share of the smaller class, here {most:.6g}, "
            "because half of it is the share of margin errors of either class in all rows. Two numbers, "
            "nu=(nu_event, nu_other), are fractions of each class and may be anything in (0, 1]."
        )
    event, other = (min(nu * n / (2.0 * total), 1.0) for total in (n_event, n_other))
    return Nu(event, other, n_event, n_other, single=True)
