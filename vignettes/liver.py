# %% [markdown]
# # Four liver diseases: more than two classes
#
# Section 4.2 of Tsujitani and Tanaka, *Cross-validation, bootstrap, and support vector machines* (Advances in
# Artificial Neural Systems, 2011), with svmstat, as far as the bundled data allow: 218 patients with acute viral
# hepatitis (AVH), persistent chronic hepatitis (PCH), aggressive chronic hepatitis (ACH) or postnecrotic cirrhosis
# (PNC). The paper has four enzymes; of these AST, ALT and GLDH are in this copy of the data, OCT is not.
#
# `python -m vignettes liver` makes this page.

# %%
import warnings

import joblib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import statsmodels.api as sm
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from statsmodels.tools.sm_exceptions import ConvergenceWarning, HessianInversionWarning

from svmstat import compare, datasets, tune
from svmstat.errors import GridWarning, LongRunWarning

warnings.simplefilter("ignore", LongRunWarning)
plt.rcParams["figure.dpi"] = 110
liver = datasets.load("liver").astype({"disease": "category"})
ENZYMES = ["ast", "alt", "gldh"]
for name in ENZYMES:
    liver[f"log_{name}"] = np.log(liver[name])
LOGS = "disease ~ log_ast + log_alt + log_gldh"
RAW = "disease ~ ast + alt + gldh"
print(liver.groupby("disease", observed=True)[ENZYMES].median().to_string())

# %% [markdown]
# ## All patients
#
# One machine for each of the six pairs of diseases; the class probabilities couple the Platt probabilities of the
# pairs. C and γ have the least leave-one-out CV score. When a patient is left out only the three pairs with the
# patient's own disease change, and only these are refitted.

# %%
GRID = {"C": 2.0 ** np.arange(-2, 11), "gamma": 2.0 ** np.arange(-9, 2)}
found = tune(LOGS, liver, **GRID)
fit = found.best
print(found)
print(fit.summary())

# %%
loo = fit.loo()
print(loo)
print(f"{loo.n_refits} pairs were refitted for {fit.n_rows} patients")

# %% [markdown]
# The most frequent error is aggressive chronic hepatitis taken for cirrhosis: these two are hard to tell apart by three
# enzymes.

# %%
_ = fit.plot_surface(x="log_ast", y="log_alt")
# %%
_ = loo.plot_calibration()
# %%
figure, axes = plt.subplots(1, 2, figsize=(11, 3.6), layout="constrained")
gof = fit.gof(rng=1)
gof.plot(ax=axes[0])
fit.get_influence().plot_index(rng=1, ax=axes[1])
print(gof)

# %% [markdown]
# The two couplings differ little in the mean, and more where the pairs contradict each other:

# %%
other = fit.predict_proba(coupling="hastie-tibshirani")
difference = np.abs(other - fit.predict_proba()).to_numpy()
print(f"difference of the probabilities: {difference.mean():.4f} in the mean, {difference.max():.4f} at most")

# %% [markdown]
# ## What each enzyme tells
#
# The test has a degree of freedom each for an enzyme and its square, in all diseases but one.

# %%
print(fit.drop1())
# %%
effects = fit.effects(B=99, rng=1)
print(effects)
_ = effects.plot()

# %% [markdown]
# ## Beside other models
#
# The multinomial logistic model of statsmodels and a small neural network of scikit-learn on the same three logarithms,
# every patient left out of each. An additive multinomial model is not among them: without a penalty it separates some
# of the diseases, and its likelihood has no maximum.

# %%
logs = [f"log_{name}" for name in ENZYMES]
logistic = sm.MNLogit(liver["disease"], sm.add_constant(liver[logs])).fit(disp=False, maxiter=200)
network = make_pipeline(
    StandardScaler(), MLPClassifier((4,), alpha=1.0, solver="lbfgs", max_iter=5000, max_fun=50000, random_state=1)
)
models = compare(fit, multinomial=logistic, network=(network, LOGS, liver), n_jobs=-1)
print(models)
_ = models.plot()
# %% [markdown]
# These patients do not tell the three apart: the machine is ahead of the multinomial model by 7 and of the network by
# 13, with paired standard errors of 16 and 11, which are themselves too small, as the note says. C and γ were chosen
# by the same score, which favours the machine a little. It errs in fewer patients, and McNemar's test has 0.36 for
# that.
#
# ## 70 % for training, 30 % for the test
#
# As in the paper, whose shares the text at hand has lost: tuning by the CV score on a training part, then apparent,
# leave-one-out and test error, beside the multinomial logistic model (statsmodels) with its own exact leave-one-out.
# The paper has one split, which it does not print; here are 20, drawn at random within each disease. Where classes can
# be separated the likelihood of the logistic model has no maximum; statsmodels then stops at large coefficients, whose
# predictions still count.


# %%
def multinomial(training, test, columns):
    """Apparent, leave-one-out and test error of the multinomial logistic model, and its CV score."""
    center, scale = training[columns].mean(), training[columns].std()

    def design(rows):
        return np.column_stack([np.ones(len(rows)), (rows[columns] - center) / scale])

    X, codes = design(training), training["disease"].cat.codes.to_numpy()
    start = sm.MNLogit(codes, X).fit(disp=False, maxiter=200).params

    def fitted(kept):
        return sm.MNLogit(codes[kept], X[kept]).fit(start_params=start.ravel("F"), disp=False, maxiter=200)

    whole = fitted(np.ones(len(codes), bool))
    p = np.array([fitted(np.arange(len(codes)) != k).predict(X[[k]])[0] for k in range(len(codes))])
    wrong = whole.predict(design(test)).argmax(axis=1) != test["disease"].cat.codes.to_numpy()
    apparent = whole.predict(X).argmax(axis=1) != codes
    score = -2 * np.log(np.maximum(p[np.arange(len(codes)), codes], 1e-300)).sum()
    return score, apparent.mean(), (p.argmax(axis=1) != codes).mean(), wrong.mean()


def machine(training, test, formula):
    """The same of the support vector machine, tuned on the training part."""
    best = tune(formula, training, **GRID).best
    left = best.loo()
    return left.score, best.apparent_error, left.error_rate, best.error(test)


def one_split(seed):
    rng = np.random.default_rng(seed)
    training = np.concatenate(
        [rng.permutation(np.flatnonzero(liver["disease"] == level))[: round(0.7 * n)]
         for level, n in liver["disease"].value_counts().items()]
    )  # fmt: skip
    inside = np.isin(np.arange(len(liver)), training)
    parts = liver[inside], liver[~inside]
    with warnings.catch_warnings():
        for kind in (GridWarning, ConvergenceWarning, HessianInversionWarning, RuntimeWarning):
            warnings.simplefilter("ignore", kind)
        return [
            ("svm, logs", *machine(*parts, LOGS)),
            ("multinomial, logs", *multinomial(*parts, [f"log_{name}" for name in ENZYMES])),
            ("svm, raw", *machine(*parts, RAW)),
            ("multinomial, raw", *multinomial(*parts, ENZYMES)),
        ]


splits = joblib.Parallel(n_jobs=-1)(joblib.delayed(one_split)(seed) for seed in range(20))
columns = ["model", "CV score", "apparent error", "LOO error", "test error"]
table = pd.DataFrame([row for rows in splits for row in rows], columns=columns)
means = table.groupby("model").mean()
print("means over 20 splits")
print(means.round(4).to_string())
print("\nstandard errors")
print((table.groupby("model").std() / np.sqrt(20)).round(4).to_string())

# %%
pairs = table.assign(split=np.repeat(np.arange(20), 4)).pivot(index="split", columns="model", values="test error")
for scale in ("logs", "raw"):
    difference = pairs[f"svm, {scale}"] - pairs[f"multinomial, {scale}"]
    se = difference.std() / np.sqrt(len(difference))
    print(
        f"test error of the machine minus that of the multinomial model, {scale}: {difference.mean():+.4f} ± {se:.4f}"
    )

# %% [markdown]
# What agrees with the paper, and what does not:
#
# - The machine has the smaller apparent error, on either scale, and here the smaller CV score too. The paper prints
#   that of the machine alone, 187.93 for its training part, with four enzymes and by the map of each smaller fit's own
#   decision values; ours, with three and by the map of held-out ones, is lower on logs, a little higher on raw values.
# - The paper's machine has the smallest test error and a larger leave-one-out error than the multinomial model. Over 20
#   splits neither difference is there on logs: the machine's leave-one-out error is lower, and the test errors of the
#   two are the same to within their standard error. A single split of 218 patients cannot tell the two apart.
# - The raw enzymes have long tails, and a few patients far out cost the multinomial model much likelihood when they are
#   left out (its CV score more than doubles). The machine's probabilities are bounded by the smoothed targets of
#   Platt's map, and suffer less; its errors do not gain by the raw scale either. Take logarithms.
