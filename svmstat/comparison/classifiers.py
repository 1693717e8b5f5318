"""Classifiers with ``fit`` and ``predict_proba``, as those of scikit-learn, among the models of a comparison."""

import copy
import os
import warnings
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from svmstat._tools.arrays import Codes, Floats
from svmstat._tools.frames import label_at
from svmstat._tools.warn import warn
from svmstat.comparison.observed import Observed, points_at
from svmstat.errors import DataError, LongRunWarning, RefitWarning
from svmstat.formula import ModelFrame, build_design
from svmstat.resampling.loops import Outlook, announcement, run_pieces, workers_for
from svmstat.resampling.said import Said, joined, keeps_all, nothing

Told = tuple[type[Warning], str]
"""The kind of a warning, and what it says."""

_OFF = 1e-4
"""How far probabilities may be off one in their sum, or below zero: some are in single precision."""

_SHOWN = 5
"""Probabilities that a message shows."""

_THRESHOLDS = ("FixedThresholdClassifier", "TunedThresholdClassifierCV")
"""Those of scikit-learn whose threshold is another than 1/2."""

_METHODS = ("fit", "predict", "predict_proba", "get_params")


@dataclass(frozen=True, slots=True)
class Classifiers:
    """A classifier, fitted anew to the rows that are kept; a row of weight w is there w times.

    Attributes
    ----------
    observed : the rows
    classifier : it is copied, never fitted itself
    X : (n, p) the design, not scaled
    """

    observed: Observed
    classifier: Any
    X: Floats

    def one_by_one(self, n_jobs: int | None, progress: bool) -> Said:
        """Each row without one copy of it."""
        weights = self.observed.weights
        rows = [np.array([row]) for row in range(len(weights))]
        return joined(self._left_out(rows, [np.minimum(weights[row], 1.0) for row in rows], n_jobs, progress))

    def without(self, lots: Sequence[Codes], n_jobs: int | None, progress: bool) -> list[Said]:
        """Each lot with all of its weight."""
        return self._left_out(lots, [self.observed.weights[lot] for lot in lots], n_jobs, progress)

    def _left_out(
        self, lots: Sequence[Codes], copies: Sequence[Floats], n_jobs: int | None, progress: bool
    ) -> list[Said]:
        name = self.observed.name
        caller = os.getpid()
        pieces = [
            (caller, self.classifier, self.X, self.observed, lot, gone) for lot, gone in zip(lots, copies, strict=True)
        ]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            begin = perf_counter()
            first = run_pieces(_told, pieces[:1], n_jobs=1, progress=False, what=name)
            seconds = perf_counter() - begin
        _announce(name, seconds, len(pieces) - 1, n_jobs)
        with warnings.catch_warnings(record=True) as later:
            warnings.simplefilter("always")
            rest = run_pieces(_told, pieces[1:], n_jobs=n_jobs, progress=progress, what=name)
        heard = [(each.category, str(each.message)) for each in (*caught, *later)]
        _tell(name, [*heard, *(each for _, told in rest for each in told)], len(pieces))
        return [said for said, _ in (*first, *rest)]


def _announce(name: str, seconds: float, refits: int, n_jobs: int | None) -> None:
    """Say that the refits will take long, if the first did; the loop itself cannot: its warnings are caught."""
    workers = workers_for(refits, n_jobs)
    outlook = Outlook(reason=f"{refits} refits take some {seconds:.2g} seconds each")
    note = announcement(name, seconds * refits / workers, outlook, workers)
    if note:
        warn(note, LongRunWarning)


def _tell(name: str, heard: Sequence[Told], refits: int) -> None:
    """One warning in the place of as many as there are refits."""
    if heard:
        category, message = heard[0]
        what = f"{category.__name__}: {' '.join(message.split())}"
        warn(f"{name}: {len(heard)} warnings in {refits} refits, the first a {what}", RefitWarning)


def is_classifier(object_: object) -> bool:
    """Whether it can be fitted and asked for probabilities."""
    return not isinstance(object_, type) and not lacking(object_)


def lacking(object_: object) -> list[str]:
    """The methods that it has not; a stack without a model on top takes one, which has them, as it is fitted."""
    stack = getattr(object_, "final_estimator", "no stack") is None
    return [each for each in _METHODS if not hasattr(type(object_) if stack else object_, each)]


def refuse_frozen(name: str, classifier: Any) -> None:
    """Refuse a classifier that is not fitted anew, or has a part that is not: it has seen what is left out.

    Raises
    ------
    DataError
    """
    for each in (classifier, *classifier.get_params().values()):
        if isinstance(each, type) or not hasattr(each, "__sklearn_clone__"):
            continue
        if each.__sklearn_clone__() is each:
            raise DataError(
                f"{name}: a {type(each).__name__} stays as it was fitted, and has seen the rows that are left out: "
                "give the classifier itself, which is fitted anew without them."
            )


def weighs_levels(classifier: Any) -> bool:
    """Whether its rule is not to keep the number of errors small: one level weighs more, or the threshold is moved."""
    given = classifier.get_params()
    weighted = any(name.rpartition("__")[2] == "class_weight" and value is not None for name, value in given.items())
    return weighted or any(type(each).__name__ in _THRESHOLDS for each in (classifier, *given.values()))


def default_name(classifier: object) -> str:
    """What it is called if it has no other name."""
    return type(classifier).__name__.lower()


def design_of(formula: str, data: Any, env: Mapping[str, Any], ignored: Collection[Hashable] = ()) -> ModelFrame:
    """The rows and the columns, not scaled: a pipeline can do that, on the rows that it is fitted to.

    A dot does not stand for the columns that are ``ignored``.
    """
    return build_design(formula, data, scale=False, drop_constant=False, env=env, ignored=ignored)


def observed_of(name: str, frame: ModelFrame, weights: Floats | None) -> Observed:
    """The rows of a classifier, which counts them as the other models do.

    Raises
    ------
    DataError
        If the weights are no whole numbers.
    """
    response = frame.response
    event = response.event_code if len(response.levels) == 2 else -1
    w = frame.weights if weights is None or len(weights) != len(frame.codes) else weights
    if (w != np.round(w)).any():
        row = int(np.flatnonzero(w != np.round(w))[0])
        raise DataError(
            f"{name}: a classifier is fitted to every row as often as its weight says, and the weight of row "
            f"{label_at(frame.index, row)!r} is {w[row]:g}: only whole numbers are possible."
        )
    points = points_at(frame.X, frame.codes, w)
    return Observed(name, frame.index, response.levels, frame.codes, w, event, points=points)


def _told(caller: int, *piece: Any) -> tuple[Said, list[Told]]:
    """What is said `_without` a lot, and what was warned of where the ``caller`` is another process."""
    if os.getpid() == caller:
        return _without(*piece), []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        said = _without(*piece)
    return said, [(each.category, str(each.message)) for each in caught]


def _without(classifier: Any, X: Floats, observed: Observed, lot: Codes, copies: Floats) -> Said:
    kept, codes = observed.weights.copy(), observed.codes
    kept[lot] -= copies
    if not keeps_all(codes, observed.weights, kept):
        return nothing(len(lot), len(observed.levels))
    rows = np.repeat(np.arange(len(kept)), kept.astype(int))
    labels = _labels(observed.levels)
    try:
        fitted = _fresh(classifier)
        fitted.fit(X[rows], labels[codes[rows]])
        found, winner = np.asarray(fitted.predict_proba(X[lot]), float), fitted.predict(X[lot])
        classes, winner = _codes_of(fitted.classes_, labels), _codes_of(winner, labels)
    except Exception as error:  # the classifier is the user's: it may raise anything
        raise DataError(f"{_refit(observed, lot)} failed: {type(error).__name__}: {error}") from error
    _check_probabilities(found, len(classes), observed, lot)
    probability = np.zeros((len(lot), len(labels)))
    probability[:, classes] = np.clip(found, 0.0, 1.0)
    return Said(probability, winner, np.zeros(len(lot), bool))


def _refit(observed: Observed, lot: Codes) -> str:
    """Which refit an error is of."""
    others = f" and {len(lot) - 1} others" if len(lot) > 1 else ""
    return f"{observed.name}: the refit without row {observed.label(int(lot[0]))!r}{others}"


def _labels(levels: tuple[Any, ...]) -> Any:
    """The levels (K,) as the classifier is told them, whose parameters may name them: texts, or whole numbers.

    Of levels that are no classes for scikit-learn, such as dates, their codes.
    """
    found = np.array(levels) if len({type(each) for each in levels}) == 1 else np.array(levels, dtype=object)
    whole = found.dtype.kind == "f" and bool((found == np.rint(found)).all())
    return found if found.ndim == 1 and (found.dtype.kind in "biuU" or whole) else np.arange(len(levels))


def _codes_of(classes: Any, labels: Any) -> Codes:
    """Which of the labels (K,) each of the classes (m,) is."""
    place = {label: code for code, label in enumerate(labels.tolist())}
    said = np.asarray(classes).tolist()
    strange = [each for each in said if each not in place]
    if strange:
        raise ValueError(f"{strange[0]!r} is none of the levels that it was given")
    return np.array([place[each] for each in said], np.intp)


def _check_probabilities(found: Floats, K: int, observed: Observed, lot: Codes) -> None:
    allowed = "predict_proba must give a probability for each of its classes_, from 0 to 1 and with the sum 1"
    if found.shape != (len(lot), K):
        raise DataError(
            f"{_refit(observed, lot)} gives an array of shape {found.shape} for {len(lot)} rows: {allowed}."
        )
    wrong = ~(np.isfinite(found).all(axis=1) & (found > -_OFF).all(axis=1) & (np.abs(found.sum(axis=1) - 1.0) < _OFF))
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        values = ", ".join(f"{each:.6g}" for each in found[row, :_SHOWN])
        raise DataError(f"{_refit(observed, lot[[row]])} gives {values} for it: {allowed}.")


def _fresh(classifier: Any) -> Any:
    """An unfitted copy with the same parameters."""
    clone = getattr(classifier, "__sklearn_clone__", None)
    if clone is not None:
        return clone()
    return type(classifier)(**copy.deepcopy(classifier.get_params(deep=False)))
