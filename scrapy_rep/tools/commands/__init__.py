"""``scrapy robots``: what a person does with robots.txt files at a shell.

Scrapy imports this on every call of ``scrapy``, so the sub-commands are imported when one is run.
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

FINE, FOUND, COULD_NOT_RUN = 0, 1, 2

_SUB_COMMANDS: Final = {
    "cache": "list, show or purge what the store holds",
    "diff": "tell which URLs change their verdict between two robots.txt files",
    "explain": "say whether a URL is allowed, and why",
    "lint": "find what is wrong with a robots.txt, or could be better",
    "survey": "measure the robots.txt of many sites, and draw a report",
}


class _HelpFormatter(ScrapyHelpFormatter, RawDescriptionHelpFormatter):
    """Scrapy's, with a line for each sub-command."""


class Command(ScrapyCommand):
    """``scrapy robots SUB-COMMAND …``; exits with 0, 1 for findings, 2 when it could not run."""

    requires_project = False
    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012  # Scrapy's way

    def syntax(self) -> str:
        return f"{'|'.join(_SUB_COMMANDS)} …"

    def short_desc(self) -> str:
        return "Look after robots.txt files"

    def long_desc(self) -> str:
        lines = [f"  {name:<9}{what}" for name, what in _SUB_COMMANDS.items()]
        return "\n".join(
            ["Look after robots.txt files.", "", *lines, "", "scrapy robots SUB-COMMAND --help tells more."]
        )

    def add_options(self, parser: ArgumentParser) -> None:
        """As every command of Scrapy; what is behind the sub-command is its own, ``--help`` too."""
        super().add_options(parser)
        parser.formatter_class = _HelpFormatter
        parser.add_argument("rest", nargs="...", help="sub-command and its arguments")

    def run(self, args: list[str], opts: Namespace) -> None:
        """Run the sub-command. Raises ``UsageError`` when there is none of that name."""
        name, *rest = [*opts.rest, *args] or [""]
        if name not in _SUB_COMMANDS:
            raise UsageError(f"there is no scrapy robots {name}: it is one of {', '.join(_SUB_COMMANDS)}")
        module = import_module(f".{name}", __name__)
        parser = ArgumentParser(
            prog=f"scrapy robots {name}", description=module.__doc__, formatter_class=RawDescriptionHelpFormatter
        )
        parser.add_argument("-s", dest="set", action="append", default=[], metavar="NAME=VALUE", help="a setting")
        module.add_arguments(parser)
        arguments = parser.parse_intermixed_args(rest)  # URLs before and behind options
        assert self.settings is not None  # noqa: S101  # Scrapy has set them
        try:
            self.settings.setdict(arglist_to_dict(arguments.set), priority="cmdline")
        except ValueError:
            raise UsageError("-s takes NAME=VALUE") from None
        self.exitcode = _run(module, arguments, self.settings)


def _run(module: Any, arguments: Namespace, settings: BaseSettings) -> int:
    """The exit code of a sub-command; a pipe that nobody reads any more, and Ctrl-C, end it quietly."""
    if sys.stdout is None or sys.stderr is None:  # closed by the shell
        return COULD_NOT_RUN
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a rule may hold what the terminal cannot show
    try:
        code: int = module.run(arguments, settings, sys.stdout)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return COULD_NOT_RUN
    except OSError as error:
        if not isinstance(error, BrokenPipeError):
            print(f"scrapy robots: {error.filename or 'output'}: {error.strerror}", file=sys.stderr)  # noqa: T201
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at exit
        return COULD_NOT_RUN
    return code
