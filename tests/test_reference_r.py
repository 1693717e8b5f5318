"""Fits against R: e1071's solutions refined in double precision, repeated rows, and glm's null deviance.

The values and the scripts that wrote them are in `tests/r/`; its README says why e1071's own digits are not
the reference.
"""

from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from svmstat import datasets, svm

# Decision values, relative to the larger of 1 and max |f|. The reference satisfies the optimality conditions
# to 2e-9 and is printed with 10 digits; a fit certified to 1e-8 moves f by less than 1e-6 on these data.
TOL_DECISION = 1e-6
# Deviance, slope and intercept are smooth functions of the decision values; relative (intercept: to the
# slope's size).
TOL_CALIBRATION = 1e-5
# The null deviance is a closed form, printed with 12 digits.
TOL_NULL_DEVIANCE = 1e-10

R = Path(__file__).parent / "r"

MACKEREL = "egg_count > 0 ~ lon + lat + b_depth + c_dist + temp_20m"
ENZYMES = "np.log(ast) + np.log(alt) + np.log(gldh)"
FOREST = "cover_type ~ elevation + aspect + slope + wilderness_area1 + wilderness_area3"
MODELS = {  # name: (formula, event, other)
    "mackerel": (MACKEREL, True, False),
    "liver_pnc": (f"disease == 'PNC' ~ {ENZYMES}", True, False),
    "liver_avh": (f"disease == 'AVH' ~ {ENZYMES}", True, False),
    "liver_even": (f"disease ~ {ENZYMES}", "PCH", "ACH"),
    "forest": (FOREST, 7, 1),
}


def load(name):
    if name == "forest":
        forest = datasets.load("forest")
        return forest.iloc[[0, *range(9, len(forest), 10)]]
    if name == "liver_even":
        liver = datasets.load("liver")
        return pd.concat([liver[liver["disease"] == level].head(40) for level in ("PCH", "ACH")])
    return datasets.load(name.partition("_")[0])


def case_weights(n):
    """Whole numbers from 0 to 3, as in `tests/r/common.R`."""
    i = np.arange(1, n + 1)
    return (7 * i**2 + (i % 3 == 0)) % 5 % 4


@lru_cache(maxsize=1)  # the tests of one case follow one another
def fit(case, weighted):
    formula, event, other = MODELS[case.dataset]
    data = load(case.dataset)
    costly = (case.w_event, case.w_other) != (1, 1)
    return svm(
        formula, data, kernel=case.kernel, C=case.C, gamma=case.gamma, degree=3, coef0=1.0, event=event,
        calibration="insample", class_weight={event: case.w_event, other: case.w_other} if costly else None,
        weights=case_weights(len(data)) if weighted else None,
    )  # fmt: skip


def cases(stem, weighted):
    """One parameter set for each line of `<stem>_cases.csv`: the case, its values by row, weighted."""
    values = dict(list(pd.read_csv(R / f"{stem}.csv").groupby("case")))
    for case in pd.read_csv(R / f"{stem}_cases.csv").itertuples(index=False, name="Case"):
        name = f"{case.dataset}-{case.kernel}-C={case.C:g}-{case.w_event:g}:{case.w_other:g}"
        yield pytest.param(case, values[case.case], weighted, id=name + ("-weights" if weighted else ""))


each_case = pytest.mark.parametrize(
    ("case", "reference", "weighted"),
    [*cases("e1071_decision_values", weighted=False), *cases("weights_rows", weighted=True)],
    scope="module",
)


@each_case
def test_decision_values(case, reference, weighted):
    f = fit(case, weighted).decision_values.to_numpy()[reference["row"] - 1]
    scale = max(1.0, reference["f"].abs().max())
    np.testing.assert_allclose(f, reference["f"], rtol=0, atol=TOL_DECISION * scale)


@each_case
def test_platt_map_and_deviance(case, reference, weighted):
    if case.slope > 0:
        pytest.skip("f is constant up to rounding: the slope is noise")
    result = fit(case, weighted)
    size = max(1.0, abs(case.slope))
    assert result.calibration.slope == pytest.approx(case.slope, rel=TOL_CALIBRATION)
    assert result.calibration.intercept == pytest.approx(case.intercept, abs=TOL_CALIBRATION * size)
    assert result.deviance == pytest.approx(case.deviance, rel=TOL_CALIBRATION)


@pytest.mark.parametrize("line", list(pd.read_csv(R / "glm_deviance.csv").itertuples(index=False, name="Glm")))
def test_null_deviance_is_that_of_glm(line):
    formula, event, _ = MODELS[line.dataset]
    data = load(line.dataset)
    weights = case_weights(len(data)) if line.weighted else None
    result = svm(formula, data, kernel="linear", C=1.0, event=event, weights=weights)
    assert result.null_deviance == pytest.approx(line.null_deviance, rel=TOL_NULL_DEVIANCE)
