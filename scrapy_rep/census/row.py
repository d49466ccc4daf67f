"""One site and its robots.txt: a row of a survey, and what each of its columns holds."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime, timezone
from operator import attrgetter
from typing import Any, Final, NamedTuple, get_args, get_origin, get_type_hints

from .restriction import ALL, OTHERS

WITH_RULES, WITHOUT_RULES, EMPTY, HTML_PAGE = "with rules", "without rules", "empty", "an HTML page instead"
SOMETHING_ELSE: Final = "something else instead"
NO_FILE, UNREACHABLE, REDIRECTED = "no robots.txt", "unreachable", "redirected elsewhere"
KINDS: Final = (WITH_RULES, WITHOUT_RULES, EMPTY, HTML_PAGE, SOMETHING_ELSE, NO_FILE, UNREACHABLE, REDIRECTED)
"""What a site serves when asked for its robots.txt."""

REDIRECT: Final = "redirected"
"""The access of a site whose robots.txt is elsewhere, at a place that nobody asked."""

_REASONS: Final = (
    (r"^HTTP status (\d+)$", r"The server answers with HTTP status \1."),
    (r"^truncated response", "The server stops in the middle of its answer."),
    (r"^redirected", "The redirects take too long."),
    (r"refused|Connect call failed", "The server refuses the connection."),
    (r"(?i)certificate|ssl|tls", "TLS or the server's certificate fails."),
    (r"DNS|hostname", "The host name does not resolve (DNS)."),
    (r"(?i)timed? ?out|took longer", "The server does not answer in time."),
    (r"(?i)connection.*(lost|closed|reset|aborted)|disconnected", "The server closes the connection."),
    (r"wrong number of parts|[Bb]ad header|Expected HTTP", "The answer is not HTTP."),
    (r"larger than", "The answer is too large."),
)  # fmt: skip
"""Patterns of a problem, and what they mean in words for people who run web sites."""

_LONGEST_REASON: Final = 80  # characters


def _column(about: str, default: Any = None, *, make: Callable[[], Any] | None = None) -> Any:
    metadata = {"about": about}
    return field(default_factory=make, metadata=metadata) if make else field(default=default, metadata=metadata)


@dataclass(frozen=True, slots=True)
class Row:
    """One site and its robots.txt: a line of ``survey.jsonl``, a row of a table.

    What the columns hold is said once, in their descriptions: see `COLUMNS`.
    """

    site: str = field(metadata={"about": "origin, or the name of a file that belongs to no site"})
    access: str = _column(
        "what the response means: `successful`, `unavailable`, `unreachable` or `redirected`",
        "successful",
    )
    status: int | None = _column("HTTP status of the last response")
    url: str | None = _column("URL of the last response")
    hops: list[str] = _column("redirects that were followed", make=list)
    location: str | None = _column("target of a redirect that was not followed")
    problem: str | None = _column("why there is no robots.txt to read")
    refused: str | None = _column(
        "a refusal instead of robots.txt, such as `402, USD 0.01`, `403, challenge, Cloudflare` or `403`"
    )
    fetched_at: datetime | None = _column("time of the capture, UTC")
    date: str | None = _column("with `--dates`: date of the survey, `YYYY-MM-DD`")
    file: str | None = _column("where the body is saved, relative to the survey")
    is_html: bool = _column("the body is an HTML page", default=False)
    instead: str | None = _column(
        "what the body is instead of a robots.txt: `html`, `xml`, `json`, `utf-16`, `binary` or `text`"
    )
    bytes: int = _column("size of the body", 0)
    sha256: str | None = _column("SHA-256 of the body")
    lines: int = _column("lines", 0)
    blank_lines: int = _column("blank lines", 0)
    comment_lines: int = _column("lines with only a comment", 0)
    lines_with_comment: int = _column("lines with a comment after something else", 0)
    unread_lines: int = _column("lines that are not blank, a comment or a known record", 0)
    unread_share: float = _column("`unread_lines` / `lines`", 0.0)
    groups: int = _column("groups, before merging", 0)
    user_agent_fields: int = _column("User-agent lines", 0)
    allow: int = _column("Allow lines", 0)
    disallow: int = _column("Disallow lines", 0)
    agents_allow: dict[str, int] = _column("Allow rules by agent", make=dict)
    agents_disallow: dict[str, int] = _column("Disallow rules by agent", make=dict)
    wildcards: int = _column("rules with a `*`", 0)
    anchors: int = _column("rules with a final `$`", 0)
    crawl_delays: dict[str, float] = _column("last readable Crawl-delay by agent, in seconds", make=dict)
    sitemaps: int = _column("distinct Sitemap lines", 0)
    records: dict[str, int] = _column("records by kind", make=dict)
    named: dict[str, int] = _column(
        "first User-agent line of each crawler that is known or in `agents`", make=dict
    )
    restriction: dict[str, str] = _column(
        "what is disallowed to each known crawler that is named, each of `agents`, and all others (`*`): `none`,"
        " `part` or `all`; empty if unknown",
        make=dict,
    )
    restriction_lines: dict[str, int] = _column(
        "the deciding line for `/`, or else the first that disallows a URL, or else the User-agent line, or 0",
        make=dict,
    )
    home_closed: list[str] = _column("agents that may not request `/`", make=list)
    ai_signals: dict[str, int] = _column("lines of each AI signal", make=dict)
    ai_answers: dict[str, str] = _column(
        "`yes` or `no` for `/` and unnamed crawlers, by signal and category, such as `Content-Signal ai-train`",
        make=dict,
    )
    strata: dict[str, str] = _column("other columns of the list of sites", make=dict)
    findings: dict[str, int] | None = _column("lint findings by code")
    finding_lines: dict[str, list[int]] | None = _column("first lines with each finding; 0 is the whole file")

    def as_dict(self) -> dict[str, Any]:
        """The columns by name, in their order; what they hold is not copied."""
        return dict(zip(TYPES, _values(self), strict=True))

    def __reduce__(self) -> tuple[type[Row], tuple[Any, ...]]:
        return Row, _values(self)  # several times as fast as what a dataclass with slots does

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Row:
        """The row with these *values* of columns. Raises ``ValueError`` when they are something else."""
        values = {name: value for name, value in values.items() if name not in _REMOVED}
        try:
            row = cls(**values)
        except TypeError as error:
            unknown = min(values.keys() - TYPES.keys(), default="")
            text = f"unknown column {unknown!r}: a later version of scrapy_rep, or another program, wrote it"
            raise ValueError(text if unknown else str(error)) from None
        for name, is_right in _CHECKERS.items():
            if not is_right(getattr(row, name)):
                raise ValueError(f"{name} is not {getattr(TYPES[name], '__name__', TYPES[name])}")
        return row

    @classmethod
    def from_json(cls, line: str) -> Row:
        """Return the row in a line of JSON. Raises ``ValueError`` when the line holds something else."""
        try:
            values = json.loads(line)
        except RecursionError as error:  # for thousands of brackets
            raise ValueError(str(error)) from None
        if not isinstance(values, dict):
            raise ValueError("not an object")
        if isinstance(values.get("fetched_at"), str):
            try:
                values["fetched_at"] = datetime.fromisoformat(values["fetched_at"]).astimezone(timezone.utc)
            except OverflowError as error:  # in the year 1 or 9999
                raise ValueError(str(error)) from None
        return cls.of(values)

    @property
    def has_file(self) -> bool:
        """Whether the site has a robots.txt; an HTML page or an error text is none, although its rules hold."""
        return self.access == "successful" and self.problem is None and not (self.is_html or self.instead)

    @property
    def kind(self) -> str:
        """What the site serves, one of `KINDS`."""
        if self.problem:
            return UNREACHABLE
        if self.access != "successful":
            return REDIRECTED if self.access == REDIRECT else NO_FILE
        if self.is_html:
            return HTML_PAGE
        if self.instead:
            return SOMETHING_ELSE
        if self.rules:
            return WITH_RULES
        return EMPTY if self.lines == self.blank_lines else WITHOUT_RULES

    @property
    def reason(self) -> str:
        """A sentence about the ``problem``, which is its own reason where there is none; empty without one."""
        problem = self.problem or ""
        found = ((re.search(pattern, problem), sentence) for pattern, sentence in _REASONS)
        return next((match.expand(sentence) for match, sentence in found if match), problem[:_LONGEST_REASON])

    @property
    def refusal(self) -> str:
        """What the site refuses, without the price, or the URL of who blocks; empty for nothing."""
        return re.sub(r"(?<=^451), .*|, [A-Za-z]{3} [0-9.]+$", "", self.refused or "")

    @property
    def rules(self) -> int:
        """The number of allow and disallow lines."""
        return self.allow + self.disallow

    @property
    def comments(self) -> int:
        """The number of lines with a comment."""
        return self.comment_lines + self.lines_with_comment

    @property
    def longest_delay(self) -> float:
        """The longest Crawl-delay in seconds, 0 without one."""
        return max(self.crawl_delays.values(), default=0.0)

    @property
    def shuts_out(self) -> bool:
        """Whether no crawler that the file does not name may request anything."""
        return self.restriction.get(OTHERS) == ALL


def to_json(values: Mapping[str, Any]) -> str:
    """Return *values* of a row as one line of JSON; a time is in ISO 8601."""
    return json.dumps(values, default=datetime.isoformat)


class ColumnType(NamedTuple):
    """The type of a column, and what the column holds."""

    type: Any
    about: str


TYPES: Final[dict[str, Any]] = get_type_hints(Row)
"""The types of the columns, in their order: plain values, and lists and maps of plain values."""

_values: Final[Callable[[Row], tuple[Any, ...]]] = attrgetter(*TYPES)

ADDED: Final = ("date", "instead", "refused")
"""The columns that rows of 1.0.0rc1 lack."""

_REMOVED: Final = ("sketch",)  # rows of 1.0.0rc1 have it

LINTED: Final = ("findings", "finding_lines")
"""The columns that a light row leaves out."""

COLUMNS: Final = {each.name: ColumnType(TYPES[each.name], each.metadata["about"]) for each in fields(Row)}
"""Each column with its type and what it holds: the data dictionary."""


def _checker(kind: Any) -> Callable[[Any], bool]:
    """What says whether a value is of the type *kind*; a whole number is a float, too."""
    parts = [_checker(part) for part in get_args(kind)]
    if get_origin(kind) is dict:
        return lambda value: type(value) is dict and all(map(parts[1], value.values()))
    if get_origin(kind) is list:
        return lambda value: type(value) is list and all(map(parts[0], value))
    if parts:  # an optional value
        return lambda value: any(is_right(value) for is_right in parts)
    kinds = {kind, int} if kind is float else {kind}
    return lambda value: type(value) in kinds


_CHECKERS: Final = {name: _checker(kind) for name, kind in TYPES.items()}
