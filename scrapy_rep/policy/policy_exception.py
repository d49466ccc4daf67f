"""Exceptions from robots.txt: narrow, with a reason and an end (``REP_EXCEPTIONS``, ``REP_EXCEPTIONS_FILE``)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone
from pathlib import Path
from typing import Any, Final

from scrapy_rep.policy.modes import origin_in_settings
from scrapy_rep.protocol import Origin, Reason

KINDS: Final = (Reason.RULE, Reason.UNREACHABLE, Reason.CRAWL_DELAY, Reason.VISIT_TIME, Reason.AI_SIGNAL)
"""What an exception can be for: the reasons for which robots.txt keeps a request from starting."""

_MAX_URL: Final = 4_000
"""Characters of a URL: a robots.txt cuts a longer line off, and a pattern cut off covers more."""

_DAY: Final = 86_400.0

_KEYS: Final = {"url", "reason", "until", "for", "rule", "whole_site"}


@dataclass(frozen=True, slots=True)
class PolicyException:
    """One exception: the requests it covers, why, and until when.

    ``url`` is scheme and host, then a robots.txt pattern of paths; ``until`` is its last day (UTC). ``kinds`` are
    the reasons that it overrides. With ``rule``, such as ``Disallow: /api/``, it applies while that rule decides.
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
        """The pattern of the paths that it covers, with the syntax of a rule: ``*`` and ``$``."""
        return _pattern(self.url)

    @property
    def ends_at(self) -> float:
        """The end of its last day, POSIX seconds."""
        return datetime.combine(self.until, time(), timezone.utc).timestamp() + _DAY

    def days_left(self, now: float) -> int:
        """Whole days until it ends, 0 on its last day, negative once it has expired."""
        return (self.until - datetime.fromtimestamp(now, timezone.utc).date()).days

    def as_dict(self) -> dict[str, Any]:
        """The exception as the settings spell it, in JSON values."""
        kinds = sorted(kind.value for kind in self.kinds)
        return {**self.as_short_dict(), "for": kinds} | ({"rule": self.rule} if self.rule else {})

    def as_short_dict(self) -> dict[str, str | None]:
        """URL, reason and last day, in JSON values."""
        return {"url": self.url, "reason": self.reason, "until": self.until.isoformat()}

    def __str__(self) -> str:
        return f"{self.url} (until {self.until}: {self.reason})"


def read_exceptions(entries: Iterable[Mapping[str, Any]], *, max_days: int, now: float) -> list[PolicyException]:
    """The exceptions in *entries*, mappings with the keys that the settings document.

    Raises ``ValueError`` with the number of the entry and what to write instead.
    """
    return [_numbered(number, entry, max_days, now) for number, entry in enumerate(entries, start=1)]


def read_exceptions_file(path: str | Path) -> list[Mapping[str, Any]]:
    """The entries of a TOML file, one ``[[exception]]`` table each.

    Raises ``ValueError`` for a file that cannot be read, and on Python 3.10, which has no TOML reader.
    """
    try:
        import tomllib  # noqa: PLC0415  # Python >= 3.11
    except ImportError:
        raise ValueError(
            "reading TOML takes Python 3.11 or newer: put the exceptions into REP_EXCEPTIONS"
        ) from None
    try:
        document = tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))  # Notepad writes a BOM
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ValueError(str(error)) from error
    entries = document.pop("exception", [])
    if document or not isinstance(entries, list):
        name = next(iter(document), "exception")
        raise ValueError(f"{name} is not accepted: write [[exception]] above each entry, and nothing else")
    return entries


def _numbered(number: int, entry: Mapping[str, Any], max_days: int, now: float) -> PolicyException:
    try:
        return _read(entry, max_days, now)
    except (ValueError, TypeError) as error:
        raise ValueError(f"exception {number}: {error}") from None


def _read(entry: Mapping[str, Any], max_days: int, now: float) -> PolicyException:
    if not isinstance(entry, Mapping):
        raise TypeError(f"{entry!r} is not a dict with url, reason and until")
    unknown = set(entry) - _KEYS
    if unknown:
        raise ValueError(f"unknown key {min(map(str, unknown))!r}: it takes {', '.join(sorted(_KEYS))}")
    url = _url(entry.get("url"), whole_site=entry.get("whole_site") is True)
    kinds, rule = _kinds(entry.get("for", ["rule"])), _rule(entry.get("rule"))
    if rule and Reason.RULE not in kinds:
        raise ValueError(f'{url}: no rule decides there: leave out rule = {rule!r}, or add "rule" to for')
    return PolicyException(
        url=url,
        reason=_reason(entry.get("reason"), url),
        until=_until(entry.get("until"), max_days, now),
        kinds=kinds,
        rule=rule,
    )


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
    """What follows the host; a query belongs to it, as in a rule."""
    rest = url.partition("://")[2]
    ends = [place for place in map(rest.find, "/?#") if place >= 0]
    return rest[min(ends) :] if ends else ""


def _reason(value: Any, url: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(
            f"{url}: reason is missing: say who allowed it, such as 'permission of the owner, ticket 47'"
        )
    return value.strip()


def _until(value: Any, max_days: int, now: float) -> date:
    is_text = isinstance(value, str)
    try:
        until = date.fromisoformat(value) if is_text else value
    except ValueError:
        until = None
    # A time is refused, since the whole day counts. Python >= 3.11 reads more spellings than 3.10.
    shown = str(value) if isinstance(value, date) else repr(value)
    if type(until) is not date or (is_text and value != until.isoformat()):
        raise ValueError(f"until = {shown}: write the last day, such as 2027-03-31")
    today = datetime.fromtimestamp(now, timezone.utc).date()
    if (until - today).days > max_days:
        latest = today + timedelta(days=max_days)
        raise ValueError(
            f"until = {until} is more than REP_EXCEPTION_MAX_DAYS = {max_days} days away: {latest} or earlier"
        )
    return until


def _kinds(value: Any) -> frozenset[Reason]:
    names = [value] if isinstance(value, str) else value
    known = {kind.value: kind for kind in KINDS}
    is_list = isinstance(names, list | tuple | set | frozenset)
    if not is_list or not names or any(not isinstance(name, str) or name not in known for name in names):
        raise ValueError(f"for = {value!r}: write a list of {', '.join(known)}")
    return frozenset(known[name] for name in names)


def _rule(value: Any) -> str | None:
    if value is None:
        return None
    key, colon, path = str(value).partition("#")[0].partition(":")
    if not colon or key.strip().lower() != "disallow" or not path.strip():
        raise ValueError(f"rule = {value!r}: write the rule that it overrides, such as 'Disallow: /api/'")
    return f"Disallow: {path.strip()}"
