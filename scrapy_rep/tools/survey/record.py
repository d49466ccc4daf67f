"""What a survey knows of one site: a line of ``survey.jsonl``."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field

Counts = dict[str, int]


@dataclass(frozen=True, slots=True)
class SiteRecord:
    """One site and its robots.txt.

    ``site`` is an origin, or a file where files were read. ``access`` is what the fetch came to, ``status`` and
    ``url`` are those of the answer, ``problem`` is why there is none, ``file`` is where the body is kept.
    ``bytes`` counts octets, as far as they were fetched. ``lines_with_comment`` have something before the
    comment, ``unread_lines`` are neither blank nor a comment nor anything known, ``unread_share`` is their share.

    ``allow``, ``disallow`` and ``user_agent_fields`` count lines, ``records`` the lines of every kind that have a
    key and a value. ``agents`` gives for each name in a user-agent line the numbers of its allow and disallow
    rules, which all names of a group share; ``wildcards`` and ``anchors`` count rules with a ``*`` and with a
    ``$`` at the end. ``crawl_delays`` are seconds by name, ``findings`` those of the linter by code.

    ``ai_crawlers`` holds those that are named or shut out: see `measure.AI_CRAWLERS`. ``shuts_out`` says that a
    crawler without a group may not request ``/``.
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
        """The record as one line of JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, line: str) -> SiteRecord:
        """The record in a line of JSON. Raises ``ValueError``."""
        try:
            return cls(**json.loads(line))
        except TypeError as error:
            raise ValueError(str(error)) from None

    @property
    def has_file(self) -> bool:
        """Whether there is a robots.txt."""
        return self.access == "successful" and self.problem is None

    @property
    def rules(self) -> int:
        """The allow and disallow lines."""
        return self.allow + self.disallow
