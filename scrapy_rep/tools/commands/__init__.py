"""``scrapy robots``: the tools at a shell.

Scrapy imports this on every call of ``scrapy``, so each sub-command is imported only when it runs.
"""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from importlib import import_module
from io import TextIOWrapper
from typing import IO, TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from scrapy_rep.protocol import Dialect

OK, FOUND, FAILED = 0, 1, 2
"""Exit codes: nothing to report, something to report, the command could not do its work."""

_TOLD: Final = (
    (f"{__name__}.inputs", "InputError"),
    ("scrapy_rep.exceptions", "InvalidSettingError"),
    ("scrapy_rep.tools.bulk.sources", "SourceError"),
    ("scrapy_rep.tools.watch.copies", "UnusableFileError"),
)
"""The errors of a command that say what to change. Who raises one has loaded its module."""

SUB_COMMANDS: Final = {
    "audit": "sum up audit logs, and verify that they are intact",
    "cache": "list, show or purge the robots.txt files in the store",
    "decide": "decide millions of URLs by robots.txt files on disk",
    "diff": "show the URLs whose verdict differs between two robots.txt files",
    "exceptions": "list the exceptions to robots.txt, and find expired ones",
    "explain": "show whether a URL is allowed, and why",
    "fleet": "show the queue of hosts that the workers of a fleet share",
    "forecast": "show how long a crawl of sites, or of a list of URLs, takes",
    "identity": "make the key that signs requests, and check it as a site would",
    "lint": "check a robots.txt for errors and possible improvements",
    "resources": "show which resources of a page robots.txt blocks for a crawler",
    "serve": "serve a web page that checks a robots.txt",
    "survey": "measure the robots.txt of many sites, and write a report",
    "watch": "show what changed in the robots.txt of sites since the last run",
}


def module_of(name: str) -> Any:
    """The module of the sub-command called *name*, or another one of this package, loaded only now."""
    return import_module(f".{name}", __name__)


def main_of(name: str) -> Callable[..., int]:
    """Return what runs the sub-command called *name* as ``robots-NAME``, without the settings of a crawl.

    It takes the arguments, by default those of the command line, and returns the exit code.
    """

    def main(arguments: Sequence[str] | None = None) -> int:
        program = module_of("terminal").program
        before = program.set("robots-")
        try:
            return run_module(name, module_of("parser").parser_of(name).parse(arguments), None)
        finally:
            program.reset(before)

    return main


def __getattr__(name: str) -> Any:
    """`Command`, which loads Scrapy, on first use: ``robots-lint`` starts sooner without."""
    if name != "Command":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = import_module(".command", __name__).Command
    return value


def dialect_and_limit(settings: BaseSettings | None) -> tuple[Dialect, int]:
    """How robots.txt is read, and how many octets of it; by default without *settings*.

    Raises `InvalidSettingError`.
    """
    from scrapy_rep.protocol import GOOGLE, MAX_SIZE  # noqa: PLC0415  # Scrapy loads this module on every call

    if settings is None:
        return GOOGLE, MAX_SIZE
    from scrapy_rep.settings import RepSettings  # noqa: PLC0415  # loads Scrapy

    parsed = RepSettings.from_settings(settings)
    return parsed.dialect, parsed.max_size


def default_settings() -> BaseSettings:
    """The settings outside a project, for what has to be fetched."""
    from scrapy.settings import Settings  # noqa: PLC0415  # slow to load

    return Settings({"LOG_ENABLED": False})


def run_told(module: Any, arguments: Namespace, settings: BaseSettings | None, out: IO[str]) -> int:
    """Run the sub-command *module*; return its exit code. An error that says what to change is told in a line."""
    try:
        code: int = module.run(arguments, settings, out)
    except Exception as error:
        told = (getattr(sys.modules[name], kind) for name, kind in _TOLD if name in sys.modules)
        if not isinstance(error, (*told,)):
            raise
        out.flush()
        code = module_of("terminal").print_error(module.__name__.rpartition(".")[2], error)
    return code


def run_module(name: str, arguments: Namespace, settings: BaseSettings | None) -> int:
    """Run the sub-command called *name*; return its exit code. A closed pipe and Ctrl-C end it quietly."""
    if sys.stdout is None or sys.stderr is None:  # closed by the shell
        return FAILED
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a rule may contain what the terminal cannot encode
    try:
        code = run_told(module_of(name), arguments, settings, sys.stdout)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return FAILED
    except ImportError as error:  # of a Scrapy that is too old
        if str(error.name).partition(".")[0] not in {"scrapy", "twisted"}:
            raise
        return module_of("terminal").print_error(name, error)  # type: ignore[no-any-return]
    except OSError as error:
        if not isinstance(error, BrokenPipeError):
            module_of("terminal").print_error(name, f"{error.filename or 'output'}: {error.strerror}")
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at exit
        return FAILED
    return code
