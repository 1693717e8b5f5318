"""``python -m vignettes NAME …``: run a script in this folder and write what it says and shows as NAME.md.

The scripts are Python files with cells of text and of code (jupytext's percent format); they also run by themselves.
"""

import argparse
import shutil
from pathlib import Path

import jupytext
from nbconvert import MarkdownExporter
from nbconvert.preprocessors import ExecutePreprocessor
from nbconvert.writers import FilesWriter

FOLDER = Path(__file__).parent
NAMES = sorted(path.stem for path in FOLDER.glob("*.py") if not path.stem.startswith("_"))
_SECONDS = 7200


def main() -> None:
    """Weave the vignettes that are named, by default all."""
    parser = argparse.ArgumentParser(prog="python -m vignettes", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}; by default all")
    for name in parser.parse_args().names or NAMES:
        if name not in NAMES:
            parser.error(f"there is no vignette {name!r}: there are {', '.join(NAMES)}")
        weave(name)


def weave(name: str) -> None:
    """Run FOLDER/name.py; write FOLDER/name.md and its figures to FOLDER/name_files."""
    notebook = jupytext.read(FOLDER / f"{name}.py")
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python", "language": "python"}
    where = {"metadata": {"path": str(FOLDER.parent)}}
    ExecutePreprocessor(timeout=_SECONDS, kernel_name="python3").preprocess(notebook, where)
    shutil.rmtree(FOLDER / f"{name}_files", ignore_errors=True)
    body, resources = MarkdownExporter().from_notebook_node(
        notebook, {"unique_key": name, "output_files_dir": f"{name}_files"}
    )
    FilesWriter(build_directory=str(FOLDER)).write(body, resources, notebook_name=name)
    print(f"Written: {FOLDER / name}.md", flush=True)


if __name__ == "__main__":
    main()
