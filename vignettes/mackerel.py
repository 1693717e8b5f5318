# %% [markdown]
# # The mackerel egg survey: a support vector machine as a statistical model
#
# Section 4.1 of Tsujitani and Tanaka, *Cross-validation, bootstrap, and support vector machines* (Advances in
# Artificial Neural Systems, 2011), with svmstat: where in the Bay of Biscay and west of the British Isles were there
# mackerel eggs in 1992? 634 stations, five predictors.
#
# `python -m vignettes mackerel` makes this page.

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import statsmodels.api as sm

from svmstat import datasets, svm, tune

plt.rcParams["figure.dpi"] = 110
mackerel = datasets.load("mackerel")
mackerel.index = np.arange(1, len(mackerel) + 1)  # the paper counts from one
FORMULA = "egg_count > 0 ~ lon + lat + b_depth + c_dist + temp_20m"

# %% [markdown]
# ## Tuning by leave-one-out
#
# The cost C and the width γ of the kernel are those with the smallest CV score, −2 Σ log p of each station by the fit,
# and its Platt map, without this station. Every point of the grid takes 634 exact refits.

# %%
found = tune(FORMULA, mackerel, C=2.0 ** np.arange(-1, 9), gamma=2.0 ** np.arange(-5, 1))
print(found)
_ = found.plot()
# %% [markdown]
# The paper found its CV score, 477.04, at parameters that the text at hand has lost. Ours is a little lower, at C = 32
# and γ = 1/4; within a standard error of it lie many other points:

# %%
fit = found.best
scores = found.table.sort_values("score")[["C", "gamma", "score", "score_se", "error", "n_support"]]
print(scores.head(8).to_string(index=False))

# %% [markdown]
# ## The fit

# %%
print(fit.summary())

# %% [markdown]
# ## Beside logistic regression
#
# The same five predictors in a logistic regression (statsmodels), with its own exact leave-one-out: 634 refits.

# %%
y = (mackerel["egg_count"] > 0).to_numpy()
columns = ["lon", "lat", "b_depth", "c_dist", "temp_20m"]
X = sm.add_constant((mackerel[columns] - mackerel[columns].mean()) / mackerel[columns].std()).to_numpy()
logistic = sm.Logit(y, X).fit(disp=False)


def without(k):
    """P(eggs) at station k by the logistic regression without it."""
    kept = np.arange(len(y)) != k
    return sm.Logit(y[kept], X[kept]).fit(start_params=logistic.params, disp=False).predict(X[[k]])[0]


p = np.array([without(k) for k in range(len(y))])
loo = fit.loo()
print(
    pd.DataFrame(
        {
            "svm": [fit.deviance, loo.score, loo.apparent_error, loo.error_rate, loo.excess_error],
            "logistic": [
                -2 * logistic.llf,
                -2 * np.log(np.where(y, p, 1 - p)).sum(),
                np.mean((logistic.predict() > 0.5) != y),
                np.mean((p > 0.5) != y),
                np.mean((p > 0.5) != y) - np.mean((logistic.predict() > 0.5) != y),
            ],
        },
        index=["deviance", "CV score", "apparent error", "leave-one-out error", "excess error"],
    )
    .round(4)
    .to_string()
)

# %% [markdown]
# The CV score of the logistic regression is the paper's 509.44 to within 1.3, and the machine is ahead of it by some
# 34, as in the paper (32). The paper's additive model and neural network are not repeated here.
#
# ## Goodness of fit
#
# Are the probabilities that the fit reports those of the data? If not, residuals of stations that are near each other
# agree: T adds up their products, and refits to responses drawn from these probabilities tell how large it gets by
# chance.

# %%
gof = fit.gof(rng=1)
print(gof)
_ = gof.plot()
# %% [markdown]
# The paper compares the deviance with that of 999 fits to stations drawn with replacement, as in its figure 1; its
# fit stays below the 95 % point. The test is a rough one: refits to rows drawn with replacement see some of them
# several times, and a flexible kernel follows repeated rows closely; in simulations it rejects true models that are
# as flexible as this one (see `fit.gof`), and finds nothing where a structure is missed.

# %%
print(fit.gof(B=999, method="pairs", rng=1))

# %% [markdown]
# ## Influential stations
#
# ΔD is the deviance of the fit minus that of the fit without the station, over the other stations: mostly the
# station's own misfit, and beside it what the others gain. The lines are what no station of a sample from these
# probabilities exceeds in 95 % of samples. The paper names stations 399 and 601, which lie above the 95 % point of
# χ²(1); some stations of every sample do.

# %%
influence = fit.get_influence()
influence.envelope(rng=1)
print(influence)
_ = influence.plot()
# %%
_ = influence.plot_index(reference="chi2")
# %%
at_paper = svm(FORMULA, mackerel, C=16, gamma=0.25)
largest = at_paper.get_influence().delta_deviance.sort_values(ascending=False).head(4)
print(f"C = 16: deviance {at_paper.deviance:.2f}, CV score {at_paper.loo().score:.2f}; largest ΔD:")
print(largest.round(2).to_string())

# %% [markdown]
# Stations 399 and 601 are above the line at both values of C. They are not alone there, neither at C = 32, the best,
# nor at C = 16, where they are second and third.
#
# ## Calibration and the decision surface

# %%
figure, axes = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained", width_ratios=[4, 6])
loo.plot_calibration(ax=axes[0])
_ = fit.plot_surface(mackerel, "lon", "lat", ax=axes[1])
