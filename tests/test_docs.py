"""What the documentation says of files, figures and names; its examples run as doctests, its commands here."""

import ast
import contextlib
import dataclasses
import importlib
import re
import shlex
from functools import reduce
from itertools import product
from pathlib import Path

import pytest

import svmstat
from svmstat import SVMResults, cli, datasets, kernels

ROOT = Path(__file__).parents[1]
SITE = sorted((ROOT / "docs").rglob("*.md"))
PAGES = [*SITE, ROOT / "CONTRIBUTING.md", ROOT / "README.md"]
REFERENCE = sorted((ROOT / "docs" / "api").glob("*.md"))

INCLUDED = re.compile(r'^\s*--8<-- "(.*)"$', re.MULTILINE)
ELSEWHERE = ("git ", "cd ", "python -m ", "pip install", ". .venv", "pre-commit ", ".ci/", "pytest ")
"""How commands begin that make an environment, test or take hours; what they name is looked for."""


def name_of(path):
    return str(path.relative_to(ROOT))


def blocks(page, language):
    """The blocks of code of a page in one language; inside a folded part they are indented."""
    return re.findall(rf"^ *```{language}\n(.*?)^ *```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def commands(page):
    """What a reader types in a shell, comments left out."""
    lines = "".join(blocks(page, "sh")).splitlines()
    typed = (part.strip() for line in lines for part in line.split("  #")[0].split(" && "))
    return [each for each in typed if each and not each.startswith("#")]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_named_files_exist(page):
    """A module of the solver is named without its folder."""
    named = re.findall(r"`([\w./-]+\.(?:py|md|txt|toml|yaml|yml|cff))`", page.read_text(encoding="utf-8"))
    homes = (ROOT, ROOT / "svmstat" / "solver")
    assert [name for name in named if not any((home / name).is_file() for home in homes)] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_quoted_figures_are_what_a_benchmark_wrote(page):
    """A block ```text is a whole result, or has lines of the result that the text before it names."""
    quoted = [block for block in blocks(page, "text") if not INCLUDED.search(block)]
    if page.name == "README.md":
        return  # its block is of the command above it, which is run below
    named = re.findall(
        r"`benchmarks/results/([\w-]+\.txt)`\):\n\n```text\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL
    )
    named = [(name, block) for name, block in named if not INCLUDED.search(block)]
    assert len(quoted) == len(named)
    for name, block in named:
        written = (ROOT / "benchmarks" / "results" / name).read_text(encoding="utf-8").splitlines()
        assert [line for line in block.splitlines() if line not in written] == []


def test_results_are_shown_whole():
    """Each result of a benchmark is on a page, and what a page includes is there."""
    included = {name for page in SITE for name in INCLUDED.findall(page.read_text(encoding="utf-8"))}
    written = {name_of(path) for path in (ROOT / "benchmarks" / "results").glob("*.txt")}
    compared = {f"benchmarks/results/{name}.txt" for name in ("beside", "davenport", "simulation")}
    assert included == written - compared


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "vignettes" / "README.md"], ids=name_of
)
def test_links_outside_the_site_lead_somewhere(page):
    """Those within it are checked by `.ci/site`."""
    links = [link.split("#")[0] for link in re.findall(r"\]\((?!https?:)([^)]+)\)", page.read_text(encoding="utf-8"))]
    assert [link for link in links if not (page.parent / link).is_file()] == []


@pytest.mark.parametrize("page", [page for page in PAGES if "api" not in page.parts], ids=name_of)
def test_a_fit_has_what_the_pages_name(page):
    """`fit.name` in the text; in R's half of a table it is `fit$name`."""
    names = {
        name
        for code in re.findall(r"`([^`\n]+)`", page.read_text(encoding="utf-8"))
        for name in re.findall(r"\bfit\.(\w+)", code)
    }
    fields = {field.name for field in dataclasses.fields(SVMResults)}
    assert {name for name in names - fields if not hasattr(SVMResults, name)} <= {"py", "md", "txt"}


README = ROOT / "README.md"
RUN = {page: [each for each in commands(page) if each.startswith("svmstat ")] for page in PAGES}
RUN = {page: [each for each in run if page == README or each not in RUN[README]] for page, run in RUN.items()}


@pytest.mark.parametrize("page", [page for page, run in RUN.items() if run], ids=name_of)
def test_commands_do_what_the_page_says(page, tmp_path, monkeypatch, capsys):
    """One after the other, in a folder where a table of the reader's own is the survey of eggs."""
    monkeypatch.chdir(tmp_path)
    for command in RUN[page]:
        for name in re.findall(r"(?<!--out )(?<!--output )\b\w+\.csv", command):
            datasets.load("mackerel").to_csv(name, index=False)
        fewer = ["-B", "39"] if " report " in command else []  # a minute less; `.ci/run` types it as it stands
        cli.main([*shlex.split(command)[1:], *fewer])
        written = re.findall(r"--(?:out|output|save) (\S+)", command)
        assert [name for name in written if not (tmp_path / name).stat().st_size] == []
    printed = capsys.readouterr().out
    assert printed
    if page == README:
        said = "\n".join(blocks(page, "text")).splitlines()
        assert said
        assert [line for line in said if line not in printed.splitlines()] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_other_commands_name_what_there_is(page):
    others = [each for each in commands(page) if not each.startswith("svmstat ")]
    assert [each for each in others if not each.startswith(ELSEWHERE)] == []
    scripts = {each.split()[0] for each in others if each.startswith(".ci/")}
    assert [name for name in scripts if not (ROOT / name).is_file()] == []
    benchmarks = (ROOT / "benchmarks" / "__main__.py").read_text(encoding="utf-8")
    asked = re.findall(r"python -m benchmarks ([a-z-]+)", page.read_text(encoding="utf-8"))
    assert [name for name in asked if f'"{name}"' not in benchmarks] == []


def cited_in_the_code():
    """(paper, place, name of the innermost function, class or module) of every [00x: place, place] in the package."""
    for path in sorted((ROOT / "svmstat").rglob("*.py")):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        text = path.read_text(encoding="utf-8")
        spans = [(0, len(text), module), *named_spans(ast.parse(text), module)]
        for number, line in enumerate(text.splitlines(), 1):
            for paper, places in re.findall(r"\[(00\d): ([^\]]+)\]", line):
                name = [name for first, last, name in spans if first <= number <= last][-1]
                yield from ((paper, place.strip(), name) for place in places.split(","))


def named_spans(node, name):
    """First and last line and dotted name of each function and class below a node, outer ones first."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            inner = f"{name}.{child.name}"
            yield child.lineno, child.end_lineno, inner
            yield from named_spans(child, inner)


def listed_in_the_table():
    """(paper, place, name) of the tables of docs/papers.md."""
    paper = None
    for line in (ROOT / "docs" / "papers.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## ["):
            paper = line[4:7]
        elif line.startswith("| ") and "`svmstat" in line:
            _, places, _, names, _ = line.split("|")
            yield from product([paper], map(str.strip, places.split(",")), re.findall(r"`([\w.]+)`", names))


def test_the_table_of_equations_is_what_the_code_cites():
    assert sorted(set(listed_in_the_table())) == sorted(set(cited_in_the_code()))


def targets(page):
    """What a page of the reference takes from the docstrings."""
    return re.findall(r"^::: (\S+)$", page.read_text(encoding="utf-8"), re.MULTILINE)


def found(name):
    """The object of a dotted name."""
    parts = name.split(".")
    for n in range(len(parts), 0, -1):
        with contextlib.suppress(ModuleNotFoundError):
            return reduce(getattr, parts[n:], importlib.import_module(".".join(parts[:n])))
    raise ModuleNotFoundError(name)


@pytest.mark.parametrize("page", [page for page in REFERENCE if targets(page)], ids=name_of)
def test_what_the_reference_names_is_there_and_described(page):
    fields = {field.name for field in dataclasses.fields(SVMResults)}
    for name in targets(page):
        assert found(name).__doc__ or name.rpartition(".")[2] in fields


def test_the_reference_has_all_public_names():
    named = {name for page in REFERENCE for name in targets(page)}
    last = {name.rpartition(".")[2] for name in named}
    assert set(svmstat.__all__) - {"SVMResults"} <= last
    fit = {name.rpartition(".")[2] for name in named if name.startswith("svmstat.SVMResults.")}
    assert fit == {name for each in SVMResults.__mro__ for name in vars(each) if not name.startswith("_")}
    assert {"svmstat.errors", "svmstat.datasets"} <= named
    assert {
        name for name, each in vars(kernels).items() if isinstance(each, type) and issubclass(each, kernels.Kernel)
    } <= last | {"Inherited"}
