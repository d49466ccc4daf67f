"""`AiSignalsMiddleware`: AI signals of sites and pages, for the purposes of the crawl."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from scrapy.exceptions import NotConfigured
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware

from scrapy_rep.clock import clock
from scrapy_rep.crawl.policy.policy import Mode
from scrapy_rep.directives.ai import Elements, licenses_named, said_no, statements_of
from scrapy_rep.directives.page import fields_of
from scrapy_rep.directives.vocabulary import Permission, Purpose, Signal, Statement, answers, as_values
from scrapy_rep.extras.ai.signals import RESERVED
from scrapy_rep.extras.pages.reading import PageMiddleware, content_type_of, headers_of, is_successful
from scrapy_rep.signals import ai_signals

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_rep.directives import PageDirectives

logger = logging.getLogger(__name__)

_FIELDS: Final = (b"Content-Type", b"Content-Usage", b"Content-Signal", b"TDM-Reservation", b"Link")


class AiSignalsMiddleware(PageMiddleware, BaseSpiderMiddleware):
    """Spider middleware for AI signals; the add-on enables it, ``REP_PURPOSES`` turns it on.

    It adds the page's signals to those of robots.txt and other files, which were read when the request passed the
    gate. The answers are counted, stamped and sent as a signal. Unless ``REP_AI_SIGNALS`` is ``"report"``, items
    of a page that is reserved from a purpose of the crawl are dropped; its links are followed. Error pages are
    read without effect.
    """

    def __init__(self, crawler: Crawler) -> None:
        """Raises ``NotConfigured`` without ``REP_PURPOSES``."""
        super().__init__(crawler)
        if not self._settings.purposes:
            raise NotConfigured
        self._obeys = self._settings.ai_signals != "report"
        self._reserved: WeakKeyDictionary[Response, str] = WeakKeyDictionary()

    def read_page(self, response: Response, request: Request) -> None:
        stamp = self._extension.account.stamp(request)
        site = stamp["ai"] or {}
        said = self._said(response, request)
        statements, licenses = signals_of(response, said, statements_in(site), self._settings.ai_sources)
        values = stamp["ai"] = as_values(statements, licenses or site.get("licenses", ()))
        found = answers(statements)
        for purpose in self._settings.purposes:
            self.crawler.stats.inc_value(f"rep/ai/{purpose.value}/{found[purpose]}_count")
        reserved = reserved_from(self._settings.purposes, found, silence=self._settings.ai_unknown)
        self._events.reserved.send(request, response, values, bool(reserved))
        if statements:
            self.crawler.signals.send_catch_log(
                signal=ai_signals, response=response, answers=found, statements=statements
            )
        if not is_successful(response):
            by_site = answers(statements_in(site))
            reserved = reserved_from(self._settings.purposes, by_site, silence=Permission.UNKNOWN)
        if reserved and self._is_obeyed(request):
            self._reserved[response] = ", ".join(reserved)

    def _is_obeyed(self, request: Request) -> bool:
        """Whether to drop the items of *request*, whose page is reserved."""
        mode = self._extension.judge.mode(request) if self._obeys else Mode.REPORT
        return mode is not Mode.REPORT and (mode is None or not self._is_excepted(request))

    def _is_excepted(self, request: Request) -> bool:
        """Whether an exception covers *request* although its page is reserved from a purpose of the crawl."""
        extension = self._extension
        exception = extension.policy.exception(extension.targets.of(request), RESERVED, clock.time())
        if exception is not None and extension.account.stamp(request).get("exception") is None:
            extension.account.exceptions.count(exception)  # otherwise the gate has already counted it
        return exception is not None

    def get_processed_item(self, item: Any, response: Response | None) -> Any:
        """Return *item*, or None if its page is reserved from a purpose of the crawl and the crawl obeys."""
        reserved = self._reserved.get(response) if response is not None else None
        if response is None or reserved is None:
            return item
        self.crawler.stats.inc_value("rep/ai/item_dropped_count")
        self._report_dropped(logger, "item", response.url, f"its page is reserved from {reserved}")
        return None


def signals_of(
    response: Response, said: PageDirectives, site: Sequence[Statement], sources: Iterable[str] = ()
) -> tuple[list[Statement], Sequence[str]]:
    """The statements of *response*, with the directives *said*, and of its *site*; and the licenses it names.

    *sources* are the values of ``REP_AI_SOURCES``.
    """
    fields = fields_of(headers_of(response, _FIELDS))
    elements = Elements.of(response.body, content_type_of(response), response.url)
    licenses = licenses_named(fields, elements, response.url)
    by_page = statements_of(fields, said, elements, site, licenses=licenses)
    return [*by_page, *(one for name in sources if name in MEANINGS for one in MEANINGS[name](said))], licenses


def bing(page: PageDirectives) -> list[Statement]:
    """Return the statements of ``noarchive`` for Bing: no use of the page in answers or for training.

    ``nocache`` limits both to URL, title and snippet, which is no category and only recorded. Bing treats a page
    with both words as ``nocache``, the only case where an additional word permits more (Bing blog, 2023-09).
    """
    limited: list[Purpose | None] = [None] if "nocache" in page.marks else [Purpose.AI_INPUT, Purpose.AI_TRAIN]
    return said_no(Signal.BING, limited, page, lambda one: one.name in {"noarchive", "nocache"})


def google(page: PageDirectives) -> list[Statement]:
    """Return the statements of ``nosnippet`` and ``max-snippet:0`` for Google: no direct input to AI answers.

    "Robots meta tag", 2026-03-24: they also apply to AI Overviews and AI Mode.
    """
    none = {("nosnippet", None), ("max-snippet", 0)}
    return said_no(Signal.GOOGLE, [Purpose.AI_INPUT], page, lambda one: (one.name, one.value) in none)


MEANINGS: Final[dict[str, Callable[[PageDirectives], list[Statement]]]] = {"bing": bing, "google": google}
"""Readers of directives that one search engine interprets, by their names in ``REP_AI_SOURCES``."""


def reserved_from(
    purposes: Iterable[Purpose], found: Mapping[Purpose, Permission], *, silence: Permission
) -> list[Purpose]:
    """The *purposes* for which the answers *found* are no; *silence* is the meaning of unknown."""
    refusing = {Permission.NO, Permission.UNKNOWN} if silence is Permission.NO else {Permission.NO}
    return [purpose for purpose in purposes if found[purpose] in refusing]


def statements_in(values: Mapping[str, Any]) -> list[Statement]:
    """The statements in *values*, which `as_values` made for a stamp."""
    return [
        Statement(**{
            **one, "signal": Signal(one["signal"]), "category": one["category"] and Purpose(one["category"])
        })
        for one in values.get("statements", ())
    ]  # fmt: skip
