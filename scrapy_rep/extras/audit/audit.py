"""The events of the audit log, from start to end. ``docs/reference/audit.md`` lists them."""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime, timezone
from hashlib import sha256
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import scrapy
from scrapy import signals

from scrapy_rep import __version__
from scrapy_rep.clock import clock
from scrapy_rep.crawl.gate.extension import RepExtension
from scrapy_rep.crawl.policy.meta import stamp_by
from scrapy_rep.crawl.policy.policy import Outcome
from scrapy_rep.crawl.runtime.crawl import Crawl
from scrapy_rep.crawl.runtime.event_loop import in_thread
from scrapy_rep.crawl.runtime.log import describe
from scrapy_rep.crawl.runtime.product_tokens import tokens_of
from scrapy_rep.exceptions import AuditRequiredError, InvalidSettingError
from scrapy_rep.extras.audit.audit_log import VERSION, AuditLog
from scrapy_rep.protocol import Origin
from scrapy_rep.protocol.display import abridged, iso_time
from scrapy_rep.settings import RepSettings, logging_invalid_settings

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_rep.crawl.robots.robots import Robots
    from scrapy_rep.directives import PageDirectives
    from scrapy_rep.directives.refusals import Refusal
    from scrapy_rep.extras.backoff.site_backoff import Plea, SiteBackoff

logger = logging.getLogger(__name__)

CLOSE_REASON: Final = "rep_audit_failed"

_OF_STAMP: Final = (
    "agent", "mode", "verdict", "reason", "rule", "line", "origin", "sha256", "source", "exception",
)  # fmt: skip
"""The fields of a stamp that decisions share."""

_MAX_SUMS: Final = 1_000  # pairs of origin and rule, for requests or for links and items, in one event
_SUMS_EVERY: Final = 60.0  # seconds
_LONGEST_RULE: Final = 1_000  # characters; every line has the rule, and a hostile site may have rules of 16 kB

_MAX_STATEMENTS: Final = 20  # per page


class Audit:
    """Writes the events of one crawl to its audit log."""

    def __init__(self, crawl: Crawl) -> None:
        """Raises `InvalidSettingError` if ``REP_AUDIT`` cannot be used."""
        self._crawl, self._crawler = crawl, crawl.crawler
        self._settings = crawl.settings
        with logging_invalid_settings(logger):
            self.log = _open(crawl.settings, crawl.crawler)
        self._sums: Counter[tuple[str, str, str]] = Counter()
        self._dropped: Counter[tuple[str, str, str]] = Counter()
        self._totals: Counter[str] = Counter()
        self._summed_at = clock.monotonic()
        events = crawl.events
        events.loaded.subscribe(self._robots)
        events.decided.subscribe(self._decision)
        events.judged.subscribe(self._judged)
        events.page_read.subscribe(self._page)
        events.reserved.subscribe(self._ai)
        events.dropped.subscribe(self._drop)
        events.asked.subscribe(self._backoff)
        events.refused.subscribe(self._refused)
        # Not earlier: a crawl that fails at start-up never closes, and would keep the log's thread and lock.
        crawl.crawler.signals.connect(self._spider_opened, signal=signals.spider_opened)
        crawl.crawler.signals.connect(self._spider_closed, signal=signals.spider_closed)

    async def _robots(self, robots: Robots, *_: object) -> None:
        entry, stamp = robots.entry, stamp_by(robots)
        self._add(
            "robots", origin=str(entry.origin), asked=entry.origin.robots_url,
            url=_without_password(entry.url), hops=[_without_password(hop) for hop in entry.hops],
            status=entry.status, access=robots.access.value,
            sha256=stamp["sha256"], bytes=len(entry.body), fetched=stamp["fetched"],
            expires=iso_time(robots.until), source=stamp["source"],
            error=describe(robots.error) if robots.error else None,
        )  # fmt: skip
        if stamp["sha256"]:
            self.log.add_body(stamp["sha256"], entry.body)

    def _decision(self, request: Request, stamp: Mapping[str, Any]) -> None:
        """Record the decision on *request*; sum up ordinary decisions unless ``REP_AUDIT_ALL`` is set.

        Raises `AuditRequiredError` if the log cannot be written although ``REP_AUDIT_REQUIRED`` is set.
        """
        if self.log.error is not None and self._settings.audit_required:
            self._crawl.engine.close_spider(CLOSE_REASON)
            raise AuditRequiredError(f"the audit log {self.log.path} cannot be written")
        verdict, by = stamp["verdict"], abridged(stamp["rule"] or stamp["reason"] or "", _LONGEST_RULE)
        self._totals[verdict] += 1
        self._sums[stamp["origin"] or "", verdict, by] += 1
        is_plain = verdict in {Outcome.ALLOWED, Outcome.OFF} and stamp["source"] != "stale"
        if not is_plain or self._settings.audit_all:
            self._add_decision("decision", request, stamp)
        if len(self._sums) >= _MAX_SUMS or clock.monotonic() >= self._summed_at + _SUMS_EVERY:
            self._write_sums()

    def _judged(self, name: str, request: Request, stamp: Mapping[str, Any], final: str) -> None:
        """Record the verdict on the response to *request*, or on a browser's request, unless plainly allowed.

        *final* is the URL that the response came from.
        """
        if stamp["verdict"] != Outcome.ALLOWED or self._settings.audit_all:
            more = {"final": _without_password(final)} if final else {}
            self._add_decision(name, request, stamp, **more)

    def _page(self, request: Request, response: Response, said: PageDirectives) -> None:
        """Record the page directives of *response* if they restrict the crawler."""
        if said.noindex or said.nofollow or self._settings.audit_all:
            statements = [
                {"text": abridged(one.text, _LONGEST_RULE), "source": one.source.value, "agent": one.agent}
                for one in said.statements[:_MAX_STATEMENTS]
            ]
            url, status = self._url(request), response.status
            self._add("page", url=url, status=status, directives=said.words, said=statements)

    def _ai(self, request: Request, response: Response, values: Mapping[str, Any], is_reserved: bool) -> None:
        """Record the AI signals for *response* if they reserve a purpose of the crawl."""
        if is_reserved or self._settings.audit_all:
            about = {"reserved": is_reserved, "purposes": list(self._settings.purposes), **values}
            self._add("ai", url=self._url(request), status=response.status, **about)

    def _drop(self, what: str, url: str, why: str) -> None:
        """Count a dropped link to *url*, or a dropped item of it; *what* is ``link`` or ``item``."""
        self._dropped[what, str(Origin.find(url) or ""), abridged(why, _LONGEST_RULE)] += 1
        if len(self._dropped) >= _MAX_SUMS:
            self._write_sums()

    def _backoff(self, request: Request, plea: Plea, backoff: SiteBackoff) -> None:
        """Record that the download slot of *request* backs off for *plea*."""
        self._add(
            "backoff", slot=self._crawl.download_slots.key(request), url=self._url(request),
            reason=plea.reason, why=plea.why, seconds=round(backoff.seconds_left(), 3),
            asked=None if plea.seconds is None else round(plea.seconds, 3),
        )  # fmt: skip

    def _refused(self, request: Request, refusal: Refusal) -> None:
        """Record that the site refused *request*, which robots.txt allows or which fetches it."""
        self._add("refused", url=self._url(request), **asdict(refusal))

    def _add_decision(self, event: str, request: Request, stamp: Mapping[str, Any], **more: Any) -> None:
        referer = (request.headers.get(b"Referer") or b"").decode("latin-1")
        said = {name: stamp[name] for name in _OF_STAMP}
        said["rule"] = abridged(stamp["rule"] or "", _LONGEST_RULE) or None
        self._add(
            event, url=self._url(request), via=self._crawl.targets.via(request), method=request.method, **said,
            referer=_without_password(self._crawl.targets.shown(referer)) or None, **more,
        )  # fmt: skip

    def _url(self, request: Request) -> str:
        return _without_password(self._crawl.targets.url(request))

    def _add(self, event: str, **fields: Any) -> None:
        self.log.add(event, time=iso_time(clock.time()), **fields)

    def _write_sums(self) -> None:
        if self._sums or self._dropped:
            counts = [
                {"origin": origin, "verdict": verdict, "rule": rule, "count": count}
                for (origin, verdict, rule), count in sorted(self._sums.items())
            ]
            dropped = [
                {"what": what, "origin": origin, "why": why, "count": count}
                for (what, origin, why), count in sorted(self._dropped.items())
            ]
            self._add("sums", counts=counts, dropped=dropped)
        self._sums.clear()
        self._dropped.clear()
        self._summed_at = clock.monotonic()

    def _spider_opened(self) -> None:
        crawler, settings = self._crawler, self._settings
        # Not available earlier: the extension creates this log in its own constructor.
        self._extension = cast("RepExtension", crawler.get_extension(RepExtension))
        policy = self._extension.policy
        owners = {
            "modes": dict(settings.modes),
            "exceptions": [exception.as_dict() for exception in policy.exceptions.all],
        }
        self.log.add(
            "start", v=VERSION, run=uuid4().hex, time=iso_time(clock.time()),
            project=crawler.settings.get("BOT_NAME"), spider=crawler.spider.name if crawler.spider else None,
            scrapy_rep=__version__, scrapy=scrapy.__version__, mode=policy.default.value,
            agents=list(tokens_of(crawler.settings)), user_agent=crawler.settings.get("USER_AGENT"),
            **owners, policy_sha256=sha256(dumps(owners, sort_keys=True).encode()).hexdigest(),
            dialect=settings.dialect.name,
        )  # fmt: skip

    async def _spider_closed(self, reason: str) -> None:
        self._write_sums()
        unused = [exception.as_dict() for exception in self._extension.account.exceptions.unused()]
        self._add("end", reason=reason, counts=dict(self._totals), unused=unused)
        await in_thread(self.log.close)


def _without_password(url: str) -> str:
    """*url* without user and password; empty for a Referer that is not a URL."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], *parts[2:])) if "@" in parts.netloc else url


def _open(settings: RepSettings, crawler: Crawler) -> AuditLog:
    """Open the log of *settings*. Raises `InvalidSettingError`."""
    if not settings.audit:
        raise InvalidSettingError(
            "REP_AUDIT_REQUIRED is set without REP_AUDIT: write the path of the audit log there"
        )
    path, bodies = _path(settings.audit, crawler), settings.audit_bodies
    try:
        return AuditLog(path, Path(bodies) if bodies else None)
    except (OSError, ValueError) as error:  # a ValueError for a path that contains NUL
        names = f"REP_AUDIT = {settings.audit!r}" + (f" with REP_AUDIT_BODIES = {bodies!r}" if bodies else "")
        raise InvalidSettingError(f"{names}: it cannot be written ({error}): write another path") from None


def _path(template: str, crawler: Crawler) -> Path:
    """Fill in the path *template*. Raises `InvalidSettingError` for an unknown placeholder."""
    now = datetime.now(timezone.utc).replace(microsecond=0, tzinfo=None).isoformat().replace(":", "-")
    values = {"name": crawler.spider.name if crawler.spider else "", "time": now, "pid": os.getpid()}
    try:
        return Path(template % values)
    except (KeyError, ValueError, TypeError) as error:
        raise InvalidSettingError(
            f"REP_AUDIT = {template!r}: {error}; it takes %(name)s, %(time)s, %(pid)s, and %% for %"
        ) from None
