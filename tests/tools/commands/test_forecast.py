"""``scrapy robots forecast``: how long a crawl takes, and how much of it fits."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from scrapy_rep.protocol.display import duration
from scrapy_rep.tools.commands import forecast
from scrapy_rep.tools.forecast import OriginForecast, Pace, seconds_of, side_by_side
from tests.support.command import robots_command
from tests.support.command_here import robots_here
from tests.support.crawl import crawl
from tests.support.exceptions import day
from tests.support.markdown import PAGES, blocks
from tests.support.redis_server import RedisServer
from tests.support.site import Answer, Site, robots, sitemap, sitemap_index

from .shop import Shop

SLOW = "User-agent: *\nCrawl-delay: 10\nDisallow: /private\nSitemap: /sitemap.xml\n"


@pytest.fixture
def site() -> Iterator[Site]:
    with Site(("127.0.0.1", "127.0.0.2")) as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def pages(origin: str, number: int, folder: str = "") -> list[str]:
    return [f"{origin}/{folder}{page}" for page in range(number)]


def called(folder: Path, *arguments: str, **settings: Any) -> tuple[int, str, str]:
    """The exit code and the two streams of a forecast; one of a project has a process of its own."""
    given = [argument for name, value in settings.items() for argument in ("-s", f"{name}={value}")]
    call = robots_command if (folder / "scrapy.cfg").exists() else robots_here
    return call(folder, "forecast", *arguments, *given)


def forecast_of(folder: Path, *arguments: str, code: int = 0, **settings: Any) -> list[str]:
    """The lines that are printed."""
    exit_code, out, err = called(folder, *arguments, **settings)
    assert exit_code == code, out + err
    return out.splitlines()


def facts_of(folder: Path, *arguments: str, code: int = 0, **settings: Any) -> list[dict[str, Any]]:
    """The objects that are printed; the last one is about all origins."""
    found = list(map(json.loads, forecast_of(folder, *arguments, "--json", code=code, **settings)))
    assert [one["origin"] is None for one in found] == [False] * (len(found) - 1) + [True]
    return found


def problems_of(folder: Path, *arguments: str, **settings: Any) -> list[str]:
    """The lines on standard error of a forecast that could not be completed, without those on progress."""
    code, _, err = called(folder, *arguments, **settings)
    assert code == 2
    begin = "scrapy robots forecast: error: "
    return [line.removeprefix(begin) for line in err.splitlines() if line.startswith(begin)]


def without_end(lines: list[str]) -> list[str]:
    return [re.sub(r", until .* if it starts now$", "", line) for line in lines]


def test_pages_of_all_sitemaps_take_their_number_times_the_delay(site: Site, folder: Path) -> None:
    origin = site.origin
    site.answer("/robots.txt", robots(SLOW + "Sitemap: /index.xml\n"))
    site.answer("/sitemap.xml", sitemap(*pages(origin, 40), *pages(origin, 5, "private/")))
    site.answer("/index.xml", sitemap_index(f"{origin}/2.xml.gz", f"{origin}/3.xml", f"{origin}/sitemap.xml"))
    site.answer("/2.xml.gz", sitemap(*pages(origin, 100, "b"), compressed=True))
    site.answer("/3.xml", sitemap(*pages(origin, 216, "c")))
    lines = forecast_of(folder, origin, "--within", "30m", code=1)
    assert without_end(lines) == [
        origin,
        "pages        356, in 4 sitemaps; 5 more are disallowed",
        "delay        10 s between two requests: Crawl-delay, line 2",
        "duration     1 h",
        "within       30 min: 178 of 356 pages, 50%",
    ]
    assert re.search(r"until 20\d\d-\d\d-\d\d \d\d:\d\d UTC if", lines[3])
    assert sorted(site.paths()) == ["/2.xml.gz", "/3.xml", "/index.xml", "/robots.txt", "/sitemap.xml"]


def test_everything_that_fits_exits_with_0(site: Site, folder: Path) -> None:
    site.answer("/robots.txt", robots(SLOW))
    site.answer("/sitemap.xml", sitemap(*pages(site.origin, 5)))
    assert forecast_of(folder, site.origin, "--within", "60")[-1] == "within       1 min: all pages"
    assert forecast_of(folder, site.origin, "--within", "59", code=1)[-1] == "within       59 s: 4 of 5 pages, 80%"


def test_origins_run_side_by_side_so_the_slowest_one_decides(site: Site, folder: Path) -> None:
    slow, fast = site.origins
    site.answer("/robots.txt", robots(SLOW))
    site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 1\nSitemap: /sitemap.xml\n"), fast)
    site.answer("/sitemap.xml", sitemap(*pages(slow, 59)), slow)
    site.answer("/sitemap.xml", sitemap(*pages(fast, 99)), fast)
    lines = without_end(forecast_of(folder, slow, fast, "--within", "5m", code=1))
    assert lines[lines.index("all 2 origins, side by side") :] == [
        "all 2 origins, side by side",
        "pages        158",
        "duration     10 min",
        "within       5 min: 128 of 158 pages, 81%",
    ]
    found = facts_of(folder, slow, fast)
    assert sorted((one["pages"], one["seconds"]) for one in found) == [(59, 600), (99, 100), (158, 600)]


def test_two_origins_of_one_host_share_its_delay(folder: Path) -> None:
    with Site(["127.0.0.1"], ports=2) as site:
        first, second = site.origins
        site.answer("/robots.txt", robots(SLOW), first)
        site.answer("/sitemap.xml", sitemap(*pages(first, 4), *pages(second, 5)), first)
        lines = without_end(forecast_of(folder, first))
        by_origin = {one["origin"]: one for one in facts_of(folder, first)}
    assert lines[lines.index(second) :][1:4] == [
        "pages        5",
        f"delay        10 s between two requests: Crawl-delay, line 2 of {first}",
        "duration     1 min 40 s",
    ]
    assert [by_origin[origin]["seconds"] for origin in (first, second, None)] == [100, 100, 100]


def test_pages_on_an_origin_that_only_sitemaps_name_are_counted_by_its_own_robots_txt(
    site: Site, folder: Path
) -> None:
    named, other = site.origins
    site.answer("/robots.txt", robots(SLOW))
    site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 2\nDisallow: /1\n"), other)
    site.answer("/sitemap.xml", sitemap(*pages(other, 3), *pages(named, 1)))
    by_origin = {one["origin"]: one for one in facts_of(folder, named)}
    assert (by_origin[named]["pages"], by_origin[named]["sitemaps"], by_origin[named]["seconds"]) == (1, 1, 20)
    assert (by_origin[other]["pages"], by_origin[other]["disallowed"], by_origin[other]["seconds"]) == (2, 1, 4)


def test_so_many_other_origins_are_asked_and_the_rest_is_said(folder: Path) -> None:
    with Site([f"127.0.7.{number}" for number in range(1, 25)]) as site:
        site.answer("/robots.txt", robots("Sitemap: /sitemap.xml\n"))
        site.answer("/sitemap.xml", sitemap(*(f"{origin}/page" for origin in site.origins)))
        problems = problems_of(folder, site.origin)
        assert len({arrival.origin for arrival in site.log}) == 21
    assert problems == ["sitemaps name more than 20 other origins: 3 URLs not counted"]


def test_the_rules_for_the_projects_product_token_count(site: Site, folder: Path) -> None:
    site.answer("/robots.txt", robots(SLOW + "User-agent: ExampleBot\nCrawl-delay: 2\nDisallow: /1\n"))
    site.answer("/sitemap.xml", sitemap(*pages(site.origin, 12)))
    found = facts_of(folder, site.origin, ROBOTSTXT_USER_AGENT="ExampleBot")[0]
    assert (found["pages"], found["disallowed"], found["delay"], found["delay_line"]) == (9, 3, 2, 6)


def test_modes_and_exceptions_let_pages_pass(site: Site, folder: Path) -> None:
    site.answer("/robots.txt", robots(SLOW))
    site.answer("/sitemap.xml", sitemap(*pages(site.origin, 2), *pages(site.origin, 3, "private/")))
    exception = {"url": f"{site.origin}/private/1", "reason": "asked", "until": day()}
    excepted = facts_of(folder, site.origin, REP_EXCEPTIONS=json.dumps([exception]))
    assert (excepted[0]["pages"], excepted[0]["disallowed"]) == (3, 2)
    ignored = facts_of(folder, site.origin, REP_MODES=json.dumps({"127.0.0.1": "ignore"}))
    assert (ignored[0]["pages"], ignored[0]["disallowed"], ignored[0]["delay"]) == (5, 0, 10)


def test_pages_that_are_reserved_from_a_purpose_are_not_requested_if_they_are_refused(
    site: Site, folder: Path
) -> None:
    site.answer("/robots.txt", robots(SLOW.replace("Disallow", "Content-Signal: ai-train=no\nDisallow")))
    site.answer("/sitemap.xml", sitemap(*pages(site.origin, 2)))
    for choice, requested in (("obey", 2), ("refuse", 0)):
        asked = {"REP_PURPOSES": "ai-train", "REP_AI_SIGNALS": choice}
        found = facts_of(folder, site.origin, code=0, **asked)[0]
        counts = (found["pages"], found["disallowed"], found["sitemaps"], found["sitemaps_not_followed"])
        assert counts == (requested, 2 - requested, 1, 0)


def test_nothing_is_disallowed_where_the_project_does_not_obey(site: Site, folder: Path) -> None:
    site.answer("/robots.txt", robots(SLOW))
    site.answer("/sitemap.xml", sitemap(*pages(site.origin, 2, "private/")))
    found = facts_of(folder, site.origin, ROBOTSTXT_OBEY=False)[0]
    assert (found["pages"], found["disallowed"]) == (2, 0)


NO_DELAY = "none asked for: the duration depends on the server, and on CONCURRENT_REQUESTS_PER_DOMAIN"
OWN = {"DOWNLOAD_DELAY": 0.5}
SLOT = {"DOWNLOAD_SLOTS": '{"127.0.0.1": {"delay": 0.5}}'}
OBEY = {"REP_CRAWL_DELAY_OVER_MAX": "obey"}


@pytest.mark.parametrize(
    ("text", "settings", "delay"),
    [
        ("Crawl-delay: 10", OWN, "10 s between two requests: Crawl-delay, line 2"),
        ("Crawl-delay: 0.1", OWN, "0.5 s between two requests: DOWNLOAD_DELAY"),
        ("Crawl-delay: 10", SLOT, "0.5 s between two requests: DOWNLOAD_SLOTS"),
        ("Crawl-delay: 900", {}, "300 s between two requests: Crawl-delay, line 2, asks for 900 s;"
                                 " REP_CRAWL_DELAY_MAX cuts it"),
        ("Crawl-delay: 900", OBEY, "900 s between two requests: Crawl-delay, line 2"),
        ("Crawl-delay: 10", {"REP_CRAWL_DELAY": "ignore"}, NO_DELAY),
        ("Request-rate: 1/30", {}, NO_DELAY),
    ],
)  # fmt: skip
def test_what_asks_for_the_delay_is_named(
    site: Site, folder: Path, text: str, settings: dict[str, Any], delay: str
) -> None:
    site.answer("/robots.txt", robots(f"User-agent: *\n{text}\nSitemap: /sitemap.xml\n"))
    site.answer("/sitemap.xml", sitemap(*pages(site.origin, 2)))
    assert forecast_of(folder, site.origin, **settings)[2] == f"delay        {delay}"


def test_without_a_delay_the_duration_is_unknown_and_nothing_is_said_not_to_fit(site: Site, folder: Path) -> None:
    site.answer("/robots.txt", robots("Sitemap: /sitemap.xml\n"))
    site.answer("/sitemap.xml", sitemap(*pages(site.origin, 2)))
    assert forecast_of(folder, site.origin, "--within", "1s")[3:] == ["duration     unknown"]
    found = facts_of(folder, site.origin, "--within", "1s")
    assert [(one["seconds"], one["ends_at"], one["fitting"]) for one in found] == [(None, None, None)] * 2


@pytest.fixture
def project(folder: Path) -> Path:
    """A project with the add-on, in which a crawl keeps its robots.txt files in a store."""
    (folder / "scrapy.cfg").write_text("[settings]\ndefault = project_settings\n")
    (folder / "project_settings.py").write_text('ADDONS = {"scrapy_rep.Addon": 300}\n')
    return folder


@pytest.fixture
def few_pages(site: Site) -> Site:
    site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 0.1\nSitemap: /sitemap.xml\n"))
    site.answer("/sitemap.xml", sitemap(*pages(site.origin, 5)))
    return site


def test_a_sitemap_that_is_disallowed_or_too_deep_is_not_followed(site: Site, folder: Path) -> None:
    site.answer("/robots.txt", robots(SLOW + "Sitemap: /private/x.xml\n"))
    site.answer("/private/x.xml", sitemap(*pages(site.origin, 3)))
    chain = ["/sitemap.xml", *(f"/{level}.xml" for level in range(2, 7))]
    for upper, lower in pairwise(chain):
        site.answer(upper, sitemap_index(f"{site.origin}{lower}"))
    site.answer(chain[-1], sitemap(*pages(site.origin, 3)))
    lines = forecast_of(folder, site.origin)
    assert lines[1] == "pages        0, in 5 sitemaps; 2 sitemaps not followed"
    assert "/private/x.xml" not in site.paths()
    assert "/6.xml" not in site.paths()


def test_a_sitemap_that_two_sites_name_is_read_once(site: Site, folder: Path) -> None:
    first, second = site.origins
    named = f"Sitemap: {first}/sitemap.xml\n"
    site.answer("/robots.txt", robots(named))
    # Then both wait for the robots.txt of the first with the sitemap in hand.
    site.answer("/robots.txt", robots(named, when=lambda: bool(site.count("/own.xml"))), first)
    site.answer("/robots.txt", robots(f"Sitemap: /own.xml\n{named}"), second)
    site.answer("/own.xml", sitemap())
    site.answer("/sitemap.xml", sitemap(*pages(first, 3)))
    assert facts_of(folder, first, second)[-1]["pages"] == 3
    assert site.count("/sitemap.xml") == 1


def test_what_is_not_known_is_no_forecast(site: Site, folder: Path) -> None:
    down, bare = site.origins
    site.answer("/robots.txt", Answer(503), down)
    site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 10\n"), bare)
    unreachable = f"{down} is unreachable: HTTP status 503"
    bare_of_sitemaps = f"robots.txt of {bare} names no sitemap: its pages cannot be counted"
    settings = {"REP_UNREACHABLE_WAIT": 0}
    assert forecast_of(folder, down, "--within", "1h", code=2, **settings) == [
        down, f"pages        unknown: {unreachable}", "delay        unknown", "duration     unknown"
    ]  # fmt: skip
    assert forecast_of(folder, bare, "--within", "1h", code=2) == [
        bare,
        f"pages        unknown: {bare_of_sitemaps}",
        "delay        10 s between two requests: Crawl-delay, line 2",
        "duration     unknown",
    ]
    found = facts_of(folder, down, bare, "--within", "1h", code=2, **settings)
    nothing = {(one["pages"], one["seconds"], one["ends_at"], one["fitting"]) for one in found}
    assert nothing == {(None, None, None, None)}
    assert {one["error"] for one in found[:-1]} == {unreachable, bare_of_sitemaps}
    assert set(found[-1]["error"].split("; ")) == {unreachable, bare_of_sitemaps}


def test_what_is_known_in_part_takes_at_least_as_long(site: Site, folder: Path) -> None:
    good, down = site.origins
    site.answer("/robots.txt", robots(SLOW + "Sitemap: /gone.xml\n"))
    site.answer("/robots.txt", Answer(503), down)
    site.answer("/sitemap.xml", sitemap(*pages(good, 4)))
    site.answer("/gone.xml", Answer(404))
    lines = without_end(forecast_of(folder, good, down, "--within", "1h", code=2, REP_UNREACHABLE_WAIT=0))
    assert lines[lines.index(good) :][1:4] == [
        "pages        at least 4, in 2 sitemaps",
        "delay        10 s between two requests: Crawl-delay, line 2",
        "duration     at least 1 min",
    ]
    assert lines[lines.index("all 2 origins, side by side") + 1 :] == [
        "pages        at least 4", "duration     at least 1 min"
    ]  # fmt: skip
    *_, everything = facts_of(folder, good, "--within", "1h", code=2)
    assert (everything["pages"], everything["fitting"]) == (4, None)
    assert everything["error"] == f"{good}/gone.xml: status 404"


def test_the_pages_of_a_site_may_be_said(site: Site, folder: Path) -> None:
    first, second = site.origins
    site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 10\n"))
    lines = without_end(forecast_of(folder, first, second, "--pages", "360", "--within", "30m", code=1))
    assert lines[1:5] == [
        "pages        360",
        "delay        10 s between two requests: Crawl-delay, line 2",
        "duration     1 h",
        "within       30 min: 180 of 360 pages, 50%",
    ]
    assert lines[-3:] == ["pages        720", "duration     1 h", "within       30 min: 360 of 720 pages, 50%"]
    site.answer("/robots.txt", Answer(503))
    unknown = facts_of(folder, first, "--pages", "360", code=2, REP_UNREACHABLE_WAIT=0)
    assert (unknown[0]["pages"], unknown[0]["seconds"]) == (None, None)


def test_the_urls_may_come_from_a_file(site: Site, folder: Path) -> None:
    first, second = site.origins
    site.answer("/robots.txt", robots(SLOW))
    site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 2\n"), second)
    listed = [*pages(first, 6), *pages(first, 2, "private/"), *pages(second, 3)]
    (folder / "urls.txt").write_text("\n".join([*listed, "s3://bucket/page"]))
    (problem,) = problems_of(folder, "--urls", "urls.txt")
    assert problem == "s3://bucket/page: not a URL with a robots.txt"
    (folder / "urls.txt").write_text("\n".join(listed))
    found = facts_of(folder, "--urls", "urls.txt")
    counted = {one["origin"]: (one["pages"], one.get("disallowed"), one["seconds"]) for one in found}
    assert counted == {first: (6, 2, 60), second: (3, 0, 6), None: (9, None, 60)}
    assert set(site.paths()) == {"/robots.txt"}
    assert "pages        6; 2 more are disallowed" in forecast_of(folder, "--urls", "urls.txt")


def test_a_spider_counts_with_its_settings(site: Site, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site.answer("/robots.txt", robots(SLOW + "\nUser-agent: NamedBot\nCrawl-delay: 3\nDisallow: /1\n"))
    site.answer("/sitemap.xml", sitemap(*pages(site.origin, 2), *pages(site.origin, 2, "private/")))
    monkeypatch.setattr(Shop, "custom_settings", {"REP_MODES": {"127.0.0.1": "ignore"}})
    asked = {
        spider: facts_of(folder, site.origin, "--spider", spider, SPIDER_MODULES=Shop.__module__)[0]
        for spider in ("shop", "named")
    }
    assert {spider: (one["pages"], one["delay"]) for spider, one in asked.items()} == {
        "shop": (4, 10), "named": (3, 3)
    }  # fmt: skip


@pytest.mark.parametrize(
    "arguments",
    [(), ("http://127.0.0.1:9", "--urls", "FILE"), ("--urls", "FILE", "--pages", "3"), ("--pages", "3")],
)
def test_where_the_pages_come_from_is_said_once(folder: Path, arguments: tuple[str, ...]) -> None:
    assert problems_of(folder, *arguments) == [
        "name SITEs, with or without --pages, or a file of URLs with --urls"
    ]


def test_in_a_project_with_the_add_on_sitemaps_are_fetched_as_robots_txt_says(site: Site, project: Path) -> None:
    site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 0.5\nSitemap: /1.xml\nSitemap: /2.xml\n"))
    site.answer("/1.xml", sitemap(*pages(site.origin, 3)))
    site.answer("/2.xml", sitemap(*pages(site.origin, 3)))
    assert facts_of(project, site.origin)[0]["seconds"] == 4.0
    times = [arrival.time for arrival in site.log]
    assert times[-1] - times[0] > 0.9


def back_off(site: Site, seconds: int, **settings: Any) -> None:
    """A crawl that the *site*, whose robots.txt is read then, asks for no request for so many *seconds*."""
    site.answer("/busy", Answer(429, headers=[("Retry-After", str(seconds))]))
    result = crawl(f"{site.origin}/busy", settings={**settings, "RETRY_ENABLED": False})
    assert result.stats["rep/backoff/event_count"] == 1


@pytest.mark.parametrize("store", ["sqlite", "redis"])
def test_what_another_crawl_was_asked_comes_before_the_first_request(
    few_pages: Site, project: Path, store: str, redis_server: RedisServer
) -> None:
    settings: dict[str, Any] = (
        {"REP_STORE_PATH": str(project / "store")} if store == "sqlite" else {"REP_REDIS_URL": redis_server.url}
    )
    back_off(few_pages, 40, **settings)
    (found, everything) = facts_of(project, few_pages.origin, "--pages", "50", **settings)
    assert 30 < found["backoff"] <= 40
    assert found["seconds"] == everything["seconds"] == pytest.approx(found["backoff"] + 5, abs=0.002)
    lines = forecast_of(project, few_pages.origin, "--pages", "50", "--within", "30s", code=1, **settings)
    assert re.fullmatch(
        r"back-off     no request for (3\d|40) s more, because the site asked for that or failed repeatedly",
        lines[3],
    )
    assert re.match(r"duration     (4\d|3\d)(\.\d)? s,", lines[4])
    assert lines[5] == "within       30 s: 0 of 50 pages, less than 1%"
    assert few_pages.paths() == ["/robots.txt", "/busy"]


def test_what_is_fetched_waits_for_a_back_off_and_that_is_said(few_pages: Site, project: Path) -> None:
    shared = {"REP_STORE_PATH": str(project / "store")}
    back_off(few_pages, 5, **shared)
    code, out, err = called(project, few_pages.origin, "--json", **shared)
    found = json.loads(out.splitlines()[0])
    assert (code, found["pages"], found["backoff"], found["seconds"]) == (0, 5, None, pytest.approx(0.6))
    assert re.search(rf"{few_pages.origin}: what is not in the store waits [1-5] s for its back-off\n", err)
    busy, listed = (arrival.time for arrival in few_pages.log[1:])
    assert listed - busy >= 5.0


def test_what_cannot_be_counted_is_said_and_exits_with_2(site: Site, folder: Path) -> None:
    good, bare = site.origins
    site.answer("/robots.txt", robots(SLOW + "Sitemap: /gone.xml\nSitemap: /page.xml\n"), good)
    site.answer("/robots.txt", robots(""), bare)
    site.answer("/sitemap.xml", sitemap(*pages(good, 3), "http://[bad", "s3://bucket/page"))
    site.answer("/gone.xml", Answer(404))
    site.answer("/page.xml", Answer(body=b"<html></html>"))
    assert sorted(problems_of(folder, good, bare)) == sorted(
        [
            f"{good}/sitemap.xml: http://[bad: Invalid IPv6 URL",
            f"{good}/gone.xml: status 404",
            f"{good}/page.xml: it is HTML",
            f"robots.txt of {bare} names no sitemap: its pages cannot be counted",
        ]
    )
    assert facts_of(folder, good, code=2)[0]["pages"] == 3


def test_a_site_that_is_unreachable_is_said_with_its_reason(site: Site, folder: Path) -> None:
    site.answer("/robots.txt", Answer(503))
    (problem,) = problems_of(folder, site.origin, REP_UNREACHABLE_WAIT=0)
    assert problem == f"{site.origin} is unreachable: HTTP status 503"


def test_a_delay_over_the_maximum_that_is_skipped_forbids_all_pages(site: Site, folder: Path) -> None:
    site.answer("/robots.txt", robots(SLOW))
    settings = {"REP_CRAWL_DELAY_MAX": 5, "REP_CRAWL_DELAY_OVER_MAX": "skip"}
    assert problems_of(folder, site.origin, **settings) == [
        f'{site.origin}: REP_CRAWL_DELAY_OVER_MAX = "skip" forbids its pages: Crawl-delay, line 2, asks for 10 s,'
        " and REP_CRAWL_DELAY_MAX is 5 s"
    ]


NO_DURATION = "is not a duration: write one such as 90s, 90m, 24h or 2d"


@pytest.mark.parametrize(
    ("option", "value", "problem"),
    [
        *(("--within", value, NO_DURATION) for value in ("soon", "0", "-5h")),
        ("--pages", "few", "is not a number of pages: write one such as 4"),
        ("--pages", "0", "is not a number of pages: write one such as 4"),
    ],
)
def test_bad_values_are_a_usage_error(
    capsys: pytest.CaptureFixture[str], option: str, value: str, problem: str
) -> None:
    parser = ArgumentParser()
    forecast.add_arguments(parser)
    with pytest.raises(SystemExit) as exit_:
        parser.parse_args(["https://example.com", f"{option}={value}"])
    assert exit_.value.code == 2
    assert capsys.readouterr().err.rstrip().endswith(f"error: argument {option}: {value!r} {problem}")


def test_a_site_that_cannot_be_one_ends_it_with_2(folder: Path) -> None:
    (problem,) = problems_of(folder, "s3://bucket")
    assert problem.startswith("s3://bucket: no robots.txt speaks for the scheme")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("3600", 3600), ("90s", 90), ("90m", 5400), ("24h", 86_400), ("2d", 172_800), ("1.5h", 5400),
     (" 2 D ", 172_800)],
)  # fmt: skip
def test_a_duration_has_a_unit_or_is_in_seconds(text: str, seconds: float) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "h", "24 hours", "1h30m", "1e3", "0.0m", "-1", "nan", "inf"])
def test_anything_else_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match="is not a duration"):
        seconds_of(text)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"), (0.25, "0.25 s"), (59.4, "59.4 s"), (60, "1 min"), (90, "1 min 30 s"), (3_600, "1 h"),
        (120_000, "33 h 20 min"), (172_800, "2 d"), (200_000, "2 d 8 h"), (1e9, "11,574 d 2 h"),
    ],
)  # fmt: skip
def test_a_duration_is_shown_in_two_units(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_a_back_off_is_waited_for_once_in_a_download_slot() -> None:
    slow = Pace(10, "Crawl-delay")

    def found(within: float) -> list[OriginForecast]:
        return side_by_side(
            [
                OriginForecast("https://example.com", "example.com", 5, 0, 1, 0, slow, held=100),
                OriginForecast("http://example.com", "example.com", 4, 0, 0, 0, slow, held=99),
                OriginForecast("https://example.org", "example.org", 0, 0, 0, 0, slow, held=300),
            ],
            within,
        )

    assert [one.seconds for one in found(150)] == [200, 200, 0, 200]
    assert [found(within)[0].fitting for within in (50, 100, 150, 200)] == [0, 0, 2, 5]
    assert found(150)[-1].fitting == 4


def test_a_duration_never_becomes_infinite() -> None:
    one = OriginForecast("https://example.com", "example.com", 10**9, 0, 0, 0, Pace(1e308, "Crawl-delay"))
    found, _ = side_by_side([one], 1e9)
    assert json.loads(json.dumps(found.seconds)) == 1e15
    assert found.fitting == 1000


def test_the_how_to_shows_what_is_printed(site: Site, folder: Path) -> None:
    block = blocks(PAGES["docs/howto/forecast.md"], "console")[0]
    call, *shown = block.splitlines()
    assert call == "$ scrapy robots forecast https://example.com --within 24h"
    origin = site.origin
    text = "User-agent: *\nCrawl-delay: 10\nDisallow: /private\n"
    site.answer("/robots.txt", robots(text + "".join(f"Sitemap: /{number}.xml\n" for number in range(3))))
    for number in range(3):
        site.answer(f"/{number}.xml", sitemap(*pages(origin, 4_000, f"{number}/")))
    site.answer("/2.xml", sitemap(*pages(origin, 4_000, "2/"), *pages(origin, 340, "private/")))
    printed = forecast_of(folder, origin, "--within", "24h", code=1)
    assert without_end(printed) == [line.replace("https://example.com", origin) for line in without_end(shown)]


MEASURED = """
import resource, sys
from scrapy.cmdline import execute
try:
    execute(["scrapy", "robots", "forecast", "--json", *sys.argv[1:]])
finally:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@pytest.mark.full
def test_urls_are_counted_and_not_held(site: Site, folder: Path) -> None:
    few, many = site.origins
    site.answer("/robots.txt", robots("".join(f"Sitemap: /{number}.xml\n" for number in range(3))))
    for origin, number in ((few, 1), (many, 50_000)):
        answer = sitemap(*pages(origin, number, "a-page-with-a-name-of-the-usual-length/"))
        for each in range(3):
            site.answer(f"/{each}.xml", answer, origin)
    (pages_of_few, small), (pages_of_many, large) = measured(folder, few), measured(folder, many)
    assert (pages_of_few, pages_of_many) == (3, 150_000)
    assert large - small < 16  # MiB; a list of the URLs takes more


def measured(folder: Path, origin: str) -> tuple[int, int]:
    """The number of pages, and the memory that the process took in MiB."""
    command = [sys.executable, "-c", MEASURED, origin]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, timeout=60)
    *_, everything, memory = done.stdout.splitlines()
    return json.loads(everything)["pages"], int(memory)
