"""List the exceptions to robots.txt, the next to expire first.

They come from REP_EXCEPTIONS and REP_EXCEPTIONS_FILE of the project or -s, and from the custom_settings of its
spiders; --spider limits them to one spider. Exits with 0, or 2 if an exception cannot be read. With --check it
exits with 1 if one has expired.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from typing import IO, TYPE_CHECKING

from scrapy_rep.clock import clock
from scrapy_rep.crawl.policy.policy import exceptions_of
from scrapy_rep.exceptions import InvalidSettingError
from scrapy_rep.protocol.display import number_of, shown
from scrapy_rep.settings import RepSettings

from . import FOUND, OK
from .crawl_runner import with_each_spider, with_spider
from .parser import add_shared
from .terminal import paint

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from scrapy_rep.crawl.policy.exceptions import PolicyException


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command to *parser*."""
    add_shared(parser, "--json", spider="only those of this spider")
    parser.add_argument("--check", action="store_true", help="exit with 1 when an exception has expired")


def run(arguments: Namespace, settings: BaseSettings, out: IO[str]) -> int:
    """Run the command; return the exit code."""
    found = _found(settings, arguments.spider)
    now = clock.time()
    expired = sum(exception.ends_at <= now for exception in found)
    for exception in sorted(found, key=lambda exception: exception.ends_at):
        days, spiders = exception.days_left(now), found[exception]
        if arguments.json:
            more = {"rule": exception.rule, "days_left": days, "expired": days < 0, "spiders": spiders}
            out.write(json.dumps({**exception.as_dict(), **more}) + "\n")
        else:
            out.write(_lines(exception, days, spiders, out) + "\n")
    if not arguments.json:
        number = f"{number_of(len(found), 'exception', 'exceptions')}, {expired:,} expired"
        out.write(f"{number if found else 'REP_EXCEPTIONS and REP_EXCEPTIONS_FILE contain no exceptions'}\n")
    return FOUND if arguments.check and expired else OK


def _found(settings: BaseSettings, spider: str | None) -> dict[PolicyException, list[str]]:
    """The exceptions, each with the spiders that have it where the project has not.

    Raises `InvalidSettingError`.
    """
    found: dict[PolicyException, list[str]] = {one: [] for one in _exceptions(with_spider(settings, spider))}
    of_project = set(found)
    for name, chosen in () if spider else with_each_spider(settings):
        try:
            own = set(_exceptions(chosen)) - of_project
        except InvalidSettingError as error:
            raise InvalidSettingError(f"spider {name}: {error}") from None
        for exception in own:
            found.setdefault(exception, []).append(name)
    return found


def _exceptions(settings: BaseSettings) -> list[PolicyException]:
    return exceptions_of(RepSettings.from_settings(settings))


def _lines(exception: PolicyException, days: int, spiders: list[str], out: IO[str]) -> str:
    """Two lines: when it ends, what it covers and in which spiders, then why."""
    left = "expired" if days < 0 else number_of(days, "day left", "days left") if days else "ends today"
    about = ", ".join(sorted(exception.kinds)) + (f" ({exception.rule})" if exception.rule else "")
    about += f", in {', '.join(spiders)}" if spiders else ""
    when = paint(f"{left:<15}", "bad" if days < 0 else "good", out)
    return (
        f"{when}{exception.until}  {shown(exception.url)}  for {shown(about)}\n{'':<15}{shown(exception.reason)}"
    )
