"""Class probabilities p_1 … p_K from the pairwise ones, r_ij = P(class i | class i or j).

References: Hastie & Tibshirani (1998), Classification by pairwise coupling, Annals of Statistics 26; Wu, Lin & Weng
(2004), Probability estimates for multi-class classification by pairwise coupling, J. Machine Learning Research 5.
"""

import numpy as np

from svmstat._tools.arrays import Floats
from svmstat._tools.checks import one_of
from svmstat._tools.compiled import compiled
from svmstat.calibration.exponential import exp_of_negative

METHODS = ("wu-lin-weng", "hastie-tibshirani")

_ROUNDING = 1e-14
"""Terms that differ by no larger a share of them are equal but for rounding."""

_LEAST = 1e-30
"""The least n_ij r_ij of Hastie and Tibshirani's coupling, n_ij ≤ 1: with it the infimum is attained, at p > 0."""

_SWEEPS = 2
_MOST_STEPS = 200
_LONG = 0.5
"""A step by which the differences of log p change by less is sure to lower the divergence."""

_LAST = 1e-7
"""Newton's steps shrink quadratically: after one of this length in log p nothing is left to gain."""


def couple(r: Floats, method: str = "wu-lin-weng", weights: Floats | None = None) -> Floats:
    """The class probabilities that agree best with the pairwise ones.

    "wu-lin-weng" (their second approach) minimises ½ Σ_i Σ_{j≠i} (r_ji p_i − r_ij p_j)² over Σ p = 1,
    "hastie-tibshirani" minimises the divergence Σ_{i<j} n_ij [r_ij log(r_ij / μ_ij) + r_ji log(r_ji / μ_ji)] with
    μ_ij = p_i / (p_i + p_j).

    Parameters
    ----------
    r : (m, K, K) pairwise probabilities, r_ij + r_ji = 1; the diagonal is ignored
    method : one of METHODS
    weights : (K, K) or (m, K, K) numbers of rows of the pairs, n_ij = n_ji ≥ 0, for "hastie-tibshirani"; ones if not
        given

    Returns
    -------
    (m, K) array
        Rows sum to one; NaN where a pairwise probability of the row is NaN. Two classes have r_12 and r_21.

    Examples
    --------
    >>> p = np.array([0.7, 0.2, 0.1])
    >>> r = p[:, None] / (p[:, None] + p)
    >>> couple(r[None]).round(12)
    array([[0.7, 0.2, 0.1]])
    >>> couple(r[None], "hastie-tibshirani").round(12)
    array([[0.7, 0.2, 0.1]])
    """
    one_of("method", method, METHODS)
    n_classes = r.shape[1]
    pairs = ~np.eye(n_classes, dtype=bool)
    r = np.ascontiguousarray(r, dtype=np.float64)
    known = _known(r)
    complete = r if known.all() else r[known]
    p = np.full(r.shape[:2], np.nan)
    if n_classes == 2:
        p[known] = complete[:, [0, 1], [1, 0]]
    elif method == "wu-lin-weng":
        p[known] = _wu_lin_weng(complete)
    else:
        counts = np.where(pairs, 1.0 if weights is None else weights, 0.0)
        counts = np.broadcast_to(counts, r.shape)[known]
        p[known] = _hastie_tibshirani(complete, counts / counts.max(axis=(1, 2), keepdims=True))
    return p


@compiled()
def pairwise(z, n_classes):
    """r (m, K, K) with r_ij = 1/(1 + exp(z_p)) for the pairs i < j in their order, z (m, P); ½ on the diagonal."""
    r = np.empty((z.shape[0], n_classes, n_classes))
    for row in range(z.shape[0]):
        _of_pairs(z[row], r[row])
    return r


@compiled(inside=True, borrowing=True)
def _of_pairs(z, r):
    """Fill the r (K, K) of z (P,); whether no z is NaN."""
    p, known = 0, True
    for i in range(r.shape[0]):
        r[i, i] = 0.5
        for j in range(i + 1, r.shape[0]):
            small = np.exp(-abs(z[p]))
            large = 1.0 / (1.0 + small)
            small *= large
            r[i, j], r[j, i] = (small, large) if z[p] >= 0.0 else (large, small)
            known &= not np.isnan(z[p])
            p += 1
    return known


@compiled()
def _known(r):
    """(m,) whether r (m, K, K) has no NaN off the diagonal."""
    known = np.ones(r.shape[0], np.bool_)
    for row in range(r.shape[0]):
        for i in range(r.shape[1]):
            for j in range(r.shape[1]):
                if i != j and np.isnan(r[row, i, j]):
                    known[row] = False
    return known


@compiled()
def coupled_by_squares(z, n_classes):
    """p (m, K) by "wu-lin-weng", as of `couple` and `pairwise`, without an array of all r; NaN where z (m, P) is."""
    p, r = np.empty((z.shape[0], n_classes)), np.empty((n_classes, n_classes))
    order, system = np.empty(n_classes, np.int64), np.empty((n_classes, n_classes + 1))
    for row in range(z.shape[0]):
        if _of_pairs(z[row], r):
            _least_squares(r, p[row], order, system)
        else:
            for i in range(n_classes):
                p[row, i] = np.nan
    return p


@compiled()
def _wu_lin_weng(r):
    """p (m, K) for r (m, K, K)."""
    n_classes = r.shape[1]
    p, order, system = np.empty(r.shape[:2]), np.empty(n_classes, np.int64), np.empty((n_classes, n_classes + 1))
    for row in range(r.shape[0]):
        _least_squares(r[row], p[row], order, system)
    return p


@compiled(inside=True, borrowing=True)
def _least_squares(r, p, order, system):
    """The solution p (K,) of Q p = λ e, e'p = 1, with Q_ii = Σ_{j≠i} r_ji² and Q_ij = −r_ij r_ji, for r (K, K).

    The class k of least Q_kk, which loses least, is taken out: with p_k = 1 the others are u + λ v where A u = −Q_·k,
    A v = e and A is Q without k. However near r is to 0, to 1 or to consistency, A is well conditioned. It is positive
    definite with no positive element off its diagonal, so that the elimination keeps all signs: u and v are sums of
    positive terms, and small probabilities keep their digits. So does λ Σ p = p'Qp, as a sum of squares, of which those
    that are rounding are zero: they would be 1e-34, and that a probability.

    Of order (K,) k becomes the last; system (K, K + 1) is A, its upper half, with u and v in the last two columns.
    """
    last = r.shape[0] - 1
    _write_system(r, p, order, system)
    _solve(system)
    squares, sum_u, sum_v = 0.0, 0.0, 0.0
    for i in range(last + 1):
        for j in range(i):
            one, other_one = r[order[j], order[i]] * system[i, last], r[order[i], order[j]] * system[j, last]
            if abs(one - other_one) > _ROUNDING * max(one, other_one):
                squares += (one - other_one) ** 2
        sum_u += system[i, last]
        sum_v += system[i, last + 1]
    multiplier = squares / sum_u
    total = sum_u + multiplier * sum_v
    for i in range(last + 1):
        p[order[i]] = (system[i, last] + multiplier * system[i, last + 1]) / total


@compiled(inside=True, borrowing=True)
def _write_system(r, losses, order, system):
    """Fill losses (K,), Q_ii, and what is eliminated, with p_k = 1 in the last row."""
    last, k = r.shape[0] - 1, 0
    for i in range(last + 1):
        order[i], losses[i] = i, 0.0
        for j in range(last + 1):
            if j != i:
                losses[i] += r[j, i] ** 2
        if losses[i] < losses[k]:
            k = i
    order[k], order[last] = last, k
    for i in range(last):
        own = order[i]
        for j in range(i + 1, last):
            system[i, j] = -r[own, order[j]] * r[order[j], own]
        system[i, i], system[i, last], system[i, last + 1] = losses[own], r[own, k] * r[k, own], 1.0
    system[last, last], system[last, last + 1] = 1.0, 0.0


@compiled(inside=True, borrowing=True)
def _solve(system):
    """A^{-1} of the last two columns, in their place, but for their last row; of A the upper half is read."""
    last = system.shape[0] - 1
    for j in range(last):
        for i in range(j + 1, last):
            ratio = system[j, i] / system[j, j]
            for other in range(i, last + 2):
                system[i, other] -= ratio * system[j, other]
    for i in range(last - 1, -1, -1):
        for j in range(i + 1, last):
            system[i, last] -= system[i, j] * system[j, last]
            system[i, last + 1] -= system[i, j] * system[j, last + 1]
        system[i, last] /= system[i, i]
        system[i, last + 1] /= system[i, i]


@compiled()
def _hastie_tibshirani(r, weights):
    """The minimiser p (m, K) of the weighted divergence, for r and weights (m, K, K), these of at most one.

    It works on β = log p, so that no probability underflows, from the mean log odds of each class, which is right for
    consistent r. A few of the authors' iterations come first, p_i ← p_i Σ_j n_ij r_ij / Σ_j n_ij μ_ij, whose fixed
    point is the minimiser. They would crawl where r is near 0 or 1: Newton's method finishes.
    """
    n_rows, n_classes = r.shape[:2]
    p = np.empty((n_rows, n_classes))
    won, beta, step = np.empty((n_classes, n_classes)), np.empty(n_classes), np.empty(n_classes)
    flow, slack = np.empty((n_classes, n_classes)), np.empty((n_classes, n_classes))
    for row in range(n_rows):
        for i in range(n_classes):
            for j in range(n_classes):
                won[i, j] = max(weights[row, i, j] * r[row, i, j], _LEAST) if j != i else 0.0
        for i in range(n_classes):
            beta[i] = 0.0
            for j in range(n_classes):
                if j != i:
                    beta[i] += np.log(won[i, j] / won[j, i]) / n_classes
        for _ in range(_SWEEPS):
            _iterate(won, beta)
        for _ in range(_MOST_STEPS):
            _derivatives(won, beta, flow, slack)
            length = _newton_step(flow, slack, step)
            beta += _share(won, beta, step, length) * step
            if length <= _LAST:
                break
        p[row] = np.exp(beta - beta.max())
        p[row] /= p[row].sum()
    return p


@compiled(inside=True)
def _iterate(won, beta):
    """Each class in turn to where it wins what it should, given the others; won_ij = n_ij r_ij (K, K), beta (K,)."""
    for i in range(beta.shape[0]):
        wins, expected = 0.0, 0.0
        for j in range(beta.shape[0]):
            if j != i:
                small = exp_of_negative(-abs(beta[i] - beta[j]))
                mu = (1.0 if beta[i] >= beta[j] else small) / (1.0 + small)
                wins += won[i, j]
                expected += (won[i, j] + won[j, i]) * mu
        beta[i] += np.log(wins / expected)


@compiled(inside=True, inline="always")
def _excess(won_ij, won_ji, difference):
    """n_ij (μ_ij − r_ij) without cancellation, and n_ij μ_ij μ_ji, for the difference β_i − β_j."""
    small = exp_of_negative(-abs(difference))
    large = 1.0 / (1.0 + small)
    small *= large
    mu_ij, mu_ji = (large, small) if difference >= 0.0 else (small, large)
    return won_ji * mu_ij - won_ij * mu_ji, (won_ij + won_ji) * small * large


@compiled(inside=True)
def _derivatives(won, beta, flow, slack):
    """By each β_i − β_j, j < i, the first and second derivative of the divergence; all (K, K)."""
    for i in range(beta.shape[0]):
        for j in range(i):
            flow[i, j], slack[i, j] = _excess(won[i, j], won[j, i], beta[i] - beta[j])


@compiled(inside=True)
def _newton_step(flow, slack, step):
    """Newton's step in β, with β_1 fixed; returns by how much the differences of β change at most.

    Σ_j [flow_ij + slack_ij (step_i − step_j)] = 0 is Kirchhoff's law of a network of conductances. A class leaves it as
    a node does, by the star-mesh transform, which subtracts no conductances: classes tied by r of 1e-20 keep their
    digits beside classes tied by ½. Only j < i is read, and overwritten.
    """
    for k in range(step.shape[0] - 1, 0, -1):
        total = slack[k, :k].sum()
        for i in range(k):
            to_i, from_i = slack[k, i] / total, flow[k, i]
            for j in range(i):
                slack[i, j] += to_i * slack[k, j]
                flow[i, j] += to_i * flow[k, j] - from_i * slack[k, j] / total
        for j in range(k):
            slack[k, j] /= total
            flow[k, j] /= total
    step[0] = 0.0
    for k in range(1, step.shape[0]):
        step[k] = 0.0
        for j in range(k):
            step[k] += slack[k, j] * step[j] - flow[k, j]
    return step.max() - step.min()


@compiled(inside=True)
def _share(won, beta, step, length):
    """How much of the step to take, with the divergence falling all the way.

    It has |φ'''| ≤ length φ'' along the step, hence φ' ≤ 0 up to log(1 + length) / length. From there the share doubles
    as long as φ' < 0, as it should where μ is near 0 or 1 and Newton's steps are short.
    """
    if length <= _LONG:
        return 1.0
    share = np.log1p(length) / length
    while 2.0 * share * length < 1e4 and _slope(won, beta, step, 2.0 * share) < 0.0:
        share *= 2.0
    return share


@compiled(inside=True)
def _slope(won, beta, step, share):
    """The derivative φ' of the divergence along the step, at a share of it."""
    total = 0.0
    for i in range(beta.shape[0]):
        for j in range(i):
            change = step[i] - step[j]
            total += _excess(won[i, j], won[j, i], beta[i] - beta[j] + share * change)[0] * change
    return total
