"""Modes and exceptions: what the owner of a crawl decides about its requests, and what is said about it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from scrapy import exceptions

from tests.support.crawl import Crawl, crawl, on_each_loop
from tests.support.crawl_site import visit
from tests.support.exceptions import day, exception
from tests.support.site import Answer, Arrival, Site, redirect, reset, robots

CONNECTION_LOST = "DownloadFailedError" if hasattr(exceptions, "DownloadFailedError") else "ResponseNeverReceived"
RULES = "User-agent: *\nDisallow: /api/\nDisallow: /private\n"


def of_exceptions(result: Crawl, level: str) -> list[str]:
    return [line for line in result.lines(level, "scrapy_rep") if "xception" in line]


def verdicts(result: Crawl) -> dict[str, Any]:
    return {page.url.rpartition("/")[2]: page.stamp and page.stamp["verdict"] for page in result.pages}


def test_each_mode_does_what_it_says_on_its_site() -> None:
    addresses = [f"127.0.0.{number}" for number in range(1, 5)]
    with Site(addresses) as site:
        site.answer("/robots.txt", robots(RULES))
        obeyed, reported, ignored, off = site.origins
        modes = {obeyed: "obey", "127.0.0.2": "report", ignored: "ignore"}
        urls = [f"{origin}/{path}" for origin in site.origins for path in ("private", "open")]
        result = crawl(*urls, settings={"REP_MODES": modes, "ROBOTSTXT_OBEY": False})
    asked = {arrival.origin for arrival in site.log if arrival.path == "/robots.txt"}
    assert asked == {obeyed, reported, ignored}, "the rules are ignored, and the delays still count"
    assert [failure.url for failure in result.failures] == [f"{obeyed}/private"]
    by_url = {page.url: (page.stamp["mode"], page.stamp["verdict"]) for page in result.pages if page.stamp}
    assert by_url == {
        f"{obeyed}/open": ("obey", "allowed"),
        f"{reported}/private": ("report", "reported"),
        f"{reported}/open": ("report", "allowed"),
        **{f"{ignored}/{path}": ("ignore", "ignored") for path in ("private", "open")},
        **{f"{off}/{path}": ("off", "off") for path in ("private", "open")},
    }
    assert [result.stats[f"rep/mode/{name}"] for name in ("obey", "report", "ignore", "off")] == [2] * 4
    assert result.stats["rep/reported_count"] == 1
    line = "1 request was sent although robots.txt forbids it (mode report), most by"
    assert f"{line} {reported} (line 3, Disallow: /private) 1" in result.lines("INFO")


def test_a_site_that_is_ignored_is_not_asked_where_no_delay_counts() -> None:
    site, result = visit(RULES, "/private", REP_MODES={"127.0.0.1": "ignore"}, REP_CRAWL_DELAY="ignore")
    assert site.paths() == ["/private"]
    assert verdicts(result) == {"private": "ignored"}


@pytest.mark.parametrize("mode", ["report", "ignore"])
def test_a_crawl_delay_counts_in_every_mode(mode: str) -> None:
    rules = "User-agent: *\nCrawl-delay: 0.3\nDisallow: /private\n"
    _, result = visit(rules, *(f"/private/{number}" for number in range(3)), REP_MODES={"*": mode})
    assert len(result.pages) == 3
    assert min(result.gaps()) >= 0.3


@pytest.mark.parametrize(
    ("mode", "stamp"), [("report", ("reported", "unreachable")), ("ignore", ("ignored", None))]
)
@on_each_loop
def test_where_nothing_is_stopped_an_unreachable_origin_holds_nothing_up(
    mode: str, stamp: tuple[str, str | None], loop: str
) -> None:
    site, result = visit(Answer(503), "/page", REP_MODES={"*": mode}, REP_RETRY_DELAY=60.0, loop=loop)
    assert site.count("/robots.txt") == 1
    (page,) = result.pages
    assert page.stamp is not None
    assert (page.stamp["verdict"], page.stamp["reason"]) == stamp
    assert any("its pages are requested anyway" in line for line in result.lines("WARNING"))


ORIGINS = ["ruled", "reset", "broken", "free", "paced", "narrower"]


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with Site([f"127.0.0.{number}" for number in range(1, 7)]) as site:
        ruled, lost, broken, free, paced, narrower = site.origins
        site.answer("/robots.txt", robots(RULES), ruled)
        site.answer("/api/moved", redirect("/private"), ruled)
        site.answer("/robots.txt", reset(), lost)
        site.answer("/robots.txt", Answer(500), broken)
        for origin in (free, paced):
            site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 4000\n"), origin)
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /api/stores\n"), narrower)
        yield site


@pytest.fixture(scope="module")
def excepting(site: Site) -> Crawl:
    """One crawl with every kind of exception."""
    ruled, lost, broken, free, paced, narrower = site.origins
    granted = [
        exception(f"{ruled}/api/stores*"), exception(f"{ruled}/api/moved", until=day(13), reason="soon"),
        exception(f"{ruled}/staff", until=day(-1), reason="gone"), exception(f"{ruled}/never", reason="later"),
        exception(f"{lost}/pages/", **{"for": "unreachable"}), exception(f"{broken}/api/"),
        exception(f"{free}/", whole_site=True, **{"for": ["crawl-delay"]}),
        exception(f"{narrower}/api/", rule="Disallow: /api/"),
    ]  # fmt: skip
    urls = [*(f"{ruled}/{path}" for path in ("api/stores?page=2", "api/users", "private", "open", "api/moved")),
            f"{lost}/pages/1", f"{lost}/other", f"{broken}/api/1", *(f"{free}/{number}" for number in range(3)),
            f"{paced}/", f"{narrower}/api/stores/1", f"{narrower}/api/stores/2"]  # fmt: skip
    return crawl(*urls, settings={
        "REP_EXCEPTIONS": granted, "REP_RETRY_TIMES": 0, "REP_CRAWL_DELAY_OVER_MAX": "skip",
    })  # fmt: skip


def at(result: Crawl, origin: str) -> tuple[list[str], list[str | None]]:
    """Why exceptions let pages of *origin* pass, and why others were forbidden."""
    pages = [page.stamp["reason"] for page in result.pages if page.stamp and page.url.startswith(f"{origin}/")]
    return pages, [failure.reason for failure in result.failures if failure.url.startswith(f"{origin}/")]


def test_an_exception_lets_its_requests_pass_and_no_others(site: Site, excepting: Crawl) -> None:
    assert sorted(site.paths(site.origin)) == ["/api/moved", "/api/stores?page=2", "/open", "/robots.txt"]
    page = next(page for page in excepting.pages if page.url == f"{site.origin}/api/stores?page=2")
    assert page.stamp == {
        **page.stamp,  # type: ignore[dict-item]
        "v": 1, "mode": "obey", "verdict": "excepted", "reason": "rule", "rule": "Disallow: /api/", "line": 2,
        "agent": "Scrapy", "origin": site.origin, "robots": f"{site.origin}/robots.txt", "status": 200,
        "source": "fetched",
        "exception": {"url": f"{site.origin}/api/stores*", "reason": "ticket 47", "until": day()},
    }  # fmt: skip
    assert page.flags == ["robots:excepted"]
    assert excepting.stats["rep/exception/used_count"] == 6
    assert any("1 request was sent by the exception for" in line for line in excepting.lines("INFO"))


def test_a_redirect_is_judged_by_the_exceptions_for_its_own_url(site: Site, excepting: Crawl) -> None:
    forbidden = [failure.url for failure in excepting.failures if failure.url.startswith(f"{site.origin}/")]
    assert sorted(forbidden) == [f"{site.origin}/api/users", *[f"{site.origin}/private"] * 2]


SITUATIONS = {
    "unreachable lets pass while no robots.txt answers": ("reset", ["unreachable"], ["unreachable"]),
    "a rule does not help while the origin is unreachable": ("broken", [], ["unreachable"]),
    "a Crawl-delay covers its requests": ("free", ["crawl-delay"] * 3, []),
    "a Crawl-delay covers no other origin": ("paced", [], ["crawl-delay"]),
    "one rule lapses when another one decides": ("narrower", [], ["rule", "rule"]),
}


@pytest.mark.parametrize("situation", SITUATIONS)
def test_an_exception_for(site: Site, excepting: Crawl, situation: str) -> None:
    name, passed, forbidden = SITUATIONS[situation]
    assert at(excepting, site.origins[ORIGINS.index(name)]) == (passed, forbidden)


def test_lapsed_expired_ending_and_unused_exceptions_are_said(excepting: Crawl) -> None:
    expired, lapsed = sorted(of_exceptions(excepting, "WARNING"), key=lambda line: "does not apply" in line)
    assert "gone) has expired: robots.txt applies" in expired
    assert "does not apply: it is for Disallow: /api/, and line 2, Disallow: /api/stores decides now" in lapsed
    assert (excepting.stats["rep/exception/lapsed_count"], excepting.stats["rep/exception/expired_count"]) == (
        1,
        1,
    )
    ending, unused = (line for line in of_exceptions(excepting, "INFO") if "sent by" not in line)
    assert ending.endswith("soon) ends in 13 days")
    assert unused.startswith("Exceptions that no request needed: ")
    assert [word in unused for word in ("later", "soon", "gone")] == [True, False, False]


def test_an_exception_that_has_expired_or_is_not_needed_lets_nothing_pass() -> None:
    with Site() as site:
        site.answer("/robots.txt", robots(RULES))
        exceptions = [
            exception(f"{site.origin}/private", until=day(-1)),
            exception(f"{site.origin}/api/", until=day(13), reason="soon"),
        ]
        result = crawl(f"{site.origin}/private", settings={"REP_EXCEPTIONS": exceptions})
    assert [failure.reason for failure in result.failures] == ["rule"]
    assert "soon" in of_exceptions(result, "INFO")[-1], "an exception that ends may be unused as well"


NO_REASON = {"url": "https://e.org/a", "until": "2027-01-01"}


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("REP_EXCEPTIONS", [NO_REASON], "exception 1: https://e.org/a: "),
        ("REP_EXCEPTIONS", [exception("https://e.org/*")], 'add "whole_site": True'),
        ("REP_EXCEPTIONS", "none", "expected a list of dicts"),
        ("REP_EXCEPTIONS_FILE", "missing.toml", "REP_EXCEPTIONS_FILE = 'missing.toml'"),
        ("REP_MODES", {"e.org": "never"}, "the mode of 'e.org' is 'never': write obey, report or ignore"),
        ("REP_MODES", {"e.org:8080": "obey"}, "an origin such as https://example.com:8443"),
    ],
)
def test_a_bad_entry_stops_the_crawl_at_start_up_with_what_to_write(name: str, value: Any, message: str) -> None:
    result = crawl("http://127.0.0.1:9/", settings={name: value})
    assert result.exit_code == 1
    assert message in result.lines("CRITICAL")[0]
    assert result.pages == []


@pytest.mark.parametrize("reason", [None, "asked by the owner"])
def test_dont_obey_is_counted_and_stamped_with_its_reason(reason: str | None) -> None:
    meta = {"dont_obey_robotstxt": True, **({"rep_reason": reason} if reason else {})}
    site, result = visit(RULES, {"url": "/private", "meta": meta})
    assert site.paths() == ["/private"]
    (page,) = result.pages
    assert page.stamp is not None
    assert (page.stamp["verdict"], page.stamp["reason"]) == ("ignored", "dont_obey_robotstxt")
    assert page.stamp["exception"] == (reason and {"url": None, "reason": reason, "until": None})
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
def test_an_unreachable_origin_can_end_in_an_error_that_scrapy_retries(
    choice: str, answer: Answer, error: str, cause: str
) -> None:
    site, result = visit(answer, "/page", REP_UNREACHABLE=choice, REP_RETRY_TIMES=0, RETRY_TIMES=2)
    assert "/page" not in site.paths()
    (failure,) = result.failures
    assert failure.type == error
    assert not cause or (failure.cause and failure.cause[0] == cause)
    assert (result.stats["retry/count"], result.stats["retry/max_reached"]) == (2, 1)
    assert result.stats["rep/unreachable_error_count"] == 3
    assert "3 not sent because unreachable" in result.lines("INFO", "scrapy_rep")[-1]


@on_each_loop
def test_a_retried_request_is_sent_once_robots_txt_answers(loop: str) -> None:
    asked: list[str] = []

    def back_after_one(arrival: Arrival) -> Answer:
        asked.append(arrival.path)
        return Answer(503) if len(asked) == 1 else robots(RULES)

    settings: dict[str, Any] = {
        "REP_UNREACHABLE": "retry", "REP_RETRY_TIMES": 0, "REP_RETRY_DELAY": 0.05, "RETRY_TIMES": 50,
        "DOWNLOAD_DELAY": 0.2, "RANDOMIZE_DOWNLOAD_DELAY": False,
    }  # fmt: skip
    site, result = visit(back_after_one, "/page", **settings, loop=loop)
    assert result.urls == [f"{site.origin}/page"]


def test_exceptions_come_from_a_file_as_well(tmp_path: Path) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots(RULES))
        path = tmp_path / "robots-exceptions.toml"
        path.write_text(f'[[exception]]\nurl = "{site.origin}/private"\nreason = "ticket 47"\nuntil = {day()}\n')
        result = crawl(f"{site.origin}/private", settings={"REP_EXCEPTIONS_FILE": str(path)})
    assert verdicts(result) == {"private": "excepted"}


def test_who_uses_none_of_it_sees_a_plain_stamp_and_no_stat_of_policy() -> None:
    _, result = visit(RULES, "/open")
    assert verdicts(result) == {"open": "allowed"}
    assert result.pages[0].flags == []
    assert not [name for name in result.stats if name.startswith(("rep/mode", "rep/exception", "rep/dont"))]


def test_with_obeying_off_and_nothing_else_set_there_is_no_stamp() -> None:
    copied = {"url": "/open", "meta": {"rep": {"verdict": "allowed"}}}
    site, result = visit(None, copied, ROBOTSTXT_OBEY=False)
    assert site.paths() == ["/open"]
    assert verdicts(result) == {"open": None}
    (line,) = result.lines("INFO", "scrapy_rep.crawl.gate")
    assert line == "ROBOTSTXT_OBEY is False: this crawl requests its pages without robots.txt"


def noticed(*requests: str, site: Site, **settings: Any) -> list[str]:
    """What a crawl with exceptions for all three sites, one of each kind, says of them."""
    exceptions = [
        exception(f"{origin}/{path}", reason=path, until=until)
        for origin in site.origins
        for path, until in (("gone", day(-1)), ("soon", day(3)), ("unused", day(90)))
    ]
    result = crawl(*requests, settings={"REP_EXCEPTIONS": exceptions, **settings})
    return of_exceptions(result, "INFO") + of_exceptions(result, "WARNING")


def test_a_crawl_speaks_of_the_exceptions_of_the_sites_that_it_met_alone() -> None:
    with Site([f"127.0.0.{number}" for number in range(1, 4)]) as site:
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /x\n"))
        met, *others = site.origins
        lines = noticed(f"{met}/a", f"{met}/b", site=site)
    assert len(lines) == 3
    assert all(met in line for line in lines)
    assert not any(origin in line for line in lines for origin in others)


def test_a_crawl_that_does_not_obey_speaks_of_no_exceptions() -> None:
    with Site() as site:
        assert noticed(f"{site.origin}/a", site=site, ROBOTSTXT_OBEY=False) == []
        assert noticed(f"{site.origin}/a", site=site, ROBOTSTXT_OBEY=False, REP_CRAWL_DELAY="always") == []
