"""One expression of a formula: what it reads, what it gives, what its stateful transforms remember."""

import importlib
import pickle
import re
import unicodedata
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
from patsy import EvalEnvironment, EvalFactor, PatsyError

from svmstat._tools.checks import nearest
from svmstat.errors import SvmstatError
from svmstat.formula.columns import Table
from svmstat.formula.functions import (
    ADVICE,
    FALLBACK,
    INSIDE,
    PATSY,
    fits,
    has_smooth_inside,
    is_known,
    is_stateful,
    no_function,
    written_into,
)
from svmstat.formula.names import Names, given_to, read_names
from svmstat.formula.safety import LOGIC, NAMES, Sealed, check
from svmstat.formula.source import Source
from svmstat.formula.values import Value, interpret

_MEMORY = re.compile(r"\w+\.memorize_chunk\(\)")
"""How Python calls a transform that learns from the data, where its arguments are wrong."""
_OF_R = {"TRUE": "True", "FALSE": "False"}


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression of a formula, bound to the columns and the names it uses.

    Attributes
    ----------
    source : Source
        Its code and place in the formula.
    names : Names
        The names in the code.
    columns : tuple
        The data columns it reads.
    own : dict
        What it takes from the caller's namespace.
    given : tuple of Expression
        What the stateful transforms are given, which tells the rows they can be computed for.
    placed : tuple of Expression
        Levels of which only the codes are taken, which are -1 for none of them.
    """

    source: Source
    names: Names
    columns: tuple[Hashable, ...]
    own: dict[str, Any]
    given: "tuple[Expression, ...]"
    placed: "tuple[Expression, ...]"
    _factor: EvalFactor = field(repr=False, compare=False)
    _state: dict[str, Any] = field(repr=False, compare=False)

    @property
    def code(self) -> str:
        """The expression as Python code."""
        return self.source.code

    @property
    def column(self) -> Hashable | None:
        """The column that the expression is, if it is nothing but a column."""
        return self.columns[0] if self.names.alone else None

    @property
    def label(self) -> str:
        """What the messages call it: ``column 'x'`` or ``term 'np.log(x)'``."""
        return f"term {self.code!r}" if self.column is None else f"column {self.column!r}"

    @property
    def transforms(self) -> dict[str, Any]:
        """The stateful transforms by the names that patsy gives them; their attributes are what they have learnt."""
        return dict(self._state["transforms"])

    @property
    def learns(self) -> bool:
        """Whether it has stateful transforms."""
        return bool(self.transforms)

    @property
    def learns_only(self) -> bool:
        """Whether it is a call of a stateful transform and nothing else."""
        return is_stateful(_meant_by(self.own).get(self.names.call))

    def unlearned(self) -> "Expression":
        """The same, of which the stateful transforms have learnt nothing."""
        return _assemble(self.source, self.names, self.columns, self.own)

    def memorize(self, table: Table) -> None:
        """Let the stateful transforms learn from these rows."""
        data = self._namespace(table, np.float64 if self.runs_over(table) else None)
        with np.errstate(all="ignore"):
            for step in range(len(self._state["pass_bins"])):
                self._try(self._factor.memorize_chunk, self._state, step, data)
                self._try(self._factor.memorize_finish, self._state, step)

    def missing_inputs(self, table: Table) -> np.ndarray:
        """The rows, (n,) bool, for which the stateful transforms have no input."""
        missing = table.missing(self._exposed(self.names.exposed) if self.learns else ())
        for each in self.given:
            missing |= each.evaluate(table).missing
        return missing

    def evaluate(self, table: Table) -> Value:
        """Evaluate on the rows of a table, following R in what is missing.

        A comparison with a missing value is missing, where pandas says False; so are levels that
        come from a missing value, unless the code answers for it as ``x.isna()`` does.

        Parameters
        ----------
        table : Table
            n rows; transforms with a state have learnt before.

        Returns
        -------
        Value
            n rows.

        Raises
        ------
        FormulaError
            If the evaluation fails.
        DataError
            If it gives dates, say, or too few rows.
        """
        rows = np.flatnonzero(~self.missing_inputs(table))
        value = self._raw(table) if len(rows) == len(table) else self._raw(table.take(rows)).spread(rows, len(table))
        lost = self.names.compared if value.kind == "number" else self.names.exposed
        value = value.without(table.missing(self._exposed(lost)))
        for levels in self.placed:
            value = value.without(levels.evaluate(table).missing)
        return value

    def _raw(self, table: Table) -> Value:
        return self._computed(table, np.float64 if self.runs_over(table) else None)

    def _computed(self, table: Table, kind: type | None) -> Value:
        with np.errstate(all="ignore"):
            raw = self._try(self._factor.eval, self._state, self._namespace(table, kind))
        return interpret(self.code, raw, len(table))

    def runs_over(self, table: Table) -> bool:
        """Whether 64 bits are too few for what is computed of whole numbers: long doubles give something else."""
        if self.column is not None or all(table.columns[name].dtype != np.dtype("int64") for name in self.columns):
            return False
        if self.learns:
            return any(each.runs_over(table) for each in self.given)
        found = self._computed(table, None)
        try:
            return found.kind in ("number", "boolean") and not found.agrees(self._computed(table, np.longdouble))
        except SvmstatError:  # only whole numbers are bits and positions
            return False

    def _namespace(self, table: Table, kind: type | None = None) -> dict[str, Any]:
        """The columns by their names, of which whole numbers are of this kind."""
        own = {name: _kept(table.columns[name], kind) for name in self.columns}
        plainly = {k: column for k, column in own.items() if isinstance(k, str) and k not in self.names.functions}
        return {**plainly, "Q": own.__getitem__} if self.names.quoted else plainly

    def _exposed(self, names: tuple[Hashable, ...]) -> list[Hashable]:
        return [name for name in names if name in self.columns]

    def _try(self, function: Any, *arguments: Any) -> Any:
        try:
            return function(*arguments)
        except Exception as error:  # the code is the user's: it may raise anything
            cause = error.__cause__ if isinstance(error, PatsyError) and error.__cause__ else error
            if isinstance(cause, SvmstatError):
                raise cause from None
            why = explain(cause, self.names.functions)
            raise self.source.error(f"The term {self.code!r} cannot be evaluated: {why}") from cause

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the code, the caller's names it uses and what its transforms remember."""
        own = {name: _packed(self.code, name, value) for name, value in self.own.items()}
        memory = {name: vars(transform) for name, transform in self.transforms.items()}
        return _revive, (self.source, self.columns, own, memory)


def _kept(column: pd.Series, kind: type | None) -> pd.Series:
    """A column that code cannot change: numbers that cannot be written to, a copy of what else there is."""
    if not (isinstance(column.dtype, np.dtype) and column.dtype.kind in "fib"):
        return column.copy()
    whole = kind is not None and column.dtype.kind == "i"
    values = column.to_numpy().astype(kind) if whole else column.to_numpy().view()
    values.flags.writeable = False
    return pd.Series(values, index=column.index, copy=False)


def explain(error: BaseException, functions: Iterable[str] = ()) -> str:
    """What went wrong in the user's code, which calls these functions, with advice where the cause is a common one."""
    if "read-only" in str(error):
        return "it writes into a column, and the data are not to be changed: x = x.copy() at its beginning"
    if "truth value" in str(error) and "ambiguous" in str(error):
        whole = [ADVICE[name] for name in functions if name in ("max", "min")]
        if whole:
            return f"Python compares columns as a whole there; {whole[0]}"
        return f"{LOGIC}; np.isin(x, [...]) asks row by row"
    if "outside the outermost knots" in str(error):
        return "outside the knots; lower_bound= and upper_bound= set how far the spline reaches"
    words = _MEMORY.sub("it", str(error))
    return f"{type(error).__name__}: {words}"


def bind(source: Source, columns: Mapping[Hashable, bool], env: Mapping[str, Any]) -> Expression:
    """Find what each name in an expression means.

    A name read as a value is a column of the data, or else, like a function, one of patsy's names
    (``C``, ``bs``, ``center`` ...), one of the caller's, or one of a few numpy names.

    Parameters
    ----------
    source : Source
        The code.
    columns : mapping
        The columns of the data, each with whether it can be computed with.
    env : mapping
        The caller's names; code that is not trusted sees none of them.

    Returns
    -------
    Expression
        Ready to be evaluated.

    Raises
    ------
    FormulaError
        If a name is unknown, the expression reads no column, or it is not trusted and says what it must not.
    """
    if not source.trusted:
        check(source, columns)
        env = {}
    names = read_names(source.code)
    used = tuple(name for name in names.values if name in columns)
    if has_smooth_inside(source.code):
        raise source.error(INSIDE)
    own: dict[str, Any] = {}
    others: list[Any] = [*names.functions, *(name for name in names.values if name not in columns)]
    for name in others:
        called = name in names.functions
        quoted = name in names.quoted
        if called and name in used and not quoted:
            both = f"{name!r} is a column and a function in {source.code!r}"
            raise source.error(f"{both}: write the column Q({name!r}).")
        no_column = quoted and name not in used
        if no_column or not is_known(name, env, called):
            if called and not no_column:
                raise source.error(no_function(name, env))
            raise source.error(f"The data have no column {name!r}{_hint(source, name, columns)}")
        if name not in PATSY and fits(env, name, called):
            own[name] = env[name]
    if not used:
        raise source.error(f"The term {source.code!r} uses no column of the data.")
    try:
        return _assemble(source, names, used, own)
    except RecursionError as error:
        raise source.nested() from error


def _hint(source: Source, name: str, columns: Mapping[Hashable, bool]) -> str:
    """What may have been meant by the name of no column."""
    if name in _OF_R:
        return f": Python has {_OF_R[name]}."
    if dotted := _dotted(source, name, columns):
        return f": a name with dots, as R has them, is written Q({dotted!r})."
    if name in map(str, columns):
        return f": the name of that column is no text; data.rename(columns=str) makes it {name!r}."
    written = [each for each in map(str, columns) if unicodedata.normalize("NFKC", each) == name]
    if written:
        return f", but one whose letters Python reads as these: write Q({written[0]!r})."
    return nearest(name, map(str, columns))


def _dotted(source: Source, name: str, columns: Mapping[Hashable, bool]) -> str:
    """The column whose name has dots, as R has them, and which the code names so; or nothing."""
    own = [each for each in columns if isinstance(each, str) and each.startswith(f"{name}.")]
    code = source.code.replace(" ", "")
    return max((each for each in own if re.search(rf"{re.escape(each)}(?!\w)", code)), key=len, default="")


def _assemble(source: Source, names: Names, columns: tuple[Hashable, ...], own: dict[str, Any]) -> Expression:
    # Own names stand before the fallbacks, patsy's before both: a caller's C is no factor mark.
    env = EvalEnvironment([PATSY, own, FALLBACK] if source.trusted else [NAMES])
    found = _meant_by(own)
    if writes := written_into(source.code, found):
        raise source.error(f"The term {source.code!r} cannot be evaluated: {writes}.")
    stateful = frozenset(name for name in names.functions if is_stateful(found.get(name)))
    given = tuple[Expression, ...]()
    if stateful:
        inputs = (_part(source, code, columns, own) for code in given_to(source.code, stateful))
        given = tuple(each for each in inputs if each.columns)
    levels = (_part(source, code, columns, own) for code in (() if stateful else names.placed))
    placed = tuple(each for each in levels if each.columns)
    factor = EvalFactor(source.code)
    factor.code = factor.code.strip()  # patsy puts a blank before a leading sign, here and below
    state: dict[str, Any] = {}
    try:
        factor.memorize_passes_needed(state, env)
    except PatsyError as error:
        raise source.error(f"The term {source.code!r} cannot be used: {error.message}") from error
    except NameError as error:  # patsy's own, where a name in the code is that of a transform's memory
        reserved = "names that begin with _patsy_stobj are patsy's own: rename the column"
        raise source.error(f"The term {source.code!r} cannot be used: {reserved}.") from error
    state["eval_code"] = state["eval_code"].strip()
    if not source.trusted:
        state["eval_env"] = state["eval_env"].with_outer_namespace(Sealed())
    return Expression(source, names, columns, own, given, placed, factor, state)


def _meant_by(own: Mapping[str, Any]) -> dict[str, Any]:
    return {**FALLBACK, **own, **PATSY}


def _part(source: Source, code: str, columns: tuple[Hashable, ...], own: dict[str, Any]) -> Expression:
    """What part of an expression says."""
    names = read_names(code)
    used = tuple(name for name in columns if name in names.values)
    return _assemble(Source(code, source.formula, source.start, source.end), names, used, own)


@dataclass(frozen=True, slots=True)
class _Module:
    name: str


def _packed(code: str, name: str, value: object) -> object:
    """A caller's value in a form that can be pickled."""
    if isinstance(value, ModuleType):
        return _Module(value.__name__)
    try:
        pickle.dumps(value)
    except Exception as error:
        remedy = "define it at the top level of a module"
        message = f"The term {code!r} uses {name!r}, which cannot be pickled: {remedy}."
        raise pickle.PicklingError(message) from error
    return value


def _revive(
    source: Source, columns: tuple[Hashable, ...], packed: dict[str, Any], memory: dict[str, dict[str, Any]]
) -> Expression:
    own = {k: importlib.import_module(v.name) if isinstance(v, _Module) else v for k, v in packed.items()}
    expression = _assemble(source, read_names(source.code), columns, own)
    for name, attributes in memory.items():
        vars(expression.transforms[name]).update(attributes)
    return expression
