"""Which licenses a site may name, how long they count, and that one is fetched once for all who name it."""

from __future__ import annotations

import asyncio
import gc
from dataclasses import dataclass
from typing import Any

import pytest

from scrapy_rep.clock import clock
from scrapy_rep.directives.ai import SiteFile
from scrapy_rep.protocol import Access, Origin
from scrapy_rep.protocol.freshness import Backoff, Entry, Freshness
from scrapy_rep.robots.licenses import LicenseFile, Licenses, Once, license_at
from scrapy_rep.robots.parser import RepRobotParser
from scrapy_rep.robots.robots import Robots
from tests.support.in_process import run
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


def licenses() -> Licenses:
    return Licenses(Freshness(60.0, 9 * DAY, 20 * DAY, Backoff(1.0, 60.0)))


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
        ("ftp://l.example/rsl.xml", None),
    ],
)
def test_ours_a_site_names_licenses_that_it_may_lead_to(url: str, file: SiteFile | None) -> None:
    assert license_at(url, A) == file


def test_ours_a_site_without_https_may_name_others_without() -> None:
    assert license_at("http://l.example/x", Origin("http", "a.example", 80)) == SiteFile.at("http://l.example/x")


def test_rsl_a_license_is_fresh_for_no_longer_than_it_says() -> None:
    assert Licenses.bounded(entry(2)).fresh_until == NOW + 2 * DAY
    assert Licenses.bounded(entry(30)).fresh_until == NOW + 9 * DAY


def test_rsl_a_license_that_is_older_than_it_says_is_not_read() -> None:
    assert licenses().keep(FILE, entry(2, fetched=NOW - 2 * DAY + 1, until=NOW, failures=1))
    assert licenses().keep(FILE, entry(2, fetched=NOW - 2 * DAY, until=NOW, failures=1)) is None


def test_rsl_a_robots_txt_expires_with_the_license_that_it_names() -> None:
    known = Entry(A, Access.SUCCESSFUL, A.robots_url, 200, b"", (), NOW, NOW + 9 * DAY)
    robots = Robots(known, Access.SUCCESSFUL, NOW + 9 * DAY, RepRobotParser(b""))
    assert robots.with_licenses({"x": LicenseFile(entry(2)), "y": LicenseFile(entry(4))}).until == NOW + 2 * DAY
    assert robots.with_licenses({"x": LicenseFile(entry(30))}).until == NOW + 9 * DAY


def test_ours_a_license_is_read_once_for_all_who_name_it_and_forgotten_with_them() -> None:
    known = licenses()
    first = known.keep(FILE, entry(2))
    assert known.keep(FILE, entry(2)) is first is not None
    assert known.known(FILE) == entry(2)
    assert known.keep(FILE, entry(3)) is not first
    del first
    gc.collect()
    assert known.known(FILE) is None


def test_ours_the_memory_of_a_license_counts() -> None:
    license_ = '<license><permits type="usage">a b c d e f g h i j</permits></license>'
    contents = "".join(f'<content url="/*{number}">{license_}</content>' for number in range(300))
    body = f'<rsl xmlns="https://rslstandard.org/rsl">{contents}</rsl>'.encode()
    file = Entry(FILE, Access.SUCCESSFUL, "", 200, body, (), NOW, NOW)
    known = Entry(A, Access.SUCCESSFUL, "", 200, b"", (), NOW, NOW)
    robots = Robots(known, Access.SUCCESSFUL, NOW, RepRobotParser(b""), licenses={"x": LicenseFile(file)})
    assert octets_kept(lambda: LicenseFile(file)) < robots.octets


# Work that many ask for.


@dataclass
class Work:
    """Work for which three ask at the same time, the first of whom may be ``cancelled``."""

    fails: bool = False
    cancelled: bool = False
    calls: int = 0

    async def do(self) -> str:
        self.calls += 1
        await asyncio.sleep(0.01)
        if self.fails:
            raise LookupError
        return "license"

    async def outcomes(self) -> list[Any]:
        once = Once()
        asking = [asyncio.ensure_future(once.run(FILE, self.do)) for _ in range(3)]
        await asyncio.sleep(0)
        if self.cancelled:
            asking[0].cancel()
        found = await asyncio.gather(*asking, return_exceptions=True)
        self.fails = False
        return [*found, await once.run(FILE, self.do)]


@pytest.mark.parametrize(
    ("work", "expected"),
    [
        (Work(), ["license"] * 4),
        (Work(fails=True), ["LookupError", None, None, "license"]),
        (Work(cancelled=True), ["CancelledError", None, None, "license"]),
    ],
)
def test_ours_who_asks_meanwhile_gets_the_result_or_nothing(work: Work, expected: list[str | None]) -> None:
    found = run(asyncio.wait_for(work.outcomes(), timeout=5))
    assert [type(one).__name__ if isinstance(one, BaseException) else one for one in found] == expected
    assert work.calls == 2
