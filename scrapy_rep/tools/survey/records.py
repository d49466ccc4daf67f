"""The records of a survey: one for each site, and the folder that they are written to."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, get_args, get_origin, get_type_hints, is_typeddict
from urllib.parse import quote

from scrapy_rep.protocol import Origin
from scrapy_rep.tools.files import MOST_OCTETS, read_file

from .crawlers import Treatment

Counts = dict[str, int]
_LONGEST_NAME: Final = 200  # octets


@dataclass(frozen=True, slots=True)
class SiteRecord:
    """One site and its robots.txt: a line of ``survey.jsonl``.

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
    shut out: see `crawlers`. ``shuts_out`` is true when a crawler without a group of its own may not request
    ``/``. ``ai_signals`` counts the lines of each signal about the use by AI, ``ai_answers`` maps signals to what
    they answer such a crawler about ``/``, by category, and ``control_tokens`` holds those that are named: see
    `signals.CONTROL_TOKENS`.
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

    def to_json(self) -> str:
        """Return the record as one line of JSON."""
        return json.dumps({each.name: getattr(self, each.name) for each in fields(self)})

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
    def rules(self) -> int:
        """The number of allow and disallow lines."""
        return self.allow + self.disallow


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
    kinds = {kind, int} if kind is float else {kind}
    return lambda value: any(part(value) for part in parts) if parts else type(value) in kinds


_CHECKERS: Final = {name: _checker(kind) for name, kind in TYPES.items()}


class SurveyFolder:
    """The folder of a survey: ``survey.jsonl``, ``survey.html`` and, in ``files/``, what was fetched.

    It is created when it is missing.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._records_path = path / "survey.jsonl"
        self.page = path / "survey.html"

    @property
    def is_used(self) -> bool:
        """Whether the folder holds a survey."""
        return self._records_path.exists()

    def earlier_records(self) -> Iterator[SiteRecord]:
        """The records of an earlier survey, if there is one. Removes a last line that was cut short.

        Raises ``OSError``, and ``ValueError`` for a file that holds something else.
        """
        if not self.is_used:
            return
        with self._records_path.open("r+b") as file:
            for line in iter(partial(file.readline, MOST_OCTETS), b""):
                if not line.endswith(b"\n"):
                    file.truncate(self._records_path.stat().st_size - len(line))
        yield from self.records()

    def records(self) -> Iterator[SiteRecord]:
        """All records. Raises ``OSError``, and ``ValueError`` for a file that holds something else."""
        return (record for _, record in self.positioned_records())

    def positioned_records(self) -> Iterator[tuple[int, SiteRecord]]:
        """All records, each with its position, which `record_at` takes. Raises as `records` does."""
        position = 0
        with self._records_path.open("rb") as file:
            for number, line in enumerate(iter(partial(file.readline, MOST_OCTETS), b""), start=1):
                yield position, self._record_in(line, number)
                position += len(line)

    def record_at(self, position: int) -> SiteRecord:
        """The record at *position*. Raises as `records` does."""
        with self._records_path.open("rb") as file:
            file.seek(position)
            return self._record_in(file.readline(), 0)

    def _record_in(self, line: bytes, number: int) -> SiteRecord:
        try:
            return SiteRecord.from_json(line.decode())
        except ValueError as error:
            raise ValueError(f"{self._records_path}: line {number} is not a survey record: {error}") from None

    def open(self, *, append: bool) -> None:
        """Open the file of records, to *append* to it or to replace it. Raises ``OSError``."""
        self._path.mkdir(parents=True, exist_ok=True)
        self.page.unlink(missing_ok=True)  # it covers other sites
        self._records = self._records_path.open("a" if append else "w", encoding="utf-8", buffering=1)

    def add(self, record: SiteRecord) -> None:
        """Write *record*. Raises ``OSError``."""
        self._records.write(record.to_json() + "\n")

    def save_body(self, origin: Origin, body: bytes) -> str:
        """Save the robots.txt of *origin*; return the name of the file, relative to the folder."""
        path = self._path / "files" / file_name(origin)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(body)
        return path.relative_to(self._path).as_posix()

    def body(self, record: SiteRecord) -> bytes | None:
        """The robots.txt of *record*, None when it is not to be had."""
        try:
            return read_file(self._path / record.file) if record.file else None
        except (OSError, ValueError):  # a name with a NUL
            return None

    def close(self) -> None:
        """Close the file of records. Raises ``OSError``."""
        self._records.close()


def file_name(origin: Origin) -> str:
    """A file name for *origin* that is safe in every folder and unique to it."""
    host = quote(origin.host, safe="")
    is_common = origin == Origin("https", origin.host, 443)
    name = host if is_common else f"{origin.scheme}+{host}+{origin.port}"  # no host contains a "+"
    if len(name) > _LONGEST_NAME:
        name = f"{name[:100]}+{sha256(name.encode()).hexdigest()}"
    return f"{name}.txt"
