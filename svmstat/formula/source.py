"""A piece of a formula: its code and its place in the text."""

from dataclasses import dataclass

from svmstat.errors import FormulaError


@dataclass(frozen=True, slots=True)
class Source:
    """A piece of code and its place in the formula, ``formula[start:end]``."""

    code: str
    formula: str
    start: int
    end: int

    def error(self, message: str) -> FormulaError:
        """The error that marks this piece in the formula, ready to be raised."""
        return FormulaError(f"{message}\n{marked(self.formula, self.start, self.end)}")

    def nested(self) -> FormulaError:
        """The error for code that Python itself cannot read, ready to be raised."""
        return self.error(
            "This expression is nested too deeply for Python: a formula may have thousands of terms, but what takes "
            "some hundred operators or brackets in one term is better computed as a column beforehand."
        )


def marked(formula: str, start: int, end: int) -> str:
    """The formula with a line of carets under ``formula[start:end]``."""
    return f"    {formula}\n    {' ' * start}{'^' * (end - start)}"
