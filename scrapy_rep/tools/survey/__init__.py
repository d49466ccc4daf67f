"""A survey of many robots.txt files: a row for each site, here; how it is measured, summed up, compared and shown.

Fetches nothing: ``scrapy robots survey`` brings the files. Only `report` and `comparison_report` need Jinja2.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, TypedDict, get_args, get_origin, get_type_hints, is_typeddict

Counts = dict[str, int]

WITH_RULES, WITHOUT_RULES, EMPTY, HTML_PAGE = "with rules", "without rules", "empty", "an HTML page instead"
NO_FILE, UNREACHABLE = "no robots.txt", "unreachable"
KINDS: Final = (WITH_RULES, WITHOUT_RULES, EMPTY, HTML_PAGE, NO_FILE, UNREACHABLE)
"""What a site serves when asked for its robots.txt."""

SHUT_OUT, RESTRICTED, WELCOME, AS_ALL = "shut out", "restricted", "welcome", "shut out as all"
TREATMENTS: Final = (SHUT_OUT, RESTRICTED, WELCOME, AS_ALL)
"""How a site treats a crawler: it disallows ``/`` to its name, disallows something else to its name,
disallows nothing to its name, or disallows ``/`` to every crawler that it does not name."""

_REASONS: Final = (
    (r"^HTTP status (\d+)$", r"The server answers with HTTP status \1."),
    (r"^truncated response", "The server breaks off its answer."),
    (r"^redirected", "The redirects take too long."),
    (r"refused|Connect call failed", "The server refuses the connection."),
    (r"(?i)certificate|ssl|tls", "TLS or the server's certificate fails."),
    (r"DNS|hostname", "The name of the host is not known (DNS)."),
    (r"(?i)timed? ?out|took longer", "The server does not answer in time."),
    (r"(?i)connection.*(lost|closed|reset|aborted)|disconnected", "The server closes the connection."),
    (r"wrong number of parts|[Bb]ad header|Expected HTTP", "The answer is not HTTP."),
    (r"larger than", "The answer is too large."),
)  # fmt: skip
"""Patterns of a problem, and what they mean in words for people who run web sites."""

_LONGEST_REASON: Final = 80  # characters


class Treatment(TypedDict):
    """How a file treats a crawler that it names.

    ``line`` is that of the rule that decides about ``/``, or of the user-agent line when no rule does.
    """

    treatment: str
    line: int


@dataclass(frozen=True, slots=True)
class SiteRecord:
    """One site and its robots.txt: a line of ``survey.jsonl``, a row of a table.

    ``site`` is an origin, or the name of a file when files were read. ``access`` is the result of the fetch,
    ``status`` and ``url`` are those of the final response, ``problem`` says why there is none, and ``file`` is
    where the body was saved. ``bytes`` is the size of the body as fetched. ``lines_with_comment`` have a comment
    after something else; ``unread_lines`` are neither blank nor a comment nor a known record; ``unread_share``
    is their share of all lines, from 0 to 1.

    ``allow``, ``disallow`` and ``user_agent_fields`` count lines; ``records`` counts the lines with a key and a
    value by kind. ``agents`` maps each name in a user-agent line to its numbers of allow and disallow rules, which
    all names of a group share. ``wildcards`` counts rules with a ``*``, ``anchors`` those with a final ``$``.
    ``crawl_delays`` maps names to seconds, ``findings`` maps codes of the linter to their numbers, and
    ``finding_lines`` to the first lines with each; line 0 is the whole file. ``sketch`` stands for the lines when
    files are compared: see `sketch`.

    ``crawlers`` holds the well-known crawlers that are named, ``ai_crawlers`` the AI crawlers that are named or
    shut out, each with how they are treated: one of `TREATMENTS`. ``shuts_out`` is true when a crawler without
    a group of its own may not request ``/``. ``ai_signals`` counts the lines of each signal about the use by AI,
    ``ai_answers`` maps signals to what they answer such a crawler about ``/``, by category, and
    ``control_tokens`` holds those that are named: see `measure.CONTROL_TOKENS`.
    """

    site: str
    access: str = "successful"
    status: int | None = None
    url: str | None = None
    hops: list[str] = field(default_factory=list)
    problem: str | None = None
    fetched_at: str | None = None
    file: str | None = None
    is_html: bool = False
    bytes: int = 0
    sha256: str | None = None
    lines: int = 0
    blank_lines: int = 0
    comment_lines: int = 0
    lines_with_comment: int = 0
    unread_lines: int = 0
    unread_share: float = 0.0
    groups: int = 0
    user_agent_fields: int = 0
    agents: dict[str, Counts] = field(default_factory=dict)
    allow: int = 0
    disallow: int = 0
    wildcards: int = 0
    anchors: int = 0
    crawl_delays: dict[str, float] = field(default_factory=dict)
    sitemaps: int = 0
    records: Counts = field(default_factory=dict)
    findings: Counts = field(default_factory=dict)
    finding_lines: dict[str, list[int]] = field(default_factory=dict)
    sketch: str = ""
    crawlers: dict[str, Treatment] = field(default_factory=dict)
    ai_crawlers: dict[str, str] = field(default_factory=dict)
    shuts_out: bool = False
    ai_signals: Counts = field(default_factory=dict)
    ai_answers: dict[str, dict[str, str]] = field(default_factory=dict)
    control_tokens: dict[str, str] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """The fields by name, in their order; what they hold is not copied."""
        return {name: getattr(self, name) for name in TYPES}

    def to_json(self) -> str:
        """Return the record as one line of JSON."""
        return json.dumps(self.as_dict())

    @classmethod
    def from_json(cls, line: str) -> SiteRecord:
        """Return the record in a line of JSON. Raises ``ValueError`` when the line holds something else."""
        try:
            record = cls(**json.loads(line))
        except (TypeError, RecursionError) as error:  # the latter for thousands of brackets
            raise ValueError(str(error)) from None
        for name, is_right in _CHECKERS.items():
            if not is_right(getattr(record, name)):
                raise ValueError(f"{name} is no {getattr(TYPES[name], '__name__', TYPES[name])}")
        return record

    @property
    def has_file(self) -> bool:
        """Whether the site has a robots.txt; an HTML page is none."""
        return self.access == "successful" and self.problem is None and not self.is_html

    @property
    def kind(self) -> str:
        """What the site serves, one of `KINDS`."""
        if self.problem:
            return UNREACHABLE
        if self.access != "successful":
            return NO_FILE
        if self.is_html:
            return HTML_PAGE
        if self.rules:
            return WITH_RULES
        return WITHOUT_RULES if self.bytes else EMPTY

    @property
    def reason(self) -> str:
        """A sentence about the ``problem``, which is its own reason where there is none; empty without one."""
        problem = self.problem or ""
        found = ((re.search(pattern, problem), sentence) for pattern, sentence in _REASONS)
        return next((match.expand(sentence) for match, sentence in found if match), problem[:_LONGEST_REASON])

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


TYPES: Final[dict[str, Any]] = get_type_hints(SiteRecord)
"""The types of the fields of a record."""


def _checker(kind: Any) -> Callable[[Any], bool]:
    """What says whether a value of JSON is of the type *kind*; a whole number is a float, too."""
    parts = [_checker(part) for part in get_args(kind)]
    if get_origin(kind) is dict:
        return lambda value: type(value) is dict and all(map(parts[1], value.values()))
    if get_origin(kind) is list:
        return lambda value: type(value) is list and all(map(parts[0], value))
    if is_typeddict(kind):
        fields = {name: _checker(each) for name, each in get_type_hints(kind).items()}
        return lambda value: (
            type(value) is dict
            and value.keys() == fields.keys()
            and all(is_right(value[name]) for name, is_right in fields.items())
        )
    kinds = {*get_args(kind)} or {kind}
    if float in kinds:
        kinds.add(int)
    return lambda value: type(value) in kinds


_CHECKERS: Final = {name: _checker(kind) for name, kind in TYPES.items()}
