# %% [markdown]
# # Low birth weight: a small study, read as one reads a chapter on glm
#
# 189 births at Springfield, Massachusetts (Hosmer and Lemeshow, *Applied Logistic Regression*, 1989; `birthwt` of R's
# MASS). Was the child lighter than 2500 g? Age and weight of the mother, race, smoking, earlier premature labours,
# hypertension, irritability of the uterus, visits of a physician. Few rows, few events, factors: not what one would
# take a support vector machine for, and a good place to see whether its printout is honest.
#
# `python -m vignettes birth_weight` makes this page.

# %%
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import statsmodels
import statsmodels.api as sm
import statsmodels.formula.api as smf

from svmstat import compare, etable, svm, tune
from svmstat.errors import LongRunWarning

warnings.simplefilter("ignore", LongRunWarning)
plt.rcParams["figure.dpi"] = 110
TESTS = Path(statsmodels.__file__).parent / "genmod" / "tests" / "results"
births = pd.read_csv(TESTS / "stata_lbw_glm.csv")
births["race"] = births["race"].astype("category")
births["ptl"] = np.minimum(births["ptl"], 1)
print(births.drop(columns=["id", "bwt"]).describe(include="all").T[["unique", "mean", "min", "max"]].round(2))

# %% [markdown]
# ## A first fit
#
# Everything is left at its default. The summary prints numbers of the rows of the fit beside those of rows that it has
# not seen, and says in words what should not be overlooked.

# %%
FORMULA = "low ~ age + lwt + race + smoke + ptl + ht + ui + ftv"
print(svm(FORMULA, births).summary())

# %% [markdown]
# In-sample R² promises a good deal; held out, next to nothing is left of it. C and γ were nobody's choice. Which terms
# come into question, and with which kernel and cost, is one search, over formulas that were written down before it:

# %%
FORMULAS = [
    "low ~ lwt + race + smoke + ht + ui",
    "low ~ age + lwt + race + smoke + ptl + ht + ui",
    FORMULA,
]
found = tune(FORMULAS, births, C=2.0 ** np.arange(-4, 5), kernel=["linear"], nested=True, rng=1, n_jobs=-1)
print(found)

# %%
wide = tune(FORMULAS, births, C=2.0 ** np.arange(-4, 5), nested=True, rng=1, n_jobs=-1)
print(wide)
_ = wide.plot()

# %% [markdown]
# The nested score is that of rows which had no part in any of the choices, and the corrected one comes near it: the
# best of many scores is too low, the more so the more points there were. By the nested scores a linear machine does as
# well as a curved one, and is simpler.
#
# ## Beside the logistic model
#
# `glm` on the same terms, every birth left out of both:

# %%
fit = found.best
print(fit.summary())
# %%
right = fit.formula.partition("~")[2].strip()
logistic = smf.glm(f"low ~ {right}", births, family=sm.families.Binomial()).fit()
models = compare(fit, curved=wide.best, logistic=logistic)
print(models)
_ = models.plot()

# %% [markdown]
# The logistic model is ahead, by little more than one paired standard error, which is itself too small. Its likelihood
# uses how far a row is from the boundary everywhere, the hinge loss only near it; with 59 events that counts. Nothing
# here speaks for a machine, and the printout does not pretend that something does.
#
# ## Which terms matter?

# %%
tests = fit.drop1()
print(tests)
_ = tests.plot()

# %% [markdown]
# The change of the score asks whether a term helps to predict, the test whether low weight depends on it given the
# others. Earlier premature labours come first in both; adjusted for seven tests their p-value is not small. Wald's
# tests of the logistic model ask the second question too, and assume that its form is right, which makes them the
# sharper ones where it is:

# %%
print(logistic.pvalues.round(4).to_string())

# %% [markdown]
# ## What do they do?
#
# Average changes of the probability of a low weight, every row being asked twice; bands say how stable the estimate is
# from sample to sample, and not where the truth is.

# %%
replicates = fit.bootstrap(B=199, rng=1)
print(fit.comparisons(B=replicates))
# %%
_ = wide.best.effects(B=199, rng=1).plot()

# %% [markdown]
# ## Standard errors, and a table for the paper
#
# The coefficients of the linear machine are on the scale of its margin, shrunk by the penalty: no log odds. Their
# signs and relative sizes can be read beside those of the logistic model.

# %%
print(fit.tidy(replicates).round(3).to_string(index=False))
# %%
print(etable({"linear": fit, "rbf": wide.best}, B=199, rng=1).summary().as_markdown())

# %% [markdown]
# ## Weights and missing values
#
# Rows that agree in everything are one row with a weight, and the fit is the same one, digit by digit; a row in which
# a value is missing is dropped, counted in the summary, and predicted as missing.

# %%
columns = ["low", "lwt", "race", "smoke", "ht", "ui"]
counted = births.groupby(columns, observed=True).size().rename("births").reset_index()
settings = {"kernel": "linear", "C": fit.C}
one = svm(FORMULAS[0], births, **settings)
other = svm(FORMULAS[0], counted, weights="births", **settings)
print(f"{len(births)} rows, deviance {one.deviance:.6f}; {len(counted)} weighted rows, {other.deviance:.6f}")

lost = births.assign(lwt=births["lwt"].where(np.arange(len(births)) % 10 > 0))
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    fewer = svm(FORMULAS[0], lost, **settings)
print(f"Warning: {told[0].message}")
print(f"{fewer.n_rows} rows used, {fewer.n_missing} with a missing value dropped")
print(fewer.predict_proba(lost.head(3)).round(3).to_string())

# %% [markdown]
# ## Is the model any good?

# %%
print(fit.gof(rng=1))
# %%
_ = fit.plot(rng=1)
