"""The machine as an estimator of scikit-learn: arrays or data frames in, ``result_`` being the statistical fit.

Nothing else in the package imports scikit-learn.
"""

import inspect
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from pandas.api import types

from svmstat._tools.arrays import Floats
from svmstat._tools.checks import is_real
from svmstat._tools.frames import as_pandas, columns_called, label_at, native
from svmstat.errors import ArgumentError, DataError, UnavailableError
from svmstat.formula import right_side, with_response
from svmstat.kernels import Kernel, Precomputed
from svmstat.machine import by_class, vote
from svmstat.model import Call
from svmstat.results import SVMResults

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils import Tags, assert_all_finite, check_consistent_length, column_or_1d
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data
except ImportError as error:
    raise ImportError("svmstat.sklearn needs scikit-learn 1.6 or later: pip install 'svmstat[sklearn]'.") from error

_NONE_ALLOWED = "; na_action='raise' allows none"
"""Said of missing values by an argument that is no parameter here."""

_FORMULA_NAMES = {"np": np, "pd": pd}
"""What a formula sees beside columns and its own functions: who calls ``fit`` may be any tool, in any place."""


class SVMClassifier(ClassifierMixin, BaseEstimator):
    """Support vector machine that scikit-learn can fit, clone, search and explain.

    The fit is that of `svm`: the same problem, solved exactly, the same scaling, calibration and defaults. All that a
    fit can do, its summary, leave-one-out and tests, is in ``result_``.

    Parameters
    ----------
    formula : str, optional
        The right side of a formula on the columns of ``X``, as ``"lon + s(lat)"``; a left side is the name of ``y`` in
        ``result_``. Without it every column is a term, text and categories coded by all their levels. Columns of an
        array are called ``x0``, ``x1``, … A formula sees columns, its own functions, ``np`` and ``pd``.
    loss : {"hinge", "p0"}
    kernel : {"rbf", "linear", "poly", "spline", "laplace", "precomputed"}, Kernel or callable
    C : float
    gamma : float, "scale" or "median"
    degree, coef0 : int, float
        Parameters that a kernel does not have change nothing, as in SVC, but must be possible.
    nu : float or two floats, optional
    theta : mapping, optional
    class_weight : mapping or "balanced", optional
    costs, priors : mapping, optional
    event : optional
        The class that ``costs`` and ``nu`` call positive; by default the last of ``classes_``. The sign of
        `decision_function` does not depend on it.
    scale : bool
    weight_type : {"frequency", "probability"}
        What ``sample_weight`` are: repeats, or how much of a population a row stands for.
    calibration : {"auto", "loo", "kfold", "insample", "venn-abers"}
    coupling : {"wu-lin-weng", "hastie-tibshirani"}
        All as in `svm`, which see.

    Attributes
    ----------
    result_ : SVMResults
        The fit: ``result_.summary()``, ``result_.loo()``, …
    columns_ : list of length n_features_in_
        What the columns of ``X`` are called in it.
    classes_ : ndarray (K,)
        The classes that have a row of positive weight, sorted.
    n_features_in_ : int
        The number of columns of ``X``.
    feature_names_in_ : ndarray (n_features_in_,)
        Their names, if ``X`` had text as names.

    Notes
    -----
    ``sample_weight`` are repeats by default: a row of weight 2 is the row twice, a row of weight 0 is absent.
    Missing values are refused: an imputer belongs before the estimator.

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from svmstat import datasets
    >>> from svmstat.sklearn import SVMClassifier
    >>> mackerel = datasets.load("mackerel")
    >>> X, y = mackerel[["lon", "lat", "b_depth", "c_dist", "temp_20m"]], mackerel["egg_count"] > 0
    >>> machine = SVMClassifier(C=16, gamma=0.25).fit(X, y)
    >>> round(machine.score(X, y), 3), round(machine.result_.loo().error_rate, 4)
    (0.866, 0.1625)
    >>> cross_val_score(machine, X, y, cv=3).shape
    (3,)
    """

    result_: SVMResults
    columns_: list[Hashable]

    def __init__(  # noqa: PLR0913  the arguments of svm()
        self,
        *,
        formula: str | None = None,
        loss: str = "hinge",
        kernel: str | Kernel | Callable[[Floats, Floats], ArrayLike] = "rbf",
        C: float = 1.0,
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        nu: float | Sequence[float] | None = None,
        theta: Mapping[str, float] | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        costs: Mapping[str, float] | None = None,
        priors: Mapping[Any, float] | None = None,
        event: object = None,
        scale: bool = True,
        weight_type: str = "frequency",
        calibration: str = "auto",
        coupling: str = "wu-lin-weng",
    ) -> None:
        self.formula = formula
        self.loss = loss
        self.kernel = kernel
        self.C = C
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.nu = nu
        self.theta = theta
        self.class_weight = class_weight
        self.costs = costs
        self.priors = priors
        self.event = event
        self.scale = scale
        self.weight_type = weight_type
        self.calibration = calibration
        self.coupling = coupling

    def fit(
        self,
        X: ArrayLike | pd.DataFrame,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit the machine.

        Parameters
        ----------
        X : array_like or DataFrame (n, p)
            Predictors; with ``kernel="precomputed"`` the gram matrix (n, n).
        y : array_like (n,)
            The classes.
        sample_weight : array_like (n,), optional
            Case weights ≥ 0.
        groups : array_like (n,), optional
            Labels of rows that belong together: ``result_`` and the map of the probabilities hold them out together.

        Returns
        -------
        SVMClassifier
            Itself.

        Raises
        ------
        ValueError, TypeError
            For parameters and data that cannot be used; nothing has been solved then, and what had been fitted stays.
        """
        before = self.__dict__.copy()
        try:
            return self._fit(X, y, sample_weight, groups)
        except BaseException:  # also an interrupt: what has been fitted goes with the names of its own columns
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _fit(
        self, X: ArrayLike | pd.DataFrame, y: ArrayLike, sample_weight: ArrayLike | None, groups: ArrayLike | None
    ) -> Self:
        data, labels = self._read(X, y)
        check_classification_targets(labels)
        weights = None if sample_weight is None else _check_sample_weight(sample_weight, X)
        if not isinstance(X, pd.DataFrame) and isinstance(groups, pd.Series):
            groups = groups.to_numpy()  # by position, as sample_weight: these rows have no index
        levels, codes = np.unique(labels, return_inverse=True)
        classes = levels[np.unique(codes if weights is None else codes[weights > 0])]
        if len(classes) > 2 and not self.__sklearn_tags__().classifier_tags.multi_class:
            raise ArgumentError(
                f"Only binary classification is supported. With nu or costs the response has two levels; y has "
                f"{len(classes)}."
            )
        own = y.name if isinstance(y, pd.Series) else None
        called = own if isinstance(own, str) and own not in _FORMULA_NAMES else "y"
        formula, name = with_response("." if self.formula is None else self.formula, called, data.columns)
        data = data.assign(**{name: pd.Categorical.from_codes(codes, categories=_as_index(levels))})
        given = {each: value for each, value in self.get_params(deep=False).items() if _is_given(each, value)}
        if isinstance(self.class_weight, Mapping):
            given["class_weight"] = _of_classes(self.class_weight, classes.tolist())
        call = Call(
            {**given, "formula": formula, "data": data, "weights": weights, "groups": groups, "na_action": "raise"}
        )
        try:
            self.result_ = call(None, None, {}, _FORMULA_NAMES)
        except DataError as error:
            if _NONE_ALLOWED not in str(error):
                raise
            raise DataError(str(error).replace(_NONE_ALLOWED, ": fill them in, or leave these rows out")) from error
        self.classes_ = classes
        self.columns_ = list(data.columns[: self.n_features_in_])
        return self

    def decision_function(self, X: ArrayLike | pd.DataFrame) -> Floats:
        """What the classes are told apart by.

        Parameters
        ----------
        X : array_like or DataFrame (m, p)
            New rows; with ``kernel="precomputed"`` kernel values (m, n).

        Returns
        -------
        ndarray (m,), or (m, K)
            Of two classes f, which is positive where ``classes_[1]`` is predicted; where it is 0 the class is predicted
            that is not the event. Of more a column for each: the number of pairs that vote for it, and a fraction below
            one half that orders classes of equally many votes by the sum of their decision values. The largest is
            predicted.
        """
        f = self._decided(X)
        pairs = self.result_.machine.classes
        if len(self.classes_) == 2:
            return np.asarray(f[:, 0] if self._codes[1] == pairs[0, 0] else -f[:, 0])
        return by_class(f, pairs)[:, self._codes]

    def predict(self, X: ArrayLike | pd.DataFrame) -> NDArray[Any]:
        """The predicted classes (m,), those of `svm`: by the signs of the decision values, never by probabilities.

        Parameters
        ----------
        X : array_like or DataFrame (m, p)
            New rows.
        """
        f = self._decided(X)
        winner = vote(f, self.result_.machine.classes)
        return np.asarray(self.classes_[np.argsort(self._codes)[winner]])

    def predict_proba(self, X: ArrayLike | pd.DataFrame) -> Floats:
        """Probabilities (m, K) of ``classes_``, by the map of held-out decision values, made when first asked for.

        Parameters
        ----------
        X : array_like or DataFrame (m, p)
            New rows.
        """
        f = self._decided(X)
        return np.asarray(self.result_.maps.probabilities(f)[:, self._codes])

    def predict_log_proba(self, X: ArrayLike | pd.DataFrame) -> Floats:
        """Logarithms (m, K) of the probabilities.

        Parameters
        ----------
        X : array_like or DataFrame (m, p)
            New rows.
        """
        return np.log(self.predict_proba(X))

    def _read(self, X: ArrayLike | pd.DataFrame, y: ArrayLike) -> tuple[pd.DataFrame, NDArray[Any]]:
        """The predictors as a data frame, and the labels (n,); how many columns there are, and their names, is kept."""
        X = _of_pandas(X)
        if isinstance(X, pd.DataFrame) and (self.formula is not None or not _of_numbers(X)):
            _, labels = validate_data(self, X, y, skip_check_array=True)  # names only: what is in it the formula reads
            labels = column_or_1d(labels, warn=True)
            assert_all_finite(labels, input_name="y")
            check_consistent_length(X, labels)
            return X, labels
        values, labels = validate_data(self, X, y, dtype=np.float64)
        if isinstance(X, pd.DataFrame):
            return X, labels
        names = getattr(self, "feature_names_in_", [f"x{k}" for k in range(values.shape[1])])
        return pd.DataFrame(values, columns=list(names)), labels

    @property
    def _codes(self) -> list[int]:
        """(K,) where the classes stand among the levels of the fit, which may have an order of their own."""
        return [self.result_.classes.index(each) for each in _as_index(self.classes_).tolist()]

    def _decided(self, X: ArrayLike | pd.DataFrame) -> Floats:
        """(m, P) the decision values of the pairs."""
        check_is_fitted(self, "result_")
        design = self.result_.frame.design
        plain, X = design.is_plain, _of_pandas(X)
        if isinstance(X, pd.DataFrame) and not (plain and _of_numbers(X)):
            validate_data(self, X, skip_check_array=True, reset=False)
            if not len(X):
                raise DataError(f"Found array with 0 sample(s) (shape={X.shape}) while a minimum of 1 is required.")
            return self._decided_of(X if hasattr(self, "feature_names_in_") else X.set_axis(self.columns_, axis=1))
        if not plain:
            values = validate_data(self, X, dtype=None, ensure_all_finite="allow-nan", reset=False)
            return self._decided_of(pd.DataFrame(values, columns=self.columns_).infer_objects())
        values = validate_data(self, X, dtype=np.float64, ensure_all_finite=False, reset=False)
        if design.predictors != tuple(self.columns_):
            values = values[:, [self.columns_.index(name) for name in design.predictors]]
        assert_all_finite(values, estimator_name=type(self).__name__, input_name="X")
        return self.result_.machine.decision_function(self.result_.as_the_machine_takes(design.of_numbers(values)))

    def _decided_of(self, data: pd.DataFrame) -> Floats:
        """(m, P) the decision values of rows of a data frame, none of which may be missing."""
        _, f = self.result_.decision_at(data)
        unknown = np.flatnonzero(np.isnan(f).any(axis=1))
        if len(unknown):
            row, name = data.iloc[unknown[:1]], label_at(data.index, unknown[0])
            missing = columns_called(row, self.result_.frame.design.predictors).isna().any(axis=None)
            what = "X has a missing value" if missing else "a term of the formula is missing, and no column of X,"
            raise DataError(f"{what} in row {name!r}: fill it in, or leave the row out.")
        return f

    def __sklearn_tags__(self) -> Tags:
        """What scikit-learn may expect: a gram matrix is cut in rows and columns; costs and ν are for two classes."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, Precomputed) or self.kernel == "precomputed"
        tags.classifier_tags.multi_class = self.nu is None and self.costs is None
        return tags


_DEFAULTS = {name: each.default for name, each in inspect.signature(SVMClassifier).parameters.items()}


def estimator_of(fit: SVMResults) -> SVMClassifier:
    """A fitted estimator around a fit; its parameters are the arguments that the fit was made with.

    Raises
    ------
    UnavailableError
        For a fit that no call of `svm` or `tune` made.
    """
    if not isinstance(fit.call, Call):
        raise UnavailableError("as_estimator() has the arguments of the call of svm() or tune(): this fit has none.")
    given = {name: value for name, value in fit.call.given.items() if name in _DEFAULTS}
    estimator = SVMClassifier(**{**given, "formula": right_side(fit.formula)})
    predictors = list(fit.frame.design.predictors)
    estimator.result_ = fit
    estimator.classes_ = _classes(fit.classes)
    estimator.columns_ = predictors
    estimator.n_features_in_ = len(predictors)
    if fit.shape.two and fit.event != estimator.classes_.tolist()[-1]:
        estimator.event = fit.event  # which a clone, to which levels come sorted, would not take by default
    if all(isinstance(name, str) for name in predictors):
        estimator.feature_names_in_ = np.array(predictors, dtype=object)
    return estimator


def _classes(levels: tuple[Any, ...]) -> Any:
    """The levels (K,) as scikit-learn has them, in order."""
    found = np.array(levels)
    if found.ndim != 1 or found.tolist() != list(levels):
        raise UnavailableError(f"as_estimator() needs levels of one type, which can be sorted: they are {levels!r}.")
    return np.sort(found)


def _as_index(levels: np.ndarray) -> pd.Index:
    """Levels of any type of numpy, some of which no index of pandas has."""
    if levels.dtype.kind == "f" and levels.dtype.itemsize not in (4, 8):
        levels = levels.astype(float)
    found: pd.Index = pd.Index(levels.astype(native(levels.dtype)))
    return found


def _of_classes(class_weight: Mapping[Any, float], classes: list[Any]) -> Mapping[Any, float]:
    """The weights of the classes that there are, if each has one: others are absent, as from a fold."""
    present = {level: weight for level, weight in class_weight.items() if level in classes}
    return present if len(present) == len(classes) else class_weight


def _is_given(name: str, value: object) -> bool:
    """Whether a parameter of `svm`, which one of a subclass is not, differs from its default."""
    if name not in _DEFAULTS:
        return False
    default = _DEFAULTS[name]
    alike = type(value) is type(default) or (is_real(value) and is_real(default))
    return value is not default and not (alike and value == default)


def _of_pandas(X: Any) -> Any:
    """A data frame of another library as pandas has it; all else as it is."""
    has_columns = len(getattr(X, "shape", ())) != 1  # a series is refused by scikit-learn, as an array of one dimension
    is_frame = has_columns and any(hasattr(X, name) for name in ("__dataframe__", "__arrow_c_stream__"))
    return as_pandas("X", X) if is_frame and not isinstance(X, pd.DataFrame) else X


def _of_numbers(data: pd.DataFrame) -> bool:
    """Whether all columns are numbers by their type."""
    return all(types.is_numeric_dtype(dtype) and not types.is_bool_dtype(dtype) for dtype in data.dtypes)
