"""A piece of a formula: its code, its place in the text, and whether that was written in Python."""

from dataclasses import dataclass

from svmstat.errors import FormulaError


class Untrusted(str):
    """A formula or a condition from outside Python, such as a command line or a file.

    It may say what `svmstat.formula.safety` allows, and sees nothing of the caller's names. It is a text like any
    other, so that the mark goes wherever the text goes.

    Examples
    --------
    >>> Untrusted("y ~ x") == "y ~ x"
    True
    """

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Source:
    """A piece of code and its place in the formula, ``formula[start:end]``."""

    code: str
    formula: str
    start: int
    end: int

    @property
    def trusted(self) -> bool:
        """Whether the formula was written in Python, and may call what its writer can call."""
        return not isinstance(self.formula, Untrusted)

    def error(self, message: str) -> FormulaError:
        """The error that marks this piece in the formula, ready to be raised."""
        return FormulaError(f"{message}\n{marked(self.formula, self.start, self.end)}")

    def nested(self) -> FormulaError:
        """The error for code that Python itself cannot read, ready to be raised."""
        return self.error(
            "This expression is nested too deeply for Python: a formula may have thousands of terms, but what takes "
            "some hundred operators or brackets in one term is better computed as a column beforehand."
        )


def one_line(text: str) -> str:
    r"""A formula or condition in one line, marked as it was.

    Raises
    ------
    FormulaError
        If something in it is no character.

    Examples
    --------
    >>> type(one_line(Untrusted("y ~\n x "))).__name__
    'Untrusted'
    """
    line = " ".join(text.splitlines()).strip()
    try:
        line.encode()
    except UnicodeEncodeError as error:
        raise FormulaError(f"The formula cannot be read: {line[error.start]!r} is no character in UTF-8.") from error
    return Untrusted(line) if isinstance(text, Untrusted) else line


def marked(formula: str, start: int, end: int) -> str:
    """The formula with a line of carets under ``formula[start:end]``."""
    return f"    {formula}\n    {' ' * start}{'^' * (end - start)}"
