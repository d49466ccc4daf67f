"""The command line of a sub-command: its help, what is wrong with its arguments, and options that several share.

A module of a sub-command has a docstring, which its help shows without what is indented, and ``add_arguments``.
"""

from __future__ import annotations

import re
import sys
import textwrap
from argparse import Action, ArgumentError, ArgumentParser, ArgumentTypeError, HelpFormatter, Namespace
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, NoReturn, TypeVar

from scrapy_rep.protocol import DIALECTS
from scrapy_rep.protocol.display import perhaps

from . import FAILED, module_of
from .terminal import READABLE, message, paint, program, width_of

T = TypeVar("T")

EXAMPLES: Final = {
    "audit": ("audit.jsonl", "audit.jsonl --bodies bodies --html report.html", "logs/*.jsonl --json"),
    "cache": ("list", "show example.com", "purge https://example.com"),
    "decide": (
        "--robots robots --urls urls.txt",
        "--robots robots --agent GPTBot --agent CCBot < urls.txt",
        "--robots 2026-11 --urls urls.txt --only allowed",
    ),
    "diff": (
        "old.txt new.txt",
        "https://example.com new.txt --sitemap --agent Googlebot",
        "robots.txt --dialect google --dialect yandex",
    ),
    "exceptions": ("", "--spider news --json", "--check"),
    "explain": (
        "https://example.com/private",
        "/private /public --file robots.txt --agent GPTBot",
        "https://example.com/page --page --json",
    ),
    "fleet": ("", "--watch", "--key news:requests --json"),
    "forecast": (
        "example.com --within 24h",
        "example.com example.org --pages 5000",
        "--urls urls.txt --spider news --json",
    ),
    "identity": ("", "--make secrets", "--rotate secrets"),
    "lint": ("", "robots.txt --fix", "https://example.com --json"),
    "resources": ("https://example.com/", "example.com/shop --agent Bingbot", "example.com --json"),
    "serve": ("", "--port 0", "--host 0.0.0.0 --public"),
    "survey": (
        "example.com example.org",
        "--from-file sites.txt --out 2026-11",
        "--compare 2026-10 2026-11",
    ),
    "watch": (
        "sites.txt --store seen.sqlite",
        "https://example.com --store seen.sqlite --path /",
        "sites.txt --store seen.sqlite --json",
    ),
}
"""Three calls of each sub-command, for its help."""

SHARED: Final[dict[str, dict[str, Any]]] = {
    "--agent": {
        "metavar": "TOKEN", "action": "append",
        "help": "a product token or User-Agent header, may be repeated (default: the project's)",
    },
    "--dialect": {
        "metavar": "NAME", "choices": DIALECTS,
        "help": f"how robots.txt is read (default: REP_DIALECT): {', '.join(DIALECTS)}",
    },
    "--json": {"action": "store_true", "help": "print JSON, an object per line"},
    "--spider": {"metavar": "NAME", "help": "with the settings of this spider"},
}  # fmt: skip
"""Options that mean the same in several sub-commands."""


def add_shared(parser: ArgumentParser, *names: str, **helps: str) -> None:
    """Add the `SHARED` options called *names* to *parser*, and those of *helps* with another help."""
    for name in (*names, *(f"--{each}" for each in helps)):
        parser.add_argument(name, **(SHARED[name] | ({"help": helps[name[2:]]} if name[2:] in helps else {})))


def argument(read: Callable[[str], T]) -> Callable[[str], T]:
    """*read* as the type of an argument: the command ends with what its ``ValueError`` says."""

    def read_argument(text: str) -> T:
        try:
            return read(text)
        except ValueError as error:
            raise ArgumentTypeError(str(error)) from None

    return read_argument


def at_least_one(things: str) -> Callable[[str], int]:
    """The type of an argument that is a number of *things*, at least 1."""
    return partial(_number, things)


def _number(things: str, text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise ArgumentTypeError(f"{text!r} is not a number of {things}: write one such as 4")
    return int(text)


class _Help(HelpFormatter):
    """Wraps to the terminal, but keeps paragraphs, and what is indented, as they are."""

    def __init__(self, prog: str) -> None:
        width = min(width_of(sys.stdout), READABLE)
        super().__init__(prog, max_help_position=max(width // 4, 16), width=width)

    def start_section(self, heading: str | None) -> None:
        super().start_section(heading and heading.capitalize())

    def _fill_text(self, text: str, width: int, indent: str) -> str:  # noqa: ARG002
        parts = text.split("\n\n")
        return "\n\n".join(part if "\n  " in part else "\n".join(self._split_lines(part, width)) for part in parts)

    def _split_lines(self, text: str, width: int) -> list[str]:
        return textwrap.wrap(" ".join(text.split()), width, break_on_hyphens=False)


class Parser(ArgumentParser):
    """Has one line of usage, and says in one line what is wrong with arguments, and what was perhaps meant."""

    color: bool

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.added: list[Action] = []
        super().__init__(*arguments, **options)

    def add_argument(self, *names: Any, **options: Any) -> Action:
        """Add an argument, which a usage in one line may need."""
        self.added.append(super().add_argument(*names, **options))
        return self.added[-1]

    def parse(self, arguments: Sequence[str] | None) -> Namespace:
        """Return the *arguments*, by default those of the command line: URLs before and after options."""
        found, unknown = self.parse_known_intermixed_args(arguments)
        if unknown:
            hint = perhaps(unknown[0], self._option_string_actions)
            self.error(f"unknown argument {unknown[0]!r}{hint}")
        return found

    def use_one_line(self) -> None:
        """Let the usage name what a call needs: each option has its line below."""
        needed = [_in_usage(one) for one in self.added if one.required or not one.option_strings]
        self.usage = " ".join(["%(prog)s", "[OPTIONS]", *needed])

    def format_help(self) -> str:
        """The help, its headings in bold on a terminal."""
        text = super().format_help().replace("usage:", "Usage:", 1)
        return re.sub(r"(?m)^[A-Z][a-z ]+:(?= |$)", lambda heading: paint(heading[0], "strong", sys.stdout), text)

    def error(self, message_: str) -> NoReturn:
        """End the command with this message."""
        self.exit(FAILED, message(self.prog, "error", message_))

    def _check_value(self, action: Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            hint = perhaps(str(value), map(str, action.choices))
            raise ArgumentError(action, f"{value!r} is not one of {', '.join(map(str, action.choices))}{hint}")


def _in_usage(action: Action) -> str:
    name = str(action.metavar or "|".join(action.choices or [action.dest.upper()]))
    if action.option_strings:
        return f"{action.option_strings[0]} {name}"
    return {"*": f"[{name}…]", "+": f"{name}…", "?": f"[{name}]"}.get(str(action.nargs), name)


def parser_of(name: str) -> Parser:
    """The parser of the sub-command called *name*."""
    module, called = module_of(name), program.get() + name
    summary, *paragraphs = re.sub(r"\n\n(?:    .*\n)+", "\n", module.__doc__).strip().split("\n\n")
    examples = "\n".join(["Examples:", *(f"  {called} {example}".rstrip() for example in EXAMPLES[name])])
    description = "\n\n".join([summary, examples, *paragraphs])
    parser = Parser(prog=called, description=description, formatter_class=_Help)
    parser.color = False  # Python 3.14 would add colors of its own
    module.add_arguments(parser)
    parser.use_one_line()
    return parser
