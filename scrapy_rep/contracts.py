"""Contracts for ``scrapy check`` that assert what robots.txt says about the page a callback is checked with.

They are ``@robots_allows``, ``@robots_disallows``, ``@crawl_delay`` and ``@sitemaps``. Their hooks are synchronous
and cannot fetch: they set the meta key ``rep_fetch`` on the sample request, which makes the gate fetch robots.txt.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar, Final
from urllib.parse import urljoin

from scrapy.contracts import Contract
from scrapy.exceptions import ContractFail

from scrapy_rep.crawl.gate.extension import RepExtension
from scrapy_rep.crawl.pacing.requested_delays import RequestedDelay, requested_delay
from scrapy_rep.crawl.runtime.log import describe
from scrapy_rep.crawl.sitemaps.requests import sitemaps_of
from scrapy_rep.protocol import Access, Kind, Origin, parse
from scrapy_rep.protocol.display import number_of, shown
from scrapy_rep.tools.answers import on_line, why

if TYPE_CHECKING:
    from scrapy.http import Response

    from scrapy_rep.crawl.robots.robots import Robots

_NOT_FETCHED: Final = (
    "robots.txt of {origin} was not fetched: enable scrapy_rep.Addon in ADDONS,"
    " and put @meta lines above this contract"
)


@dataclass(frozen=True, slots=True)
class Sample:
    """The ``url`` of the sample response, its ``robots``, and the product ``tokens`` of the request."""

    url: str
    robots: Robots
    tokens: Sequence[str]


class RobotsContract(Contract):
    """Base class: asserts something about the robots.txt of the origin that answered the sample request."""

    expected: ClassVar[str]
    """What the arguments must be, for messages."""

    def __init__(self, method: Callable[..., Any], *args: str) -> None:
        """Raises ``ValueError`` for arguments that the contract does not accept."""
        super().__init__(method, *filter(None, args))
        self._crawler = method.__self__.crawler  # type: ignore[attr-defined]
        try:
            self.parse(self.args)
        except ValueError as error:
            raise ValueError(f"@{' '.join((self.name, *self.args))}: expected {self.expected}") from error

    def parse(self, args: tuple[str, ...]) -> None:
        """Check the arguments, paths or URLs. Raises ``ValueError`` for those that are not accepted."""
        if not args:
            raise ValueError
        for url in args:  # invalid whatever page it is relative to
            Origin.from_url(urljoin("https://example.com/", url))

    def adjust_request_args(self, args: dict[str, Any]) -> dict[str, Any]:
        """Make the gate fetch robots.txt even if it is not obeyed."""
        return {**args, "meta": {**(args.get("meta") or {}), "rep_fetch": True}}

    def pre_process(self, response: Response) -> None:
        """Raises ``ContractFail`` if robots.txt says something else, or could not be fetched."""
        origin = Origin.from_url(response.url)
        extension = self._crawler.get_extension(RepExtension)
        robots = extension and extension.registry.current(response.url)
        if robots is None:
            raise ContractFail(_NOT_FETCHED.format(origin=origin))
        if robots.access is Access.UNREACHABLE:
            raise ContractFail(f"robots.txt of {origin} is unreachable: {describe(robots.error)}")
        assert response.request is not None  # noqa: S101  # Scrapy sets it
        tokens = extension.product_tokens.of(response.request)
        problem = self.problem(Sample(response.url, robots, tokens))
        if problem:
            raise ContractFail(f"robots.txt of {origin} {shown(problem)} (as {', '.join(tokens) or '*'})")

    def problem(self, sample: Sample) -> str | None:
        """Return what robots.txt says instead of what the contract asserts, or None if the contract holds."""
        raise NotImplementedError


class _VerdictContract(RobotsContract):
    expected = "paths or URLs of the origin in @url"
    allowed: ClassVar[bool]

    def problem(self, sample: Sample) -> str | None:
        for path in self.args:
            url = urljoin(sample.url, path)
            if Origin.from_url(url) != sample.robots.entry.origin:
                return f"does not apply to {url}: expected {self.expected}"
            verdict = sample.robots.verdict(sample.tokens, url)
            if verdict.allowed is not self.allowed:
                return f"{'allows' if verdict.allowed else 'disallows'} {path}: {why(verdict)}"
        return None


class RobotsAllowsContract(_VerdictContract):
    """``@robots_allows PATH…``: the spider may request every path."""

    name = "robots_allows"
    allowed = True


class RobotsDisallowsContract(_VerdictContract):
    """``@robots_disallows PATH…``: the spider may request none of the paths."""

    name = "robots_disallows"
    allowed = False


class CrawlDelayContract(RobotsContract):
    """``@crawl_delay SECONDS``: robots.txt asks the spider for this Crawl-delay; 0 for none."""

    name = "crawl_delay"
    expected = "one number of seconds, 0 for no Crawl-delay"

    def parse(self, args: tuple[str, ...]) -> None:
        (seconds,) = args
        self._seconds = float(seconds)
        if not 0 <= self._seconds < inf:
            raise ValueError

    def problem(self, sample: Sample) -> str | None:
        delay = requested_delay(sample.robots.parser, sample.tokens) or RequestedDelay(0.0)
        if delay.seconds == self._seconds:
            return None
        return f"asks for a Crawl-delay of {delay.seconds:g} s{on_line(delay.line)}, not {self._seconds:g} s"


class SitemapsContract(RobotsContract):
    """``@sitemaps N`` or ``@sitemaps URL…``: robots.txt names N sitemaps, or exactly these."""

    name = "sitemaps"
    expected = "a number of sitemaps, or their URLs"

    def parse(self, args: tuple[str, ...]) -> None:
        super().parse(args)
        if args[0].startswith("-"):
            raise ValueError

    def problem(self, sample: Sample) -> str | None:
        urls = sitemaps_of(sample.robots).urls
        if len(self.args) == 1 and self.args[0].isdecimal():
            matches = len(urls) == int(self.args[0])
        else:
            matches = set(urls) == {urljoin(sample.url, sitemap) for sitemap in self.args}
        if matches:
            return None
        # The lines, whose numbers not every parser back-end knows.
        records = parse(sample.robots.entry.body, limit=None).records
        lines = [f"{record.text}{on_line(record.line)}" for record in records if record.kind is Kind.SITEMAP]
        where = f" ({', '.join(lines)})" if lines else ""
        return f"names {number_of(len(urls), 'sitemap', 'sitemaps')}{where}, not {' '.join(self.args)}"


CONTRACTS: Final = (RobotsAllowsContract, RobotsDisallowsContract, CrawlDelayContract, SitemapsContract)
