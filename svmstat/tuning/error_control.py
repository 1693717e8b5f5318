"""The two criteria that control errors without costs: minimax and Neyman–Pearson [004: 3, 4]."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from svmstat._tools.arrays import Floats
from svmstat._tools.checks import between, refuse
from svmstat._tools.keywords import helpful
from svmstat.tuning.scores import first_least

_SAME = 1e-12
"""Error rates are shares of weights: a difference below this is rounding."""
_HALF = 0.5
_NO_THRESHOLD = "left out without delta, there being no threshold to set"


@dataclass(frozen=True, slots=True)
class Minimax:
    """The criterion that makes the larger of the two error rates as small as possible [004: 3]; made by `minimax`."""

    def __str__(self) -> str:
        return "minimax"

    @property
    def name(self) -> str:
        """What tables and figures call the score, the number that is made as small as possible."""
        return "max(P_F, P_M)"

    def score(self, p_f: Floats, p_m: Floats) -> Floats:
        """max(P_F, P_M) for arrays of any shape."""
        return np.maximum(p_f, p_m)

    def violated(self, p_f: Floats) -> NDArray[np.bool_]:
        """Where the constraint is violated: nowhere, as there is none."""
        return np.zeros(np.shape(p_f), bool)


@dataclass(frozen=True, slots=True)
class NeymanPearson:
    """The criterion of fewest misses with false alarms of at most the rate a [004: 4]; made by `neyman_pearson`.

    Attributes
    ----------
    a : the level
    delta : with which probability P_F may exceed it, None if nothing is guaranteed
    holdout : the share of the rows of the other level that set the threshold then, or "loo": each of them, left out
    """

    a: float
    delta: float | None = None
    holdout: float | str = _HALF

    def __str__(self) -> str:
        guarantee = "" if self.delta is None else f", delta = {self.delta:g}"
        return f"Neyman-Pearson, a = {self.a:g}{guarantee}{' (approximate)' if self.by_loo else ''}"

    @property
    def by_loo(self) -> bool:
        """Whether the threshold is set by leave-one-out values."""
        return self.delta is not None and self.holdout == "loo"

    @property
    def name(self) -> str:
        """What tables and figures call the score, made as small as possible among points with P_F ≤ a, or among all."""
        return f"Neyman-Pearson score at {self.a:g}"

    def score(self, p_f: Floats, p_m: Floats) -> Floats:
        """max(P_F − a, 0)/a + P_M for arrays of any shape [004: 6]; P_M where the constraint holds."""
        return np.maximum(p_f - self.a, 0.0) / self.a + p_m

    def violated(self, p_f: Floats) -> NDArray[np.bool_]:
        """Where the constraint is violated: P_F > a."""
        return np.asarray(p_f > self.a + _SAME)


@helpful
def minimax() -> Minimax:
    """The criterion max(P_F, P_M) for `tune`: false alarms and misses alike, whatever the classes' shares.

    P_F = P(f > 0 | other level) and P_M = P(f ≤ 0 | event).

    Examples
    --------
    >>> str(minimax())
    'minimax'
    """
    return Minimax()


@helpful
def neyman_pearson(a: float, delta: float | None = None, *, holdout: float | str = _HALF) -> NeymanPearson:
    """The criterion for `tune` that false alarms have at most the rate ``a``, misses being as few as that allows.

    Parameters
    ----------
    a : float
        In (0, 1), the level of P_F = P(f > 0 | other level).
    delta : float, optional
        In (0, 1). If given, a part of the rows of the other level is held out, and the threshold on f is set on them so
        that P(P_F > a) ≤ delta, whatever the distribution: see `svmstat.tuning.guarantee`. Otherwise P_F is
        controlled as far as its estimate by cross-validation goes.
    holdout : float or "loo"
        In (0, 1), the share of these rows that is held out; they are missing in `TuneResult.best`, whose
        probabilities of the event are too high by that. With "loo" none is: the threshold is set on the exact
        leave-one-out values of all of them, so that the fit has all rows and small samples will do. That is
        approximate: no theorem says P(P_F > a) ≤ delta then, and in simulations of small samples with a flexible
        truth it was above. It is refused where more than a tenth of these rows have the predictors of another row. Of
        n₋ such rows ν₋ is then at most 1 − 1/n₋, so that each can be left out.

    Returns
    -------
    NeymanPearson

    Raises
    ------
    ArgumentError
        For an argument outside (0, 1), and another holdout than ½ without delta.

    Examples
    --------
    >>> str(neyman_pearson(0.1, delta=0.05))
    'Neyman-Pearson, a = 0.1, delta = 0.05'
    """
    level, checked = between("a", a, 0.0, 1.0), None if delta is None else between("delta", delta, 0.0, 1.0)
    if not isinstance(holdout, str):
        share = between("holdout", holdout, 0.0, 1.0)
        if delta is None and share != _HALF:
            raise refuse("holdout", holdout, _NO_THRESHOLD)
        return NeymanPearson(level, checked, share)
    if holdout != "loo":
        raise refuse("holdout", holdout, "a number between 0 and 1, both excluded, or 'loo'")
    if checked is None:
        raise refuse("holdout", holdout, _NO_THRESHOLD)
    return NeymanPearson(level, checked, holdout)


def best_cell(criterion: Minimax | NeymanPearson, p_f: Floats, p_m: Floats) -> int:
    """The best of m cells, of those that keep the constraint if there are any.

    Equal scores are decided by P_F + P_M, then by the order of the cells. NaN is no candidate.

    Parameters
    ----------
    criterion : what is made as small as possible
    p_f, p_m : (m,) error rates

    Returns
    -------
    int
        −1 if all are NaN.

    Examples
    --------
    >>> best_cell(neyman_pearson(0.1), np.array([0.0, 0.1, 0.2]), np.array([0.5, 0.4, 0.1]))
    1
    """
    unknown = np.isnan(p_f + p_m)
    violated = np.where(unknown, np.nan, criterion.violated(p_f))
    return first_least([(violated, 0.0), (criterion.score(p_f, p_m), _SAME), (p_f + p_m, _SAME)])
