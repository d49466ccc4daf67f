"""Which exception applies to a request, found by the rule engine itself, and what a crawl says of them all."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Final
from unicodedata import normalize
from urllib.parse import unquote_to_bytes

from scrapy_rep.clock import clock
from scrapy_rep.policy.policy_exception import PolicyException
from scrapy_rep.protocol import Origin, Reason, RobotsTxt, Verdict, parse
from scrapy_rep.protocol.display import number_of, shown
from scrapy_rep.runtime.crawl import Crawl
from scrapy_rep.runtime.log import Line

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

_SOON: Final = 14  # days before an exception expires, from which on each crawl says so
_NAMED: Final = 10  # exceptions in the summary

_MOST_DECODINGS: Final = 8  # of one path; what is encoded more often is no path that anybody meant
_ESCAPED_BY_IIS: Final = re.compile(r"%u([0-9a-f]{4})", re.IGNORECASE)
_OVERLONG: Final = re.compile(rb"(?:\xc0|\xc1|\xe0[\x80\x81]|\xf0\x80[\x80\x81])[^/\\]", re.DOTALL)
_SEPARATOR: Final = re.compile(r"[/\\\u2044\u2215\u2216]")
_STEP_UP: Final = re.compile(r"(?!\.{3,}$)[^\w.~-]*\.(?:[^\w.~-]*\.)+(?:[^\w.~-]|$)")
"""A segment of dots, and of what a server may ignore or end a name at: ``..;x``, ``.. ``, ``..`` and a NUL."""


def _leads_elsewhere(url: str) -> bool:
    """Whether a server could read ``..`` in *url*, and so serve another path than the one that a pattern covers.

    Servers decode a path once or more often, some also octets that are no UTF-8.
    """
    path = re.split("[?#]", url, maxsplit=1)[0]
    for _ in range(_MOST_DECODINGS):
        encoded, path = path, _decoded(path)
        if path == encoded:
            return any(map(_STEP_UP.match, _SEPARATOR.split(path)))
    return True


def _decoded(path: str) -> str:
    text = _ESCAPED_BY_IIS.sub(lambda found: chr(int(found[1], 16)), path)
    octets = _OVERLONG.sub(_shortened, unquote_to_bytes(text.encode("utf-8", "replace")))
    return normalize("NFKC", octets.decode("utf-8", "replace"))


def _shortened(overlong: re.Match[bytes]) -> bytes:
    """The ASCII character that is spelt with more octets than UTF-8 takes for it."""
    *_, lead, last = overlong[0]
    return bytes([(lead & 1) << 6 | last & 0x3F])


@dataclass(frozen=True, slots=True)
class _Covered:
    """What some exceptions of one origin cover; ``rules`` is a robots.txt that disallows it."""

    rules: RobotsTxt
    exceptions: tuple[PolicyException, ...]

    @classmethod
    def by(cls, exceptions: list[PolicyException]) -> _Covered:
        lines = ["User-agent: *", *(f"Disallow: {exception.pattern}" for exception in exceptions)]
        # One line for each, so that the line that decides names the exception.
        return cls(parse("\n".join(lines).encode(), limit=None), tuple(exceptions))

    def find(self, url: str) -> PolicyException | None:
        verdict = self.rules.verdict("*", url)
        return self.exceptions[verdict.line - 2] if not verdict.allowed else None


_Key = tuple[Origin, Reason, str | None]
"""An origin, what an exception is for, and the rule that it overrides: None for any, ``""`` for any one."""


class ExceptionIndex:
    """The exceptions of a crawl; among those that cover a URL the longest pattern wins, as among rules."""

    def __init__(self, exceptions: Iterable[PolicyException]) -> None:
        self.expired: Callable[[PolicyException], None] = lambda _: None
        """Called once for each exception that has expired, when that is first noticed."""
        self._current = self._all = tuple(exceptions)
        self._covered: dict[_Key, _Covered] = {}
        self._next_end = 0.0

    def find(self, url: str, kind: Reason, rule: str | None, now: float) -> PolicyException | None:
        """The exception for *url*, which robots.txt forbids for *kind* (by *rule*, if that is a rule), or None.

        One that names *rule* comes before those that name none. *now* is in POSIX seconds. Raises ``ValueError``
        for a URL that has no robots.txt.
        """
        named = self._find(url, kind, rule, now) if rule else None
        return named or self._find(url, kind, None, now)

    def find_lapsed(self, url: str, kind: Reason, now: float) -> PolicyException | None:
        """The exception that would cover *url* if the rule that it names still decided, or None."""
        return self._find(url, kind, "", now)

    def refresh(self, now: float) -> None:
        """Leave out those that have expired at *now*; a clock that is put back revives none."""
        if now >= self._next_end:
            self._build(now)

    def _find(self, url: str, kind: Reason, rule: str | None, now: float) -> PolicyException | None:
        self.refresh(now)
        covered = self._covered.get((Origin.from_url(url), kind, rule)) if self._covered else None
        return covered.find(url) if covered and not _leads_elsewhere(url) else None

    def _build(self, now: float) -> None:
        """Sort those that have not expired, until the next one does."""
        expired = [exception for exception in self._current if exception.ends_at <= now]
        self._current = tuple(exception for exception in self._current if exception.ends_at > now)
        self._next_end = min((exception.ends_at for exception in self._current), default=inf)
        by_key: dict[_Key, list[PolicyException]] = {}
        for exception in self._current:
            for kind in exception.kinds:
                for rule in (exception.rule, "") if exception.rule and kind is Reason.RULE else (None,):
                    by_key.setdefault((exception.origin, kind, rule), []).append(exception)
        self._covered = {key: _Covered.by(exceptions) for key, exceptions in by_key.items()}
        for exception in expired:
            self.expired(exception)

    def __iter__(self) -> Iterator[PolicyException]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def __repr__(self) -> str:
        return f"<ExceptionIndex {len(self)} exceptions>"


class ExceptionReport:
    """What one crawl says of its exceptions, in the log and in the stats."""

    def __init__(self, crawler: Crawler, exceptions: ExceptionIndex) -> None:
        self._stats = crawler.stats
        self._log = Crawl.of(crawler).log
        self._exceptions = exceptions
        self._used: Counter[PolicyException] = Counter()
        self._at: dict[Origin, list[PolicyException]] = {}
        self._met: set[PolicyException] = set()  # those of sites that the crawl asks: only they are worth a line
        self._settled: set[PolicyException] = set()  # expired or lapsed: their lines say why they are not used
        exceptions.expired = self._expired
        exceptions.refresh(clock.time())
        for exception in exceptions:
            self._at.setdefault(exception.origin, []).append(exception)

    def met(self, origin: Origin) -> None:
        """Say which exceptions for *origin*, which the crawl asks, have expired or will soon."""
        now = clock.time()
        for exception in self._at.pop(origin, ()):
            self._met.add(exception)
            days = exception.days_left(now)
            if exception in self._settled:
                self._expired(exception)
            elif days <= _SOON:
                left = "today" if days <= 0 else f"in {number_of(days, 'day', 'days')}"
                self._say(Line.ENDING, exception, "ends %s", left)

    def _expired(self, exception: PolicyException) -> None:
        """Say that *exception* has expired, once its site was met."""
        self._settled.add(exception)
        if exception in self._met:
            self._stats.inc_value("rep/exception/expired_count")
            self._say(Line.EXPIRED, exception, "has expired: robots.txt applies. Remove or renew it")

    def lapsed(self, exception: PolicyException, verdict: Verdict) -> None:
        """Say that *exception* does not apply: it names another rule than the one that decides in *verdict*."""
        if exception not in self._settled:
            self._settled.add(exception)
            self._stats.inc_value("rep/exception/lapsed_count")
            text = "does not apply: it is for %s, and line %d, %s decides now"
            self._say(Line.LAPSED, exception, text, exception.rule, verdict.line, verdict.rule)

    def _say(self, line: Line, exception: PolicyException, text: str, *args: object) -> None:
        self._log.add(line, f"The exception for %s {text}", shown(str(exception)), *args)

    def count(self, exception: PolicyException) -> None:
        """Count a request that *exception* let pass."""
        self._used[exception] += 1
        self._stats.inc_value("rep/exception/used_count")

    def unused(self) -> list[PolicyException]:
        """Those that could have been used and were not."""
        return [one for one in self._exceptions if one not in self._used and one not in self._settled]

    def log_summary(self) -> None:
        """Log which exceptions were used, and which were not."""
        for exception, number in self._used.most_common(_NAMED):
            requests = number_of(number, "request was", "requests were")
            logger.info("%s sent by the exception for %s", requests, shown(str(exception)))
        if unused := [shown(str(exception)) for exception in self.unused() if exception in self._met]:
            more = f" and {len(unused) - _NAMED:,} more" if len(unused) > _NAMED else ""
            logger.info("Exceptions that no request needed: %s%s", "; ".join(unused[:_NAMED]), more)
