"""List the exceptions from robots.txt, those that end first at the top.

    scrapy robots exceptions [--spider NAME] [--check] [--json]

They come from REP_EXCEPTIONS and REP_EXCEPTIONS_FILE of the project or -s; --spider adds the custom_settings of
one spider. Exits with 0, or 2 when an exception cannot be read. With --check it exits with 1 when one has expired.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from typing import IO, TYPE_CHECKING, Any

from scrapy.spiderloader import get_spider_loader

from scrapy_rep.clock import clock
from scrapy_rep.exceptions import InvalidSettingError
from scrapy_rep.policy.policy import exceptions_of
from scrapy_rep.protocol.display import number_of, shown
from scrapy_rep.settings import RepSettings

from . import FOUND, OK
from .inputs import InputError
from .terminal import paint, print_error

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from scrapy_rep.policy.policy_exception import PolicyException


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command to *parser*."""
    parser.add_argument("--spider", metavar="NAME", help="with the custom_settings of this spider")
    parser.add_argument("--check", action="store_true", help="exit with 1 when an exception has expired")
    parser.add_argument("--json", action="store_true", help="print one JSON object per exception")


def run(arguments: Namespace, settings: BaseSettings, out: IO[str]) -> int:
    """Run the command; return the exit code."""
    try:
        found = exceptions_of(RepSettings.from_settings(_with_spider(settings, arguments.spider)))
    except (InputError, InvalidSettingError) as error:
        return print_error("exceptions", error)
    now = clock.time()
    found.sort(key=lambda exception: exception.ends_at)
    expired = sum(exception.ends_at <= now for exception in found)
    for exception in found:
        days = exception.days_left(now)
        out.write(f"{json.dumps(_facts(exception, days)) if arguments.json else _lines(exception, days, out)}\n")
    if not arguments.json:
        out.write(f"{_summary(len(found), expired)}\n")
    return FOUND if arguments.check and expired else OK


def _with_spider(settings: BaseSettings, name: str | None) -> BaseSettings:
    """The *settings* as a crawl of the spider called *name* has them. Raises `InputError`."""
    if name is None:
        return settings
    try:
        spider = get_spider_loader(settings).load(name)
    except KeyError:
        raise InputError(f"there is no spider called {name!r} in this project") from None
    chosen: Any = settings.copy()
    spider.update_settings(chosen)
    return chosen  # type: ignore[no-any-return]


def _lines(exception: PolicyException, days: int, out: IO[str]) -> str:
    """Two lines: when it ends and what it covers, then why."""
    left = "expired" if days < 0 else number_of(days, "day left", "days left") if days else "ends today"
    about = ", ".join(sorted(exception.kinds)) + (f" ({exception.rule})" if exception.rule else "")
    when = paint(f"{left:<15}", "bad" if days < 0 else "good", out)
    return (
        f"{when}{exception.until}  {shown(exception.url)}  for {shown(about)}\n{'':<15}{shown(exception.reason)}"
    )


def _facts(exception: PolicyException, days: int) -> dict[str, Any]:
    return {**exception.as_dict(), "rule": exception.rule, "days_left": days, "expired": days < 0}


def _summary(number: int, expired: int) -> str:
    if not number:
        return "REP_EXCEPTIONS and REP_EXCEPTIONS_FILE hold no exception"
    return f"{number_of(number, 'exception', 'exceptions')}, {expired:,} expired"
