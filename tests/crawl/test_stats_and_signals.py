"""What a crawl tells: the stats of Scrapy's own middleware with their meaning, ours, the signal, the log."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from scrapy import signals

from tests.support.crawl import crawl, on_each_download_handler, on_each_loop
from tests.support.crawl_site import visit
from tests.support.site import Answer, Site, reset, robots

BUILT_IN: dict[str, Any] = {"ADDONS": {}, "ROBOTSTXT_OBEY": True, "RETRY_ENABLED": False}
OURS: dict[str, Any] = {"REP_RETRY_TIMES": 0}
RULES = "User-agent: *\nDisallow: /private\n"
TWO = ["127.0.0.1", "127.0.0.2"]
SPIDERS = "tests.crawl.spiders"


def one_after_another(settings: dict[str, Any], loop: str) -> dict[str, Any]:
    """The stats of a crawl over origins with rules, without robots.txt, with an error and without an answer."""
    addresses = [f"127.0.0.{number}" for number in range(1, 5)]
    answers = {f"//{address}/robots.txt": answer for address, answer in zip(
        addresses, (robots(RULES), Answer(404), Answer(500), Answer(raw=b"")), strict=True)}  # fmt: skip
    urls = ["/private", "/private/2", "/open", *(f"//{address}/" for address in addresses[1:])]
    # One at a time, because Scrapy's own middleware loses count of those that wait together.
    spider = f"{SPIDERS}:OneAfterAnother"
    _, result = visit(None, *urls, answers=answers, addresses=addresses, spider=spider, loop=loop, **settings)
    return {key: value for key, value in result.stats.items() if key.startswith("robotstxt/")}


@on_each_download_handler
def test_the_stats_of_scrapys_own_middleware_keep_their_names_and_values(loop: str) -> None:
    ours = one_after_another(OURS, loop)
    assert ours == one_after_another(BUILT_IN, loop)
    exceptions = [key for key in ours if key.startswith("robotstxt/exception_count/")]
    assert len(exceptions) == 1
    assert {key: ours[key] for key in ours if key not in exceptions} == {
        "robotstxt/forbidden": 2,
        "robotstxt/request_count": 4,
        "robotstxt/response_count": 3,
        **{f"robotstxt/response_status_count/{status}": 1 for status in (200, 404, 500)},
    }


def test_our_stats_tell_requests_from_fetches() -> None:
    urls = [f"//{address}/{page}" for address in TWO for page in "ab"]
    broken = {"//127.0.0.1/robots.txt": Answer(503)}
    settings: dict[str, Any] = {"REP_RETRY_TIMES": 2, "REP_RETRY_DELAY": 0.1}
    _, result = visit(None, *urls, answers=broken, addresses=TWO, **settings)
    stats = result.stats
    assert stats["robotstxt/request_count"] == 2
    assert stats["rep/request_count"] == 4
    assert (stats["rep/access/unreachable"], stats["rep/access/unavailable"]) == (1, 1)
    assert (stats["rep/waited_count"], stats["rep/forbidden_unreachable_count"]) == (4, 2)
    assert "robotstxt/forbidden" not in stats


@pytest.mark.skipif(not hasattr(signals, "robots_parsed"), reason="this Scrapy has no signal robots_parsed")
@on_each_loop
def test_robots_parsed_is_sent_once_per_origin_before_the_waiters_go_on(loop: str) -> None:
    urls, broken = [f"/{number}" for number in range(4)], {"//127.0.0.2/robots.txt": reset()}
    world: dict[str, Any] = {"answers": broken, "addresses": TWO, "spider": f"{SPIDERS}:SlowListener"}
    site, result = visit(RULES, *urls, "//127.0.0.2/", loop=loop, **world, **OURS)
    assert result.robots_parsed == [f"{site.origin}/0"]
    assert result.stats["listener/done_before_pages"] == 4


def test_of_messages_per_origin_ten_are_shown_and_then_one_sum() -> None:
    addresses = [f"127.0.4.{number}" for number in range(1, 14)]
    _, result = visit(Answer(503), *(f"//{address}/" for address in addresses), addresses=addresses, **OURS)
    *shown, total = result.lines("WARNING", "scrapy_rep.crawl.runtime.log")
    assert len(shown) == 10
    told = "is unreachable after 1 attempt (HTTP status 503): its pages are forbidden"
    assert all(told in line for line in shown)
    assert total == "robots.txt of 3 more origins is unreachable"


def test_a_callback_can_await_the_robots_txt_of_a_url_with_obeying_off() -> None:
    rules, spider = "User-agent: *\nDisallow: /page\n", f"{SPIDERS}:AsksTheExtension"
    site, result = visit(rules, "/page", spider=spider, ROBOTSTXT_OBEY=False)
    assert site.paths() == ["/page", "/robots.txt"]
    asked = {key: value for key, value in result.stats.items() if key.startswith("asked/")}
    assert asked == {"asked/known": 0, "asked/access": "successful", "asked/allowed": 0, "asked/again": 1}


def test_the_sum_at_the_end_counts_one_in_the_singular_and_a_missing_robots_txt_says_what_it_means() -> None:
    _, result = visit(None, "/page")
    told = result.lines("INFO", "scrapy_rep")
    assert told[-1].startswith("robots.txt: 1 origin; 1 fetched, ")
    meaning = "unavailable, so everything is allowed (HTTP status 404, 0 octets, 0 redirects)"
    assert any(meaning in line for line in told)


def test_a_crawl_of_which_every_request_is_forbidden_says_by_which_line() -> None:
    site, result = visit("User-agent: *\n\nDisallow: /\n", "/page", "/other")
    why = f"<GET {site.origin}/page> (line 3, Disallow: /)"
    first, sums_up = result.lines("WARNING")
    assert first == f"robots.txt forbade every request of this crawl, first {why}"
    assert sums_up.startswith("No page arrived. Left out, ")
    assert f"Forbidden by robots.txt: {why}" in result.lines("DEBUG")


def test_a_crawl_of_which_every_request_is_unreachable_blames_no_robots_txt() -> None:
    warning, sums_up = visit(Answer(503), "/page", **OURS)[1].lines("WARNING")
    assert "is unreachable after 1 attempt" in warning
    assert sums_up.endswith(": 1 request whose robots.txt is unreachable (REP_UNREACHABLE).")


def test_the_sum_at_the_end_names_a_rule_of_many_origins_once() -> None:
    with Site([f"127.0.0.{number}" for number in range(1, 6)]) as site:
        *many, other = site.origins
        for number, origin in enumerate(many):
            site.answer(
                "/robots.txt", robots(f"{'# a line' * number}\nUser-agent: *\nDisallow: /private\n"), origin
            )
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /private/2\n"), other)
        result = crawl(*(f"{origin}/private/{number}" for origin in site.origins for number in range(3)))
    (line,) = (line for line in result.lines("INFO", "scrapy_rep") if " forbidden" in line)
    assert line.endswith(
        "; 13 requests forbidden on 5 origins; most by Disallow: /private (12),"
        f" {other} (line 2, Disallow: /private/2) 1"
    )


def test_the_sum_at_the_end_is_short_however_long_and_many_the_rules_are() -> None:
    with Site() as site:
        rules = [f"/{number}{'x' * 1_000}" for number in range(20)]
        site.answer("/robots.txt", robots("User-agent: *\n" + "".join(f"Disallow: {rule}\n" for rule in rules)))
        result = crawl(*(site.origin + rule for rule in rules))
    (line,) = (line for line in result.lines("INFO", "scrapy_rep") if " forbidden" in line)
    assert "20 requests forbidden, most by " in line
    assert len(line) < 1_000


@pytest.mark.parametrize(("settings", "lines"), [({}, 1), ({"REP_STORE": "memory"}, 0)])
def test_a_trial_on_loopback_hosts_says_first_that_it_shares_nothing(settings: dict[str, str], lines: int) -> None:
    with Site(ports=2) as site:
        result = crawl(*site.origins, settings=settings)
    told = result.lines("INFO", "scrapy_rep")
    notes = [line for line in told if line.startswith("Loopback sites are for trials")]
    assert notes == told[:1] * lines
    assert all("unless REP_STORE_PATH, REP_REDIS_URL or a REP_STORE of your own" in note for note in notes)


def test_a_trial_with_a_store_of_its_own_says_nothing_of_the_kind(tmp_path: Path) -> None:
    with Site() as site:
        result = crawl(site.origin, settings={"REP_STORE_PATH": str(tmp_path / "robots.sqlite")})
    assert not any("Loopback" in line.message for line in result.log)
