"""``svm()``: a formula and a data frame in, a fitted model out."""

import inspect
from collections import ChainMap
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import pandas as pd
from numpy.typing import ArrayLike

from svmstat._tools.arrays import Floats
from svmstat._tools.checks import positive
from svmstat._tools.frames import as_pandas, has_rows_of, read_frame, unshared
from svmstat._tools.keywords import calling_frame, helpful, no_argument
from svmstat.errors import ArgumentError
from svmstat.kernels import ARGUMENTS, Inherited, Kernel, make_kernel
from svmstat.objective.nu import Nu, check_nu, nu_of_sample
from svmstat.prepared import Prepared, fit, prepare
from svmstat.results import SVMResults

Plain = TypeVar("Plain", float, int, str)


def _apart(value: Plain) -> Plain:
    """An equal object of its own: as a default it tells an argument that was given from one that was not."""
    kind = type(value)
    apart: type[Plain] = type(kind.__name__, (kind,), {})
    return apart(value)


_C, _GAMMA, _DEGREE, _COEF0 = _apart(1.0), _apart("scale"), _apart(3), _apart(0.0)


@helpful
def svm(  # noqa: PLR0913  a caller names those that matter; all have defaults
    formula: str,
    data: Any,
    *,
    loss: str = "hinge",
    kernel: str | Kernel | Callable[[Floats, Floats], ArrayLike] = "rbf",
    C: float = _C,
    gamma: float | str = _GAMMA,
    degree: int = _DEGREE,
    coef0: float = _COEF0,
    nu: float | Sequence[float] | None = None,
    theta: Mapping[str, float] | None = None,
    weights: Hashable | ArrayLike | None = None,
    weight_type: str = "frequency",
    class_weight: Mapping[Any, float] | str | None = None,
    costs: Mapping[str, float] | None = None,
    priors: Mapping[Any, float] | None = None,
    groups: Hashable | ArrayLike | None = None,
    event: object = None,
    subset: str | ArrayLike | None = None,
    na_action: str = "drop",
    scale: bool = True,
    calibration: str = "auto",
    coupling: str = "wu-lin-weng",
) -> SVMResults:
    """Fit a support vector machine.

    Minimises ½‖h‖² + Σ_i u_i [m_i − y_i f(x_i)]₊ over f(x) = h(x) + b with u_i = C · w_i · L(y_i), y_i = +1
    for the event and −1 otherwise, to a KKT violation ≤ 1e-8; the margins m_i are 1 for the hinge loss. Where the
    response has more than two levels there is such a machine for every pair of them, and a pair's first level is its
    event [003: section 3].

    Parameters
    ----------
    formula : str
        A patsy formula such as ``"y ~ x1 + C(site)"``; ``y ~ .`` takes all other columns. There is no
        intercept column, and every factor is coded by all its levels. Names that are not columns are looked
        up where ``svm`` is called, and called if the formula says so: a text of somebody else's belongs in
        `svmstat.formula.Untrusted`, for which only what `svmstat.formula.safety` lists is evaluated. With s(x),
        s(x, z), te(x, z) or ti(x, z) in it the machine is additive, f = b + Σ_t h_t with a function h_t for each term:
        see docs/additive.md.
    data : data frame
        One row per observation: of pandas, polars, a Table of pyarrow, or another eager frame that narwhals reads.
        Predictions and fitted values are of the same kind, diagnostics of pandas: see docs/frames.md. The fit keeps the
        data as they are; `update` takes what they are when it is called.
    loss : {"hinge", "p0"}
        The hinge loss, or twice the loss of [002: 11], whose margins move with the Bayes threshold
        P0 = L(−1) / (L(−1) + L(+1)): an event costs 2[−log P0 − (1 − P0) f]₊, another row
        2[−log(1 − P0) + P0 f]₊. At P0 = ½ that is the hinge loss on another scale: the fit is 2 log 2
        times the one with the hinge loss and the cost C / (2 log 2).
    kernel : {"rbf", "linear", "poly", "spline", "laplace", "precomputed"}, Kernel or callable
        The kernel: see `svmstat.kernels` for the formulas. One that is passed as an object has its own parameters, can
        be a sum and live on some terms of the formula:
        ``kernel=Linear().on("age") + 0.5 * RBF(gamma="median").on("lon", "lat")``. With "precomputed" the columns of
        the design are those of the gram matrix, in the order of the rows of ``data``:
        ``svm("y ~ .", frame_of_K_and_y, kernel="precomputed")``. A function K(X, Z) of two arrays (m, p) and
        (k, p) returns (m, k). In an additive formula it is "rbf" or "spline", the kernel of the smooth terms that do
        not name their own, as ``s(x, kernel="spline")`` does.
    C : float
        Cost, > 0. The λ of the penalised form (1/Σw) Σ w [..]₊ + λ‖h‖² is 1/(2 C Σw). With all weights the bounds
        u_i must be between 1e-100 and 1e100.
    gamma : float, "scale" or "median"
        Width of the rbf and polynomial kernels: a number > 0, 1/(p · variance of all entries of the scaled
        design), or 1/(2 · squared median distance); of the Laplace kernel: a number, 1/(p · standard deviation), or
        1/median of the distance that it has. Kernels that are named and have no width are the same whatever it is, as
        they are with degree and coef0; those that are passed as objects refuse all three.
    degree, coef0 : int, float
        Of the polynomial kernel (γ x'z + coef0)^degree.
    nu : float or two floats, optional
        In (0, 1], in the place of C, class weights, costs and priors, with the hinge loss: the 2ν-SVM [004] with ν₊ for
        the event and ν₋ for the other level, which bound the share of each class inside the margin from above and that
        of its support vectors from below. A single number is
        the ordinary ν-SVM, with ν₊ = νn/(2n₊) and ν₋ = νn/(2n₋), neither above 1. The fit is that of the cost
        C = 1/(ρn) with class weights γ and 1 − γ, and f is reported on its scale, with the margins at −1 and 1.
        Leaving out rows or groups and the bootstrap keep n, ν and γ; folds have the ν of the rows that they leave.
    theta : mapping, optional
        θ ≥ 0 of some terms of an additive formula, ``{"s(lon)": 2}``, the others being 1: K = Σ_t θ_t K_t with the K_t
        centred and of mean diagonal 1. A term with 0 is left out. `tune` chooses them.
    weights : column name or array_like of shape (n,), optional
        Case weights w ≥ 0; a row of weight zero is absent, but it is predicted: its predictors must be such
        as the others' fit can predict, without a new level or a value beyond the knots of a spline basis.
    weight_type : {"frequency", "probability"}
        What a weight means. "frequency": repeats, a row of weight two counts as the row given twice in every number of
        the fit; only whether rows are held out one by one, up to 5000, or in folds goes by how many rows are given.
        "probability": how much a row stands for, in a survey or by importance; weights are divided by their
        mean over the rows that are used, leaving a row out takes all of it, the bootstrap draws rows with equal
        chances, and standard errors are those of n rows. See docs/groups.md.
    class_weight : mapping or "balanced", optional
        L for each level of the response, > 0; levels that are not named have 1. "balanced" is
        Σw / (K Σw of the class) for K levels. It is another way to say what costs and priors say, not beside them.
    costs : mapping, optional
        ``{"fp": cost of a false positive, "fn": cost of a false negative}``, > 0; one that is not named is 1. For two
        levels; for more there are ``class_weight`` and ``priors``.
    priors : mapping, optional
        The share of every level in the population that the rule is for, where the sample has other shares.
        Costs and priors give the class weights L(−1) ∝ c_fp π⁺ π_t⁻ and L(+1) ∝ c_fn π⁻ π_t⁺ with mean one, π
        being the weighted shares of the sample and π_t the priors, by default the same [000: 18]. The sign of f
        then estimates whether P(event | x), in the sample, exceeds P0, if the kernel is rich enough for a step, as rbf
        and spline kernels are and the linear one is not [000: section 3]. Resampling keeps L. For more than two levels
        priors give L ∝ π_t / π, with mean one over the levels.
    groups : column name or array_like of shape (n,), optional
        Which rows belong together and are not independent: vessel, patient, site; at least three groups. They do not
        change the machine, but all that is said of rows which it has not seen: leave-one-out leaves out groups, folds
        keep them together, the bootstrap draws them, standard errors are over them, and so the map of the probabilities
        is fitted to values held out by group. A row without a label is one with a missing value. See docs/groups.md.
    event : optional
        The level called positive, of two; by default the last level, True, or the larger number.
    subset : str or array_like of bool, optional
        Rows to use: an expression in the columns, or one boolean per row.
    na_action : {"drop", "raise"}
        What to do about rows with missing values.
    scale : bool
        Standardise the columns that are not 0/1 indicators, by weighted mean and standard deviation (ddof 1).
        A gram matrix is not scaled.
    calibration : {"auto", "loo", "kfold", "insample", "venn-abers"}
        The decision values to which the Platt map of the probabilities is fitted: "loo" those of each row by the fit
        without it, "kfold" those of five stratified folds, "insample" those of the fit, as in [003], which promise too
        much where the kernel is flexible; "venn-abers" are isotonic fits to the values of "loo". "auto" is "loo" up to
        5000 rows, and "kfold" beyond. The map is made when a probability is first asked for. Deviance, deletion
        deviances and their bootstrap always use the map of the fit's own values [003].
    coupling : {"wu-lin-weng", "hastie-tibshirani"}
        How the probabilities of more than two levels are made from the Platt probabilities of the pairs: see
        `svmstat.calibration.coupling`.

    Returns
    -------
    SVMResults

    Raises
    ------
    ArgumentError, ArgumentTypeError, FormulaError, DataError
        For arguments, formulas and data that cannot be used; nothing has been solved then.

    Warns
    -----
    DesignWarning
        For constant columns, columns on both sides of the formula, text that reads as numbers, factors of 100 levels
        or more, or text that reads as dates, of which most rows have a level of their own, levels, or text that a
        column is compared with, that differ by case or blanks alone, indefinite kernel matrices, and if more than a
        tenth of the weight is dropped for missing values.
    CertificateWarning, CalibrationWarning
        If the optimality of the solution or the convergence of the Platt map could not be certified.

    Examples
    --------
    >>> from svmstat import datasets, svm
    >>> mackerel = datasets.load("mackerel")
    >>> fit = svm("egg_count > 0 ~ lon + lat + b_depth + c_dist + temp_20m", mackerel, C=16, gamma=0.25)
    >>> round(fit.deviance, 2), round(fit.apparent_error, 4)
    (418.1, 0.1341)
    >>> fit.predict(mackerel.head(2)).tolist()
    [False, False]
    """
    asked = dict(locals())
    caller = calling_frame()
    return _fit_as(asked, ChainMap(caller.f_locals, caller.f_globals))


def _fit_as(asked: Mapping[str, Any], env: Mapping[str, Any]) -> SVMResults:
    """The fit for all arguments of `svm`; ``env`` are the caller's names."""
    kept = {name: unshared(value) for name, value in asked.items()}
    posing = _posing(kept, env)
    found = fit(posing.prepared, posing.prepared.resolve(posing.kernel), posing.C, posing.nu, posing.untuned)
    return replace(found, call=call_of(kept, asked["data"]), kind=posing.kind)


@dataclass(frozen=True, slots=True, eq=False)
class Posing:
    """What a call of `svm` asks for, before anything is solved.

    Attributes
    ----------
    prepared : Prepared
        Its data and weights.
    kernel : Kernel
        Before it has learnt from the data.
    C : float
        The cost; with ν it does not matter.
    nu : Nu or None
        ν on these rows.
    untuned : tuple of str
        What was left at its default.
    kind : str
        The library of the data frame.
    """

    prepared: "Prepared"
    kernel: Kernel
    C: float
    nu: Nu | None
    untuned: tuple[str, ...]
    kind: str


def _posing(asked: Mapping[str, Any], env: Mapping[str, Any]) -> Posing:
    """What all arguments of `svm` ask for; ``env`` are the caller's names."""
    C, nu = asked["C"], asked["nu"]
    positive("C", C)
    weighing = (asked[name] for name in ("loss", "class_weight", "costs", "priors"))
    chosen_nu = None if nu is None else _nu_alone(nu, C is not _C, *weighing)
    parameters = {name: asked[name] for name in ARGUMENTS if asked[name] is not _DEFAULTS[name]}
    chosen = make_kernel(asked["kernel"], parameters)
    of_data = {name: asked[name] for name in _OF_DATA}
    source = read_frame("data", asked["data"])
    prepared = prepare(asked["formula"], source.data, of_rows=chosen.of_rows, env=env, **of_data)
    frame = prepared.frame
    if chosen_nu is not None and prepared.many:
        raise ArgumentError(
            f"nu={nu!r} is not allowed: it is for two levels, and the response {frame.response.name!r} has "
            f"{len(frame.response.levels)}; C, class_weight and priors are for more."
        )
    resolved = None if chosen_nu is None else nu_of_sample(chosen_nu, frame.y, frame.weights)
    prepared.check_bounds([float(C)], resolved)
    untuned = (
        *(("C",) if C is _C and nu is None else ()),
        *(("gamma",) if chosen.parameters.get("gamma") == _GAMMA and not frame.design.additive else ()),
    )
    return Posing(prepared, chosen, float(C), resolved, untuned, source.kind)


_OF_DATA = (
    "loss", "theta", "weights", "weight_type", "class_weight", "costs", "priors", "groups", "event", "subset",
    "na_action", "scale", "calibration", "coupling",
)  # fmt: skip
"""The arguments of `svm` that `prepare` takes too."""

_DEFAULTS = {name: each.default for name, each in inspect.signature(svm).parameters.items()}

_OF_ROWS, _NAMES = ("weights", "groups", "subset"), str | int | None
"""Arguments that may be arrays of rows, and what they are otherwise."""

_OF_COST = ("C", "class_weight", "costs", "priors")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Call:
    """A call of `svm` that can be repeated with changes.

    Attributes
    ----------
    given : dict
        The arguments that are not the defaults, as they were.
    now : data frame or None
        What the data have become since, for a frame that can be changed in place.
    of_others : dict
        What takes the place of arguments for other rows: those of which a search has made arrays for its own.
    """

    given: Mapping[str, Any]
    now: pd.DataFrame | None = None
    of_others: Mapping[str, Any] = field(default_factory=dict)

    def __reduce__(self) -> tuple[Any, ...]:
        changed = self.now is not None and not self.now.equals(self.given["data"])
        return Call, (self.given, self.now if changed else None, self.of_others)

    def __repr__(self) -> str:
        return f"<Call: svm({', '.join(self.given)})>"

    def __call__(
        self, formula: str | None, data: pd.DataFrame | None, changes: Mapping[str, Any], env: Mapping[str, Any]
    ) -> SVMResults:
        """The fit with another formula or other data where they are given, and with these changes.

        Other data are also what the frame has become since; the arrays of the call are as they were.
        """
        unknown = [name for name in changes if name not in _DEFAULTS]
        if unknown:
            raise no_argument("update", unknown[0], _DEFAULTS)
        replaced = self._replaced_by(changes)
        kept = {name: value for name, value in self.given.items() if name not in replaced}
        if formula is not None and "theta" in kept:
            kept["theta"] = Inherited(kept["theta"])
        data = self.now if data is None else data
        arrays = [name for name in _OF_ROWS if not isinstance(kept.get(name), _NAMES)]
        if arrays and data is not None and not self._has_rows_of(data):
            kept |= self.of_others
            self._refuse_arrays(kept, changes)
        new = {name: value for name, value in (("formula", formula), ("data", data)) if value is not None}
        return _fit_as({**_DEFAULTS, **kept, **changes, **new}, env)

    def _has_rows_of(self, data: Any) -> bool:
        """Whether data have the rows that they had."""
        now, kept = as_pandas("data", data), as_pandas("data", self.given["data"])
        told_apart = data is not self.now and not kept.index.equals(pd.RangeIndex(len(kept)))
        return now.index.equals(kept.index) if told_apart else has_rows_of(now, kept)

    def _refuse_arrays(self, asked: Mapping[str, Any], changes: Collection[str]) -> None:
        """Refuse an array that was for rows which the data no longer have: it would be taken for others."""
        for name in _OF_ROWS:
            if name not in changes and not isinstance(asked.get(name), _NAMES):
                raise ArgumentError(
                    f"{name} was given as an array for the rows of the data as they were, and these are others: give "
                    "it again, or name a column."
                )

    def posing(self) -> Posing:
        """What the call asks for of data and texts that are not trusted: nothing is solved, and no name looked up."""
        return _posing({**_DEFAULTS, **self.given}, {})

    def _replaced_by(self, changes: Mapping[str, Any]) -> tuple[str, ...]:
        """What the changes take the place of; the name of the kernel that the fit has is no change."""
        name = self.given.get("kernel", _DEFAULTS["kernel"])
        same = isinstance(name, str) and isinstance(changes.get("kernel"), str) and changes["kernel"] == name
        kernel = ARGUMENTS if "kernel" in changes and not same else ()
        cost = _OF_COST if changes.get("nu") is not None else ()
        nu = ("nu",) if any(changes.get(name) is not None for name in _OF_COST) else ()
        return (*kernel, *cost, *nu)


def call_of(kept: Mapping[str, Any], data: Any, of_others: Mapping[str, Any] | None = None) -> Call:
    """The call with these arguments of `svm`, of which the data were given as a frame that may change.

    Of other rows some are ``of_others``.
    """
    given = {name: value for name, value in kept.items() if value is not _DEFAULTS[name]}
    return Call(given, None if data is kept["data"] else data, of_others or {})


def _nu_alone(
    nu: object, C_given: bool, loss: str, class_weight: object, costs: object, priors: object
) -> float | tuple[float, float]:
    """Check ``nu``, and that nothing is given which it determines."""
    checked = check_nu(nu)
    given = {"C": C_given, "class_weight": class_weight is not None, "costs": costs is not None}
    given |= {"priors": priors is not None}
    beside = [name for name, there in given.items() if there]
    if beside:
        raise ArgumentError(
            f"nu={nu!r} and {' and '.join(beside)} are not allowed together: nu takes the place of the cost and of its "
            "weights on the two classes; C and the class weights of the equivalent fit follow from it."
        )
    if loss == "p0":
        raise ArgumentError(
            f"nu={nu!r} and loss='p0' are not allowed together: the 2nu-SVM has one margin for both classes, which it "
            "chooses itself, and the p0 loss prescribes two."
        )
    return checked
