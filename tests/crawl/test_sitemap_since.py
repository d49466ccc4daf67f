"""Only what a site says it has changed is crawled: since a date, or since the last run that finished."""

from __future__ import annotations

import gzip
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from tests.support.crawl import Crawl, crawl
from tests.support.site import Answer, Arrival, Site, robots, sitemap, sitemap_index

LAST_RUN = {"REP_SITEMAP_SINCE": "last run"}
LONG_AGO = "2020-01-01T00:00:00Z"


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as running:
        yield running


@pytest.fixture
def store(tmp_path: Path) -> dict[str, Any]:
    return {**LAST_RUN, "REP_STORE_PATH": str(tmp_path / "robots.sqlite")}


def crawl_since(site: Site, settings: dict[str, Any], spider: str = "Ours", **attributes: Any) -> Crawl:
    spider = f"tests.crawl.sitemap_spiders:{spider}"
    where = {"sites": [site.origin], "sitemap_urls": [f"{site.origin}/robots.txt"]}
    result = crawl(spider=spider, settings=settings, attributes={**where, **attributes})
    assert not result.tracebacks
    return result


def now() -> str:
    return datetime.now(timezone.utc).isoformat()


def dated(site: Site, **dates: str) -> list[str]:
    """The entries of pages, or of sitemaps, that were modified on *dates*."""
    return [f"{site.origin}/{page}" + (f" <lastmod>{at}</lastmod>" if at else "") for page, at in dates.items()]


def with_validators(body: bytes, *, etag: str = "", modified: str = "") -> Callable[[Arrival], Answer]:
    """Answers 304 to whoever has it."""
    headers = [("ETag", etag)] * bool(etag) + [("Last-Modified", modified)] * bool(modified)

    def answer(arrival: Arrival) -> Answer:
        known = arrival.headers.get("if-none-match"), arrival.headers.get("if-modified-since")
        is_known = known == (etag or None, modified or None)
        return Answer(304 if is_known else 200, b"" if is_known else body, headers)

    return answer


def conditions(site: Site) -> dict[str, list[bool]]:
    """For each file that was requested: whether each request for it was conditional."""
    found: dict[str, list[bool]] = {}
    for arrival in site.log:
        is_conditional = bool({"if-none-match", "if-modified-since"} & arrival.headers.keys())
        found.setdefault(arrival.path, []).append(is_conditional)
    return found


@pytest.mark.parametrize("spider", ["Ours", "Scrapys"])
@pytest.mark.parametrize("since", ["2026-05-02", date(2026, 5, 2), datetime(2026, 5, 2, tzinfo=timezone.utc)])
def test_entries_and_sitemaps_that_are_certainly_older_than_a_date_are_dropped(
    site: Site, spider: str, since: Any
) -> None:
    site.answer("/robots.txt", robots("Sitemap: /index.xml\n"))
    index = sitemap_index(*dated(site, old="2026-04-30", new="2026-06-01", undated=""))
    site.answer("/index.xml", index)
    pages = dated(site, a="2026-04", b="2026-05-01T09:00:00Z", c="2026-05-02", d="2026-05", e="2026", f="", g="x")
    site.answer("/new", sitemap(*pages, *dated(site, h="2026-04-30", i="2026-05-02T01:00:00+02:00")))
    site.answer("/undated", sitemap(f"{site.origin}/j"))
    result = crawl_since(site, {"REP_SITEMAP_SINCE": since}, spider)
    assert sorted(result.urls) == [f"{site.origin}/{page}" for page in "cdefgj"]
    assert site.count("/old") == 0
    assert result.stats["rep/sitemap/older_count"] == 5


@pytest.mark.parametrize("of_each", [10, pytest.param(100, marks=pytest.mark.full)])
def test_the_second_run_crawls_what_has_changed_and_asks_whether_sitemaps_have(
    site: Site, store: dict[str, Any], of_each: int
) -> None:
    maps = {number: [f"{number}-{page}" for page in range(of_each)] for number in range(10)}
    site.answer("/robots.txt", robots("Sitemap: /index.xml\n"))
    index = sitemap_index(*(f"{site.origin}/{number}.xml" for number in maps))
    site.answer("/index.xml", with_validators(index.body, etag='"index"'))
    for number, pages in maps.items():
        body = sitemap(*dated(site, **dict.fromkeys(pages, LONG_AGO))).body
        site.answer(f"/{number}.xml", with_validators(body, etag=f'"{number}"'))
    assert len(crawl_since(site, store).urls) == 10 * of_each
    site.log.clear()
    for number in (3, 7):
        dates = {
            page: now() if page.endswith(("-0", "-1", "-2", "-3", "-4")) else LONG_AGO for page in maps[number]
        }
        body = sitemap(*dated(site, **dates)).body
        site.answer(f"/{number}.xml", with_validators(body, etag='"new"'))
    second = crawl_since(site, store)
    assert sorted(second.urls) == sorted(
        f"{site.origin}/{number}-{page}" for number in (3, 7) for page in range(5)
    )
    asked = {path: found for path, found in conditions(site).items() if path.endswith(".xml")}
    assert asked == {path: [True] for path in ["/index.xml", *(f"/{number}.xml" for number in maps)]}
    assert second.stats["rep/sitemap/unchanged_count"] == 9  # the index and eight of ten
    assert second.stats["rep/sitemap/older_count"] == 2 * (of_each - 5)


def test_a_run_that_is_cut_off_leaves_the_last_run_as_it_was(site: Site, store: dict[str, Any]) -> None:
    site.answer("/robots.txt", robots("Sitemap: /s.xml\n"))
    site.answer(
        "/s.xml",
        with_validators(sitemap(*dated(site, a=now(), b=now())).body, modified="Fri, 01 May 2026 10:00:00 GMT"),
    )
    cut_off = crawl_since(site, {**store, "CLOSESPIDER_PAGECOUNT": 4, "CONCURRENT_REQUESTS": 1})
    assert (cut_off.reason, len(cut_off.urls)) == ("closespider_pagecount", 1)
    assert len(crawl_since(site, store).urls) == 2
    assert crawl_since(site, store).urls == []
    assert conditions(site)["/s.xml"] == [False, False, True]


OLD = b"<url><loc>http://127.0.0.1/</loc><lastmod>2020-01-01</lastmod></url>"


def packed(answer: Answer) -> Answer:
    return Answer(body=gzip.compress(answer.body))


def text_of(*entries: str) -> Answer:
    return packed(Answer(body="\n".join(entry.partition(" ")[0] for entry in entries).encode()))


@pytest.mark.parametrize(
    ("write", "breakage"),
    [
        (sitemap, lambda body: body[: body.index(b"</url>") + 6]),  # behind its first entry
        (sitemap, lambda body: body[: body.index(b"</url>") - 3]),
        (sitemap, lambda body: body[: body.index(b"<url>")]),
        (lambda *entries: packed(sitemap(*entries)), lambda body: body[: len(body) // 2]),
        (sitemap, lambda body: body.replace(b"</url>", b"</url>" + OLD * 30, 1)),
        (sitemap, lambda _: b"<urlset></urlset>"),
        (sitemap, lambda _: b""),
        (sitemap, lambda _: b"<html>Not now"),
    ],
)
@pytest.mark.parametrize("validator", ["", '"1"'])
def test_what_changes_behind_the_end_of_a_broken_sitemap_is_requested_when_it_is_whole_again(
    site: Site,
    store: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    *,
    write: Any,
    breakage: Any,
    validator: str,
) -> None:
    monkeypatch.setattr("scrapy_rep.directives.sitemap.MOST_ENTRIES", 25)
    site.answer("/robots.txt", robots("Sitemap: /s.xml\n"))
    site.answer("/s.xml", write(*dated(site, a=LONG_AGO, b=LONG_AGO)))
    assert len(crawl_since(site, store).urls) == 2
    changed = write(*dated(site, a=LONG_AGO, b=now()))
    body = breakage(changed.body)
    site.answer("/s.xml", with_validators(body, etag=validator) if validator else Answer(body=body))
    broken = crawl_since(site, store)
    assert f"{site.origin}/b" not in broken.urls
    assert any("/s.xml" in line for line in broken.lines("WARNING", "scrapy_rep"))
    site.answer("/s.xml", changed)
    assert crawl_since(site, store).urls == [f"{site.origin}/b"]


def test_a_torn_text_file_does_not_count_as_read_either(site: Site, store: dict[str, Any]) -> None:
    site.answer("/robots.txt", robots("Sitemap: /s.txt\n"))
    whole = text_of(*dated(site, a="", b=""))
    site.answer("/s.txt", with_validators(whole.body[:-10], etag='"1"'))
    assert crawl_since(site, store).urls == [f"{site.origin}/a"]
    site.answer("/s.txt", with_validators(whole.body, etag='"1"'))
    assert sorted(crawl_since(site, store).urls) == [f"{site.origin}/{page}" for page in "ab"]
    assert conditions(site)["/s.txt"] == [False, False]


@pytest.mark.parametrize("broken", ["cut", "empty"])
def test_what_changes_behind_the_end_of_a_broken_index_is_requested_when_it_is_whole_again(
    site: Site, store: dict[str, Any], broken: str
) -> None:
    site.answer("/robots.txt", robots("Sitemap: /index.xml\n"))
    for number in "12":
        site.answer(f"/{number}.xml", sitemap(*dated(site, **{f"page{number}": LONG_AGO})))
    index = sitemap_index(*dated(site, **{"1.xml": LONG_AGO, "2.xml": LONG_AGO}))
    site.answer("/index.xml", index)
    assert len(crawl_since(site, store).urls) == 2
    then = now()
    site.answer("/2.xml", sitemap(*dated(site, page2=then)))
    index = sitemap_index(*dated(site, **{"1.xml": LONG_AGO, "2.xml": then}))
    cut = index.body[: index.body.index(b"</sitemap>") + 10]
    body = cut if broken == "cut" else b"<sitemapindex></sitemapindex>"
    site.answer("/index.xml", with_validators(body, etag='"1"'))
    assert crawl_since(site, store).urls == []
    site.answer("/index.xml", with_validators(index.body, etag='"1"'))
    assert crawl_since(site, store).urls == [f"{site.origin}/page2"]


def test_a_filter_that_reads_the_first_entries_alone_has_read_the_sitemap(
    site: Site, store: dict[str, Any]
) -> None:
    site.answer("/robots.txt", robots("Sitemap: /s.xml\n"))
    site.answer("/s.xml", sitemap(*dated(site, a=LONG_AGO, b=LONG_AGO)))
    assert [len(crawl_since(site, store, "FirstEntry").urls) for _ in range(2)] == [1, 0]


def test_a_sitemap_has_a_last_run_of_its_own_for_each_spider(site: Site, store: dict[str, Any]) -> None:
    site.answer("/robots.txt", robots("Sitemap: /index.xml\n"))
    site.answer("/index.xml", sitemap_index(f"{site.origin}/s.xml"))
    site.answer("/s.xml", sitemap(*dated(site, a=LONG_AGO)))
    found = [crawl_since(site, store, spider).urls for spider in ("Ours", "Scrapys", "Ours", "Scrapys")]
    assert found == [[f"{site.origin}/a"]] * 2 + [[]] * 2
    site.answer("/index.xml", sitemap_index(f"{site.origin}/s.xml", f"{site.origin}/t.xml"))
    site.answer("/t.xml", sitemap(*dated(site, b=LONG_AGO)))
    assert crawl_since(site, store).urls == [f"{site.origin}/b"]


def test_the_date_moves_with_each_run_that_reads_the_sitemap(site: Site, store: dict[str, Any]) -> None:
    site.answer("/robots.txt", robots("Sitemap: /s.xml\n"))
    crawled = []
    for number in range(3):
        before = (datetime.now(timezone.utc) - timedelta(seconds=1)).isoformat()
        site.answer("/s.xml", sitemap(*dated(site, **{f"old{number}": LONG_AGO, f"new{number}": now()})))
        crawled.append(len(crawl_since(site, store).urls))
        site.answer("/s.xml", sitemap(*dated(site, older=before)))
    assert crawled == [2, 1, 1]


def test_a_sitemap_whose_requests_were_not_all_made_has_no_last_run(site: Site, store: dict[str, Any]) -> None:
    site.answer("/robots.txt", robots("Sitemap: /s.xml\n"))
    site.answer("/s.xml", with_validators(sitemap(f"{site.origin}/a", f"{site.origin}/b").body, etag='"1"'))
    fails = {"sites": [site.origin], "fails_at": f"{site.origin}/b"}
    assert crawl(spider="tests.crawl.sitemap_spiders:Fails", settings=store, attributes=fails).tracebacks
    assert len(crawl_since(site, store, "Fails").urls) == 2


def test_a_sitemap_that_failed_is_requested_again_behind_an_unmodified_index(
    site: Site, store: dict[str, Any]
) -> None:
    index = sitemap_index(*dated(site, **{"good.xml": LONG_AGO, "bad.xml": LONG_AGO})).body
    site.answer("/robots.txt", robots("Sitemap: /index.xml\n"))
    site.answer("/index.xml", with_validators(index, etag='"i"'))
    site.answer("/good.xml", with_validators(sitemap(f"{site.origin}/a").body, etag='"g"'))
    site.answer("/bad.xml", Answer(404))
    assert [url[-1] for url in crawl_since(site, store).urls] == ["a"]
    site.answer("/bad.xml", sitemap(f"{site.origin}/b"))
    assert [url[-1] for url in crawl_since(site, store).urls] == ["b"]


def test_scrapys_http_cache_keeps_no_304_as_the_sitemap(site: Site, store: dict[str, Any], tmp_path: Path) -> None:
    site.answer("/robots.txt", robots("Sitemap: /s.xml\n"))
    site.answer("/s.xml", with_validators(sitemap(f"{site.origin}/a").body, etag='"1"'))
    cache = {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": str(tmp_path / "cache")}
    assert [len(crawl_since(site, {**store, **cache}).urls) for _ in range(2)] == [1, 0]
    assert len(crawl_since(site, cache).urls) == 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({**LAST_RUN, "REP_STORE": "memory"}, "REP_STORE is 'memory'"),
        ({**LAST_RUN, "REP_STORE": "sqlite"}, "NoFileStore keeps no last run"),
        ({**LAST_RUN, "REP_STORE": "tests.crawl.sitemap_spiders.KeepsNoNotes"}, "KeepsNoNotes keeps no last run"),
        ({"REP_SITEMAP_SINCE": "last week"}, "expected a date such as 2026-05-31"),
        ({"REP_SITEMAP_SINCE": 20260531}, "expected a date such as 2026-05-31"),
    ],
)
def test_what_cannot_be_kept_or_read_stops_the_crawl_at_start_up(
    site: Site, settings: dict[str, Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    spider = "tests.crawl.sitemap_spiders:Ours"
    result = crawl(spider=spider, settings=settings, attributes={"sites": [site.origin]})
    (critical,) = result.lines("CRITICAL")
    assert critical.startswith("REP_SITEMAP_SINCE = ")
    assert message in critical
    assert site.log == []


def test_a_fleet_keeps_the_last_run_in_redis(site: Site, redis_client: Any, redis_server: Any) -> None:
    site.answer("/robots.txt", robots("Sitemap: /s.xml\n"))
    site.answer("/s.xml", with_validators(sitemap(f"{site.origin}/a").body, etag='"1"'))
    settings = {**LAST_RUN, "REP_REDIS_URL": redis_server.url, "REP_STORE": "memory"}
    assert [len(crawl_since(site, settings).urls) for _ in range(2)] == [1, 0]
    assert conditions(site)["/s.xml"] == [False, True]


@pytest.mark.parametrize(
    "note",
    [
        "",
        "[]",
        "{}",
        '{"began": "x"}',
        '{"began": 1.0, "undated": [1]}',
        '{"began": 1e300, "etag": "\\"1\\""}',
        "[" * 100_000,
    ],
)
def test_a_note_that_nobody_of_us_wrote_counts_as_none(site: Site, store: dict[str, Any], note: str) -> None:
    site.answer("/robots.txt", robots("Sitemap: /s.xml\n"))
    site.answer("/s.xml", with_validators(sitemap(f"{site.origin}/a").body, etag='"1"'))
    assert len(crawl_since(site, store).urls) == 1
    with closing(sqlite3.connect(store["REP_STORE_PATH"])) as connection, connection:
        connection.execute("UPDATE notes SET text = ?", (note,))
    assert len(crawl_since(site, store).urls) == 1
