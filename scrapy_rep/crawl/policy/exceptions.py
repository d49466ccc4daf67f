"""Exceptions from robots.txt: narrow, with a reason and an end (``REP_EXCEPTIONS``, ``REP_EXCEPTIONS_FILE``).

The rule engine matches exceptions to requests, as it matches rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone
from math import inf
from pathlib import Path
from typing import Any, Final
from unicodedata import normalize
from urllib.parse import unquote_to_bytes
from warnings import warn

from scrapy.exceptions import ScrapyDeprecationWarning

from scrapy_rep.protocol import Origin, Reason, RobotsTxt, parse

KINDS: Final = (Reason.RULE, Reason.UNREACHABLE, Reason.CRAWL_DELAY, Reason.AI_SIGNAL)
"""The kinds of exceptions: reasons for which robots.txt keeps a request from starting."""

_REMOVED_KIND: Final = "visit-time"
"""A kind in 1.0.0rc1."""

_MAX_URL: Final = 4_000
"""Characters of a URL: the parser truncates longer lines, and a truncated pattern covers more."""

_DAY: Final = 86_400.0

_LONGEST: Final = timedelta(days=366)
"""Maximum distance of an exception's last day from today: its owner must review it once a year."""

_HOST: Final = re.compile(r"(?:[\w-]+\.)*[\w-]+\.?", re.ASCII)
_IPV6: Final = re.compile(r"[0-9a-f:.]*:[0-9a-f:.]*(?:%\w+)?")

KEYS: Final = {"url", "reason", "until", "for", "rule", "whole_site"}


@dataclass(frozen=True, slots=True)
class PolicyException:
    """An exception: the requests it covers, why, and until when.

    ``url`` is scheme and host, then a robots.txt pattern of paths; ``until`` is its last day (UTC). ``kinds`` are
    the reasons it overrides. With ``rule``, such as ``Disallow: /api/``, it applies only while that rule decides.
    """

    url: str
    reason: str
    until: date
    kinds: frozenset[Reason] = frozenset({Reason.RULE})
    rule: str | None = None

    @property
    def origin(self) -> Origin:
        """The origin whose robots.txt it overrides."""
        return Origin.from_url(self.url)

    @property
    def pattern(self) -> str:
        """The pattern of covered paths, in the syntax of a rule: ``*`` and ``$``."""
        return _pattern(self.url)

    @property
    def ends_at(self) -> float:
        """The end of its last day (POSIX seconds)."""
        return datetime.combine(self.until, time(), timezone.utc).timestamp() + _DAY

    def days_left(self, now: float) -> int:
        """Return the whole days until it ends: 0 on its last day, negative once it has expired."""
        return (self.until - datetime.fromtimestamp(now, timezone.utc).date()).days

    def as_dict(self) -> dict[str, Any]:
        """Return the exception as the settings spell it, in JSON values."""
        kinds = sorted(kind.value for kind in self.kinds)
        return {**self.as_short_dict(), "for": kinds} | ({"rule": self.rule} if self.rule else {})

    def as_short_dict(self) -> dict[str, str | None]:
        """Return URL, reason and last day, in JSON values."""
        return {"url": self.url, "reason": self.reason, "until": self.until.isoformat()}

    def __str__(self) -> str:
        return f"{self.url} (until {self.until}: {self.reason})"


def read_exceptions(entries: Iterable[Mapping[str, Any]], *, now: float) -> list[PolicyException]:
    """Read the exceptions in *entries*, mappings with the documented keys.

    Raises ``ValueError`` with the number of the entry and what to write instead.
    """
    found: list[PolicyException] = []
    try:
        for entry in entries:
            found += [_read(entry, now)]
    except (ValueError, TypeError) as error:
        raise ValueError(f"exception {len(found) + 1}: {error}") from None
    return found


def read_exceptions_file(path: str | Path) -> list[Mapping[str, Any]]:
    """Read the entries of a TOML file, each an ``[[exception]]`` table.

    Raises ``ValueError`` for a file that cannot be read.
    """
    try:
        import tomllib  # noqa: PLC0415
    except ModuleNotFoundError:  # Python 3.10
        import tomli as tomllib  # type: ignore[no-redef]  # noqa: PLC0415
    try:
        document = tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))  # Notepad writes a BOM
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ValueError(str(error)) from error
    entries = document.pop("exception", [])
    if document or not isinstance(entries, list):
        name = next(iter(document), "exception")
        raise ValueError(f"{name} is not accepted: write [[exception]] above each entry, and nothing else")
    return entries


def _read(entry: Mapping[str, Any], now: float) -> PolicyException:
    if not isinstance(entry, Mapping):
        raise TypeError(f"{entry!r} is not a dict with url, reason and until")
    unknown = set(entry) - KEYS
    if unknown:
        raise ValueError(f"unknown key {min(map(str, unknown))!r}: it takes {', '.join(sorted(KEYS))}")
    url = _url(entry.get("url"), whole_site=entry.get("whole_site") is True)
    kinds, rule = _kinds(entry.get("for", ["rule"])), _rule(entry.get("rule"))
    if rule and Reason.RULE not in kinds:
        raise ValueError(f'{url}: no rule decides there: leave out rule = {rule!r}, or add "rule" to for')
    reason, until = _reason(entry.get("reason"), url), _until(entry.get("until"), now)
    return PolicyException(url, reason, until, kinds, rule)


def _url(value: Any, *, whole_site: bool) -> str:
    if not isinstance(value, str) or "://" not in value:
        raise ValueError(f"url = {value!r}: write scheme, host and pattern, such as https://example.com/api/*")
    if not value.isprintable() or " " in value or "#" in value:
        raise ValueError(f"url = {value!r}: escape blanks, # and control characters with %")
    if len(value) > _MAX_URL:
        raise ValueError(f"url = {value[:80]!r}… is longer than {_MAX_URL:,} characters: shorten it with *")
    origin_in_settings(value)
    pattern = _pattern(value)
    if not pattern.startswith("/"):
        raise ValueError(f"url = {value!r}: after the host write a path that starts with /")
    if not pattern.strip("/*$") and pattern != "/$" and not whole_site:
        raise ValueError(f'url = {value!r} covers the whole site: narrow it, or add "whole_site": True')
    return value


def _pattern(url: str) -> str:
    """Return the part of *url* after the host, including any query, as in a rule."""
    found = re.search("[/?#].*", url.partition("://")[2], re.DOTALL)
    return found[0] if found else ""


def _reason(value: Any, url: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(
            f"{url}: reason is missing: say who allowed it, such as 'permission of the owner, ticket 47'"
        )
    return value.strip()


def _until(value: Any, now: float) -> date:
    is_text = isinstance(value, str)
    try:
        until = date.fromisoformat(value) if is_text else value
    except ValueError:
        until = None
    # The whole day counts: refuse a time. Python >= 3.11 reads more spellings than 3.10.
    shown = str(value) if isinstance(value, date) else repr(value)
    if type(until) is not date or (is_text and value != until.isoformat()):
        raise ValueError(f"until = {shown}: write the last day, such as 2027-03-31")
    today = datetime.fromtimestamp(now, timezone.utc).date()
    if until > (latest := today + _LONGEST):
        raise ValueError(f"until = {until} is more than {_LONGEST.days} days away: write {latest} or earlier")
    return until


def _kinds(value: Any) -> frozenset[Reason]:
    names = [value] if isinstance(value, str) else value
    known = {kind.value: kind for kind in KINDS}
    is_list = isinstance(names, list | tuple | set | frozenset)
    accepted = known.keys() | {_REMOVED_KIND}
    if not is_list or not names or any(not isinstance(name, str) or name not in accepted for name in names):
        raise ValueError(f"for = {value!r}: write a list of {', '.join(known)}")
    if _REMOVED_KIND in names:
        text = f"for = {value!r} in an exception: {_REMOVED_KIND!r} no longer has an effect; remove it"
        warn(text, ScrapyDeprecationWarning, stacklevel=1)
    return frozenset(known[name] for name in names if name in known)


def _rule(value: Any) -> str | None:
    if value is None:
        return None
    key, colon, path = str(value).partition("#")[0].partition(":")
    if not colon or key.strip().lower() != "disallow" or not path.strip():
        raise ValueError(f"rule = {value!r}: write the rule that it overrides, such as 'Disallow: /api/'")
    return f"Disallow: {path.strip()}"


def origin_in_settings(url: str) -> Origin:
    """Return the origin of a *url* in the settings. Raises ``ValueError`` if no request can have that origin.

    Passwords are refused, because logs and messages show the settings.
    """
    origin = Origin.from_url(url)
    if "@" in re.split(r"[/?#]", url.partition("://")[2], maxsplit=1)[0]:
        raise ValueError(f"{origin}: leave out the user name and the password")
    if not (_HOST.fullmatch(origin.host) or _IPV6.fullmatch(origin.host)):
        raise ValueError(f"{url!r}: {origin.host!r} is not a host; write one host, without *")
    return origin


# The exception that applies to a request.


_Key = tuple[Origin, Reason, str | None]
"""An origin, a kind, and the rule to override: None if the exception names no rule, ``""`` if it names any."""


class ExceptionIndex:
    """The exceptions of a crawl. If several cover a URL, the longest pattern wins, as among rules."""

    def __init__(self, exceptions: Iterable[PolicyException]) -> None:
        # Exceptions that have expired and are not yet reported; whoever reports them removes them.
        self.expired: list[PolicyException] = []
        self._current = self.all = tuple(exceptions)
        # A robots.txt that disallows all covered URLs: its lines, from the second, are the current exceptions.
        self._covered: dict[_Key, tuple[RobotsTxt, list[PolicyException]]] = {}
        self._next_end = 0.0

    def find(self, url: str, kind: Reason, rule: str | None, now: float) -> PolicyException | None:
        """Return the exception for *url*, which robots.txt forbids for *kind* (by *rule*, if any), or None.

        An exception that names *rule* beats exceptions without a rule. *now* is in POSIX seconds. Raises
        ``ValueError`` for a URL that has no robots.txt.
        """
        named = self._find(url, kind, rule, now) if rule else None
        return named or self._find(url, kind, None, now)

    def find_lapsed(self, url: str, now: float) -> PolicyException | None:
        """Return the exception that would cover *url* if its rule still decided, or None."""
        return self._find(url, Reason.RULE, "", now)

    def refresh(self, now: float) -> None:
        """Drop exceptions that have expired at *now*; setting the clock back revives none."""
        if now < self._next_end:
            return
        self.expired += [exception for exception in self._current if exception.ends_at <= now]
        self._current = tuple(exception for exception in self._current if exception.ends_at > now)
        self._next_end = min((exception.ends_at for exception in self._current), default=inf)
        by_key: dict[_Key, list[PolicyException]] = {}
        for exception in self._current:
            for kind in exception.kinds:
                for rule in (exception.rule, "") if exception.rule and kind is Reason.RULE else (None,):
                    by_key.setdefault((exception.origin, kind, rule), []).append(exception)
        self._covered = {key: (_disallowing(found), found) for key, found in by_key.items()}

    def _find(self, url: str, kind: Reason, rule: str | None, now: float) -> PolicyException | None:
        self.refresh(now)
        covered = self._covered.get((Origin.from_url(url), kind, rule)) if self._covered else None
        if covered is None or _leads_elsewhere(url):
            return None
        robots, exceptions = covered
        verdict = robots.verdict("*", url)
        return None if verdict.allowed else exceptions[verdict.line - 2]


def _disallowing(exceptions: Iterable[PolicyException]) -> RobotsTxt:
    lines = ["User-agent: *", *(f"Disallow: {exception.pattern}" for exception in exceptions)]
    return parse("\n".join(lines).encode(), limit=None)


# Paths that a server may read as other paths.

_MOST_DECODINGS: Final = 8  # per path; nobody means a path that is encoded more often
_ESCAPED_BY_IIS: Final = re.compile(r"%u([0-9a-f]{4})", re.IGNORECASE)
_OVERLONG: Final = re.compile(rb"(?:\xc0|\xc1|\xe0[\x80\x81]|\xf0\x80[\x80\x81])[^/\\]", re.DOTALL)
_SEPARATOR: Final = re.compile(r"[/\\\u2044\u2215\u2216]")
_STEP_UP: Final = re.compile(r"(?!\.{3,}$)[^\w.~-]*\.(?:[^\w.~-]*\.)+(?:[^\w.~-]|$)")
"""A segment of dots and of characters that a server may ignore or cut at: ``..;x``, ``.. ``, ``..`` and a NUL."""


def _leads_elsewhere(url: str) -> bool:
    """Whether a server could read ``..`` in *url*, and serve a path other than the one that a pattern covers.

    Servers decode a path once or several times, and some decode bytes that are not UTF-8.
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
    """Return the ASCII character that is spelled with more bytes than UTF-8 needs."""
    *_, lead, last = overlong[0]
    return bytes([(lead & 1) << 6 | last & 0x3F])
