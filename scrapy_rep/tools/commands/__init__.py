"""``scrapy robots``: the tools at a shell.

Scrapy imports this on every call of ``scrapy``, so each sub-command is imported only when it runs.
"""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from importlib import import_module
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

OK, FOUND, FAILED = 0, 1, 2
"""Exit codes: nothing to report, something to report, the command could not do its work."""

SUB_COMMANDS: Final = {
    "audit": "sum up audit logs, and verify that they are intact",
    "cache": "list, show or purge the robots.txt files in the store",
    "decide": "decide millions of URLs by robots.txt files that are there",
    "diff": "show the URLs whose verdict differs between two robots.txt files",
    "exceptions": "list the exceptions from robots.txt, and find expired ones",
    "explain": "show whether a URL is allowed, and why",
    "forecast": "show how long a crawl of sites, or of a list of URLs, takes",
    "lint": "check a robots.txt for errors and possible improvements",
    "serve": "serve a web page on which a robots.txt can be checked",
    "survey": "measure the robots.txt of many sites, and write a report",
}


def module_of(name: str) -> Any:
    """The module of the sub-command called *name*."""
    return import_module(f".{name}", __name__)


def __getattr__(name: str) -> Any:
    """`Command`, which loads Scrapy, on first use: `robots-lint` does without."""
    if name != "Command":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = import_module(".command", __name__).Command
    return value


def run_module(module: Any, arguments: Namespace, settings: BaseSettings | None) -> int:
    """Run the sub-command *module*; return its exit code. A closed pipe and Ctrl-C end it quietly."""
    if sys.stdout is None or sys.stderr is None:  # closed by the shell
        return FAILED
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a rule may contain what the terminal cannot encode
    try:
        code: int = module.run(arguments, settings, sys.stdout)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return FAILED
    except OSError as error:
        if not isinstance(error, BrokenPipeError):
            print(f"scrapy robots: {error.filename or 'output'}: {error.strerror}", file=sys.stderr)  # noqa: T201
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at exit
        return FAILED
    return code
