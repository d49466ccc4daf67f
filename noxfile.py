"""The checks that a change has to pass, one session each; ``nox -l`` lists them.

Arguments after ``--`` go to pytest: ``nox -s "tests-3.12(newest)" -- tests/protocol``.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tarfile
import urllib.request
import zipfile
from pathlib import Path

import nox

PYTHONS = ["3.10", "3.11", "3.12", "3.13", "3.14"]
NEWEST = "scrapy"
SCRAPY = [nox.param("scrapy==2.14.*", id="oldest"), nox.param(NEWEST, id="newest")]
IN_SDIST = ["scrapy_rep", "tests", "docs", "example_project", "benchmarks", "fuzz"]
ONLY_IN_SDIST = {"scrapy_rep/protocol/_speedups.c"}
COMPILED = "scrapy_rep/protocol/_speedups.abi3.so"
PURE, NO_COMPILER = {"SCRAPY_REP_PURE_PYTHON": "1"}, {"CC": "false"}
IMPORT_ALL = "from scrapy_rep import *"
ENGINE_IS = "from scrapy_rep.protocol import ENGINE as e, parse; print(e, parse.__module__); assert e == {!r}, e"
QUESTION = b'{"robots": "User-agent: *\\nDisallow: /", "urls": ["/"], "agents": ["Bot"]}'
SANITIZED = "-g -O1 -Wall -Wextra -Werror -fsanitize=address,undefined -fno-sanitize-recover=all -fPIC -shared"

WITH_SCRAPY = ["tests/crawl", "tests/extras", "tests/tools/commands", "tests/testing"]
"""What another version of Scrapy can make fail; the other folders import next to none of it."""
SCRAPYS = [nox.param(f"scrapy==2.{minor}.*", id=f"2.{minor}") for minor in range(14, 20)]
SCRAPYS.append(nox.param("", id="source"))
SCRAPY_TESTS = "attrs httpx2 pexpect pyftpdlib pygments pytest<9.2 pytest-rerunfailures pytest-timeout"
SCRAPY_TESTS += " pytest-twisted pytest-xdist sybil testfixtures"

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
@nox.parametrize("scrapy", SCRAPYS)
def compatibility(session: nox.Session, scrapy: str) -> None:
    """Run the tests that Scrapy can make fail with each minor version, or with the source in $SCRAPY_SOURCE."""
    # Scrapy 2.15 to 2.18 download with one of them where there is no reactor, and do not require it.
    session.install("-e", ".[test]", "httpx", "httpx2", scrapy or _scrapy_source(session))
    session.run("scrapy", "version")
    session.run("pytest", *(session.posargs or WITH_SCRAPY))


@nox.session
def scrapy_suite(session: nox.Session) -> None:
    """Run Scrapy's own tests, of the source in $SCRAPY_SOURCE, with the add-on in every crawl."""
    source = _scrapy_source(session)
    session.install(".", "-e", source, *SCRAPY_TESTS.split())  # with "-e ." our `tests` would be beside theirs
    plugin = {"PYTHONPATH": str(Path("tests", "scrapy_suite").resolve())}
    session.chdir(source)
    options = ["-p", "differences", "-m", "not requires_internet and not requires_mitmproxy"]
    session.run("pytest", *options, *(session.posargs or ["-n", "auto", "tests"]), env=plugin)


def _scrapy_source(session: nox.Session) -> str:
    """The folder of Scrapy's source, with its tests."""
    if not (folder := os.environ.get("SCRAPY_SOURCE")):
        session.skip("SCRAPY_SOURCE names no folder with the source of Scrapy")
    return str(Path(folder).resolve())


@nox.session
def full(session: nox.Session) -> None:
    """Run every test on every event loop, and many examples of each property."""
    session.install("-e", ".[test,spark]")
    if shutil.which("npm"):  # else the tests with other verifiers of signatures are skipped
        packages = Path("tests", "support", "npm.txt").read_text("utf-8").split()
        session.run("npm", "install", "--silent", "--prefix", ".node", *packages, external=True)
    session.run("scrapy", "version")
    session.run("pytest", "--full", *session.posargs)


@nox.session
def coverage(session: nox.Session) -> None:
    """Run every test and fail below the coverage that setup.cfg asks for."""
    session.install("-e", ".[test,spark]")
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
def sanitizers(session: nox.Session) -> None:
    """Test the part in C with gcc's sanitizers of addresses and undefined behaviour; warnings are errors."""
    session.install("-e", ".[test]")
    folder = Path(session.create_tmp(), "sanitized").resolve()
    shutil.copytree("scrapy_rep", folder / "scrapy_rep", ignore=shutil.ignore_patterns("*.so"), dirs_exist_ok=True)
    include = session.run("python", "-c", "import sysconfig; print(sysconfig.get_path('include'))", silent=True)
    target = folder / COMPILED
    files = [f"-I{str(include).strip()}", str(target).replace(".abi3.so", ".c"), "-o", str(target)]
    session.run("gcc", *SANITIZED.split(), *files, external=True)
    library = session.run("gcc", "-print-file-name=libasan.so", silent=True, external=True)
    environment = {
        "PYTHONPATH": str(folder),
        "LD_PRELOAD": str(library).strip(),
        "ASAN_OPTIONS": "detect_leaks=0",  # CPython leaves much to the end of the process
        "PYTHONMALLOC": "malloc",  # its own allocator would hide what is read beyond an object
    }
    # As a plugin it is loaded before anything else finds the one that is not sanitized; and it has to be there.
    # What the sanitizers report goes past pytest.
    options = ["-p", "scrapy_rep.protocol._speedups", "-n", "0", "--capture=no"]
    session.run("pytest", *options, "tests/protocol/test_speedups.py", *session.posargs, env=environment)
    for name in ("fuzz", "tests"):
        shutil.copytree(name, folder / name, dirs_exist_ok=True)
    with session.chdir(folder):  # where Python looks first
        session.run("python", "-m", "fuzz.comparison", "--cases", "100000", env=environment)


@nox.session
def google(session: nox.Session) -> None:
    """Compare with Google's parser, of its source in the folder after ``--``: at random, guided by coverage."""
    session.install("-e", ".[test]")
    (source,) = session.posargs
    session.run("python", "-m", "fuzz.comparison", "--cases", "10000000", "--google", source)
    session.run("python", "-m", "fuzz", "--seconds", "60", "--google", source)


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
    """Build the sdist, and from it each kind of wheel, into ``dist``; check what is in them, and install each."""
    session.install("build", "twine")
    shutil.rmtree("dist", ignore_errors=True)
    session.run("python", "-m", "build", "--sdist", silent=True)
    (sdist,) = Path("dist").glob("*.tar.gz")
    compiled = _wheel(session, sdist, "scrapy_rep-*-cp310-abi3-*.whl", {})
    pure = _wheel(session, sdist, "scrapy_rep-*-py3-none-any.whl", PURE)
    session.run("twine", "check", "--strict", *map(str, Path("dist").iterdir()))
    _check_contents(session, sdist, {compiled: {COMPILED}, pure: set()})
    folder = Path(session.create_tmp(), "installed").resolve()
    session.run("python", "-m", "venv", "--clear", str(folder))
    python = str(folder / "bin" / "python")
    for archive, engine, environment in (
        (compiled, "c", {}),
        (pure, "python", {}),
        (sdist, "c", {}),
        (sdist, "python", NO_COMPILER),
    ):
        _check_installation(session, python, archive, engine, environment)
    session.run(python, "-m", "pip", "install", "-q", f"{pure}[web]", external=True)
    _check_server(session, str(folder / "bin" / "robots-serve"))


def _wheel(session: nox.Session, sdist: Path, pattern: str, environment: dict[str, str]) -> Path:
    """The wheel that is built from *sdist*, whose name matches *pattern*."""
    session.run("python", "-m", "pip", "wheel", "-q", "--no-deps", "-w", "dist", str(sdist), env=environment)
    (wheel,) = Path("dist").glob(pattern)
    return wheel


def _files(*folders: str) -> set[str]:
    walks = (walk for folder in folders for walk in os.walk(folder, followlinks=True))
    paths = (Path(folder, name) for folder, _, names in walks for name in names)
    return {
        path.as_posix()
        for path in paths
        if not {"__pycache__", ".scrapy"} & set(path.parts) and path.suffix not in {".so", ".pyd"}
    }


def _check_contents(session: nox.Session, sdist: Path, wheels: dict[Path, set[str]]) -> None:
    """Each wheel holds every file of the package, what was compiled and no other; the sdist can run the tests."""
    for wheel, compiled in wheels.items():
        with zipfile.ZipFile(wheel) as archive:
            packed = {name for name in archive.namelist() if ".dist-info/" not in name}
        if wrong := packed ^ (_files("scrapy_rep") - ONLY_IN_SDIST | compiled):
            session.error(f"{wheel.name} lacks or should not have: {sorted(wrong)}")
    with tarfile.open(sdist) as tar:
        packed = {name.partition("/")[2] for name in tar.getnames()}
    if missing := (_files(*IN_SDIST) | {"CHANGELOG.md", "CONTRIBUTING.md", "noxfile.py"}) - packed:
        session.error(f"the sdist lacks: {sorted(missing)}")


def _check_installation(
    session: nox.Session, python: str, archive: Path, engine: str, environment: dict[str, str]
) -> None:
    """Install *archive*, look at what decides, import every public name and run the commands."""
    session.run(python, "-m", "pip", "install", "-q", str(archive), env=environment, external=True)
    session.run(python, "-m", "pip", "check", external=True)
    session.run(python, "-I", "-c", ENGINE_IS.format(engine), external=True)  # -I: not from the source tree
    session.run(python, "-I", "-c", IMPORT_ALL, external=True)
    session.run(python, "-I", "-m", "scrapy", "robots", "lint", "--help", silent=True, external=True)
    session.run(str(Path(python).with_name("robots-lint")), "--explain", "nul", silent=True, external=True)
    session.run(python, "-m", "pip", "uninstall", "-q", "-y", "scrapy-rep", external=True)


def _check_server(session: nox.Session, command: str) -> None:
    """Start the web checker by *command*, and ask it."""
    with subprocess.Popen([command, "--port", "0"], stdout=subprocess.PIPE, text=True) as server:  # noqa: S603  # ours
        try:
            address = str(server.stdout and server.stdout.readline()).split()[0]
            with urllib.request.urlopen(f"{address}api/check", QUESTION) as answer:  # noqa: S310  # this machine's
                verdict = json.load(answer)["verdicts"][0]
        finally:
            server.terminate()
    if (verdict["allowed"], verdict["line"]) != (False, 2):
        session.error(f"the web checker says {verdict}")
