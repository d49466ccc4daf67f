"""Modes and exceptions: what the owner of a crawl decides about its requests, and what is said about it."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from scrapy import exceptions

from tests.support.crawl import Crawl, crawl, on_each_loop
from tests.support.exceptions import day, exception
from tests.support.site import Answer, Arrival, Site, redirect, reset, robots

CONNECTION_LOST = "DownloadFailedError" if hasattr(exceptions, "DownloadFailedError") else "ResponseNeverReceived"
RULES = "User-agent: *\nDisallow: /api/\nDisallow: /private\n"


def verdicts(result: Crawl) -> dict[str, Any]:
    return {page.url.rpartition("/")[2]: page.stamp and page.stamp["verdict"] for page in result.pages}


@on_each_loop
def test_ours_each_mode_does_what_it_says_on_its_site(loop: str) -> None:
    with Site([f"127.0.0.{number}" for number in range(1, 5)]) as site:
        site.answer("/robots.txt", robots(RULES))
        obeyed, reported, ignored, off = site.origins
        modes = {obeyed: "obey", "127.0.0.2": "report", ignored: "ignore"}
        urls = [f"{origin}/{path}" for origin in site.origins for path in ("private", "open")]
        settings = {"REP_MODES": modes, "ROBOTSTXT_OBEY": False}
        result = crawl(*urls, settings=settings, loop=loop)
        asked = {arrival.origin for arrival in site.log if arrival.path == "/robots.txt"}
    assert asked == {obeyed, reported, ignored}, "the rules are ignored, and the delays still count"
    assert [failure.url for failure in result.failures] == [f"{obeyed}/private"]
    by_url = {page.url: (page.stamp["mode"], page.stamp["verdict"]) for page in result.pages if page.stamp}
    assert by_url == {
        f"{obeyed}/open": ("obey", "allowed"),
        f"{reported}/private": ("report", "reported"),
        f"{reported}/open": ("report", "allowed"),
        f"{ignored}/private": ("ignore", "ignored"),
        f"{ignored}/open": ("ignore", "ignored"),
        f"{off}/private": ("off", "off"),
        f"{off}/open": ("off", "off"),
    }
    assert {name: result.stats[f"rep/mode/{name}"] for name in ("obey", "report", "ignore", "off")} == {
        "obey": 2, "report": 2, "ignore": 2, "off": 2,
    }  # fmt: skip
    assert result.stats["rep/reported_count"] == 1
    assert any(
        line == "1 request was sent although robots.txt forbids it (mode report), most by"
        f" {reported} (line 3, Disallow: /private) 1"
        for line in result.lines("INFO")
    )


def test_ours_a_site_that_is_ignored_is_not_asked_where_no_delay_counts() -> None:
    with Site() as site:
        site.answer("/robots.txt", robots(RULES))
        settings = {"REP_MODES": {"127.0.0.1": "ignore"}, "REP_CRAWL_DELAY": "ignore"}
        result = crawl(f"{site.origin}/private", settings=settings)
        assert site.paths() == ["/private"]
    assert verdicts(result) == {"private": "ignored"}


@pytest.mark.parametrize("mode", ["report", "ignore"])
def test_ours_a_crawl_delay_counts_in_every_mode(mode: str) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 0.6\nDisallow: /private\n"))
        result = crawl(*[f"{site.origin}/private/{n}" for n in range(3)], settings={"REP_MODES": {"*": mode}})
    assert len(result.pages) == 3
    assert min(result.gaps()) >= 0.6


@pytest.mark.parametrize("mode", ["report", "ignore"])
@on_each_loop
def test_ours_where_nothing_is_stopped_an_unreachable_origin_holds_nothing_up(mode: str, loop: str) -> None:
    with Site() as site:
        site.answer("/robots.txt", Answer(503))
        result = crawl(f"{site.origin}/page", settings={"REP_MODES": {"*": mode}}, loop=loop)
        assert site.count("/robots.txt") == 1
    (page,) = result.pages
    assert page.stamp is not None
    expected = ("reported", "unreachable") if mode == "report" else ("ignored", None)
    assert (page.stamp["verdict"], page.stamp["reason"]) == expected
    assert page.time < 5
    assert any("its pages are requested all the same" in line for line in result.lines("WARNING"))


@on_each_loop
def test_ours_an_exception_lets_its_requests_pass_and_no_others(loop: str) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots(RULES))
        settings = {"REP_EXCEPTIONS": [exception(f"{site.origin}/api/stores*")]}
        urls = [f"{site.origin}/{path}" for path in ("api/stores?page=2", "api/users", "private", "open")]
        result = crawl(*urls, settings=settings, loop=loop)
        assert sorted(site.paths()) == ["/api/stores?page=2", "/open", "/robots.txt"]
    assert sorted(failure.url for failure in result.failures) == [urls[1], urls[2]]
    page = next(page for page in result.pages if "api" in page.url)
    assert page.stamp == {
        **page.stamp,  # type: ignore[dict-item]
        "v": 1, "mode": "obey", "verdict": "excepted", "reason": "rule", "rule": "Disallow: /api/", "line": 2,
        "agent": "Scrapy", "origin": site.origin, "robots": f"{site.origin}/robots.txt", "status": 200,
        "source": "fetched",
        "exception": {"url": f"{site.origin}/api/stores*", "reason": "ticket 47", "until": day()},
    }  # fmt: skip
    assert page.flags == ["robots:excepted"]
    assert result.stats["rep/exception/used_count"] == 1
    assert any("1 request was sent by the exception for" in line for line in result.lines("INFO"))


@on_each_loop
def test_ours_an_exception_for_unreachable_lets_requests_pass_while_no_robots_txt_answers(loop: str) -> None:
    with Site() as site:
        site.answer("/robots.txt", reset())
        settings = {
            "REP_EXCEPTIONS": [exception(f"{site.origin}/pages/", **{"for": "unreachable"})],
            "REP_RETRY_TIMES": 0,
        }
        result = crawl(f"{site.origin}/pages/1", f"{site.origin}/other", settings=settings, loop=loop)
    assert [(page.url, page.stamp and page.stamp["reason"]) for page in result.pages] == [
        (f"{site.origin}/pages/1", "unreachable")
    ]
    assert [failure.reason for failure in result.failures] == ["unreachable"]


def test_ours_an_exception_for_a_rule_does_not_help_while_the_origin_is_unreachable() -> None:
    with Site() as site:
        site.answer("/robots.txt", Answer(500))
        settings = {"REP_EXCEPTIONS": [exception(f"{site.origin}/api/")], "REP_RETRY_TIMES": 0}
        result = crawl(f"{site.origin}/api/1", settings=settings)
    assert [failure.reason for failure in result.failures] == ["unreachable"]


@on_each_loop
def test_ours_an_exception_for_crawl_delay_covers_its_requests(loop: str) -> None:
    with Site(["127.0.0.1", "127.0.0.2"]) as site:
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 4000\n"))
        paced, free = site.origins
        settings = {
            "REP_EXCEPTIONS": [exception(f"{free}/", whole_site=True, **{"for": ["crawl-delay"]})],
            "REP_CRAWL_DELAY_OVER_MAX": "skip",
        }
        result = crawl(*[f"{free}/{n}" for n in range(3)], f"{paced}/", settings=settings, loop=loop)
    assert [failure.reason for failure in result.failures] == ["crawl-delay"]
    assert [page.stamp and page.stamp["reason"] for page in result.pages] == ["crawl-delay"] * 3
    assert result.seconds < 10


def test_ours_an_exception_for_visit_time_lets_requests_pass_at_any_hour() -> None:
    hour = datetime.now(timezone.utc).hour
    closed = f"{(hour + 3) % 24:02}00-{(hour + 4) % 24:02}00"
    with Site() as site:
        site.answer("/robots.txt", robots(f"User-agent: *\nVisit-time: {closed}\n"))
        settings = {
            "REP_RATE_AND_VISIT_TIME": True,
            "REP_EXCEPTIONS": [exception(f"{site.origin}/night/", **{"for": ["visit-time"]})],
        }
        result = crawl(f"{site.origin}/night/1", f"{site.origin}/day", settings=settings)
    assert [page.stamp and page.stamp["reason"] for page in result.pages] == ["visit-time"]
    assert [failure.reason for failure in result.failures] == ["visit-time"]


def test_ours_a_request_that_waits_in_the_gate_while_its_exception_expires_is_not_sent() -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /api/\nVisit-time: 0000-0600\n"))
        settings = {"REP_RATE_AND_VISIT_TIME": True, "REP_EXCEPTIONS": [exception(f"{site.origin}/api/")]}
        spider = "tests.crawl.spiders:AwaitsAVisitTime"
        result = crawl(f"{site.origin}/api/1", settings=settings, spider=spider)
        assert site.paths() == ["/robots.txt"]
    assert "line 2, Disallow: /api/" in result.stats["download/error"]


def test_ours_an_exception_for_one_rule_lapses_when_another_one_decides() -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /api/stores\n"))
        settings = {"REP_EXCEPTIONS": [exception(f"{site.origin}/api/", rule="Disallow: /api/")]}
        result = crawl(f"{site.origin}/api/stores/1", f"{site.origin}/api/stores/2", settings=settings)
    assert [failure.rule for failure in result.failures] == ["Disallow: /api/stores"] * 2
    (warning,) = result.lines("WARNING", "scrapy_rep.policy.exception_report")
    assert "does not apply: it is for Disallow: /api/, and line 2, Disallow: /api/stores decides now" in warning
    assert result.stats["rep/exception/lapsed_count"] == 1


def test_ours_expired_ending_and_unused_exceptions_are_said() -> None:
    with Site() as site:
        site.answer("/robots.txt", robots(RULES))
        exceptions = [
            exception(f"{site.origin}/private", until=day(-1), reason="gone"),
            exception(f"{site.origin}/api/", until=day(13), reason="soon"),
            exception(f"{site.origin}/never", reason="later"),
        ]
        result = crawl(f"{site.origin}/private", settings={"REP_EXCEPTIONS": exceptions})
    assert [failure.reason for failure in result.failures] == ["rule"]
    (warning,) = result.lines("WARNING", "scrapy_rep.policy.exception_report")
    assert "gone) has expired: robots.txt applies" in warning
    ending, unused = result.lines("INFO", "scrapy_rep.policy.exception_report")
    assert ending.endswith("soon) ends in 13 days")
    assert unused.startswith("Exceptions that no request needed: ")
    assert "soon" in unused
    assert "later" in unused
    assert "gone" not in unused
    assert result.stats["rep/exception/expired_count"] == 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"REP_EXCEPTIONS": [{"url": "https://e.org/a", "until": "2027-01-01"}]},
            "exception 1: https://e.org/a: ",
        ),
        ({"REP_EXCEPTIONS": [exception("https://e.org/*")]}, 'add "whole_site": True'),
        ({"REP_EXCEPTIONS": "none"}, "expected a list of dicts"),
        ({"REP_EXCEPTIONS_FILE": "missing.toml"}, "REP_EXCEPTIONS_FILE = 'missing.toml'"),
        ({"REP_MODES": {"e.org": "never"}}, "the mode of 'e.org' is 'never': write obey, report or ignore"),
        ({"REP_MODES": {"e.org:8080": "obey"}}, "an origin such as https://example.com:8443"),
    ],
)
def test_ours_a_bad_entry_stops_the_crawl_at_start_up_with_what_to_write(
    settings: dict[str, Any], message: str
) -> None:
    result = crawl("http://127.0.0.1:9/", settings=settings, apart=True)
    assert result.exit_code == 1
    assert message in result.lines("CRITICAL")[0]
    assert result.pages == []


def test_ours_a_redirect_is_judged_by_the_exceptions_for_its_own_url() -> None:
    with Site() as site:
        site.answer("/robots.txt", robots(RULES))
        site.answer("/api/1", redirect("/private"))
        settings = {"REP_EXCEPTIONS": [exception(f"{site.origin}/api/")]}
        result = crawl(f"{site.origin}/api/1", settings=settings)
    assert [failure.url for failure in result.failures] == [f"{site.origin}/private"]


@pytest.mark.parametrize(
    ("meta", "stamp"),
    [
        ({"dont_obey_robotstxt": True}, None),
        (
            {"dont_obey_robotstxt": True, "rep_reason": "asked by the owner"},
            {"url": None, "reason": "asked by the owner", "until": None},
        ),
    ],
)
def test_ours_dont_obey_is_counted_and_stamped_with_its_reason(
    meta: dict[str, Any], stamp: dict[str, Any] | None
) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots(RULES))
        result = crawl({"url": f"{site.origin}/private", "meta": meta})
        assert site.paths() == ["/private"]
    (page,) = result.pages
    assert page.stamp is not None
    assert (page.stamp["verdict"], page.stamp["reason"], page.stamp["exception"]) == (
        "ignored", "dont_obey_robotstxt", stamp,
    )  # fmt: skip
    assert result.stats["rep/dont_obey_count"] == 1
    assert page.flags == ["robots:ignored"]


@pytest.mark.parametrize(
    ("choice", "answer", "error", "cause"),
    [
        ("retry", Answer(503), "UnreachableError", "FetchError"),
        ("retry", reset(), "UnreachableError", CONNECTION_LOST),
        ("raise", Answer(503), "UnreachableError", "FetchError"),
        ("raise", reset(), CONNECTION_LOST, ""),
    ],
)
def test_ours_an_unreachable_origin_can_end_in_an_error_that_scrapy_retries(
    choice: str, answer: Answer, error: str, cause: str
) -> None:
    with Site() as site:
        site.answer("/robots.txt", answer)
        settings = {"REP_UNREACHABLE": choice, "REP_RETRY_TIMES": 0, "RETRY_TIMES": 2}
        result = crawl(f"{site.origin}/page", settings=settings)
        assert "/page" not in site.paths()
    (failure,) = result.failures
    assert failure.type == error
    assert not cause or (failure.cause and failure.cause[0] == cause)
    assert (result.stats["retry/count"], result.stats["retry/max_reached"]) == (2, 1)
    assert result.stats["rep/unreachable_error_count"] == 3
    assert "3 not sent because unreachable" in result.lines("INFO", "scrapy_rep.gate.report")[-1]


@on_each_loop
def test_ours_a_retried_request_is_sent_once_robots_txt_answers(loop: str) -> None:
    def back_after_one(_: Arrival) -> Answer:
        return Answer(503) if site.count("/robots.txt") == 1 else robots(RULES)

    with Site() as site:
        site.answer("/robots.txt", back_after_one)
        settings = {
            "REP_UNREACHABLE": "retry", "REP_RETRY_TIMES": 0, "REP_RETRY_DELAY": 0.05, "RETRY_TIMES": 50,
            "DOWNLOAD_DELAY": 0.2, "RANDOMIZE_DOWNLOAD_DELAY": False,
        }  # fmt: skip
        result = crawl(f"{site.origin}/page", settings=settings, loop=loop)
    assert [page.url for page in result.pages] == [f"{site.origin}/page"]


def test_ours_exceptions_come_from_a_file_as_well(tmp_path: Path) -> None:
    pytest.importorskip("tomllib")
    with Site() as site:
        site.answer("/robots.txt", robots(RULES))
        path = tmp_path / "robots-exceptions.toml"
        path.write_text(f'[[exception]]\nurl = "{site.origin}/private"\nreason = "ticket 47"\nuntil = {day()}\n')
        result = crawl(f"{site.origin}/private", settings={"REP_EXCEPTIONS_FILE": str(path)})
    assert verdicts(result) == {"private": "excepted"}


def test_ours_who_uses_none_of_it_sees_a_plain_stamp_and_no_stat_of_policy() -> None:
    with Site() as site:
        site.answer("/robots.txt", robots(RULES))
        result = crawl(f"{site.origin}/open")
    assert verdicts(result) == {"open": "allowed"}
    assert result.pages[0].flags == []
    assert not [name for name in result.stats if name.startswith(("rep/mode", "rep/exception", "rep/dont"))]


def test_ours_with_obeying_off_and_nothing_else_set_there_is_no_stamp() -> None:
    with Site() as site:
        result = crawl(
            {"url": f"{site.origin}/open", "meta": {"rep": {"verdict": "allowed"}}},
            settings={"ROBOTSTXT_OBEY": False},
        )
        assert site.paths() == ["/open"]
    assert verdicts(result) == {"open": None}
    (line,) = result.lines("INFO", "scrapy_rep.gate")
    assert line == "ROBOTSTXT_OBEY is False: no robots.txt is requested for the pages of this crawl"


def noticed(*requests: str, site: Site, **settings: Any) -> list[str]:
    """What a crawl with exceptions for all three sites, one of each kind, says of them."""
    exceptions = [
        exception(f"{origin}/{path}", reason=path, until=until)
        for origin in site.origins
        for path, until in (("gone", day(-1)), ("soon", day(3)), ("unused", day(90)))
    ]
    result = crawl(*requests, settings={"REP_EXCEPTIONS": exceptions, **settings})
    return [line.message for line in result.log if line.name == "scrapy_rep.policy.exception_report"]


def test_ours_a_crawl_speaks_of_the_exceptions_of_the_sites_that_it_met_alone() -> None:
    with Site([f"127.0.0.{number}" for number in range(1, 4)]) as site:
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /x\n"))
        met, *others = site.origins
        lines = noticed(f"{met}/a", f"{met}/b", site=site)
    assert len(lines) == 3
    assert all(met in line for line in lines)
    assert not any(origin in line for line in lines for origin in others)


def test_ours_a_crawl_that_does_not_obey_speaks_of_no_exceptions() -> None:
    with Site() as site:
        assert noticed(f"{site.origin}/a", site=site, ROBOTSTXT_OBEY=False) == []
        assert noticed(f"{site.origin}/a", site=site, ROBOTSTXT_OBEY=False, REP_CRAWL_DELAY="obey") == []
