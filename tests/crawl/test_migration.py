"""Three spiders whose obeying was switched off obey again, with two exceptions: `docs/howto/obey-again.md`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.crawl.test_audit import events
from tests.support.crawl import Crawl, crawl
from tests.support.exceptions import exception
from tests.support.site import Answer, Site, hang, robots

HTML = Answer(body=b"<!DOCTYPE html><html><h1>Oops</h1></html>", headers=[("Content-Type", "text/html")])
STORES = {"cinemas": "/stores/", "pharmacies": "/stores/", "bakeries": "/api/stores/"}
PATIENT = {"REP_TIMEOUT": 0.5, "REP_RETRY_TIMES": 0}


@pytest.fixture
def site() -> Iterator[Site]:
    with Site([f"127.0.0.{number}" for number in range(1, 4)]) as site:
        cinemas, pharmacies, bakeries = site.origins
        site.answer("/robots.txt", HTML, cinemas)
        site.answer("/robots.txt", hang(), pharmacies)
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /api/\nDisallow: /staff\n"), bakeries)
        yield site


def run(site: Site, folder: Path, **settings: Any) -> dict[str, tuple[Crawl, Path]]:
    """One crawl per spider: its three stores, and its audit log."""
    found = {}
    for (name, path), origin in zip(STORES.items(), site.origins, strict=True):
        log = folder / f"{name}.jsonl"
        urls = [f"{origin}{path}{number}" for number in range(3)]
        found[name] = (crawl(*urls, settings={**PATIENT, **settings, "REP_AUDIT": str(log)}), log)
    return found


def test_the_reports_tell_a_failed_fetch_from_a_real_rule(site: Site, tmp_path: Path) -> None:
    crawls = run(site, tmp_path, REP_MODES={"*": "report"}, ROBOTSTXT_OBEY=False)
    assert {name: len(result.pages) for name, (result, _) in crawls.items()} == dict.fromkeys(STORES, 3)
    reported = {name: result.stats.get("rep/reported_count", 0) for name, (result, _) in crawls.items()}
    assert reported == {"cinemas": 0, "pharmacies": 3, "bakeries": 3}
    reasons = {
        name: {(event["reason"], event["rule"]) for event in events(log, "decision")}
        for name, (_, log) in crawls.items()
    }
    assert reasons == {
        "cinemas": set(), "pharmacies": {("unreachable", None)}, "bakeries": {("rule", "Disallow: /api/")},
    }  # fmt: skip


def test_with_two_exceptions_all_three_obey_and_the_log_says_against_whose_rule(
    site: Site, tmp_path: Path
) -> None:
    _, pharmacies, bakeries = site.origins
    exceptions = [
        exception(f"{pharmacies}/stores/*", reason="mail of their IT", **{"for": ["unreachable"]}),
        exception(f"{bakeries}/api/*", reason="ticket 4711", rule="Disallow: /api/"),
    ]
    crawls = run(site, tmp_path, REP_EXCEPTIONS=exceptions)
    staff = crawl(f"{bakeries}/staff", settings={"REP_EXCEPTIONS": exceptions})
    assert {name: len(result.pages) for name, (result, _) in crawls.items()} == dict.fromkeys(STORES, 3)
    assert [failure.rule for failure in staff.failures] == ["Disallow: /staff"]
    told = {
        name: {
            (event["verdict"], event["rule"], event["exception"]["reason"]) for event in events(log, "decision")
        }
        for name, (_, log) in crawls.items()
    }
    assert told == {
        "cinemas": set(),
        "pharmacies": {("excepted", None, "mail of their IT")},
        "bakeries": {("excepted", "Disallow: /api/", "ticket 4711")},
    }
