"""Serve a web page on which a robots.txt can be checked.

    scrapy robots serve [--host HOST] [--port PORT] [--public] [--trust-proxy ADDRESS] [--user-agent TEXT]

The page shows what a robots.txt means URL by URL and crawler by crawler, and what the linter finds in it; POST
/api/check answers the same as JSON, and /api describes it. Nothing is stored. With --public it may be put on the
internet: only public addresses are fetched, and what one visitor can ask for is bounded. Ctrl-C ends it.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from importlib.metadata import version
from ipaddress import ip_address
from typing import IO, TYPE_CHECKING, Final

from scrapy_rep.protocol import MAX_SIZE

from . import OK, run_module
from .terminal import print_error

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

_WITHOUT_EXTRA: Final = "{} is not installed, which the page needs: pip install 'scrapy_rep[web]'"
_OPEN: Final = (
    "everyone who reaches {} can have this machine request private addresses: add --public, or --host 127.0.0.1"
)


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command to *parser*."""
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (default: %(default)s)")
    parser.add_argument(
        "--port", type=int, default=8080, help="the port; 0 is any free one (default: %(default)s)"
    )
    parser.add_argument("--public", action="store_true", help="the visitors are strangers: bound what they can do")
    parser.add_argument(
        "--trust-proxy",
        metavar="ADDRESS",
        default="127.0.0.1",
        help="proxies whose X-Forwarded-For names the visitor, separated by commas (default: %(default)s)",
    )
    parser.add_argument(
        "--user-agent",
        metavar="TEXT",
        default=f"scrapy_rep/{version('scrapy-rep')}",
        help="the User-Agent header with which robots.txt files are fetched (default: %(default)s)",
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command without Scrapy, of which nothing is loaded; return the exit code."""
    parser = ArgumentParser(prog="robots-serve", description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    add_arguments(parser)
    return run_module(sys.modules[__name__], parser.parse_args(arguments), None)


def run(arguments: Namespace, settings: BaseSettings | None, out: IO[str]) -> int:
    """Run the command until Ctrl-C; return the exit code. Without *settings* the defaults count."""
    try:
        size = _max_size(settings)
        from scrapy_rep.tools.web.server import serve  # noqa: PLC0415  # needs the extra
    except ValueError as error:  # of the settings
        return print_error("serve", error)
    except ModuleNotFoundError as error:
        return print_error("serve", _WITHOUT_EXTRA.format(error.name))
    if not arguments.public and not _is_loopback(arguments.host):
        print(f"scrapy robots serve: {_OPEN.format(arguments.host)}", file=sys.stderr)  # noqa: T201
    try:
        serve(arguments, size, out)
    except OSError as error:
        where = f"{arguments.host}, port {arguments.port}"
        return print_error("serve", f"{where}: {error.strerror or error}")
    return OK


def _max_size(settings: BaseSettings | None) -> int:
    """``REP_MAX_SIZE``. Raises ``ValueError`` for *settings* that cannot be used."""
    if settings is None:
        return MAX_SIZE
    from scrapy_rep.settings import RepSettings  # noqa: PLC0415  # loads Scrapy

    return RepSettings.from_settings(settings).max_size


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
