"""Which licenses a site may name, how long they count, and that one is fetched once for all who name it."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import pytest
from scrapy import Request

from scrapy_rep.clock import clock
from scrapy_rep.crawl.robots.fetch import FetchResult
from scrapy_rep.crawl.robots.parser import RepRobotParser
from scrapy_rep.crawl.robots.registry import Registry
from scrapy_rep.crawl.robots.robots import Robots
from scrapy_rep.crawl.runtime.crawl import Crawl
from scrapy_rep.directives.ai import SiteFile
from scrapy_rep.directives.rsl import RslFile
from scrapy_rep.extras.ai.files import KeptFile, SiteFiles, license_at
from scrapy_rep.extras.ai.signals import AiSignals, Said
from scrapy_rep.protocol import Access, Origin
from scrapy_rep.protocol.freshness import Backoff, Entry, Freshness
from tests.support.in_process import crawler_at_rest, run
from tests.support.memory import octets_kept

NOW = 1_800_000_000.0
DAY = 86_400.0
A = Origin("https", "a.example", 443)
FILE = SiteFile.at("https://l.example/rsl.xml?x")


@pytest.fixture(autouse=True)
def _now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "time", lambda: NOW)


def entry(days: int, *, fetched: float = NOW, until: float = NOW + 9 * DAY, failures: int = 0) -> Entry:
    """A license that counts for so many *days*."""
    body = f'<rsl xmlns="https://rslstandard.org/rsl" max-age="{days}"/>'.encode()
    since = NOW - 1 if failures else None
    return Entry(FILE, Access.SUCCESSFUL, str(FILE), 200, body, (), fetched, until, "", "", failures, since)


class Fetches:
    """In the place of the one of a crawl: answers with entries in turn, and keeps what is saved."""

    def allows(self, robots: Robots, url: str, cause: Request) -> bool:
        return robots.verdict(("mybot",), url).allowed

    def __init__(self, *answers: Entry, is_stored: bool = False) -> None:
        self.freshness = Freshness(60.0, 9 * DAY, 20 * DAY, Backoff(1.0, 60.0))
        self.saved: list[Entry] = []
        self.origins = self
        self._answers = [*answers]
        self._result = None if is_stored else FetchResult(Access.SUCCESSFUL, str(FILE))

    async def refresh(self, *_: Any, **__: Any) -> tuple[Entry, FetchResult | None]:
        await asyncio.sleep(0)
        return self._answers.pop(0), self._result

    async def save(self, entry: Entry, *_: Any) -> None:
        self.saved.append(entry)

    def resize(self, robots: Robots, kept_octets: int) -> None:
        robots.kept_octets = kept_octets


def robots_of(body: str = "") -> Robots:
    known = Entry(FILE.origin, Access.SUCCESSFUL, "", 200, body.encode(), (), NOW, NOW + 9 * DAY)
    return Robots(known, Access.SUCCESSFUL, NOW + 9 * DAY, RepRobotParser(body.encode()))


def files_of(registry: Fetches, **settings: Any) -> SiteFiles:
    return crawl_with(registry, settings).part(SiteFiles)


def crawl_with(registry: Fetches, settings: dict[str, Any]) -> Crawl:
    crawl = Crawl.of(crawler_at_rest(settings))
    crawl._parts[Registry] = registry
    return crawl


def fetched(registry: Fetches) -> KeptFile:
    """The license, as one crawl has it."""
    found = run(files_of(registry).fetched(robots_of(), Request(str(A)), licenses=[str(FILE)]))
    return found[str(FILE)]


@pytest.mark.parametrize(
    ("url", "file"),
    [
        ("https://l.example/rsl.xml?x#y", FILE),
        ("https://L.example:443/rsl.xml?x", FILE),
        ("https://me:secret@l.example/rsl.xml?x", FILE),
        ("https://l.example", SiteFile.at("https://l.example/")),
        ("https://l.example/caf\xe9 x", SiteFile.at("https://l.example/caf%C3%A9%20x")),
        ("http://l.example/rsl.xml", None),  # from https
        ("https://127.0.0.1/rsl.xml", None),  # from a public host
        ("https://l.example:99999/", None),
        ("https://l.example/ai.txt", None),
        ("ftp://l.example/rsl.xml", None),
    ],
)
def test_a_site_names_licenses_that_it_may_lead_to(url: str, file: SiteFile | None) -> None:
    assert license_at(url, A) == file


def test_a_site_without_https_may_name_others_without() -> None:
    assert license_at("http://l.example/x", Origin("http", "a.example", 80)) == SiteFile.at("http://l.example/x")


def test_rsl_a_license_is_fresh_for_no_longer_than_it_says() -> None:
    for days, fresh in ((2, 2), (30, 9)):
        registry = Fetches(entry(days))
        assert fetched(registry).entry.fresh_until == NOW + fresh * DAY
        assert [one.fresh_until for one in registry.saved] == [NOW + fresh * DAY]


def test_rsl_a_license_that_is_older_than_it_says_is_not_read() -> None:
    for age, is_read in ((2 * DAY - 1, True), (2 * DAY, False)):
        stored = entry(2, fetched=NOW - age, until=NOW, failures=1)
        assert fetched(Fetches(stored, is_stored=True)).is_read is is_read


def test_rsl_the_files_are_needed_again_when_the_license_has_expired() -> None:
    for days, until in ((2, 2), (30, 9)):
        robots = robots_of(f"License: {FILE}")
        signals = AiSignals(crawl_with(Fetches(entry(days)), {"REP_PURPOSES": ["search"]}))
        run(signals._load_files(robots, Request(str(A))))
        said = signals._said[robots.parser]
        assert said.until == NOW + until * DAY
        assert said.files[str(FILE)].is_read


def test_a_license_is_read_once_for_all_who_name_it_and_forgotten_with_them() -> None:
    until = NOW + 2 * DAY
    registry = Fetches(entry(2, until=until), entry(2, until=until), entry(2, fetched=NOW - 1), entry(3))
    files, cause = files_of(registry), Request(str(A))

    async def get() -> Any:
        return (await files.fetched(robots_of(), cause, licenses=[str(FILE)]))[str(FILE)]

    async def get_all() -> None:
        first, meanwhile = await asyncio.gather(get(), get())
        assert first is meanwhile
        assert (await get()) is first
        confirmed = await get()
        assert (confirmed is first, confirmed.said is first.said) == (False, True)
        assert (await get()).said is not first.said
        del first, meanwhile, confirmed

    run(get_all())
    gc.collect()
    assert not files._kept


def test_a_crawl_that_is_closing_waits_for_no_file() -> None:
    registry = Fetches()
    registry.refresh = hang  # type: ignore[method-assign]
    files, robots = files_of(registry, REP_PURPOSES=["ai-train"]), robots_of()

    async def close() -> None:
        loading = asyncio.ensure_future(files.load(robots, Request(str(A)), ()))
        await asyncio.sleep(0.01)
        files._crawl.events.closing.send()
        assert await asyncio.wait_for(loading, timeout=5) is None

    run(close())


async def hang(*_: Any, **__: Any) -> Any:
    await asyncio.Event().wait()


def test_the_memory_of_a_license_counts() -> None:
    license_ = '<license><permits type="usage">a b c d e f g h i j</permits></license>'
    contents = "".join(f'<content url="/*{number}">{license_}</content>' for number in range(300))
    body = f'<rsl xmlns="https://rslstandard.org/rsl">{contents}</rsl>'.encode()
    file = Entry(FILE, Access.SUCCESSFUL, "", 200, body, (), NOW, NOW)
    assert octets_kept(lambda: RslFile(body)) < Said(files={"x": KeptFile(file, RslFile(body))}).octets
