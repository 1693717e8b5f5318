"""Samples with two, three and six levels, what makes two fits the same fit, and the answers of other programs."""

import re
import warnings

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.svm import SVC

from svmstat import tune
from svmstat.errors import GridWarning
from svmstat.reporting.rendering.parts import Table
from svmstat.reporting.rendering.values import show

COUPLINGS = ("wu-lin-weng", "hastie-tibshirani")
KERNELS = ("rbf", "linear", "poly", "spline")


def sample(K, n=60, seed=0, apart=1.2, ties=False):
    """Two numbers, two factors, whole weights, some zero, and K levels of unequal size; the last six rows are copies.

    Every level of every factor occurs among the rows that count.
    """
    rng = np.random.default_rng(seed)
    codes = np.resize([*range(K), *range((K + 1) // 2)], n)
    x, z = (rng.normal(size=(n, 2)) + apart * rng.normal(size=(K, 2))[codes]).T
    data = pd.DataFrame(
        {
            "x": x,
            "z": 30.0 + 10.0 * z,
            "site": np.resize(["north", "east", "south", "east"], n),
            "side": np.resize(["l", "r"], n),
            "y": np.array(list("bcafed"))[codes],
            "w": np.resize([1, 2, 0, 1, 3, 1, 1], n),
        }
    )
    if ties:
        data[["x", "z"]] = data[["x", "z"]].round(0)
    data.iloc[-6:, :5] = data.iloc[:6, :5]
    return data


def laplace(A, B):
    """A kernel as a function."""
    return np.exp(-np.abs(A[:, None, :] - B[None, :, :]).sum(axis=2))


def standardised(data, names=("x", "z")):
    """The columns as a fit to rows of weight one scales them."""
    columns = data[list(names)]
    return data.assign(**((columns - columns.mean()) / columns.std()))


def repeated(data, weights="w"):
    """Each row as often as its weight says."""
    return data.loc[data.index.repeat(data[weights])].reset_index(drop=True)


def matrix(values):
    """What is a Series for two levels and a DataFrame for more, as an array of two dimensions."""
    return np.asarray(values).reshape(len(values), -1)


def votes(f, pairs, classes):
    """The level of each row by counting, and whether it alone has most votes."""
    winners, alone = [], []
    for row in matrix(f):
        count, total = dict.fromkeys(classes, 0), dict.fromkeys(classes, 0.0)
        for (i, j), value in zip(pairs, row, strict=True):
            count[i if value > 0 else j] += 1
            total[i] += value
            total[j] -= value
        best = [level for level in classes if count[level] == max(count.values())]
        winners.append(max(best, key=total.get))
        alone.append(len(best) == 1)
    return np.array(winners), np.array(alone)


def platt(f, y, weights):
    """A, B by a general minimiser of the weighted cross-entropy."""
    n_first, n_second = weights[y > 0].sum(), weights[y < 0].sum()
    t = np.where(y > 0, (n_first + 1) / (n_first + 2), 1 / (n_second + 2))

    def loss(ab):
        z = ab[0] * f + ab[1]
        residual = weights * (t - expit(-z))
        return weights @ (t * z + np.logaddexp(0, -z)), np.array([residual @ f, residual.sum()])

    start = [0.0, np.log((n_second + 1) / (n_first + 1))]
    return minimize(loss, start, jac=True, method="BFGS", options={"gtol": 1e-9}).x


def quiet(*args, **kwargs):
    """``tune()`` without a word on the edge of the grid."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GridWarning)
        return tune(*args, **kwargs)


def numbers(fit):
    """Every number of a fit that does not belong to a row."""
    found = {
        "nobs": fit.nobs,
        "center": fit.frame.design.center,
        "scale": fit.frame.design.scale_,
        "kernel": [value for value in fit.kernel_parameters.values() if isinstance(value, float)],
        "lambda": fit.lambda_,
        "intercept": fit.intercept,
        "interval": fit.intercept_interval,
        "margin": fit.margin,
        "slope": fit.calibration.slope,
        "shift": fit.calibration.intercept,
        "totals": fit.maps.totals,
        "deviance": fit.deviance,
        "null_deviance": fit.null_deviance,
        "llf": fit.llf,
        "rsquared": fit.pseudo_rsquared,
        "n_support": fit.n_support.to_numpy(float),
        "confusion": fit.confusion.to_numpy(),
        "error": fit.apparent_error,
        "disagreement": fit.disagreement,
        "class_weight": list((fit.class_weight or {}).values()),
    }
    if fit.has_params:
        found |= {"params": fit.params, "standardized": fit.params_standardized}
    return found | ({"objective": fit.objective} if len(fit.pairs) == 1 else {})


def assert_same_fit(one, other, newdata, tolerance, without=(), clear=0.9):
    """The numbers, and what is said of new rows; a share ``clear`` of them has no f at zero, where sides may change."""
    left, right = numbers(one), numbers(other)
    for name in left.keys() - set(without):
        np.testing.assert_allclose(left[name], right[name], rtol=tolerance, atol=tolerance, err_msg=name)
    f, g = matrix(one.decision_function(newdata)), matrix(other.decision_function(newdata))
    np.testing.assert_allclose(f, g, rtol=0, atol=tolerance * max(1.0, np.abs(f).max()))
    np.testing.assert_allclose(one.predict_proba(newdata), other.predict_proba(newdata), rtol=0, atol=tolerance)
    far = (np.abs(f) > 1e-5).all(axis=1)
    assert far.mean() >= clear
    pd.testing.assert_series_equal(one.predict(newdata)[far], other.predict(newdata)[far])


def without_rounding(value):
    """A number that is 0 but for the last digits of what it was computed from, as 0, as which a table shows it."""
    return 0.0 if isinstance(value, float) and abs(value) < 1e-15 else value


def printed(fit):
    """What the summary prints, by label, but for lines that only tell of weights and for residuals."""
    found = {}
    for part in fit.summary().parts:
        if isinstance(part, Table):
            title = re.sub(r",? ?\(?sums of weights\)?", "", part.title).rstrip(")")
            for name, row in zip(part.index, part.cells, strict=True):
                shown = map(show, map(without_rounding, row), part.styles)
                found |= {(title, name, head): each for head, each in zip(part.headers, shown, strict=True)}
        else:
            for entry in (*part.wide, *part.left, *part.right):
                found[entry.label.replace("sum w", "n")] = show(entry.value, entry.style)
    weighing = ("Rows used", "Sum of weights", "  with weight zero")
    residuals = ("KKT violation", "Duality gap", "Largest KKT violation", "Largest duality gap")
    return {label: value for label, value in found.items() if label not in weighing + residuals}


def by_svc(fit, weights):
    """f of the rows of a fit of two levels by scikit-learn's SVC, whose margins are 1, on those with a weight.

    f = a g + c with a = (m₊ + m₋)/2 and c = (m₊ − m₋)/2 makes m₊ − f = a (1 − g) and m₋ + f = a (1 + g), so that
    ½‖h_f‖² + C Σ w L [m − y f]₊ is a² times ½‖h_g‖² + (C/a) Σ w L [1 − y g]₊.
    """
    loss, X, y, used = fit.machine.pairs[0].loss, fit.frame.X, fit.frame.y, weights > 0
    a, c = 0.5 * (loss.margin_event + loss.margin_other), 0.5 * (loss.margin_event - loss.margin_other)
    K = np.asarray(fit.kernel(X, X))
    svc = SVC(C=fit.C / a, kernel="precomputed", tol=1e-10, cache_size=200, max_iter=10**7)
    svc.set_params(class_weight={1.0: loss.weight_event, -1.0: loss.weight_other})
    svc.fit(K[np.ix_(used, used)], y[used], sample_weight=weights[used])
    assert svc.fit_status_ == 0
    return a * svc.decision_function(K[:, used]) + c
