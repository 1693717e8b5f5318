"""Classifiers with ``fit`` and ``predict_proba``, as those of scikit-learn, among the models of a comparison."""

import copy
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import joblib
import numpy as np

from svmstat._tools.arrays import Codes, Floats
from svmstat._tools.frames import label_at
from svmstat._tools.warn import warn
from svmstat.comparison.observed import Observed, points_at
from svmstat.errors import DataError, LongRunWarning, RefitWarning
from svmstat.formula import ModelFrame, build_design
from svmstat.resampling.loops import Outlook, announcement, run_pieces
from svmstat.resampling.said import Said, joined, keeps_all, nothing

Told = tuple[type[Warning], str]
"""The kind of a warning, and what it says."""

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
    workers = max(1, min(joblib.effective_n_jobs(n_jobs), refits))
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
    return not isinstance(object_, type) and all(hasattr(object_, method) for method in _METHODS)


def default_name(classifier: object) -> str:
    """What it is called if it has no other name."""
    return type(classifier).__name__.lower()


def design_of(formula: str, data: Any, env: Mapping[str, Any]) -> ModelFrame:
    """The rows and the columns, which are not scaled: a pipeline can do that, on the rows that it is fitted to."""
    return build_design(formula, data, scale=False, drop_constant=False, env=env)


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
    fitted = _fresh(classifier).fit(X[rows], codes[rows])
    probability = np.zeros((len(lot), len(observed.levels)))
    probability[:, np.asarray(fitted.classes_, int)] = fitted.predict_proba(X[lot])
    return Said(probability, np.asarray(fitted.predict(X[lot]), np.intp), np.zeros(len(lot), bool))


def _fresh(classifier: Any) -> Any:
    """An unfitted copy with the same parameters."""
    clone = getattr(classifier, "__sklearn_clone__", None)
    return copy.deepcopy(classifier) if clone is None else clone()
