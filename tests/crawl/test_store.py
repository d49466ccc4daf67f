"""robots.txt kept across runs: fetched once, revalidated, shared by processes, and robust against failures."""

from __future__ import annotations

import pickle
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path
from time import time
from typing import Any
from urllib.parse import quote

import pytest
from scrapy import signals
from scrapy.crawler import Crawler
from typing_extensions import Self

from scrapy_rep.protocol import Origin
from scrapy_rep.protocol.freshness import Entry
from tests.support.command import scrapy_command
from tests.support.crawl import Crawl, crawl, crawl_until, on_each_loop
from tests.support.site import Answer, Arrival, Site, hang, reset, robots, sequence

HOSTS = [f"127.0.5.{number}" for number in range(1, 201)]
RULES = b"User-agent: *\nDisallow: /private\n"
DUE = "UPDATE entries SET fresh_until = fetched_at"
LONG_DUE = "UPDATE entries SET fresh_until = 0"
HASTY: dict[str, Any] = {"REP_RETRY_TIMES": 2, "REP_RETRY_DELAY": 0.05, "REP_UNREACHABLE_WAIT": 1}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "robots.sqlite"


def ask(store: Path, statement: str) -> list[Any]:
    """What the file answers; a statement may change the stored times, as if time had passed."""
    with closing(sqlite3.connect(store, timeout=10, isolation_level=None)) as connection:
        return connection.execute(statement).fetchall()


def validated(arrival: Arrival) -> Answer:
    headers = [("ETag", '"1"'), ("Last-Modified", "Fri, 15 Jan 2027 08:00:00 GMT")]
    if arrival.headers.get("if-none-match") == '"1"':
        return Answer(304, headers=headers)
    return Answer(200, RULES, headers)


def run(store: Path, *urls: str, loop: str = "asyncio", **settings: Any) -> Crawl:
    result = crawl(*urls, loop=loop, settings={"REP_STORE_PATH": str(store), **settings})
    assert not result.tracebacks
    assert not result.lines("ERROR")
    return result


def counts(result: Crawl, *names: str) -> list[int]:
    return [result.stats.get(f"rep/{name}_count", 0) for name in names]


@pytest.mark.parametrize("many", [20, pytest.param(200, marks=pytest.mark.full)])
def test_the_second_run_over_many_origins_asks_for_no_robots_txt_and_the_one_after_a_day_revalidates(
    store: Path, many: int
) -> None:
    with Site(HOSTS[:many]) as site:
        site.answer("/robots.txt", validated)
        urls = [f"{origin}{path}" for origin in site.origins for path in ("/", "/private")]
        first = run(store, *urls)
        assert (site.count("/robots.txt"), counts(first, "fetched", "store_hit")) == (many, [many, 0])
        site.log.clear()
        second = run(store, *urls)
        assert (site.count("/robots.txt"), counts(second, "fetched", "store_hit")) == (0, [0, many])
        ask(store, DUE)
        third = run(store, *urls)
        asked = [arrival.headers for arrival in site.log if arrival.path == "/robots.txt"]
    assert [(headers["if-none-match"], headers["if-modified-since"]) for headers in asked] == [
        ('"1"', "Fri, 15 Jan 2027 08:00:00 GMT")
    ] * many
    assert counts(third, "fetched", "revalidated") == [0, many]
    assert third.stats["robotstxt/response_status_count/304"] == many
    for result in (first, second, third):
        assert (len(result.pages), result.stats["robotstxt/forbidden"]) == (many, many)


@on_each_loop
def test_the_store_serves_every_loop(store: Path, loop: str) -> None:
    with Site() as site:
        site.answer("/robots.txt", validated)
        for asked in (1, 1, 2):
            result = run(store, f"{site.origin}/", f"{site.origin}/private", loop=loop)
            assert (len(result.pages), result.failures[0].line, site.count("/robots.txt")) == (1, 2, asked)
            if asked == 1 and result.stats.get("rep/store_hit_count"):
                ask(store, DUE)


def test_the_last_good_rules_hold_while_the_origin_is_unreachable_and_recovery_is_picked_up(store: Path) -> None:
    with Site() as site:
        urls = [f"{site.origin}/", f"{site.origin}/private"]
        site.answer("/robots.txt", validated)
        run(store, *urls)
        ask(store, DUE)
        site.answer("/robots.txt", Answer(503))
        for _ in range(3):
            result = run(store, *urls, **{**HASTY, "REP_RETRY_DELAY": 60})
            assert (len(result.pages), [failure.reason for failure in result.failures]) == (1, ["rule"])
            assert counts(result, "stale", "request") == [1, 1]  # one attempt: nobody need wait
            assert "the copy of" in result.lines("WARNING")[0]
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /$\n"))
        result = run(store, *urls)
    assert [failure.rule for failure in result.failures] == ["Disallow: /$"]


def test_an_entry_past_stale_max_is_not_served_stale(store: Path) -> None:
    with Site() as site:
        site.answer("/robots.txt", validated)
        run(store, f"{site.origin}/")
        ask(store, LONG_DUE)
        site.answer("/robots.txt", Answer(503))
        result = run(store, f"{site.origin}/", **HASTY, REP_STALE_MAX=60)
    assert [failure.reason for failure in result.failures] == ["unreachable"]


def test_after_30_days_unreachable_the_last_copy_counts_and_without_one_nothing_is_forbidden(store: Path) -> None:
    with Site(["127.0.0.1", "127.0.0.2"]) as site:
        known, unknown = site.origins
        site.answer("/robots.txt", validated, known)
        site.answer("/robots.txt", Answer(503), unknown)
        run(store, f"{known}/", f"{unknown}/", **HASTY)
        site.answer("/robots.txt", Answer(503), known)
        ask(store, "UPDATE entries SET fresh_until = 0, failures = 99, unreachable_since = 1e9")
        urls = [f"{origin}{path}" for origin in site.origins for path in ("/", "/private")]
        result = run(store, *urls, **HASTY, REP_STALE_MAX=0)
    assert [failure.url for failure in result.failures] == [f"{known}/private"]
    assert len(result.pages) == 3


def test_an_origin_that_an_earlier_run_could_not_reach_is_tried_at_once_with_retries(store: Path) -> None:
    with Site() as site:
        site.answer("/robots.txt", Answer(503, headers=[("Retry-After", "500")]))
        assert len(run(store, f"{site.origin}/", **HASTY).failures) == 1
        site.answer("/robots.txt", sequence(Answer(503), robots(RULES.decode())))
        assert len(run(store, f"{site.origin}/", **HASTY).pages) == 1


@pytest.mark.parametrize("answer", [hang(), reset()], ids=["black hole", "reset"])
def test_a_page_waits_at_most_as_long_as_all_attempts_take(store: Path, answer: Answer) -> None:
    with Site() as site:
        site.answer("/robots.txt", answer)
        settings = {**HASTY, "REP_UNREACHABLE_WAIT": 60, "REP_TIMEOUT": 0.3, "DOWNLOAD_TIMEOUT": 20}
        result = run(store, f"{site.origin}/", **settings)
        assert site.count("/robots.txt") >= 3
    assert [failure.reason for failure in result.failures] == ["unreachable"]
    assert result.failures[0].time < 15  # far from the time-outs of pages


def test_max_age_shortens_the_life_within_its_bounds(store: Path) -> None:
    with Site() as site:
        site.answer("/robots.txt", Answer(200, RULES, [("Cache-Control", "max-age=600")]))
        run(store, f"{site.origin}/")
    assert ask(store, "SELECT fresh_until - fetched_at FROM entries") == [(600,)]


def test_an_entry_whose_status_the_settings_now_read_otherwise_is_fetched_again(store: Path) -> None:
    with Site() as site:
        site.answer("/robots.txt", Answer(403))
        assert run(store, f"{site.origin}/").pages
        result = run(store, f"{site.origin}/", REP_STATUS_ACCESS={"403": "disallow"})
        assert (result.pages, site.count("/robots.txt")) == ([], 2)


@pytest.mark.skipif(not hasattr(signals, "robots_parsed"), reason="this Scrapy has no signal robots_parsed")
def test_robots_parsed_is_sent_for_an_entry_from_the_store_and_not_for_a_304(store: Path) -> None:
    with Site() as site:
        site.answer("/robots.txt", validated)
        assert [run(store, f"{site.origin}/").robots_parsed for _ in range(2)] == [[f"{site.origin}/"]] * 2


@pytest.mark.parametrize("many", [25, pytest.param(100, marks=pytest.mark.full)])
def test_four_processes_that_crawl_many_origins_at_once_ask_each_once(store: Path, many: int) -> None:
    with Site(HOSTS[:many]) as site:
        site.answer("/robots.txt", validated)
        urls = [f"{origin}/" for origin in site.origins]
        with ThreadPoolExecutor(4) as pool:
            results = list(pool.map(lambda _: run(store, *urls), range(4)))
        assert site.count("/robots.txt") == many
    assert [len(result.pages) for result in results] == [many] * 4
    assert [result.lines("WARNING") for result in results] == [[]] * 4
    assert ask(store, "SELECT count(*), (SELECT count(*) FROM leases) FROM entries") == [(many, 0)]


@pytest.mark.parametrize("kills", [(40,), pytest.param((40, 80, 120), marks=pytest.mark.full)], ids=str)
def test_a_crawl_that_is_killed_loses_no_stored_entry_and_damages_nothing(
    store: Path, kills: tuple[int, ...]
) -> None:
    def stored() -> set[str]:
        return {origin for (origin,) in ask(store, "SELECT origin FROM entries")}

    with Site(HOSTS[: kills[-1] + 80]) as site:
        site.answer("/robots.txt", validated)
        urls = [f"{origin}/" for origin in site.origins]
        run(store, urls[0])
        for least in kills:
            enough = partial(lambda least: len(stored()) >= least, least)
            crawl_until(enough, *urls, settings={"REP_STORE_PATH": str(store)})
            kept = stored()
            site.log.clear()
            assert len(kept) >= least
        result = run(store, *urls)
        asked = {arrival.origin for arrival in site.log if arrival.path == "/robots.txt"}
    assert (len(result.pages), asked, result.lines("WARNING")) == (len(urls), set(site.origins) - kept, [])


def test_a_process_that_died_during_its_fetch_does_not_block_others_for_ever(store: Path) -> None:
    with Site() as site:
        site.answer("/robots.txt", validated)
        run(store, f"{site.origin}/")
        ask(store, "DELETE FROM entries")
        ask(store, f"INSERT INTO leases VALUES ('{site.origin}', 'dead', {time() + 0.5})")  # noqa: S608
        result = run(store, f"{site.origin}/")
        assert site.count("/robots.txt") == 2
    assert len(result.pages) == 1


def test_a_developers_own_site_is_not_kept_unless_a_path_is_set(tmp_path: Path) -> None:
    with Site() as site:
        site.answer("/robots.txt", validated)
        for asked in (1, 2):
            crawl(f"{site.origin}/")
            assert site.count("/robots.txt") == asked


def test_the_memory_store_keeps_nothing_for_the_next_run(store: Path) -> None:
    with Site() as site:
        site.answer("/robots.txt", validated)
        for asked in (1, 2):
            run(store, f"{site.origin}/", REP_STORE="memory")
            assert site.count("/robots.txt") == asked
    assert not store.exists()


class OwnStore:
    """A user's own, with what a crawl needs and no more: a pickle for each origin."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(Path(crawler.settings["OWN_FOLDER"]))

    def _path(self, origin: Origin) -> Path:
        return self._folder / quote(str(origin), safe="")

    async def get(self, origin: Origin) -> Entry | None:
        path = self._path(origin)
        return pickle.loads(path.read_bytes()) if path.exists() else None  # noqa: S301

    async def put(self, entry: Entry) -> None:
        self._path(entry.origin).write_bytes(pickle.dumps(entry))

    async def acquire_lease(self, origin: Origin, seconds: float) -> bool:
        return True

    async def release_lease(self, origin: Origin) -> None: ...

    def close(self) -> None:
        (self._folder / "closed").touch()


def test_a_store_of_ones_own_needs_five_methods_for_a_crawl(store: Path, tmp_path: Path) -> None:
    own = {"REP_STORE": f"{__name__}.OwnStore", "OWN_FOLDER": str(tmp_path)}
    with Site() as site:
        site.answer("/robots.txt", validated)
        for found in (0, 1):
            result = run(store, f"{site.origin}/", f"{site.origin}/private", **own)
            assert (len(result.pages), len(result.failures), counts(result, "store_hit")) == (1, 1, [found])
            assert site.count("/robots.txt") == 1
    assert (tmp_path / "closed").exists()
    assert not store.exists()


class PutsOnly:
    async def put(self, entry: Entry) -> None: ...

    def close(self) -> None: ...


def test_a_store_that_lacks_a_method_stops_the_crawl_at_start_up(store: Path) -> None:
    result = run(store, "http://127.0.0.1:9/", REP_STORE=f"{__name__}.PutsOnly")
    assert result.exit_code == 1
    assert (
        "PutsOnly has no get() and no acquire_lease() and no release_lease(), which a crawl needs" in result.stderr
    )


class Raises(OwnStore):
    async def get(self, origin: Origin) -> Entry | None:
        raise OSError("no way to the store")


def test_an_exception_of_a_store_of_ones_own_ends_the_requests_that_need_it(store: Path, tmp_path: Path) -> None:
    with Site() as site:
        own: dict[str, Any] = {
            "REP_STORE": f"{__name__}.Raises",
            "OWN_FOLDER": str(tmp_path),
            "RETRY_ENABLED": False,
        }
        result = run(store, f"{site.origin}/", **own)
        assert site.paths() == []
    assert [failure.type for failure in result.failures] == ["OSError"]


@pytest.mark.parametrize(("command", "keeps"), [(["shell", "-c", "response.status"], False), (["fetch"], True)])
def test_scrapy_shell_sees_the_current_robots_txt(store: Path, command: list[str], keeps: bool) -> None:
    name, *options = command
    with Site() as site:
        site.answer("/robots.txt", validated)
        code, _, errors = scrapy_command(
            store.parent, name, f"{site.origin}/", *options,
            "-s", 'ADDONS={"scrapy_rep.Addon": 300}', "-s", f"REP_STORE_PATH={store}",
        )  # fmt: skip
    assert (code, site.paths(), store.exists()) == (0, ["/robots.txt", "/"], keeps), errors


def test_scrapy_check_sees_the_current_robots_txt(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCRAPY_CHECK", "true")
    with Site() as site:
        site.answer("/robots.txt", validated)
        run(store, f"{site.origin}/")
    assert not store.exists()


def test_a_damaged_store_is_reported_and_the_crawl_goes_on(store: Path) -> None:
    store.write_bytes(b"no database" * 1_000)
    with Site() as site:
        site.answer("/robots.txt", validated)
        result = run(store, f"{site.origin}/", f"{site.origin}/private")
        assert run(store, f"{site.origin}/").stats["rep/store_hit_count"] == 1
    assert (len(result.pages), len(result.failures)) == (1, 1)
    assert [line.partition(" is ")[2][:10] for line in result.lines("WARNING")] == ["damaged or"]


def test_a_crawl_that_may_request_nothing_says_so(store: Path) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /\n"))
        result = run(store, f"{site.origin}/a", f"{site.origin}/b")
    warning, sums_up = result.lines("WARNING")
    assert warning.startswith("robots.txt forbade every request of this crawl, first <GET ")
    assert sums_up.endswith(": 2 requests that robots.txt forbids (REP_EXCEPTIONS, REP_MODES).")
    assert (
        f"2 requests forbidden, most by {site.origin} (line 2, Disallow: /) 2"
        in result.lines("INFO", "scrapy_rep")[-1]
    )
