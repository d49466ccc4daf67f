"""What sites have in common, as tags: the list of sites shows those with a tag, and figures link to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from scrapy_rep.protocol.display import shown
from scrapy_rep.tools.page.explorer import Tag

from . import totals as kinds
from .crawlers import SHUT_OUT
from .reasons import reason_for
from .records import SiteRecord
from .texts import FINDING_GROUPS, finding_text, finding_title, severity_of

_GROUPS: Final = (
    "The site serves", "Could not be read", "HTTP status", *FINDING_GROUPS.values(), "Shuts out by name",
    "Names", "Contains", "AI-use signals", "Control tokens", "Nearly identical to",
)  # fmt: skip
_RANKS: Final = {group: rank for rank, group in enumerate(_GROUPS)}


def rank(tag: Tag) -> tuple[int, str]:
    """The place of *tag* among all."""
    return _RANKS[tag.group], tag.label.lower()


def kind_tag(kind: str) -> Tag:
    """The tag of sites that answer with *kind*."""
    return Tag(f"serves:{kind}", "The site serves", kind)


def status_tag(status: int) -> Tag:
    """The tag of sites whose final response has this *status*."""
    return Tag(f"status:{status}", "HTTP status", f"HTTP status {status}")


def reason_tag(reason: str) -> Tag:
    """The tag of sites that cannot be reached for this *reason*."""
    return Tag(f"reason:{reason}", "Could not be read", shown(reason))


def finding_tag(code: str) -> Tag:
    """The tag of files with a finding of *code*."""
    group = FINDING_GROUPS[severity_of(code)]
    return Tag(f"finding:{code}", group, shown(finding_title(code)), shown(finding_text(code)))


def shut_out_tag(name: str) -> Tag:
    """The tag of files that shut out the crawler called *name*, by name."""
    return Tag(f"shuts-out:{name}", "Shuts out by name", name)


def named_tag(name: str) -> Tag:
    """The tag of files that name the crawler called *name*."""
    return Tag(f"names:{name}", "Names", name)


def feature_tag(feature: str) -> Tag:
    """The tag of files with this *feature*."""
    return Tag(f"contains:{feature}", "Contains", feature)


def signal_tag(signal: str) -> Tag:
    """The tag of files with lines of this *signal*."""
    return Tag(f"signal:{signal}", "AI-use signals", signal)


def token_tag(name: str) -> Tag:
    """The tag of files that address the control token called *name*."""
    return Tag(f"token:{name}", "Control tokens", name)


def similar_tag(number: int, site: str) -> Tag:
    """The tag of the group of files with this *number*, all nearly identical to that of *site*."""
    return Tag(f"similar:{number}", "Nearly identical to", shown(site))


def tags_of(record: SiteRecord, similar: Mapping[str, Tag]) -> Iterator[Tag]:
    """All tags of *record*; *similar* has the tags of groups of files by the SHA-256 of each file."""
    yield kind_tag(kinds.kind_of(record))
    if record.status is not None:
        yield status_tag(record.status)
    if record.problem:
        yield reason_tag(reason_for(record.problem))
    if record.has_file:
        yield from _tags_of_file(record)
    if (record.sha256 or "") in similar:
        yield similar[record.sha256 or ""]


def _tags_of_file(record: SiteRecord) -> Iterator[Tag]:
    yield from map(finding_tag, record.findings)
    yield from map(named_tag, record.crawlers)
    yield from (shut_out_tag(name) for name, how in record.crawlers.items() if how["treatment"] == SHUT_OUT)
    yield from (feature_tag(name) for name, value in kinds.features(record).items() if value)
    yield from map(signal_tag, record.ai_signals)
    yield from map(token_tag, record.control_tokens)
