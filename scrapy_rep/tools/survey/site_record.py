"""The record of one site: a line of ``survey.jsonl``."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field

Counts = dict[str, int]


@dataclass(frozen=True, slots=True)
class SiteRecord:
    """One site and its robots.txt.

    ``site`` is an origin, or the name of a file when files were read. ``access`` is the result of the fetch,
    ``status`` and ``url`` are those of the final response, ``problem`` says why there is none, and ``file`` is
    where the body was saved. ``bytes`` is the size of the body as fetched. ``lines_with_comment`` have a comment
    after something else; ``unread_lines`` are neither blank nor a comment nor a known record; ``unread_share``
    is their share of all lines, from 0 to 1.

    ``allow``, ``disallow`` and ``user_agent_fields`` count lines; ``records`` counts the lines with a key and a
    value by kind. ``agents`` maps each name in a user-agent line to its numbers of allow and disallow rules, which
    all names of a group share. ``wildcards`` counts rules with a ``*``, ``anchors`` those with a final ``$``.
    ``crawl_delays`` maps names to seconds, ``findings`` maps codes of the linter to their numbers.

    ``ai_crawlers`` holds the AI crawlers that are named or shut out: see `measure.AI_CRAWLERS`. ``shuts_out`` is
    true when a crawler without a group of its own may not request ``/``.
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
    ai_crawlers: dict[str, str] = field(default_factory=dict)
    shuts_out: bool = False

    def to_json(self) -> str:
        """Return the record as one line of JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, line: str) -> SiteRecord:
        """Return the record in a line of JSON. Raises ``ValueError`` when the line holds something else."""
        try:
            return cls(**json.loads(line))
        except TypeError as error:
            raise ValueError(str(error)) from None

    @property
    def has_file(self) -> bool:
        """Whether the site has a robots.txt."""
        return self.access == "successful" and self.problem is None

    @property
    def rules(self) -> int:
        """The number of allow and disallow lines."""
        return self.allow + self.disallow
