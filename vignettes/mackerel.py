# %% [markdown]
# # The mackerel egg survey: a support vector machine as a statistical model
#
# Section 4.1 of Tsujitani and Tanaka, *Cross-validation, bootstrap, and support vector machines* (Advances in
# Artificial Neural Systems, 2011), with svmstat: where in the Bay of Biscay and west of the British Isles were there
# mackerel eggs in 1992? 634 stations, five predictors.
#
# `python -m vignettes mackerel` makes this page.

# %%
import warnings

import matplotlib.pyplot as plt
import numpy as np
import statsmodels.api as sm
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from statsmodels.gam.api import BSplines, GLMGam

from svmstat import compare, datasets, etable, svm, tune
from svmstat.errors import LongRunWarning

warnings.simplefilter("ignore", LongRunWarning)
plt.rcParams["figure.dpi"] = 110
mackerel = datasets.load("mackerel")
mackerel.index = np.arange(1, len(mackerel) + 1)  # the paper counts from one
FORMULA = "egg_count > 0 ~ lon + lat + b_depth + c_dist + temp_20m"

# %% [markdown]
# ## Tuning by leave-one-out
#
# The cost C and the width γ of the kernel are those with the smallest CV score, −2 Σ log p of each station by the fit
# without it, and by the Platt map of what the other stations were held out with. Every point of the grid takes 634
# exact refits.

# %%
found = tune(FORMULA, mackerel, C=2.0 ** np.arange(-1, 9), gamma=2.0 ** np.arange(-5, 1))
print(found)
_ = found.plot()
# %% [markdown]
# The smallest is at C = 32 and γ = 1/4. Within a standard error of it lie many other points; of the difference, row by
# row, it is much smaller, and four points are within that:

# %%
fit = found.best
scores = found.table.sort_values("score")[["C", "gamma", "score", "score_se", "error", "n_support"]]
print(scores.head(8).to_string(index=False))

# %% [markdown]
# ## The fit
#
# The paper's CV score is 477.04, at parameters that the text at hand has lost. It is by the Platt map of each smaller
# fit's own decision values, as is the last line here.

# %%
print(fit.summary())
print(f"CV score by the maps of the smaller fits: {fit.update(calibration='insample').loo().score:.2f}")

# %% [markdown]
# ## Beside other models
#
# Table 1 of the paper has the same five predictors in a logistic regression, an additive model and a neural network.
# Here the first two are those of statsmodels, the additive one with penalised splines whose penalty has the least AIC,
# and the third is a small network of scikit-learn. `compare` leaves every station out of each of them, everything else
# being as it was fitted: 634 exact refits of each.

# %%
eggs = (mackerel["egg_count"] > 0).astype(int)
columns = ["lon", "lat", "b_depth", "c_dist", "temp_20m"]
design = sm.add_constant(mackerel[columns])
logistic = sm.Logit(eggs, design).fit(disp=False)

smoother = BSplines(mackerel[columns], df=[8] * 5, degree=[3] * 5)
options = {"smoother": smoother, "family": sm.families.Binomial()}
candidates = [
    GLMGam(eggs, design[["const"]], alpha=[alpha] * 5, **options).fit() for alpha in (0.001, 0.01, 0.1, 1.0, 10.0)
]
additive = min(candidates, key=lambda each: each.aic)

network = make_pipeline(
    StandardScaler(), MLPClassifier((4,), alpha=1.0, solver="lbfgs", max_iter=5000, max_fun=50000, random_state=1)
)
models = compare(fit, logistic=logistic, additive=additive, network=(network, FORMULA, mackerel), n_jobs=-1)
print(models)
_ = models.plot()
# %%
loo = fit.loo()
print(f"apparent error {loo.apparent_error:.4f}, leave-one-out error {loo.error_rate:.4f}")
print(f"deviance of the logistic regression {-2 * logistic.llf:.2f}")

# %% [markdown]
# The CV score of the logistic regression is the paper's 509.44 to within 1.3, and the machine is ahead of it by some
# 37; the paper's machine by 32. That is less than two of the paired standard errors, which are themselves too small
# for the difference of the two fits at hand, as the note below the table says. C and γ were chosen by the same score,
# which favours the machine a little; the others had no such choice but for the penalty of the splines. That was left
# to the AIC, which wants hardly any: the additive model errs nearly as seldom as the machine, but its probabilities
# are too extreme (slope 0.74), and one station, of which it is all but sure when it has not seen it, costs it all
# that it had gained over the logistic regression:

# %%
lost = -2 * (models["additive"].log_likelihood - models["logistic"].log_likelihood)
print(lost.sort_values(ascending=False).head(3).round(2).to_string())

# %% [markdown]
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
# The paper compares the deviance with that of fits to stations drawn with replacement, as in its figure 1, and says
# that the fit is fairly good; how many they were and which percentile was taken, the text at hand has lost. The test is
# a rough one: refits to rows drawn with replacement see some of them several times, and a flexible kernel follows
# repeated rows closely; in simulations it rejects true models that are as flexible as this one (see `fit.gof`), and
# finds nothing where a structure is missed.

# %%
print(fit.gof(B=999, method="pairs", rng=1))

# %% [markdown]
# ## Which predictors matter, and how
#
# Position, depth, distance from the shelf edge and temperature tell much the same: each of them helps to predict, and
# what the others leave of it hardly goes with what they leave of the eggs.

# %%
print(fit.drop1())
# %% [markdown]
# The effects are those on the probability that the machine predicts, accumulated over the values that a predictor has
# where the others have theirs; the bands are percentiles over refits to stations drawn with replacement.

# %%
effects = fit.effects(B=199, rng=1)
print(effects)
_ = effects.plot()
# %%
_ = fit.effects(("lon", "lat")).plot()

# %% [markdown]
# ## Influential stations
#
# ΔD is the deviance of the fit minus that of the fit without the station, over the other stations: mostly the station's
# own misfit, and beside it what the others gain. The lines are what no station of a sample from these probabilities
# exceeds in 95 % of samples. The paper names stations 399 and 601, and refers ΔD to χ²(1), whose 95 % point some
# stations of every sample exceed.

# %%
influence = fit.get_influence()
influence.envelope(rng=1)
print(influence)
_ = influence.plot()
# %%
_ = influence.plot_index(reference="chi2")
# %%
at_paper = svm(FORMULA, mackerel, C=16, gamma=0.25, calibration="insample")
largest = at_paper.get_influence().delta_deviance.sort_values(ascending=False).head(4)
print(f"C = 16: deviance {at_paper.deviance:.2f}, CV score {at_paper.loo().score:.2f}; largest ΔD:")
print(largest.round(2).to_string())

# %% [markdown]
# Stations 399 and 601 are above the line at both values of C. They are not alone there, neither at C = 32, the best,
# nor at C = 16, where they are second and third.
#
# ## Calibration and the decision surface

# %%
_ = fit.plot(rng=1)
# %%
_ = fit.plot_surface(x="lon", y="lat", on="prob")

# %% [markdown]
# ## A table for the paper

# %%
linear = tune(FORMULA, mackerel, C=2.0 ** np.arange(-5, 5), kernel="linear").best
print(etable({"rbf": fit, "linear": linear}, B=199, rng=1))
