"""What every result prints: a titled sequence of blocks and tables, as text, HTML, LaTeX and Markdown."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from svmstat._tools.checks import flag
from svmstat.reporting.rendering import html, latex, markdown, text
from svmstat.reporting.rendering.parts import Part


@dataclass(frozen=True, slots=True, repr=False)
class Summary:
    """A titled sequence of blocks and tables, with warnings above them and notes below.

    It prints as text, shows itself as HTML in a notebook and converts to LaTeX and Markdown.

    Attributes
    ----------
    title : str
    parts : tuple of Block or Table
        A part with a title opens a section, a part without one continues it.
    notes, warnings : tuple of str

    Examples
    --------
    >>> from svmstat.reporting.rendering.parts import Block, Entry
    >>> block = Block(left=(Entry("Deviance", 418.1),), right=(Entry("Rows", 634, "count"),))
    >>> print(Summary("A result", (block,), notes=("Nothing was fitted.",)))
                                       A result
    ==============================================================================
    Deviance:                      418.10     Rows:                            634
    ==============================================================================
    Nothing was fitted.
    """

    title: str
    parts: tuple[Part, ...]
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def as_text(self) -> str:
        """As plain text, at most 78 columns wide."""
        return text.render(self.title, self.parts, self.notes, self.warnings)

    def as_html(self, document: bool = False) -> str:
        """As an HTML element that carries its own style, or as a whole HTML document."""
        whole = flag("document", document)
        element = html.render(self.title, self.parts, self.notes, self.warnings)
        return html.document(self.title, element) if whole else element

    def as_latex(self) -> str:
        r"""As LaTeX for a document with ``\usepackage{booktabs,longtable}``."""
        return latex.render(self.title, self.parts, self.notes, self.warnings)

    def as_markdown(self) -> str:
        """As Markdown with pipe tables, which GitHub, Quarto and pandoc read."""
        return markdown.render(self.title, self.parts, self.notes, self.warnings)

    def __str__(self) -> str:
        return self.as_text()

    def __repr__(self) -> str:
        return self.as_text()

    def _repr_html_(self) -> str:
        return self.as_html()

    def _repr_latex_(self) -> str:
        return self.as_latex()


class Printed(ABC):
    """A result that prints its summary, and shows it in a notebook."""

    __slots__ = ()

    @abstractmethod
    def summary(self) -> Summary:
        """What it prints."""

    def __str__(self) -> str:
        return str(self.summary())

    def _repr_html_(self) -> str:
        return self.summary().as_html()
