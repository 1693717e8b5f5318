"""What the site has that lies elsewhere: vignettes with figures, tables, changes, the help of the command."""

import contextlib
import io
import os
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

from svmstat.cli import main

ROOT = Path(__file__).parents[2]
SHIM = "https://unpkg.com/iframe-worker/shim"  # which the theme would fetch for the search
COMMANDS = ("", "fit", "compare", "tune", "report", "datasets")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages and figures that are no files of this folder."""
    for path in sorted((ROOT / "vignettes").glob("**/*.*")):
        if path.suffix in {".md", ".png"}:
            files.append(_as_it_is(path, config))
    for path in sorted((ROOT / "benchmarks" / "results").glob("*.txt")):
        files.append(_as_it_is(path, config))
    files.append(File.generated(config, "changelog.md", abs_src_path=str(ROOT / "CHANGELOG.md")))
    files.append(File.generated(config, "contributing.md", abs_src_path=str(ROOT / "CONTRIBUTING.md")))
    files.append(File.generated(config, "api/command.md", content=command_line()))
    return files


def on_page_markdown(markdown: str, **_: object) -> str:
    """What runs as a doctest is shown as a session of Python, with empty lines where it printed them."""
    markdown = markdown.replace("\n<BLANKLINE>", "\n")
    return re.sub(r"^```python\n(?=>>> )", "```pycon\n", markdown, flags=re.MULTILINE)


def on_post_page(output: str, page: Page, **_: object) -> str:
    """Nothing is fetched from elsewhere."""
    return output.replace(SHIM, get_relative_url("site/iframe-worker.js", page.url))


def _as_it_is(path: Path, config: MkDocsConfig) -> File:
    """A file of the repository, at the same place in the site."""
    return File.generated(config, path.relative_to(ROOT).as_posix(), abs_src_path=str(path))


def command_line() -> str:
    """A page with the help of each command, as it prints it."""
    parts = ["# Command line\n\nThe command `svmstat` comes with the package. It is told what to do as below.\n"]
    parts += [f"## {' '.join(['svmstat', *name.split()])}\n\n```text\n{help_of(name)}```\n" for name in COMMANDS]
    return "\n".join(parts)


def help_of(name: str) -> str:
    """The help of a command; without a name that of the whole, at the width of a page."""
    os.environ["COLUMNS"] = "88"
    with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.suppress(SystemExit):
        main([*name.split(), "--help"])
    return printed.getvalue()
