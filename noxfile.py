"""The checks that a change has to pass, one session each; ``nox -l`` lists them.

Arguments after ``--`` go to pytest: ``nox -s "tests-3.12(newest)" -- tests/protocol``.
"""

from __future__ import annotations

import shutil
import tarfile
import zipfile
from pathlib import Path

import nox

PYTHONS = ["3.10", "3.11", "3.12", "3.13"]
NEWEST = "scrapy"
SCRAPY = [nox.param("scrapy==2.14.*", id="oldest"), nox.param(NEWEST, id="newest")]
IN_SDIST = ["scrapy_rep", "tests", "docs", "example_project", "benchmarks", "fuzz"]
IMPORT_ALL = "from scrapy_rep import *; import scrapy_rep; print(scrapy_rep.__version__, scrapy_rep.__file__)"

WITH_SCRAPY = ["tests/crawl", "tests/tools/commands", "tests/tools/testing"]
"""What another version of Scrapy can make fail; the other folders import next to none of it."""

nox.needs_version = ">=2024.4.15"
nox.options.sessions = ["lint", "types", "docs", "package"]
nox.options.error_on_external_run = True


@nox.session(python=PYTHONS)
@nox.parametrize("scrapy", SCRAPY)
def tests(session: nox.Session, scrapy: str) -> None:
    """Run the tests; with the oldest Scrapy those that it can make fail."""
    session.install("-e", ".[test]", scrapy)
    session.run("scrapy", "version")
    session.run("pytest", *([] if scrapy == NEWEST else WITH_SCRAPY), *session.posargs)


@nox.session
def full(session: nox.Session) -> None:
    """Run every test on every event loop, and many examples of each property."""
    session.install("-e", ".[test]")
    session.run("scrapy", "version")
    session.run("pytest", "--full", *session.posargs)


@nox.session
def coverage(session: nox.Session) -> None:
    """Run every test and fail below the coverage that setup.cfg asks for."""
    session.install("-e", ".[test]")
    session.run("scrapy", "version")
    session.run("coverage", "erase")
    session.run("coverage", "run", "-m", "pytest", "--full", "-m", "not untraced", *session.posargs)
    session.run("coverage", "combine", "--quiet")
    session.run("coverage", "report")


@nox.session
def fuzz(session: nox.Session) -> None:
    """Run every fuzz target for ten seconds, or as the arguments after ``--`` say; needs atheris for coverage."""
    session.install("-e", ".[fuzz]")
    session.run("python", "-m", "fuzz", *(session.posargs or ["--seconds", "10"]))


@nox.session
def lint(session: nox.Session) -> None:
    """Check style and format."""
    session.install("ruff>=0.9")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@nox.session
def types(session: nox.Session) -> None:
    """Check the types of the package, the tests, the fuzz targets and this file."""
    session.install("-e", ".[test,lint]", "nox")
    session.run("mypy")


@nox.session
def docs(session: nox.Session) -> None:
    """Build the documentation; a broken link is an error."""
    session.install("-e", ".[docs]")
    session.run("mkdocs", "build", "--strict")


@nox.session
def package(session: nox.Session) -> None:
    """Build the wheel and the sdist into ``dist``, check what is in them, and install each."""
    session.install("build", "twine")
    shutil.rmtree("dist", ignore_errors=True)
    session.run("python", "-m", "build", silent=True)
    (wheel,), (sdist,) = Path("dist").glob("*.whl"), Path("dist").glob("*.tar.gz")
    session.run("twine", "check", "--strict", str(wheel), str(sdist))
    _check_contents(session, wheel, sdist)
    _check_installation(session, wheel, sdist)


def _files(*folders: str) -> set[str]:
    paths = (path for folder in folders for path in Path(folder).rglob("*") if path.is_file())
    return {path.as_posix() for path in paths if not {"__pycache__", ".scrapy"} & set(path.parts)}


def _check_contents(session: nox.Session, wheel: Path, sdist: Path) -> None:
    """The wheel holds every file of the package and no other; the sdist can run the tests."""
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
    if wrong := packed ^ _files("scrapy_rep"):
        session.error(f"the wheel lacks or should not have: {sorted(wrong)}")
    with tarfile.open(sdist) as tar:
        packed = {name.partition("/")[2] for name in tar.getnames()}
    if missing := (_files(*IN_SDIST) | {"CHANGELOG.md", "CONTRIBUTING.md", "noxfile.py"}) - packed:
        session.error(f"the sdist lacks: {sorted(missing)}")


def _check_installation(session: nox.Session, *archives: Path) -> None:
    """Install each of *archives* into a new environment, import every public name and run the command."""
    folder = Path(session.create_tmp(), "installed").resolve()
    session.run("python", "-m", "venv", "--clear", str(folder))
    python = str(folder / "bin" / "python")
    for archive in archives:
        session.run(python, "-m", "pip", "install", "-q", str(archive), external=True)
        session.run(python, "-m", "pip", "check", external=True)
        session.run(python, "-I", "-c", IMPORT_ALL, external=True)  # -I: not from the source tree
        session.run(python, "-I", "-m", "scrapy", "robots", "lint", "--help", silent=True, external=True)
        session.run(str(folder / "bin" / "robots-lint"), "--explain", "nul", silent=True, external=True)
        session.run(python, "-m", "pip", "uninstall", "-q", "-y", "scrapy-rep", external=True)
