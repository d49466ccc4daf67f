"""Every HTTP status from 200 to 599, each from an origin of its own, in real crawls."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.crawl import DOWNLOAD_HANDLERS, Crawl, crawl, loop_params
from tests.support.site import Answer, Site

RULES = b"User-agent: *\nDisallow: /page\n"
WITHOUT_BODY = {204, 205, 304}
STATUSES = range(200, 600)


def address(status: int) -> str:
    return f"127.0.{status // 100}.{status % 100 + 1}"


@pytest.fixture(scope="module", params=loop_params(DOWNLOAD_HANDLERS))
def outcomes(request: pytest.FixtureRequest) -> Iterator[dict[int, str]]:
    with Site([address(status) for status in STATUSES]) as site:
        origins = dict(zip(STATUSES, site.origins))
        for status, origin in origins.items():
            site.answer("/robots.txt", Answer(status, b"" if status in WITHOUT_BODY else RULES), origin)
        result = crawl(
            *({"url": f"{origin}/page", "meta": {"tag": status}} for status, origin in origins.items()),
            settings={"REP_RETRY_TIMES": 0},
            loop=request.param,
        )
        assert result.tracebacks == []
        yield by_status(result)


def by_status(result: Crawl) -> dict[int, str]:
    allowed = {page.tag: "allowed" for page in result.pages}
    return {**allowed, **{failure.tag: str(failure.reason) for failure in result.failures}}


def expected(status: int) -> str:
    if status < 300:
        return "allowed" if status in WITHOUT_BODY else "rule"
    if status == 429 or status >= 500:
        return "unreachable"
    return "allowed"


def test_rfc_2_3_1_every_status_has_the_access_that_it_stands_for(outcomes: dict[int, str]) -> None:
    assert {status: outcomes.get(status) for status in STATUSES} == {
        status: expected(status) for status in STATUSES
    }
