"""Spiders and callables for crawls through rendering services and scraping APIs."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

from scrapy import Request

from tests.support.run_crawl import Recorder

KEY = "s3cret-key"
"""The key of a customer of the API: no output of ours may show it."""


def api_url(api: str, target: str) -> str:
    """The URL that asks the *api* for *target*."""
    return f"{api}/?api_key={KEY}&url={quote(target, safe='')}"


def target_in_path(request: Request) -> str | None:
    """For an API that takes the URL in its path; no other request goes to such a path."""
    prefix, _, target = urlsplit(request.url).path.partition("/fetch/")
    return target if not prefix and target else None


def target_or_error(request: Request) -> str | None:
    return parse_qs(urlsplit(request.url).query)["missing"][0]


class Stamps(Recorder):
    """Tags each page with the stamp, the download slot and the flags of its response."""

    name = "stamps"

    def page(self, response: Any) -> Any:
        slot, stamp = response.meta.get("download_slot"), response.meta.get("rep")
        response.meta["tag"] = {"stamp": stamp, "slot": slot, "flags": response.flags}
        super().page(response)


class Follows(Stamps):
    """Follows one link of its first page, as a spider that crawls through an API does."""

    name = "follows"
    link = ""

    def page(self, response: Any) -> Any:
        super().page(response)
        if len(self.facts["pages"]) == 1:
            yield Request(self.link, self.page, errback=self.failure)


def through_api(robots_request: Request, cause: Request) -> Request:
    """A ``REP_REQUEST_HOOK`` that sends robots.txt through the API of *cause*."""
    parts = urlsplit(cause.url)
    return robots_request.replace(url=api_url(f"{parts.scheme}://{parts.netloc}", robots_request.url))
