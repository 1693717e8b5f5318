"""``python docs/site/figures.py [PAGE …]``: run the examples of the pages, and save the figures that these show.

Where a page has an image of docs/figures, that is the figure which the example before it has drawn.
"""

import contextlib
import doctest
import io
import re
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot as plt
from PIL import Image

DOCS = Path(__file__).parents[1]
IMAGE = re.compile(r"!\[.*?\]\((?:\.\./)?figures/(\w+\.png)\)")


def main(pages: list[Path]) -> None:
    """Draw the figures of some pages."""
    for page in pages:
        text = page.read_text(encoding="utf-8")
        if IMAGE.search(text):
            draw(text)


def draw(text: str) -> None:
    """Run the examples of a page, and save a figure wherever the page shows one."""
    names: dict[str, object] = {}
    for part in doctest.DocTestParser().parse(text):
        if isinstance(part, doctest.Example):
            if part.exc_msg is None:
                with contextlib.redirect_stdout(io.StringIO()):
                    exec(compile(part.source, "<example>", "single"), names)
            continue
        for name in IMAGE.findall(part):
            path = DOCS / "figures" / name
            plt.gcf().savefig(path, dpi=100, bbox_inches="tight")
            Image.open(path).convert("P", palette=Image.Palette.ADAPTIVE, colors=64).save(path, optimize=True)
            plt.close("all")
            print(f"Written: {path}")


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]] or sorted(DOCS.rglob("*.md")))
