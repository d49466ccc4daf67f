"""What the files of an origin say besides rules: its sitemaps, and what AI may use its pages for.

The former are Sitemap lines, https://www.sitemaps.org/protocol.html, "Specifying the Sitemap location in your
robots.txt file". The latter is said in robots.txt, tdmrep.json, ai.txt and licenses.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urldefrag, urljoin, urlsplit
from weakref import WeakKeyDictionary

from scrapy.http import TextResponse
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.httpobj import urlparse_cached
from w3lib.url import safe_url_string

from scrapy_rep.crawl.policy.policy import forbidden_for
from scrapy_rep.directives.ai import AI_TXT, TDMREP, read_ai_txt
from scrapy_rep.directives.rsl import said_by_licenses
from scrapy_rep.directives.sitemap import MOST_OCTETS
from scrapy_rep.directives.vocabulary import Statement, as_values, first_refusal
from scrapy_rep.protocol import SCHEMES, Access, Reason

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.http import Response

    from scrapy_rep.crawl.policy.policy import Decision, Policy
    from scrapy_rep.crawl.robots.robots import Robots
    from scrapy_rep.protocol import Origin, RobotsTxt
    from scrapy_rep.settings import RepSettings


@dataclass(frozen=True, slots=True)
class Sitemaps:
    """The ``urls`` of Sitemap lines, each once and in order; ``unusable`` are the values of the other lines."""

    urls: tuple[str, ...] = ()
    unusable: tuple[str, ...] = ()


_NONE: Final = Sitemaps()
# An absolute URL in which there is nothing to resolve or to escape, as in nearly every line.
_PLAIN: Final = re.compile(r"https?://[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::\d+)?/[\w./~-]*(?:\?[\w./?=&~-]+)?", re.ASCII)
# RFC 3986 sections 3.2.2 and 3.2.3, without the user information of section 3.2.1.
_HOST_AND_PORT: Final = re.compile(r"[\w.~%!$&'()*+,;=:\[\]-]*", re.ASCII)


def sitemaps_of(robots: Robots) -> Sitemaps:
    """The sitemaps of an origin, with any parser back-end; none unless its access is *successful*.

    A relative line is resolved against the origin, not against the URL that redirects led to.
    """
    values = robots.robotstxt.sitemaps if robots.access is Access.SUCCESSFUL else ()
    if not values:
        return _NONE
    origin = robots.entry.origin
    urls = {value: _absolute(value, origin) for value in values}
    return Sitemaps(
        tuple(dict.fromkeys(url for url in urls.values() if url)),
        tuple(value for value, url in urls.items() if not url),
    )


SITEMAP_REST: Final = "rep_sitemap_rest"
"""Meta key of a request for what is left of a sitemap: how many of its requests were made already."""

SITEMAP_CHAIN: Final = "rep_sitemap_chain"
"""Meta key: the URLs of the sitemap that led to a request, and of those that led there.

A page that has it is on another origin than the sitemap: the robots.txt of that origin must name one of them.
"""

_MOST_OCTETS: Final = 2 * MOST_OCTETS  # of a sitemap that are received: more than those that are read


def sitemap_rest(request: Request) -> str:
    """The key in `RepExtension.sitemaps_begun` of the rest of a sitemap that *request* may stand for."""
    return f"{request.meta.get(SITEMAP_REST)} {request.url}"


def is_for_sitemap(request: Request, spider: Spider | None) -> bool:
    """Whether *request* gets a sitemap, or a robots.txt, for *spider*, a `SitemapSpider`.

    Scrapy has no public name for the callback. No other one receives a robots.txt or a sitemap.
    """
    callback: Any = request.callback
    is_of_spider = spider is not None and getattr(callback, "__self__", None) is spider
    return is_of_spider and callback.__name__ == "_parse_sitemap"


def ask_for_packed(request: Request) -> None:
    """Make *request*, for a sitemap, ask for gzip, which the reader unpacks as it reads, and bound its answer."""
    request.headers.setdefault("Accept-Encoding", "gzip")
    request.meta.setdefault("download_maxsize", _MOST_OCTETS)


class CrossSubmits:
    """Which pages of other origins a sitemap may list: those whose robots.txt names it.

    https://www.sitemaps.org/protocol.html, "Sitemaps & Cross Submits".
    """

    def __init__(self) -> None:
        self._named: WeakKeyDictionary[RobotsTxt, array[int]] = WeakKeyDictionary()  # hashes of URLs

    def allow(self, request: Request, robots: Robots) -> bool:
        """Whether *robots*, which applies to *request*, names a sitemap that led to it."""
        named = self._named.get(robots.robotstxt)
        if named is None:
            hashes = sorted(map(hash, sitemaps_of(robots).urls))
            named = self._named[robots.robotstxt] = array("q", hashes)  # a file may name 20,000
        places = ((bisect_left(named, hash(url)), hash(url)) for url in request.meta[SITEMAP_CHAIN])
        return any(at < len(named) and named[at] == wanted for at, wanted in places)


def is_for_robots_txt(request: Request) -> bool:
    """Whether *request* is for the robots.txt of an origin, as those of a sitemap spider are."""
    url = urlparse_cached(request)
    return url.path == "/robots.txt" and url.scheme in SCHEMES and not url.query and request.method == "GET"


def sitemap_lines(request: Request, robots: Robots) -> Response:
    """The answer to a sitemap spider's *request* for a robots.txt: its Sitemap lines, absolute, each once.

    An unavailable robots.txt becomes a 404 whatever its status was: Scrapy would retry or follow other statuses.
    """
    lines = "".join(f"Sitemap: {url}\n" for url in sitemaps_of(robots).urls)
    status = 200 if robots.access is Access.SUCCESSFUL else 404
    return TextResponse(request.url, status=status, body=lines.encode(), encoding="utf-8", flags=["scrapy_rep"])


def _absolute(value: str, origin: Origin) -> str | None:
    """The absolute URL of a Sitemap line of *origin*, without its fragment; None if it is unusable."""
    base = origin.robots_url
    url = value if _PLAIN.fullmatch(value) else _resolved(value, base)
    return url if url is not None and url != base and origin.may_lead_to(url) else None


def _resolved(value: str, base: str) -> str | None:
    """The URL of *value* at *base*, escaped; None if it is none.

    Nor is it one with a password: a public sitemap needs none, and Scrapy's download handlers fail on it. Escaping
    leaves the host as it is, so a host with a space or a control character is none either.
    """
    try:
        spelt = safe_url_string(value.encode("utf-8", "surrogateescape"))
        url = urldefrag(urljoin(base, spelt)).url
        return url if _HOST_AND_PORT.fullmatch(urlsplit(url).netloc) else None
    except ValueError:
        return None


def said_by_files(robots: Robots, token: str, url: str, licenses: Sequence[str]) -> list[Statement]:
    """What the files of the origin besides robots.txt, and the *licenses* in that, say to *token* about *url*."""
    reservations, ai_txt = robots.said_in(TDMREP), robots.said_in(AI_TXT)
    said = reservations.about(url).statements() if reservations is not None else []
    said += read_ai_txt(ai_txt, token, url) if ai_txt is not None else []
    if licenses:
        read = {each: found for each in licenses if (found := robots.said_in(each)) is not None}
        said += said_by_licenses(licenses, read, url)
    return said


class AiSignals:
    """What sites say about the declared purposes of one crawl (``REP_PURPOSES``)."""

    def __init__(self, settings: RepSettings) -> None:
        self._purposes = settings.purposes
        self._choice = settings.ai_signals

    @property
    def refuses_pages(self) -> bool:
        """Whether a page that robots.txt reserves is not requested."""
        return self._choice == "refuse"

    def refuses(self, request: Request, spider: Spider | None) -> bool:
        """Whether *request* is not made if robots.txt reserves its URL.

        The signals are about the use of pages, not about requests (draft-ietf-aipref-attach-05, section 3.1). So
        with ``obey`` a request passes whose callback makes links and items: the spider middleware drops the items.
        It does not see the files that pipelines download, by no callback. A sitemap is no page.
        """
        if self.refuses_pages:
            return not is_for_sitemap(request, spider)
        return self._choice == "obey" and request.callback is NO_CALLBACK

    def apply(self, decision: Decision, policy: Policy, robots: Robots, token: str, url: str) -> Decision:
        """*decision* on a request for *url*, or what *policy* makes of it because *robots* reserves that page."""
        if not decision.is_asked or not decision.verdict.allowed:
            return decision
        refusal = first_refusal(robots.signals(token).statements(url), self._purposes)
        if refusal is None:
            return decision
        refused = policy.decide(url, decision.mode, forbidden_for(Reason.AI_SIGNAL))
        return refused._replace(line=refusal.line)

    def values(self, robots: Robots, token: str, url: str) -> dict[str, Any]:
        """What *robots* says to *token* about *url*, which it allows, as the part of a stamp."""
        signals = robots.signals(token)
        said = [*signals.statements(url), *said_by_files(robots, token, url, signals.licenses)]
        return as_values(said, signals.licenses)
