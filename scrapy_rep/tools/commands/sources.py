"""The robots.txt files that a command is given: by name, by URL, or on standard input.

A URL is asked now, whatever the store holds. What is not given by URL costs no crawl.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from scrapy_rep.protocol import Access

from .terminal import GivenError, origin_of, read_file

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from scrapy_rep.protocol import Origin

    from .fetching import Fetched, Source

_TIMES_MORE: Final = 4  # of a file over the limit so much is fetched, to tell how long it is


@dataclass(frozen=True, slots=True)
class Given:
    """A robots.txt as it was given.

    ``name`` is that of the file, ``-``, or the URL of the robots.txt. For one that was fetched ``url`` is
    where it was asked for, ``hops`` where that led, ``status`` the answer's, and ``access`` what that means.
    """

    name: str
    body: bytes
    url: str = ""
    hops: tuple[str, ...] = ()
    status: int | None = None
    access: Access = Access.SUCCESSFUL


def is_url(name: str) -> bool:
    """Whether *name* is a URL, not a file's."""
    return "://" in name


def check_names(names: Iterable[str]) -> None:
    """Raises `GivenError` for URLs that have no robots.txt, and for standard input given twice."""
    names = list(names)
    if names.count("-") > 1:
        raise GivenError("standard input can be read only once")
    for name in filter(is_url, names):
        origin_of(name)


def read(names: Iterable[str], settings: BaseSettings, found: Callable[[Given], object], limit: int) -> None:
    """Hand each of the files called *names* to *found*: first those that need no crawl, in order.

    *limit* is the number of octets that will be read of it. Raises `GivenError` for those that cannot be
    had, when all others have been handed over.
    """
    names = list(names)
    problems = read_files(names, found)
    if any(map(is_url, names)):
        from .fetching import crawl  # noqa: PLC0415  # all of Scrapy's machinery, which a file does not need

        async def work(source: Source) -> None:
            problems.extend(await fetch_urls(source, names, found))

        crawl(settings_of_fetch(settings, limit), work)
    fail_for(problems)


def fail_for(problems: list[GivenError]) -> None:
    """Raises `GivenError` when there are *problems*."""
    if problems:
        raise GivenError("; ".join(map(str, problems)))


def read_files(names: Iterable[str], found: Callable[[Given], object]) -> list[GivenError]:
    """Hand each of *names* that is no URL to *found*; what kept others from being read."""
    problems: list[GivenError] = []
    for name in names:
        if is_url(name):
            continue
        try:
            body = read_file(name)
        except GivenError as error:
            problems.append(_with_hint(error))
        else:
            found(Given(name, body))
    return problems


async def fetch_urls(source: Source, names: Iterable[str], found: Callable[[Given], object]) -> list[GivenError]:
    """Hand the robots.txt of each of *names* that is a URL to *found*, as it comes; what kept others away."""
    problems: list[GivenError] = []
    by_origin: dict[Origin, str] = {}
    for name in filter(is_url, names):
        by_origin.setdefault(origin_of(name), name)

    def keep(fetched: Fetched) -> None:
        if fetched.entry.status is None:
            problems.append(GivenError(f"{fetched.origin} is unreachable: {fetched.problem}"))
        else:
            found(_given(by_origin[fetched.origin], fetched))

    await source.each(list(by_origin), keep)
    return problems


def settings_of_fetch(settings: BaseSettings, limit: int) -> BaseSettings:
    """The *settings* for a crawl that asks now, and takes more than *limit* octets: to tell how long a file is."""
    chosen = settings.copy()
    afresh = {"REP_STORE": "memory", "REP_REDIS_URL": "", "REP_MAX_SIZE": _TIMES_MORE * limit}
    chosen.setdict(afresh, priority="cmdline")
    return chosen


def _with_hint(error: GivenError) -> GivenError:
    if "Is a directory" in str(error):
        return GivenError(f"{error}: name the files in it")
    return GivenError(f"{error} (a URL starts with https://)") if "No such file" in str(error) else error


def _given(asked: str, fetched: Fetched) -> Given:
    entry = fetched.entry
    robots_url = fetched.origin.robots_url
    url = asked if urlsplit(asked).path.endswith("/robots.txt") else robots_url
    return Given(robots_url, entry.body, url, entry.hops, entry.status, fetched.robots.access)
