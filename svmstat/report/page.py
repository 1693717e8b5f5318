"""A web page that needs nothing but itself: its frame, sections, paragraphs and figures."""

import base64
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from html import escape

from svmstat._tools.texts import without_controls
from svmstat.reporting.plots import sized_svg
from svmstat.reporting.plots.style import Axes
from svmstat.reporting.rendering.html import NAME

_PIXELS = 115  # per inch, for letters as large as those of the page

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{color-scheme: light}}
body {{font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff;
 max-width: 46em; margin: 0 auto; padding: 1.5em 1em 3em; overflow-wrap: break-word}}
h1 {{font-size: 1.5em; line-height: 1.25; margin: 0 0 .4em}}
h2 {{font-size: 1.15em; margin: 2.2em 0 .5em}}
nav ol {{margin: .8em 0; padding-left: 1.4em}}
nav a {{color: #1d4f91; text-decoration: none}}
p {{margin: .5em 0}}
code, pre {{font: .9em/1.45 ui-monospace, monospace}}
pre {{background: #f4f4f4; padding: .6em .8em; margin: .5em 0; white-space: pre-wrap; overflow-wrap: anywhere}}
figure {{margin: 1em 0; break-inside: avoid}}
figure img {{display: block; max-width: 100%; height: auto}}
figcaption {{font-size: .9em; color: #444; margin-top: .3em}}
{summary} p.title {{display: none}}
@media (max-width: 36em) {{body {{font-size: 15px}}}}
@media print {{h2, h2 + p {{break-after: avoid}}}}
</style>
</head>
<body>
{body}
</body>
</html>
"""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page.

    Attributes
    ----------
    title : str
    elements : tuple of str
        HTML, one after the other.
    """

    title: str
    elements: tuple[str, ...]

    @property
    def anchor(self) -> str:
        """What a link within the page points to."""
        return "-".join(self.title.lower().split())

    @property
    def html(self) -> str:
        """With its heading."""
        heading = f'<section id="{escape(self.anchor)}">\n<h2>{escape(self.title)}</h2>'
        return "\n".join([heading, *self.elements, "</section>"])


def page(title: str, formula: str, sections: Iterable[Section]) -> str:
    """The whole page, its contents first."""
    every = list(sections)
    links = "\n".join(f'<li><a href="#{escape(each.anchor)}">{escape(each.title)}</a></li>' for each in every)
    head = f"<h1>{escape(title)}</h1>\n<pre>{escape(formula)}</pre>\n<nav><ol>\n{links}\n</ol></nav>"
    body = "\n".join([head, *(each.html for each in every)])
    return without_controls(_PAGE.format(title=escape(title), summary=NAME, body=body))


def paragraph(text: str) -> str:
    """A paragraph of plain text."""
    return f"<p>{escape(text)}</p>"


def figure(draw: Callable[[Axes], object], size: tuple[float, float], name: str, caption: str) -> str:
    """An image with its data: two SVG files in one page would share their ids."""
    drawn, size = sized_svg(draw, size)
    data = base64.b64encode(drawn.encode()).decode()
    width, height = (round(_PIXELS * inches) for inches in size)
    image = f'<img width="{width}" height="{height}" alt="{escape(name)}" src="data:image/svg+xml;base64,{data}">'
    return f"<figure>{image}<figcaption>{escape(caption)}</figcaption></figure>"
