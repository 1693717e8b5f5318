"""Problems of every awkward kind, and their solutions by another program."""

from types import SimpleNamespace

import numpy as np
import pytest
from programs import box_program

from svmstat import datasets
from svmstat.kernels import RBF, Linear, Polynomial, Precomputed, Spline
from svmstat.solver import BoxQP, Gram


def design(kind, n, rng):
    """(n, p) rows: in general position, with ties, of low rank, all zero, each one twice."""
    p = int(rng.integers(1, 6))
    match kind:
        case "normal":
            return rng.normal(size=(n, p))
        case "ties":
            return rng.integers(-1, 2, size=(n, p)).astype(float)
        case "factor":
            return np.eye(3)[rng.integers(0, 3, n)]
        case "factors":
            return np.hstack([np.eye(3)[rng.integers(0, 3, n)], np.eye(2)[rng.integers(0, 2, n)]])
        case "zero":
            return np.zeros((n, p))
        case "rank one":
            return np.outer(rng.normal(size=n), rng.normal(size=p))
        case "pairs":
            return np.repeat(rng.normal(size=((n + 1) // 2, p)), 2, axis=0)[:n]


def labels(kind, X, rng):
    """(n,) labels; the first two rows are of different classes."""
    n = len(X)
    match kind:
        case "random":
            y = rng.choice([-1.0, 1.0], n)
        case "separable":
            y = np.where(X @ rng.normal(size=X.shape[1]) > 0, 1.0, -1.0)
        case "rare":
            y = np.where(rng.random(n) < 0.1, 1.0, -1.0)
        case "noisy":
            y = np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return y


def uppers(kind, n, rng):
    """(n,) upper bounds: one number, spread over eight decades, with zeros, counts, tenths."""
    match kind:
        case "mixed":
            return 10 ** rng.uniform(-4, 4, n)
        case "zeros":
            return np.where(rng.random(n) < 0.4, 0.0, 10 ** rng.uniform(-1, 1, n))
        case "counts":
            return rng.poisson(1.0, n).astype(float)
        case "tenths":
            return rng.integers(0, 30, n) / 10
        case C:
            return np.full(n, float(C))


def kernel(name, X):
    """A kernel by a short name."""
    match name:
        case "linear":
            return Linear()
        case "rbf":
            return RBF(0.7)
        case "cubic":
            return Polynomial(0.5, 1.0, 3)
        case "square":
            return Polynomial(1.0, 0.0, 2)
        case "spline":
            return Spline(X.min(axis=0), X.max(axis=0))


@pytest.fixture(scope="session")
def kinds():
    """What the problems are drawn from."""
    return SimpleNamespace(
        design=("normal", "ties", "factor", "factors", "zero", "rank one", "pairs"),
        labels=("random", "separable", "rare", "noisy"),
        upper=("1e-4", "1e-2", "1", "100", "1e4", "mixed", "zeros", "counts", "tenths"),
        kernel=("linear", "rbf", "cubic", "square", "spline"),
        make_design=design,
        make_labels=labels,
        make_upper=uppers,
        make_kernel=kernel,
    )


@pytest.fixture(scope="session")
def draw_problem(kinds):
    """A function that makes a problem from a seed: n, design, labels, bounds, kernel and margins vary."""

    def draw(seed, n=None, **fixed):
        rng = np.random.default_rng(seed)
        n = n or int(rng.integers(2, 61))
        pick = {key: fixed.get(key) or str(rng.choice(getattr(kinds, key))) for key in
                ("design", "labels", "upper", "kernel")}  # fmt: skip
        X = design(pick["design"], n, rng)
        y = labels(pick["labels"], X, rng)
        upper = uppers(pick["upper"], n, rng)
        margin = np.ones(n)
        loss = fixed.get("loss") or str(rng.choice(["hinge", "hinge", "p0", "any"]))
        if loss == "p0":
            p0 = rng.uniform(0.05, 0.95)
            margin = np.where(y > 0, -np.log(p0) / (1 - p0), -np.log(1 - p0) / p0)
            upper = upper * np.where(y > 0, 2 * (1 - p0), 2 * p0)
        elif loss == "any":
            margin = rng.uniform(0.1, 3.0, n)
        gram = Gram(kernel(pick["kernel"], X).bind(X))
        return SimpleNamespace(qp=BoxQP(gram, y, margin, upper), X=X, rng=rng, pick=pick, loss=loss)

    return draw


@pytest.fixture(scope="session")
def plain_problem():
    """A function that makes a problem from a plain matrix."""

    def make(K, y, upper, margin=None):
        K, y = np.array(K, float), np.array(y, float)
        margin = np.ones(len(y)) if margin is None else np.array(margin, float)
        return BoxQP(Gram(Precomputed().bind(K)), y, margin, np.broadcast_to(upper, y.shape).astype(float))

    return make


@pytest.fixture(scope="session")
def dense_qp():
    """A function that minimises ½β'Kβ − s'β over the box and Σβ = 0 by an interior-point method (clarabel)."""

    def minimise(qp, upper=None):
        upper = qp.upper if upper is None else upper
        rows = np.flatnonzero(upper > 0)
        K, s = qp.gram.complete()[np.ix_(rows, rows)], qp.linear[rows]
        y, u = qp.signs[rows], upper[rows]
        lo, hi = np.where(y > 0, 0.0, -u), np.where(y > 0, u, 0.0)
        found = box_program(K, s, lo, hi)
        part = np.clip(found.values, lo, hi)
        positive, negative = part[part > 0].sum(), -part[part < 0].sum()
        least = min(positive, negative)  # exactly feasible again: Σβ = 0
        part = np.where(part > 0, part * least / max(positive, 1e-300), part * least / max(negative, 1e-300))
        beta = np.zeros(qp.n)
        beta[rows] = part
        return SimpleNamespace(beta=beta, objective=0.5 * part @ K @ part - s @ part, accurate=found.accurate)

    return minimise


@pytest.fixture(scope="session")
def draw_hulls(draw_problem):
    """A function that makes a problem with a sum for each class from a seed: a share of what the bounds allow."""

    def draw(seed, n=None, share=None, **fixed):
        drawn = draw_problem(seed, n, loss="hinge", **fixed)
        qp = drawn.qp
        most = min(qp.upper[qp.signs > 0].sum(), qp.upper[qp.signs < 0].sum())
        share = float(drawn.rng.choice([1.0, 0.9, 0.5, 0.1, 1e-3, drawn.rng.uniform()])) if share is None else share
        drawn.qp = BoxQP(qp.gram, qp.signs, qp.margin, qp.upper, share * most if most > 0 else 1.0)
        drawn.share = share
        return drawn

    return draw


@pytest.fixture(scope="session")
def dense_hulls():
    """A function that finds the squared distance of the reduced hulls by an interior-point method (clarabel)."""

    def minimise(qp):
        rows = np.flatnonzero(qp.upper > 0)
        y, caps = qp.signs[rows], qp.upper[rows] / qp.total
        Q = qp.gram.complete()[np.ix_(rows, rows)] * y[:, None] * y
        scale = max(np.abs(Q).max(), 1e-300)
        classes, none = np.array([y > 0, y < 0], float), np.zeros(len(rows))
        found = box_program(Q / scale, none, none, caps, classes, (1.0, 1.0), tolerance=1e-12)
        a = found.values
        return SimpleNamespace(squared=float(a @ Q @ a), scale=scale, accurate=found.accurate)

    return minimise


@pytest.fixture(scope="session")
def optimality():
    """A function that judges α by the definitions alone, from the matrix: primal, dual, violation, feasibility.

    ``rounding`` is how exactly h can be known in double precision.
    """

    def judge(qp, alpha, b, upper=None):
        upper = qp.upper if upper is None else upper
        beta = qp.signs * alpha
        K = qp.gram.complete()
        h = K @ beta
        norm = beta @ h
        f = h + b
        slack = qp.margin - qp.signs * f  # > 0: inside the margin
        inside = slack[alpha < upper]
        outside = -slack[alpha > 0]
        return SimpleNamespace(
            h=h,
            rounding=16 * np.finfo(float).eps * float((np.abs(K) @ alpha).max()),
            dual=0.5 * norm - qp.margin @ alpha,
            primal=0.5 * norm + upper @ np.maximum(slack, 0.0),
            violation=2 * max(0.0, inside.max(initial=0.0), outside.max(initial=0.0)),
            total=abs(beta.sum()),
            outside_box=max((-alpha).max(), (alpha - upper).max()),
        )

    return judge


@pytest.fixture(scope="session")
def intercepts():
    """A function that finds all b that minimise Σ u_i [m_i − y_i (h_i + b)]₊, by the slopes between its kinks."""

    def minimisers(qp, h, upper=None):
        upper = qp.upper if upper is None else upper
        used = upper > 0
        y, u = qp.signs[used], upper[used]
        kinks = y * qp.margin[used] - h[used]
        left = np.array([u[(y < 0) & (kinks < b)].sum() - u[(y > 0) & (kinks >= b)].sum() for b in kinks])
        right = np.array([u[(y < 0) & (kinks <= b)].sum() - u[(y > 0) & (kinks > b)].sum() for b in kinks])
        rounding = 1e-12 * u.sum()
        return kinks[right >= -rounding].min(), kinks[left <= rounding].max()

    return minimisers


@pytest.fixture(scope="session")
def mackerel():
    """Predictors (634, 5), standardised, and labels of the mackerel data."""
    data = datasets.load("mackerel")
    X = data[["lon", "lat", "b_depth", "c_dist", "temp_20m"]].to_numpy(float)
    X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    return SimpleNamespace(X=X, y=np.where(data["egg_count"] > 0, 1.0, -1.0))
