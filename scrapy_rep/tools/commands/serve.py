"""Serve a web page that checks a robots.txt.

    scrapy robots serve [--host HOST] [--port PORT] [--public] [--trust-proxy ADDRESS] [--user-agent TEXT]
    robots-serve …, the same command without a project

The page shows what a robots.txt blocks and allows, by URL and by crawler, and what the linter finds in it.
/?site=example.com checks a site at once; POST /api/check answers as JSON. Nothing is stored. --public makes
it safe for the internet: it fetches public addresses only, and limits each visitor.
Ctrl-C ends it.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from ipaddress import ip_address
from typing import IO, TYPE_CHECKING, Final

from scrapy_rep import __version__

from . import OK, dialect_and_limit, main_of
from .inputs import InputError

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

_WITHOUT_EXTRA: Final = "{}, which the page needs, is not installed: install the extra web"
_LAST_PORT: Final = 65_535
_OPEN: Final = (
    "everyone who reaches {} can have this machine request private addresses: add --public, or --host 127.0.0.1"
)

main = main_of("serve")


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command to *parser*."""
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (default: %(default)s)")
    parser.add_argument(
        "--port", type=_port, default=8080, help="the port; 0 is any free one (default: %(default)s)"
    )
    parser.add_argument(
        "--public", action="store_true", help="for the internet: fetch public addresses only, limit visitors"
    )
    parser.add_argument(
        "--trust-proxy",
        metavar="ADDRESS",
        default="127.0.0.1",
        help="proxies whose X-Forwarded-For names the visitor, separated by commas (default: %(default)s)",
    )
    parser.add_argument(
        "--user-agent",
        metavar="TEXT",
        default=f"scrapy_rep/{__version__}",
        help="User-Agent header for fetching robots.txt (default: %(default)s)",
    )


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > _LAST_PORT:
        raise ArgumentTypeError(f"{text!r} is not a port: write a number from 0 to {_LAST_PORT}")
    return int(text)


def run(arguments: Namespace, settings: BaseSettings | None, out: IO[str]) -> int:
    """Run the command until Ctrl-C; return the exit code. Without *settings* the defaults count."""
    _, size = dialect_and_limit(settings)
    try:
        from scrapy_rep.tools.web.server import serve  # noqa: PLC0415  # needs the extra
    except ModuleNotFoundError as error:
        raise InputError(_WITHOUT_EXTRA.format(error.name)) from None
    if not arguments.public and not _is_loopback(arguments.host):
        print(f"scrapy robots serve: {_OPEN.format(arguments.host)}", file=sys.stderr)  # noqa: T201
    try:
        serve(arguments, size, out)
    except OSError as error:
        # That of a name which cannot be looked up has a number of its own, below 0.
        why = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror or error
        raise InputError(f"{arguments.host}, port {arguments.port}: {why}") from None
    return OK


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
