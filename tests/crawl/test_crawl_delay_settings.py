"""What the user decides about delays, and what a crawl tells of them."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Spider
from scrapy.settings import default_settings
from scrapy.utils.test import get_crawler

from scrapy_rep.settings import RepSettings
from tests.support.crawl import Crawl, crawl
from tests.support.site import Site, robots

RULES = "User-agent: *\nDisallow: /private\nCrawl-delay: 0.1\n"
LEAST = 0.099  # what rounding leaves
ONE_BY_ONE = "tests.crawl.spiders:OneAfterAnother"
HAS_JITTER = hasattr(default_settings, "DOWNLOAD_DELAY_JITTER")


def delays(result: Crawl) -> set[float]:
    """The delays that the download slots of the pages had when these started; ours are a little longer."""
    return {round(start.delay, 2) for start in result.starts if not start.url.endswith("/robots.txt")}


def pages(site: Site, count: int = 4) -> list[str]:
    return [f"{site.origin}/{number}" for number in range(count)]


def test_ignore_means_ignore() -> None:
    with Site() as site:
        site.answer("/robots.txt", robots(RULES))
        result = crawl(*pages(site), f"{site.origin}/private", settings={"REP_CRAWL_DELAY": "ignore"})
    assert delays(result) == {0.0}
    assert [failure.reason for failure in result.failures] == ["rule"]


def test_with_robots_off_a_delay_is_kept_without_the_rules_when_somebody_asks_for_it() -> None:
    with Site() as site:
        site.answer("/robots.txt", robots(RULES))
        settings = {"ROBOTSTXT_OBEY": False, "REP_CRAWL_DELAY": "always"}
        result = crawl(*pages(site), f"{site.origin}/private", settings=settings)
        assert site.count("/robots.txt") == 1
    assert min(result.gaps()) >= LEAST
    assert len(result.pages) == 5


@pytest.mark.parametrize("choice", [None, "obey", "ignore"])
def test_with_robots_off_nothing_is_fetched_unasked(choice: str | None) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots(RULES))
        result = crawl(*pages(site), settings={"ROBOTSTXT_OBEY": False, "REP_CRAWL_DELAY": choice})
        assert site.count("/robots.txt") == 0
        assert len(site.log) == 4
    assert len([line for line in result.lines("WARNING") if 'set it to "always"' in line]) == (choice == "obey")


@pytest.mark.parametrize("choice", ["obey", "always"])
def test_with_robots_on_always_is_obey(choice: str) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots(RULES))
        result = crawl(*pages(site), f"{site.origin}/private", settings={"REP_CRAWL_DELAY": choice})
    assert min(result.gaps()) >= LEAST
    assert [failure.reason for failure in result.failures] == ["rule"]
    assert result.lines("WARNING") == []


@pytest.mark.parametrize(("choice", "fetched"), [("obey", 0), ("always", 1)])
def test_with_robots_off_a_site_without_a_mode_is_asked_for_its_delay_by_always_alone(
    choice: str, fetched: int
) -> None:
    with Site(["127.0.0.1", "127.0.0.2"]) as site:
        named, other = site.origins
        settings = {"ROBOTSTXT_OBEY": False, "REP_MODES": {"127.0.0.1": "report"}, "REP_CRAWL_DELAY": choice}
        result = crawl(f"{named}/", f"{other}/", settings=settings)
        assert (site.count("/robots.txt", named), site.count("/robots.txt", other)) == (1, fetched)
    assert len([line for line in result.lines("WARNING") if 'set it to "always"' in line]) == 1 - fetched


@pytest.mark.parametrize(
    "settings", [{"ROBOTSTXT_OBEY": True}, {"REP_MODES": {"*": "report"}}, {"REP_CRAWL_DELAY": "always"}]
)
def test_no_warning_where_obey_fetches_what_it_always_did(
    settings: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    RepSettings.from_crawler(get_crawler(Spider, {"REP_CRAWL_DELAY": "obey", **settings}))
    assert [record.message for record in caplog.records if record.levelname == "WARNING"] == []


def test_a_delay_over_the_longest_is_capped_with_one_warning() -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nDisallow:\nCrawl-delay: 1000000000\n"))
        result = crawl(*pages(site), settings={"REP_CRAWL_DELAY_MAX": 0.1})
    assert min(result.gaps()) >= LEAST
    assert delays(result) == {0.1}
    (warning,) = result.lines("WARNING")
    assert warning == (
        f"robots.txt of {site.origin} asks for 1e+09 s between two requests (line 3), "
        "over REP_CRAWL_DELAY_MAX: the crawl keeps 0.1 s"
    )
    assert result.stats["rep/crawl_delay/capped_count"] == 1


def test_a_delay_over_the_longest_may_be_obeyed() -> None:
    with Site() as site:
        site.answer("/robots.txt", robots(RULES))
        settings = {"REP_CRAWL_DELAY_MAX": 0.05, "REP_CRAWL_DELAY_OVER_MAX": "obey"}
        result = crawl(*pages(site), settings=settings)
    assert min(result.gaps()) >= LEAST
    assert result.lines("WARNING") == []


def test_an_origin_whose_delay_is_over_the_longest_may_be_skipped() -> None:
    with Site(["127.0.0.1", "127.0.0.2"]) as site:
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 600\n"), site.origin)
        other = f"{site.origins[1]}/page"
        result = crawl(*pages(site), other, settings={"REP_CRAWL_DELAY_OVER_MAX": "skip"})
        assert site.paths(site.origin) == ["/robots.txt"]
        (warning,) = result.lines("WARNING")
        assert warning.endswith("(line 2), over REP_CRAWL_DELAY_MAX: its pages are forbidden")
    assert result.urls == [other]
    assert {(one.type, one.reason, one.line, one.retry_after) for one in result.failures} == {
        ("ForbiddenByRobots", "crawl-delay", 2, None)
    }
    assert result.stats["rep/crawl_delay/skipped_count"] == 4
    assert any(line.endswith("(line 2, crawl-delay)") for line in result.lines("DEBUG", "scrapy_rep"))


def exactly(delay: float) -> dict[str, Any]:
    """An entry of DOWNLOAD_SLOTS without jitter, in the spelling of this Scrapy."""
    return {"delay": delay, **({"jitter": 0} if HAS_JITTER else {"randomize_delay": False})}


def test_a_smaller_delay_in_download_slots_wins_with_a_warning() -> None:
    with Site() as site:
        site.answer("/robots.txt", robots(RULES))
        result = crawl(*pages(site), settings={"DOWNLOAD_SLOTS": {"127.0.0.1": exactly(0.05)}})
    assert delays(result) == {0.05}
    (warning,) = result.lines("WARNING")
    assert warning == (
        f"DOWNLOAD_SLOTS gives download slot 127.0.0.1 a delay of 0.05 s, although robots.txt of {site.origin} "
        "asks for 0.1 s between two requests (line 3)"
    )
    assert "rep/crawl_delay/slot_count" not in result.stats


@pytest.mark.parametrize("own", [exactly(0.15), {"concurrency": 4}], ids=["a larger delay", "none"])
def test_the_larger_delay_of_download_slots_and_robots_txt_wins_silently(
    own: dict[str, Any],
) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots(RULES))
        result = crawl(*pages(site), settings={"DOWNLOAD_SLOTS": {"127.0.0.1": own}})
    assert min(result.gaps()) >= max(LEAST, own.get("delay", 0.0) - 0.001)
    assert result.lines("WARNING") == []


def test_a_chosen_delay_is_not_skipped() -> None:
    with Site() as site:
        site.answer("/robots.txt", robots(RULES))
        settings = {
            "DOWNLOAD_SLOTS": {"127.0.0.1": exactly(0.05)},
            "REP_CRAWL_DELAY_MAX": 0.07,
            "REP_CRAWL_DELAY_OVER_MAX": "skip",
        }
        result = crawl(*pages(site), settings=settings)
    assert len(result.pages) == 4


def test_a_crawl_tells_once_per_origin_what_it_waits_for() -> None:
    with Site(["127.0.0.1", "127.0.0.2", "127.0.0.3"]) as site:
        quick, slow, free = site.origins
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 0.05\n"), quick)
        site.answer("/robots.txt", robots(RULES), slow)
        result = crawl(*(f"{origin}/{number}" for origin in (quick, slow, free) for number in range(3)))
    *told, total = (line for line in result.lines("INFO", "scrapy_rep") if "ask" in line)
    assert sorted(told) == [
        f"robots.txt of {quick} asks for 0.05 s between two requests (line 2)",
        f"robots.txt of {slow} asks for 0.1 s between two requests (line 3)",
    ]
    assert total.startswith(
        f"Longest delays that robots.txt asked for: {slow} 0.1 s, {quick} 0.05 s; hosts with requests waited "
    )
    assert result.stats["rep/crawl_delay/slot_count"] == 2


def test_the_seconds_that_requests_waited_are_added_up() -> None:
    with Site() as site:
        site.answer("/robots.txt", robots(RULES))
        result = crawl(*pages(site), spider=ONE_BY_ONE)
    # Each of the four waits, because each is made when the one before is done; shorter where that took long.
    assert 0.05 <= result.stats["rep/crawl_delay/waited_seconds"] <= 0.7


def test_of_many_origins_with_a_delay_ten_are_told_and_the_five_slowest_named_at_the_end() -> None:
    with Site([f"127.0.10.{number}" for number in range(1, 14)]) as site:
        for number, origin in enumerate(site.origins):
            site.answer("/robots.txt", robots(f"User-agent: *\nCrawl-delay: 0.{number + 10}\n"), origin)
        result = crawl(*(f"{origin}/" for origin in site.origins))
        slowest = [
            f"{origin} {number / 100:g} s" for origin, number in zip(site.origins[:7:-1], range(22, 17, -1))
        ]
    *told, rest, total = (line for line in result.lines("INFO", "scrapy_rep") if "ask" in line)
    assert len(told) == 10
    assert rest == "robots.txt of 3 more origins asks for a delay"
    assert f": {', '.join(slowest)}; " in total


@pytest.mark.parametrize(
    "asked", [{"REP_CRAWL_DELAY": "always"}, {"REP_CRAWL_DELAY": "obey", "ROBOTSTXT_OBEY": True}]
)
def test_a_gate_without_the_extension_that_paces_says_what_is_missing(asked: dict[str, Any]) -> None:
    settings = {
        "ADDONS": {},
        **asked,
        "EXTENSIONS": {"scrapy_rep.RepExtension": 0},
        "DOWNLOADER_MIDDLEWARES": {"scrapy_rep.RepMiddleware": 100},
    }
    result = crawl("http://127.0.0.1:9/", settings=settings, apart=True)
    assert result.exit_code == 1
    assert "EXTENSIONS lacks scrapy_rep.CrawlDelay, which obeys REP_CRAWL_DELAY" in result.stderr + str(result.log)


def test_a_request_rate_and_a_visit_time_count_for_nothing() -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nRequest-rate: 2/1\nVisit-time: 0300-0301\n"))
        result = crawl(*pages(site))
    assert delays(result) == {0.0}
    assert len(result.pages) == 4
