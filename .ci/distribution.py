"""``python .ci/distribution.py DIST``: what is in the wheel and the sdist of that folder, and what version they say."""

import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]


def main(folder: Path) -> None:
    """Refuse a wheel or sdist that lacks a file, has one too many, or is not the version that the texts tell of."""
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    version = wheel.name.split("-")[1]
    assert sdist.name == f"svmstat-{version}.tar.gz", f"{sdist.name} and {wheel.name}"
    check_wheel(zipfile.ZipFile(wheel), version)
    with tarfile.open(sdist) as archive:
        check_sdist({name.partition("/")[2] for name in archive.getnames()})
    check_version(version)
    print(f"svmstat {version}: {wheel.stat().st_size:,} bytes of wheel, {sdist.stat().st_size:,} of sdist")


def check_wheel(wheel: zipfile.ZipFile, version: str) -> None:
    """The package with its data and py.typed, its metadata, and nothing else."""
    names = set(wheel.namelist())
    info = f"svmstat-{version}.dist-info/"
    package = {str(path.relative_to(ROOT)) for path in (ROOT / "svmstat").rglob("*.*") if _is_source(path)}
    assert package <= names, f"missing: {sorted(package - names)}"
    assert {"svmstat/py.typed", "svmstat/datasets/mackerel.csv", f"{info}licenses/LICENSE"} <= names
    others = {name for name in names - package if not name.startswith(info)}
    assert not others, f"too many: {sorted(others)}"
    metadata = wheel.read(f"{info}METADATA").decode()
    assert f"\nVersion: {version}\n" in metadata
    assert "svmstat = svmstat.cli:main" in wheel.read(f"{info}entry_points.txt").decode()


def check_sdist(names: set[str]) -> None:
    """What is needed to build, test and document."""
    wanted = {"pyproject.toml", "PKG-INFO", "README.md", "CHANGELOG.md", "CITATION.cff", "LICENSE", ".ci/run"}
    wanted |= {"tests/conftest.py", "docs/index.md", "docs/site/mkdocs.yml", "vignettes/mackerel.md"}
    wanted |= {"benchmarks/results/fit.txt", "svmstat/py.typed"}
    assert wanted <= names, f"missing in the sdist: {sorted(wanted - names)}"
    left = sorted(name for name in names if "__pycache__" in name or name.startswith(("build/", "dist/")))
    assert not left, f"too many in the sdist: {left}"


def check_version(version: str) -> None:
    """A tag is the newest section of the changelog, which is no longer unreleased, and the version that is cited."""
    asked = ["git", "tag", "--points-at", "HEAD", "--list", "v[0-9]*"]
    tags = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
    if not tags:
        return
    assert tags == [f"v{version}"], f"the tags are {tags}, the version is {version}: is something not committed?"
    newest = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)[0]
    assert newest.split()[0] == version and "unreleased" not in newest, f"CHANGELOG.md begins with {newest}"
    cited = re.findall(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    assert cited == [version], f"CITATION.cff has {cited}"


def _is_source(path: Path) -> bool:
    return path.is_file() and "__pycache__" not in path.parts and path.suffix not in {".nbi", ".nbc", ".pyc"}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
