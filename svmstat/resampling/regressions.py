"""Refits of regressions of classes, logistic or with another link, without some of their rows: Newton's method for all.

The model of class j at x is P(j | x) = π_j(η), η = x'β + offset with M linear predictors, and β maximises

    Σ_i w_i log π_{y_i}(η_i) − ½ Σ_m β_m' S β_m

with S the penalty of an additive model, fixed as it was. Each refit sets off from the β of all rows, and many of them
take a step together: their Hessians are sums of the products x_i x_i' with weights of their own, that is one product
of matrices. This is iteratively reweighted least squares; of a link that is no logit with the expected information.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from svmstat._tools.arrays import Codes, Floats
from svmstat._tools.doubles import EPS

_STEPS, _HALVINGS = 35, 30
"""Where the classes can be separated there is no maximum: every step moves η by one, and the last one is the end."""

_SETTLED = 1e-10
"""A refit has converged when a step moves no η by more, relative to 1 + max |η| ..."""

_FLAT, _APART = 1e-20, 0.5
"""... or when it promises a smaller gain, by rounding alone, and moves η by less than separated classes do."""

_ROOM = 2**18
"""Numbers in memory at a time."""


class Link(Protocol):
    """How probabilities of classes follow from M linear predictors."""

    def judge(self, eta: Floats, codes: Codes) -> tuple[Floats, Floats, Floats]:
        """The log-likelihood (..., n), its gradient in η (..., n, M) and the expected information (..., n, M, M)."""

    def probabilities(self, eta: Floats) -> Floats:
        """Those of all classes (..., M + 1) for η (..., M)."""


class Logits:
    """Each class against the first: π_j ∝ exp(η_j), η_0 = 0.

    Examples
    --------
    >>> Logits().probabilities(np.log([[1.0, 2.0]])).round(3)
    array([[0.25, 0.25, 0.5 ]])
    """

    def judge(self, eta: Floats, codes: Codes) -> tuple[Floats, Floats, Floats]:
        """The log-likelihood, its gradient and the information."""
        if eta.shape[-1] == 1:
            z = np.where(codes == 1, 1.0, -1.0) * eta[..., 0]
            p = expit(eta)
            own = np.minimum(z, 0.0) - np.log1p(np.exp(-np.abs(z)))
            return own, (codes[:, None] == 1) - p, (p * (1.0 - p))[..., None]
        log_p = self._logs(eta)
        p = np.exp(log_p[..., 1:])
        own = np.take_along_axis(log_p, np.broadcast_to(codes[:, None], (*log_p.shape[:-1], 1)), axis=-1)[..., 0]
        gradient = (codes[:, None] == np.arange(1, log_p.shape[-1])) - p
        information = p[..., None] * (np.eye(p.shape[-1]) - p[..., None, :])
        return own, gradient, information

    def probabilities(self, eta: Floats) -> Floats:
        """Of all classes."""
        return np.asarray(np.exp(self._logs(eta)))

    @staticmethod
    def _logs(eta: Floats) -> Floats:
        full = np.concatenate([np.zeros_like(eta[..., :1]), eta], axis=-1)
        full -= full.max(axis=-1, keepdims=True)
        return np.asarray(full - np.log(np.exp(full).sum(axis=-1, keepdims=True)))


@dataclass(frozen=True, slots=True)
class Inverse:
    """P(second of two classes) = g⁻¹(η).

    Attributes
    ----------
    link : an object with ``inverse`` and ``inverse_deriv``, as the links of statsmodels have
    """

    link: Any

    def judge(self, eta: Floats, codes: Codes) -> tuple[Floats, Floats, Floats]:
        """The log-likelihood, its gradient and the expected information."""
        mu, slope = self._mean(eta), np.asarray(self.link.inverse_deriv(eta))
        variance = mu * (1.0 - mu)
        own = np.log(np.where(codes == 1, mu[..., 0], 1.0 - mu[..., 0]))
        gradient = (codes[:, None] - mu) * slope / variance
        return own, gradient, (slope**2 / variance)[..., None]

    def probabilities(self, eta: Floats) -> Floats:
        """Of both classes."""
        mu = self._mean(eta)
        return np.concatenate([1.0 - mu, mu], axis=-1)

    def _mean(self, eta: Floats) -> Floats:
        """Kept off 0 and 1, where the likelihood has no logarithm."""
        return np.clip(np.asarray(self.link.inverse(eta)), EPS, 1.0 - EPS)


@dataclass(frozen=True, slots=True)
class Regression:
    """A fitted regression of K classes.

    Attributes
    ----------
    X : (n, p) design
    codes : (n,) classes 0 … K − 1
    weights : (n,) case weights ≥ 0
    offset : (n,)
    penalty : (p, p) S
    link : how probabilities follow from X params + offset
    params : (p, M) coefficients
    """

    X: Floats
    codes: Codes
    weights: Floats
    offset: Floats
    penalty: Floats
    link: Link
    params: Floats

    def eta(self, params: Floats) -> Floats:
        """The linear predictors (B, n, M) for coefficients (B, p, M)."""
        return np.asarray(self.X @ params + self.offset[:, None])


@dataclass(frozen=True, slots=True)
class Refits:
    """B refits.

    Attributes
    ----------
    params : (B, p, M) coefficients
    converged : (B,) whether they are at the maximum; those that are not are where the last step has led
    """

    params: Floats
    converged: NDArray[np.bool_]


def well_posed(model: Regression) -> Regression:
    """The same model with a design whose r ≤ p columns are uncorrelated, and of mean square one, over rows that count.

    Columns that depend on others are lost, which no unpenalised prediction notices; with a penalty they must not be
    there.
    """
    used = model.weights > 0
    lengths = np.linalg.norm(model.X[used], axis=0)
    lengths[lengths == 0.0] = 1.0
    _, size, V = np.linalg.svd(model.X[used] / lengths, full_matrices=False)
    rank = int(np.count_nonzero(size > size[0] * EPS * max(model.X.shape)))
    stretch = size[:rank] / np.sqrt(np.count_nonzero(used))
    T = V[:rank].T / stretch / lengths[:, None]
    params = stretch[:, None] * (V[:rank] @ (lengths[:, None] * model.params))
    return replace(model, X=model.X @ T, penalty=T.T @ model.penalty @ T, params=params)


def refit(model: Regression, weights: Floats) -> Refits:
    """Maximise the likelihood for other case weights (B, n), from the coefficients of the model.

    Examples
    --------
    The mean of one class without each row:

    >>> X, codes = np.ones((4, 1)), np.array([0, 1, 1, 0])
    >>> model = Regression(X, codes, np.ones(4), np.zeros(4), np.zeros((1, 1)), Logits(), np.zeros((1, 1)))
    >>> found = refit(model, 1.0 - np.eye(4))
    >>> model.link.probabilities(found.params[:, 0]).round(4)[:, 1].tolist(), bool(found.converged.all())
    ([0.6667, 0.3333, 0.3333, 0.6667], True)
    """
    B, p = len(weights), len(model.params)
    products = (model.X[:, :, None] * model.X[:, None, :]).reshape(-1, p * p)
    params, converged, active = np.tile(model.params, (B, 1, 1)), np.zeros(B, bool), np.arange(B)
    here, before = _judged(model, weights, params), np.zeros(B)
    for _ in range(_STEPS):
        w, step, gain = weights[active], *_newton_steps(model, weights[active], here, products)
        change = model.X @ step
        moved = np.abs(change).max(axis=(1, 2))
        remaining = moved**2 / np.maximum(np.maximum(moved, before), np.finfo(float).tiny)
        done = remaining <= _SETTLED * (1.0 + np.abs(here.eta).max(axis=(1, 2)))
        done |= (gain <= _FLAT) & (moved <= _APART)
        converged[active[done]] = True
        params[active[done]] = here.params[done] + step[done]
        active, before, here = active[~done], moved[~done], _climbed(model, w[~done], here.only(~done), step[~done])
        params[active] = here.params
        if len(active) == 0:
            break
    return Refits(params, converged)


def left_out(
    model: Regression, lots: Sequence[Codes], copies: Sequence[Floats]
) -> tuple[list[Floats], NDArray[np.bool_]]:
    """The probabilities (m, K) of each of B lots of m rows by the refit that lacks these copies (m,) of them.

    Returns
    -------
    probabilities
        NaN where the refit has lost a class.
    converged : (B,)
    """
    model = replace(model, X=np.require(model.X, requirements="A"))  # as a backend may not leave it: other last digits
    weights = np.tile(model.weights, (len(lots), 1))
    for row, lot, gone in zip(weights, lots, copies, strict=True):
        row[lot] -= gone
    present = np.unique(model.codes[model.weights > 0])
    lost = np.column_stack([weights[:, model.codes == code].sum(axis=1) <= 0 for code in present])
    whole = ~lost.any(axis=1)
    found = refit(model, weights[whole])
    sizes = [len(lot) for lot in lots]
    of_row = np.repeat(np.cumsum(whole) - 1, sizes)
    there, rows = np.repeat(whole, sizes), np.concatenate(lots)
    eta = np.einsum("ip,ipm->im", model.X[rows[there]], found.params[of_row[there]]) + model.offset[rows[there], None]
    probability = np.full((len(rows), model.params.shape[1] + 1), np.nan)
    probability[there] = model.link.probabilities(eta)
    converged = np.zeros(len(lots), bool)
    converged[whole] = found.converged
    return np.split(probability, np.cumsum(sizes)[:-1]), converged


def refits_per_task(model: Regression) -> int:
    """How many refits of a model take their steps together."""
    (n, p), M = model.X.shape, model.params.shape[1]
    return max(1, _ROOM // (n * (M + 1) ** 2 + (p * M) ** 2))


@dataclass(frozen=True, slots=True)
class _Judged:
    """Coefficients (B, p, M) with η (B, n, M), penalised log-likelihood (B,), gradient and information of the rows."""

    params: Floats
    eta: Floats
    value: Floats
    gradient: Floats
    information: Floats

    def only(self, which: NDArray[np.bool_]) -> "_Judged":
        return _Judged(*(getattr(self, each.name)[which] for each in fields(self)))


def _judged(model: Regression, weights: Floats, params: Floats) -> _Judged:
    eta = model.eta(params)
    own, gradient, information = model.link.judge(eta, model.codes)
    likelihood = np.where(weights > 0, weights * own, 0.0).sum(axis=1)
    value = likelihood - 0.5 * (params * (model.penalty @ params)).sum(axis=(1, 2))
    return _Judged(params, eta, value, gradient, information)


def _newton_steps(model: Regression, weights: Floats, here: _Judged, products: Floats) -> tuple[Floats, Floats]:
    """Steps (B, p, M) and what they promise (B,); a curvature that vanishes among others is kept off zero."""
    B, p, M = here.params.shape
    score = model.X.T @ (weights[..., None] * here.gradient) - model.penalty @ here.params
    H = np.empty((B, M, p, M, p))
    for m in range(M):
        for k in range(m + 1):
            block = ((weights * here.information[..., m, k]) @ products).reshape(B, p, p)
            H[:, m, :, k, :] = H[:, k, :, m, :] = block
        H[:, m, :, m, :] += model.penalty
    square = H.reshape(B, M * p, M * p)
    diagonal = np.einsum("bii->bi", square)
    diagonal += 1e-14 * diagonal.max(axis=1, keepdims=True) + np.finfo(float).tiny
    flat = np.linalg.solve(square, score.swapaxes(1, 2).reshape(B, M * p, 1))
    steps = np.asarray(flat.reshape(B, M, p).swapaxes(1, 2), np.float64)
    return steps, np.asarray((score * steps).sum(axis=(1, 2)))


def _climbed(model: Regression, weights: Floats, here: _Judged, step: Floats) -> _Judged:
    """Where the steps (B, p, M) lead, each halved until the likelihood is no lower."""
    least = here.value - 1e-12 * (1.0 + np.abs(here.value))
    length = np.ones(len(step))
    for _ in range(_HALVINGS):
        reached = _judged(model, weights, here.params + length[:, None, None] * step)
        worse = ~(reached.value >= least)
        if not worse.any():
            break
        length[worse] *= 0.5
    return reached
