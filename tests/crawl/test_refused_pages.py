"""Pages that a site refuses by status whatever robots.txt says: counted, stamped and, if obeyed, skipped."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from scrapy import Request
from scrapy.http import Response

from scrapy_rep import stamp
from scrapy_rep.directives.refusals import Refusal
from tests.support.crawl import Crawl, crawl
from tests.support.crawl_site import visit
from tests.support.refusals import CARRIED, CASES, Case
from tests.support.run_crawl import Recorder
from tests.support.site import Answer, Site, robots, sequence

from .target_spiders import api_url

PAID, CHALLENGED, FORBIDDEN, LOGIN = (CASES[name].answer for name in ("price", "cloudflare-403", "403", "basic"))
ALL: dict[str, Any] = {"HTTPERROR_ALLOW_ALL": True, "RETRY_ENABLED": False, "REP_STORE": "memory"}
ONE_BY_ONE: dict[str, Any] = {"CONCURRENT_REQUESTS": 1, "CONCURRENT_REQUESTS_PER_DOMAIN": 1, **ALL}
OBEY: dict[str, Any] = {"REP_REFUSED": "obey", **ONE_BY_ONE}
PATHS = [f"/{number}" for number in range(6)]
SCRAPYS_QUEUE = "scrapy.pqueues.ScrapyPriorityQueue"


class HasFiles(Recorder):
    """Yields an item with ``files``, which a pipeline downloads one after another."""

    files: list[str]

    def page(self, response: Any) -> Any:
        super().page(response)
        yield {"file_urls": self.files}


class AsksTheService(Recorder):
    """Requests ``service``, a page of a scraping API itself, after the third answer."""

    service: str

    def page(self, response: Any) -> Any:
        super().page(response)
        if len(self.facts["pages"]) == 3:
            meta = {"dont_obey_robotstxt": True}
            yield Request(self.service, self.page, errback=self.failure, meta=meta)


def text(values: dict[str, Any] | None) -> str:
    return str(Refusal(**values)) if values else ""


def stats(result: Crawl, prefix: str = "rep/refused/") -> dict[str, int]:
    return {name.removeprefix(prefix): count for name, count in result.stats.items() if name.startswith(prefix)}


def requested(site: Site) -> list[str]:
    return [path for path in site.paths() if path != "/robots.txt"]


def test_a_crawl_reads_an_answer_as_the_table_says() -> None:
    with Site([f"127.0.60.{number}" for number in range(1, len(CASES) + 1)]) as site:
        origins = dict(zip(site.origins, CASES))
        for origin, name in origins.items():
            site.answer("/page", CASES[name].answer, origin)
        result = crawl(*(f"{origin}/page" for origin in origins), settings=ALL)
    found = {page.url.removesuffix("/page"): page.stamp for page in result.pages}
    refused = {name: (found[origin] or {})["refused"] for origin, name in origins.items()}
    assert {name: text(values) for name, values in refused.items()} == {
        name: case.refused for name, case in CASES.items()
    }
    refusing = [case for case in CASES.values() if case.refused]
    kinds, statuses = Counter(case.kind for case in refusing), Counter(case.status for case in refusing)
    assert stats(result) == {
        "response_count": len(refusing), "origin_count": len(refusing),
        **{f"kind_count/{kind}": count for kind, count in kinds.items()},
        **{f"status_count/{status}": count for status, count in statuses.items()},
    }  # fmt: skip
    assert (result.tracebacks, result.lines("ERROR")) == ([], [])


def test_a_site_that_refuses_is_warned_of_once_and_summed_up() -> None:
    site, result = visit("", *PATHS[:3], answers={"*": PAID}, **ONE_BY_ONE)
    (warning,) = result.lines("WARNING", "scrapy_rep")
    assert warning == (
        f"{site.origin} refused <GET {site.origin}/0> (402, USD 0.01), which robots.txt allows."
        ' REP_REFUSED = "obey" skips the pages of a site that refuses three in a row'
    )
    (line,) = result.lines("INFO", "scrapy_rep.extras.edge")
    assert line == f"1 site refused 3 pages by status; most often {site.origin} 3 times."
    assert len(requested(site)) == 3


def test_no_warning_advises_to_skip_a_site_for_its_login() -> None:
    site, result = visit("", "/page", answers={"*": LOGIN}, **ALL)
    (warning,) = result.lines("WARNING", "scrapy_rep")
    assert warning == f"{site.origin} refused <GET {site.origin}/page> (401), which robots.txt allows"


def test_the_summary_counts_sites_that_are_forgotten() -> None:
    addresses = [f"127.0.61.{number}" for number in range(1, 9)]
    urls = [f"//{address}/page" for address in addresses]
    _, result = visit("", *urls, addresses=addresses, answers={"*": PAID}, REP_MEMORY_ENTRIES=3, **ONE_BY_ONE)
    (line,) = result.lines("INFO", "scrapy_rep.extras.edge")
    assert line.startswith("8 sites refused 8 pages by status; most often ")


def test_a_robots_txt_that_is_refused_counts_as_no_page() -> None:
    _, result = visit(FORBIDDEN, "/page", **ALL)
    assert stats(result) == {}
    assert result.stats["rep/refused_count"] == 1


@pytest.mark.parametrize("value", ["ignore", "report"])
def test_refusals_are_ignored_only_if_that_is_asked_for(value: str) -> None:
    _, result = visit("", *PATHS, answers={"*": PAID}, **ONE_BY_ONE, REP_REFUSED=value)
    assert stats(result).get("response_count") == (6 if value == "report" else None)
    assert len(result.pages) == 6


# Obeyed.


@pytest.mark.parametrize("answer", [PAID, CHALLENGED, FORBIDDEN], ids=["402", "challenge", "403"])
@pytest.mark.parametrize("queue", ["scrapy_rep.RepPriorityQueue", SCRAPYS_QUEUE])
def test_after_three_refusals_the_pages_of_a_site_are_skipped(answer: Answer, queue: str) -> None:
    site, result = visit(
        "", *PATHS, "//127.0.0.2/page", addresses=["127.0.0.1", "127.0.0.2"],
        answers={f"//127.0.0.1{path}": answer for path in PATHS}, SCHEDULER_PRIORITY_QUEUE=queue, **OBEY,
    )  # fmt: skip
    assert len(site.paths(site.origins[0])) == 1 + 3
    assert site.paths(site.origins[1]) == ["/robots.txt", "/page"]
    assert {failure.message for failure in result.failures} == {"Forbidden by the site (refused)"}
    assert [failure.reason for failure in result.failures] == ["refused"] * 3
    assert stats(result)["skipped_count"] == 3
    assert "robotstxt/forbidden" not in result.stats
    log = result.lines("INFO")
    assert any("0 requests forbidden" in line for line in log)
    assert any("Left out" in line and "3 requests of sites that refuse them (REP_REFUSED)" in line for line in log)
    (skipping,) = (line for line in result.lines("WARNING") if "refused 3 pages in a row, the last with" in line)
    assert skipping.endswith('; skipping its other pages in this run. REP_REFUSED = "report" requests them')
    lines = [line for line in result.lines("DEBUG", "scrapy_rep.crawl.gate") if line.startswith("Forbidden by")]
    assert [line.partition(": ")[0] for line in lines] == ["Forbidden by the site"] * 3


def test_a_good_answer_in_between_ends_the_row() -> None:
    answers = dict.fromkeys(("/0", "/1", "/3", "/4"), FORBIDDEN)
    site, result = visit("", *PATHS, answers=answers, **OBEY)
    assert requested(site) == PATHS
    assert "skipped_count" not in stats(result)


def test_one_page_that_is_refused_thrice_is_no_row() -> None:
    again = [{"url": "/0", "dont_filter": True} for _ in range(4)]
    site, _ = visit("", *again, "/1", answers={"/0": FORBIDDEN}, **OBEY)
    assert requested(site) == ["/0"] * 4 + ["/1"]


def test_a_site_that_asks_for_a_login_is_not_skipped() -> None:
    site, _ = visit("", *PATHS, answers={"*": LOGIN}, **OBEY)
    assert requested(site) == PATHS


def test_a_good_answer_to_an_earlier_request_ends_no_row() -> None:
    """It was under way when the first refusal came, and arrives between the second and the third."""
    with Site() as site:
        site.answer("/robots.txt", robots(""))
        site.answer("*", FORBIDDEN)
        site.answer("/slow", Answer(when=lambda: "/1" in site.paths()))
        slow, *others = [f"{site.origin}{path}" for path in ("/slow", "/0", "/1", "/2", "/3", "/4")]
        requests: list[str | dict[str, Any]] = [{"url": slow, "priority": 9}, *others]
        result = crawl(*requests, settings=OBEY | {"CONCURRENT_REQUESTS": 2, "CONCURRENT_REQUESTS_PER_DOMAIN": 2})
    assert stats(result)["skipped_count"] >= 1
    assert "/4" not in site.paths()


def test_requests_under_way_may_still_come_and_no_other_follows() -> None:
    paths = [f"/{number}" for number in range(40)]
    site, result = visit(
        "", *paths, answers={"*": PAID}, **OBEY | {"CONCURRENT_REQUESTS": 4, "CONCURRENT_REQUESTS_PER_DOMAIN": 4}
    )
    assert 3 <= len(requested(site)) <= 3 + 4
    assert stats(result)["skipped_count"] == 40 - len(requested(site))


@pytest.mark.parametrize("queue", ["scrapy_rep.RepPriorityQueue", SCRAPYS_QUEUE])
def test_a_request_that_waits_for_its_delay_is_skipped_too(queue: str) -> None:
    rules = "User-agent: *\nCrawl-delay: 0.2\n"
    settings = OBEY | {"CONCURRENT_REQUESTS": 8, "SCHEDULER_PRIORITY_QUEUE": queue}
    site, result = visit(rules, *PATHS, answers={"*": PAID}, **settings)
    assert len(requested(site)) == 3
    assert stats(result)["skipped_count"] == 3


@pytest.mark.parametrize("queue", ["scrapy_rep.RepPriorityQueue", SCRAPYS_QUEUE])
def test_what_is_skipped_waits_for_no_delay_and_is_accounted_for(queue: str, tmp_path: Path) -> None:
    settings = {**OBEY, "SCHEDULER_PRIORITY_QUEUE": queue, "REP_AUDIT": str(tmp_path / "audit")}
    paths = [f"/{number}" for number in range(40)]
    _, result = visit("User-agent: *\nCrawl-delay: 0.5\n", *paths, answers={"*": PAID}, **settings)
    assert stats(result)["skipped_count"] == 37
    assert result.seconds < 37 * 0.5 / 2
    events = map(json.loads, (tmp_path / "audit").read_text().splitlines())
    assert Counter(event.get("reason") for event in events if event["event"] == "decision") == {"refused": 37}


def test_what_a_pipeline_downloads_is_skipped_too(tmp_path: Path) -> None:
    with Site(["127.0.0.1", "127.0.0.2"]) as site:
        pages, files = site.origins
        site.answer("*", FORBIDDEN, files)
        settings = {
            **OBEY, "DOWNLOAD_DELAY": 0.1, "FILES_STORE": str(tmp_path),
            "ITEM_PIPELINES": {"scrapy.pipelines.files.FilesPipeline": 1},
        }  # fmt: skip
        attributes = {"files": [f"{files}/{number}" for number in range(8)]}
        result = crawl(f"{pages}/", settings=settings, spider=f"{__name__}:HasFiles", attributes=attributes)
        assert len(site.paths(files)) == 1 + 3
    assert stats(result)["skipped_count"] == 5


def test_a_request_that_does_not_obey_robots_txt_is_sent() -> None:
    exempt = [{"url": f"/exempt/{number}", "meta": {"dont_obey_robotstxt": True}} for number in range(2)]
    site, _ = visit("", *PATHS, *exempt, answers={"*": PAID}, **OBEY)
    assert {"/exempt/0", "/exempt/1"} <= {*requested(site)}
    assert len(requested(site)) <= 5


def test_a_request_without_a_target_that_does_not_obey_is_sent_after_a_site_is_skipped() -> None:
    with Site() as service:
        urls = [f"http://site.example/{number}" for number in range(4)]
        for url in urls:
            service.answer(api_url("", url), CASES["451"].answer)
        settings = {**OBEY, "REP_TARGET_URL": {"127.0.0.1": "url"}, "ROBOTSTXT_OBEY": False}
        own = f"{service.origin}/?url=no-url"
        result = crawl(
            *(api_url(service.origin, url) for url in urls), settings=settings,
            spider=f"{__name__}:AsksTheService", attributes={"service": own},
        )  # fmt: skip
    assert stats(result)["skipped_count"] == 1
    assert own in result.urls


@pytest.mark.parametrize(
    "settings", [{"ROBOTSTXT_OBEY": False}, {"REP_MODES": {"*": "ignore"}}], ids=["off", "ignore"]
)
def test_a_site_is_skipped_where_its_rules_are_not_asked(settings: dict[str, Any]) -> None:
    site, result = visit("", *PATHS, answers={"*": PAID}, **OBEY, **settings)
    assert len(requested(site)) == 3
    assert stats(result)["skipped_count"] == 3
    assert {failure.message for failure in result.failures} == {"Forbidden by the site (refused)"}


def test_the_next_run_asks_again(tmp_path: Path) -> None:
    settings = {**OBEY, "JOBDIR": str(tmp_path)}
    with Site() as site:
        site.answer("*", PAID)
        urls = [f"{site.origin}{path}" for path in PATHS]
        assert stats(crawl(*urls, settings=settings))["skipped_count"] == 3
        again = [{"url": url, "dont_filter": True} for url in urls]
        assert stats(crawl(*again, settings=settings))["skipped_count"] == 3
    assert requested(site) == [*PATHS[:3], *PATHS[:3]]


def test_refusals_are_kept_for_a_bounded_number_of_sites() -> None:
    addresses = [f"127.0.61.{number}" for number in range(1, 21)]
    urls = [f"//{address}/{number}" for number in range(2) for address in addresses]
    _, result = visit("", *urls, addresses=addresses, answers={"*": PAID}, REP_MEMORY_ENTRIES=5, **OBEY)
    assert stats(result)["response_count"] == 40


# Who speaks.


@pytest.mark.parametrize(("via", "name"), [key for key in CARRIED if key[0] == "proxy"])
def test_a_refusal_by_a_proxy_is_not_the_sites(via: str, name: str) -> None:
    case: Case = CARRIED[via, name]
    with Site() as proxy:
        proxy.answer("http://site.example/page", case.answer)
        proxy.answer("http://site.example/robots.txt", robots(""))
        request = {"url": "http://site.example/page", "meta": {"proxy": proxy.origin}}
        result = crawl(request, settings=ALL)
    assert [text((page.stamp or {})["refused"]) for page in result.pages] == [case.refused]
    assert stats(result).get("response_count", 0) == bool(case.refused)


@pytest.mark.parametrize(("via", "name"), [key for key in CARRIED if key[0] == "service"])
def test_a_refusal_by_a_scraping_api_is_not_the_sites(via: str, name: str) -> None:
    case = CARRIED[via, name]
    with Site() as service:
        service.answer(api_url("", "http://site.example/page"), case.answer)
        service.answer(api_url("", "http://site.example/robots.txt"), robots(""))
        settings = {
            **ALL, "REP_TARGET_URL": {"127.0.0.1": "url"},
            "REP_REQUEST_HOOK": "tests.crawl.target_spiders.through_api",
        }  # fmt: skip
        result = crawl(api_url(service.origin, "http://site.example/page"), settings=settings)
    assert [text((page.stamp or {})["refused"]) for page in result.pages] == [case.refused]


def test_a_replay_from_the_http_cache_refuses_nothing(tmp_path: Path) -> None:
    cache = {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": str(tmp_path)}
    with Site() as site:
        site.answer("*", PAID)
        found = [stats(crawl(f"{site.origin}/page", settings={**ALL, **cache})) for _ in range(2)]
    assert [each.get("response_count") for each in found] == [1, None]


# What is kept of it.


def test_the_audit_log_has_each_refusal(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    site, _ = visit(CHALLENGED, "//127.0.0.2/page", addresses=["127.0.0.1", "127.0.0.2"],
        answers={"//127.0.0.2/robots.txt": robots(""), "//127.0.0.2/page": PAID}, REP_AUDIT=str(path), **ALL,
    )  # fmt: skip
    (event,) = (line for line in map(json.loads, path.read_text().splitlines()) if line["event"] == "refused")
    assert {name: event[name] for name in ("url", "kind", "status", "who", "price")} == {
        "url": f"{site.origins[1]}/page", "kind": "payment", "status": 402, "who": "", "price": "USD 0.01",
    }  # fmt: skip


def test_a_stamp_of_an_earlier_version_can_be_read() -> None:
    request = Request("http://e.example", meta={"rep": {"v": 1, "mode": "obey", "verdict": "allowed"}})
    found = stamp(Response("http://e.example", request=request))
    assert found is not None
    assert found.refused is None


def test_a_page_that_is_retried_has_the_stamp_of_its_last_answer() -> None:
    answers = {"/page": sequence(CASES["cloudflare-503"].answer, Answer())}
    _, result = visit("", "/page", answers=answers, REP_STORE="memory", RETRY_TIMES=1, REP_BACKOFF=False)
    (page,) = result.pages
    assert (page.stamp or {})["refused"] is None
    assert stats(result)["kind_count/challenge"] == 1
