"""Downloader middlewares of projects: whatever they do behind the gate, its promises hold."""

from __future__ import annotations

from http import HTTPStatus
from time import sleep
from typing import Any

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.utils.asyncio import call_later
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred


class Slow:
    """Takes its time over each page, as one that fetches a token would."""

    seconds = 0.2

    async def process_request(self, request: Request) -> None:
        if self.concerns(request):
            over: Deferred[None] = Deferred()
            call_later(self.seconds, over.callback, None)
            await maybe_deferred_to_future(over)

    def concerns(self, request: Request) -> bool:
        return not request.meta.get("is_robotstxt_request")


class SlowForFirst(Slow):
    """Takes its time over the pages below ``/first``."""

    seconds = 0.5

    def concerns(self, request: Request) -> bool:
        return "/first" in request.url


class StandsStill:
    """Has the process stand still for a second, a moment after a response with status 503."""

    def process_response(self, request: Request, response: Response) -> Response:
        if response.status == HTTPStatus.SERVICE_UNAVAILABLE:
            call_later(0.05, sleep, 1.0)
        return response


class SeesText:
    """Counts the characters of each robots.txt."""

    def __init__(self, crawler: Crawler) -> None:
        self._stats = crawler.stats

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> SeesText:
        return cls(crawler)

    def process_response(self, request: Request, response: Response) -> Response:
        if "is_robotstxt_request" in request.meta:
            self._stats.inc_value("seen/robots", len(response.text))
        return response


class RotatesProxies:
    """Gives each request the next of the proxies of the spider, the last one for good."""

    def __init__(self, crawler: Crawler) -> None:
        self._proxies: list[str] = [*vars(crawler.spider)["proxies"]]

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> RotatesProxies:
        return cls(crawler)

    def process_request(self, request: Request) -> None:
        request.meta["proxy"] = self._proxies.pop(0) if len(self._proxies) > 1 else self._proxies[0]


class Replaces:
    """Makes each request anew, once, as one for a service that renders pages would."""

    def process_request(self, request: Request) -> Any:
        return None if "anew" in request.meta else request.replace(meta={**request.meta, "anew": True})


class ChoosesSlots:
    """Gives each page a download slot of its own choice, as one for proxies would."""

    def process_request(self, request: Request) -> None:
        request.meta.setdefault("download_slot", f"proxy-{request.url[-1]}")


class MovesToSlot:
    """Puts each page into the download slot of its proxy, whatever it was in."""

    def process_request(self, request: Request) -> None:
        if not request.meta.get("is_robotstxt_request"):
            request.meta["download_slot"] = "proxy"


class RotatesSlots:
    """Puts each page into the download slot of one of ten proxies, whatever it was in."""

    def process_request(self, request: Request) -> None:
        if not request.meta.get("is_robotstxt_request"):
            request.meta["download_slot"] = f"proxy-{request.url[-1]}"


class LimitsSize:
    """Gives every request a limit of its own to the size of its answer."""

    def process_request(self, request: Request) -> None:
        request.meta["download_maxsize"] = 100


class Renders:
    """Answers as one that has a browser render everything: by the page that shows the file, status and all."""

    def process_response(self, request: Request, response: Response) -> Response:
        shown = response.body.replace(b"&", b"&amp;").replace(b"<", b"&lt;").replace(b">", b"&gt;")
        page = b"<html><head></head><body><pre>" + shown + b"</pre></body></html>"
        return (
            response.replace(body=page) if b"text/plain" in (response.headers["Content-Type"] or b"") else response
        )


class Arrives:
    """Answers as a browser or an API that follows redirects: with the URL that the page came from."""

    def process_response(self, request: Request, response: Response) -> Response:
        final = response.headers.get("X-Final-Url")
        return response.replace(url=final.decode()) if final else response
