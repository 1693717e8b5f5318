"""A fit where scikit-learn expects an estimator."""

import importlib
from dataclasses import dataclass
from typing import Any

from svmstat.results.updated import Updated


@dataclass(frozen=True, repr=False, eq=False)
class AsEstimator(Updated):
    """What scikit-learn can do with a fit."""

    def as_estimator(self) -> Any:
        """The fit as a fitted estimator of scikit-learn, for its scorers, inspection and explainers.

        It predicts for data frames with the columns that the formula reads, ``feature_names_in_`` in this order, and no
        others; rows with missing values are refused. Its parameters are the arguments of the call of `svm`, or what
        `tune` found, so that a clone of it is fitted as this fit was: to a ``y`` that has the levels of the response,
        its formula without names of the caller beside ``np`` and ``pd``. `sklearn.frozen.FrozenEstimator` keeps it
        from being refitted.

        Returns
        -------
        svmstat.sklearn.SVMClassifier
            Whose ``result_`` is this fit.

        Raises
        ------
        ImportError
            Without scikit-learn, which ``pip install 'svmstat[sklearn]'`` installs.
        UnavailableError
            For a fit that no call of `svm` or `tune` made.

        Examples
        --------
        >>> from svmstat import datasets, svm
        >>> mackerel = datasets.load("mackerel")
        >>> estimator = svm("egg_count > 0 ~ lon + lat", mackerel, C=16).as_estimator()
        >>> estimator
        SVMClassifier(C=16, formula='~ lon + lat')
        >>> estimator.score(mackerel[["lon", "lat"]], mackerel["egg_count"] > 0) > 0.7
        True
        """
        # scikit-learn is optional, takes a second to import, and stands above: nothing below may need it
        return importlib.import_module("svmstat.sklearn").estimator_of(self)
