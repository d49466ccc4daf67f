"""``scrapy robots``, as Scrapy loads it."""

from __future__ import annotations

import sys
from argparse import SUPPRESS, ArgumentParser, Namespace, RawDescriptionHelpFormatter

from scrapy.commands import ScrapyCommand, ScrapyHelpFormatter
from scrapy.exceptions import UsageError
from scrapy.utils.conf import arglist_to_dict

from scrapy_rep.protocol.display import perhaps

from . import FAILED, SUB_COMMANDS, run_module
from .parser import parser_of
from .terminal import message


class _HelpFormatter(ScrapyHelpFormatter, RawDescriptionHelpFormatter):
    """Scrapy's formatter, which keeps the line of each sub-command."""


class Command(ScrapyCommand):
    """``scrapy robots SUB-COMMAND …``."""

    requires_project = False
    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012  # Scrapy's way

    def syntax(self) -> str:
        return "COMMAND [OPTIONS] …"

    def short_desc(self) -> str:
        return "Explain, lint, compare and survey robots.txt files"

    def long_desc(self) -> str:
        lines = [f"  {name:<12}{what}" for name, what in SUB_COMMANDS.items()]
        return "\n".join([f"{self.short_desc()}.", "", *lines, "", "scrapy robots COMMAND --help describes each."])

    def add_options(self, parser: ArgumentParser) -> None:
        """Add Scrapy's options; the sub-command parses everything after its name, ``--help`` too."""
        super().add_options(parser)
        parser.formatter_class = _HelpFormatter
        parser.add_argument("rest", nargs="...", help=SUPPRESS)

    def run(self, args: list[str], opts: Namespace) -> None:
        """Run the sub-command. Raises ``UsageError`` when there is none, which shows the help."""
        name, *rest = [*opts.rest, *args] or [""]
        if not name:
            raise UsageError
        if name not in SUB_COMMANDS:
            hint = f"{perhaps(name, SUB_COMMANDS)}: choose one of {', '.join(SUB_COMMANDS)}"
            sys.stderr.write(message("scrapy robots", "error", f"unknown command {name!r}{hint}"))
            self.exitcode = FAILED
            return
        parser = parser_of(name)
        parser.add_argument(
            "-s", dest="set", action="append", default=[], metavar="NAME=VALUE", help="set or override a setting"
        )
        arguments = parser.parse(rest)
        assert self.settings is not None  # noqa: S101  # Scrapy has set them
        try:
            self.settings.setdict(arglist_to_dict(arguments.set), priority="cmdline")
        except ValueError:
            parser.error("-s takes NAME=VALUE")
        self.exitcode = run_module(name, arguments, self.settings)
