"""A robots.txt that is refused, while the pages are served: said once per origin, when a page was seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.crawl import Crawl, crawl
from tests.support.crawl_site import visit
from tests.support.site import Answer, Site

MEMORY: dict[str, Any] = {"REP_STORE": "memory"}
PAGES = [f"/{page}" for page in range(5)]


def refusal(result: Crawl) -> list[str]:
    return [line for line in result.lines("WARNING", "scrapy_rep") if "refuses its robots.txt" in line]


@pytest.mark.parametrize("status", [401, 402, 403])
def test_a_refused_robots_txt_is_warned_of_once_when_a_page_is_served(status: int) -> None:
    site, result = visit(Answer(status), *PAGES, **MEMORY)
    (warning,) = refusal(result)
    assert warning.startswith(
        f"{site.origin} refuses its robots.txt (HTTP status {status}) and serves its pages: "
    )
    assert "set REP_CLIENT_META or REP_REQUEST_HOOK" in warning
    assert f'REP_STATUS_ACCESS = {{{status}: "disallow"}}' in warning
    assert result.stats["rep/refused_count"] == 1
    assert any("0 stale copies used, 1 refused; 0 requests forbidden" in line for line in result.lines("INFO"))


def test_a_site_that_refuses_its_pages_as_well_is_not_warned_of() -> None:
    _, result = visit(Answer(403), *PAGES, answers={"*": Answer(403)}, **MEMORY)
    assert refusal(result) == []
    assert result.stats["rep/refused_count"] == 1


def test_a_refused_robots_txt_in_the_store_is_asked_for_again_and_warned_of(tmp_path: Path) -> None:
    with Site() as site:
        site.answer("/robots.txt", Answer(403))
        for _ in range(2):
            pages = [site.origin + page for page in PAGES]
            result = crawl(*pages, settings={"REP_STORE_PATH": str(tmp_path / "store")})
            assert len(refusal(result)) == result.stats["rep/refused_count"] == 1
    assert site.count("/robots.txt") == 2, "the client may be another one now"


@pytest.mark.parametrize("meaning", ["allow", "disallow"])
def test_a_status_whose_meaning_was_chosen_is_not_warned_of(meaning: str) -> None:
    assert refusal(visit(Answer(403), *PAGES, **MEMORY, REP_STATUS_ACCESS={403: meaning})[1]) == []


def test_a_missing_robots_txt_is_not_a_refused_one() -> None:
    _, result = visit(None, *PAGES, **MEMORY)
    assert refusal(result) == []
    assert "rep/refused_count" not in result.stats
