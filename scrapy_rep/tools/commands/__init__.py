"""``scrapy robots``: the tools at a shell.

Scrapy imports this on every call of ``scrapy``, so each sub-command is imported only when it runs.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from importlib import import_module
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, Final

from scrapy.commands import ScrapyCommand, ScrapyHelpFormatter
from scrapy.exceptions import UsageError
from scrapy.utils.conf import arglist_to_dict

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

OK, FOUND, FAILED = 0, 1, 2
"""Exit codes: nothing to report, something to report, the command could not do its work."""

_SUB_COMMANDS: Final = {
    "audit": "sum up audit logs, and verify that they are intact",
    "cache": "list, show or purge the robots.txt files in the store",
    "diff": "show the URLs whose verdict differs between two robots.txt files",
    "exceptions": "list the exceptions from robots.txt, and find expired ones",
    "explain": "show whether a URL is allowed, and why",
    "forecast": "show how long a crawl of the sitemaps of sites takes",
    "lint": "check a robots.txt for errors and possible improvements",
    "serve": "serve a web page on which a robots.txt can be checked",
    "survey": "measure the robots.txt of many sites, and write a report",
}

_MODULES: Final = {"serve": "scrapy_rep.web.command"}
"""Modules of sub-commands in rooms above this one, by name: importing them here would point up."""


def module_of(name: str) -> Any:
    """The module of the sub-command called *name*."""
    return import_module(_MODULES.get(name, f"{__name__}.{name}"))


class _HelpFormatter(ScrapyHelpFormatter, RawDescriptionHelpFormatter):
    """Scrapy's formatter, which keeps the line of each sub-command."""


class Command(ScrapyCommand):
    """``scrapy robots SUB-COMMAND …``."""

    requires_project = False
    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012  # Scrapy's way

    def syntax(self) -> str:
        return f"{'|'.join(_SUB_COMMANDS)} …"

    def short_desc(self) -> str:
        return "Explain, lint, compare and survey robots.txt files"

    def long_desc(self) -> str:
        lines = [f"  {name:<12}{what}" for name, what in _SUB_COMMANDS.items()]
        return "\n".join(
            [f"{self.short_desc()}.", "", *lines, "", "scrapy robots SUB-COMMAND --help describes each."]
        )

    def add_options(self, parser: ArgumentParser) -> None:
        """Add Scrapy's options; the sub-command parses everything after its name, ``--help`` too."""
        super().add_options(parser)
        parser.formatter_class = _HelpFormatter
        parser.add_argument("rest", nargs="...", help="sub-command and its arguments")

    def run(self, args: list[str], opts: Namespace) -> None:
        """Run the sub-command. Raises ``UsageError`` when there is none of this name."""
        name, *rest = [*opts.rest, *args] or [""]
        if name not in _SUB_COMMANDS:
            raise UsageError(f"unknown sub-command {name!r}: choose one of {', '.join(_SUB_COMMANDS)}")
        module = module_of(name)
        parser = ArgumentParser(
            prog=f"scrapy robots {name}", description=module.__doc__, formatter_class=RawDescriptionHelpFormatter
        )
        parser.add_argument(
            "-s", dest="set", action="append", default=[], metavar="NAME=VALUE", help="set or override a setting"
        )
        module.add_arguments(parser)
        arguments = parser.parse_intermixed_args(rest)  # URLs before and after options
        assert self.settings is not None  # noqa: S101  # Scrapy has set them
        try:
            self.settings.setdict(arglist_to_dict(arguments.set), priority="cmdline")
        except ValueError:
            raise UsageError("-s takes NAME=VALUE") from None
        self.exitcode = _run(module, arguments, self.settings)


def _run(module: Any, arguments: Namespace, settings: BaseSettings) -> int:
    """Return the exit code of a sub-command. A closed pipe and Ctrl-C end it quietly."""
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
