"""The stamp: what robots.txt said about a response, in ``response.meta["rep"]``.

A plain dict of JSON values, so that it survives disk queues, Redis and exports. It is written anew whenever a
request passes the gate: one that was copied from another response never stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final, TypeGuard

if TYPE_CHECKING:
    from scrapy.http import Response

    from scrapy_rep.policy.policy import Decision

META_KEY: Final = "rep"
"""The key of the stamp in the meta of requests and responses."""

VERSION: Final = 1
"""The value of ``v``; it grows when a field changes its meaning."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What robots.txt said about one request, and under which mode it was sent.

    ``verdict`` is ``allowed``, ``excepted`` (by ``exception``), ``reported`` (forbidden, in the mode *report*),
    ``ignored`` or ``off``. ``reason``, ``rule`` and its ``line`` say why; ``agent`` is the product token that was
    asked for, ``origin`` the site. ``robots`` is the URL that answered with ``status``; ``sha256`` is that of the
    body, ``fetched`` its time (ISO 8601, UTC); ``source`` is ``fetched``, ``revalidated``, ``store`` or ``stale``.
    ``page`` lists the directives of the page, such as ``noindex``; ``ai`` tells what the site says about the
    purposes of the crawl (``REP_PURPOSES``). Both are None where nothing was read or said.
    """

    v: int
    mode: str
    verdict: str
    reason: str | None = None
    rule: str | None = None
    line: int = 0
    agent: str | None = None
    origin: str | None = None
    robots: str | None = None
    status: int | None = None
    sha256: str | None = None
    fetched: str | None = None
    source: str | None = None
    exception: dict[str, str | None] | None = None
    page: list[str] | None = None
    ai: dict[str, Any] | None = None

    @property
    def is_ordinary(self) -> bool:
        """Whether robots.txt was obeyed and allowed the request, and no stale copy of it stood in."""
        return self.verdict == "allowed" and self.source != "stale"


_FIELDS: Final = tuple(field.name for field in fields(Stamp))

BLANK: Final[Mapping[str, Any]] = {**dict.fromkeys(_FIELDS), "v": VERSION, "line": 0}
"""A stamp that says nothing."""


def stamp(response: Response) -> Stamp | None:
    """The stamp of *response*; None if robots.txt was not involved.

    Fields of later versions are left out.
    """
    values: Any = response.meta.get(META_KEY)
    return Stamp(**{name: values[name] for name in _FIELDS}) if is_stamp(values) else None


def is_stamp(value: Any) -> TypeGuard[dict[str, Any]]:
    """Whether *value* has all fields of a stamp."""
    return isinstance(value, dict) and BLANK.keys() <= value.keys()


def stamp_of(decision: Decision, blank: Mapping[str, Any], agent: str | None = None) -> dict[str, Any]:
    """The stamp of a request with this *decision*, as a dict.

    *blank* is a stamp that tells of the robots.txt only; *agent* is the product token that it was asked for.
    """
    values = dict(blank)
    values["mode"], values["verdict"] = decision.mode.value, decision.outcome.value
    if decision.is_asked:
        verdict = decision.verdict
        values["agent"], values["reason"], values["line"] = agent, verdict.reason.value, decision.line
        if verdict.rule is not None:
            values["rule"] = str(verdict.rule)
    if decision.exception is not None:
        values["exception"] = decision.exception.as_short_dict()
    return values
