"""What differs between readings of a robots.txt: the fields of a dialect, and the dialects as data.

A new dialect is a new constant here: every other file of this package is the same for all dialects. The sources of
each are on the documentation's page "Dialects".
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from enum import Enum, auto
from typing import Final, Literal

from .records import Kind

__all__ = ["AgentMatch", "Delay", "Dialect", "EmptyRule", "GroupChoice", "Octets", "Precedence", "Star"]


class Octets(Enum):
    """In which spelling of their octets patterns and paths are compared."""

    CANONICAL = auto()
    """In one canonical spelling on both sides (RFC 9309 sections 2.2.2 and 2.2.3)."""
    GOOGLE = auto()
    """The path as written; of a pattern octets beyond ASCII and the case of hexadecimal digits are normalized."""
    WRITTEN = auto()
    """Both as written."""
    DECODED = auto()
    """Escapes stand for their octets, but ``%2F`` is not ``/``."""
    FORM_DECODED = auto()
    """As DECODED, and ``+`` is a space."""


class AgentMatch(Enum):
    """When a user-agent line names a crawler; case never counts, and ``*`` names nobody."""

    EQUAL_TOKEN = auto()
    """Its product token is the crawler's (RFC 9309 section 2.2.1)."""
    EQUAL_VALUE = auto()
    """Its whole value is the crawler's name."""
    VALUE_IN_NAME = auto()
    """Its value, up to a ``/``, is part of the crawler's name."""
    NAME_IN_VALUE = auto()
    """The crawler's name is part of its value."""


class GroupChoice(Enum):
    """Which of the groups that name a crawler count; of the groups of ``*`` either the first or all."""

    ALL = auto()
    FIRST = auto()
    LONGEST_NAME = auto()
    """All that name it by the longest name."""


class Star(Enum):
    """When the groups of ``*`` count for a crawler."""

    NOT_NAMED = auto()
    """If no group names it."""
    NO_MATCH = auto()
    """If no rule of a group that names it matches."""
    ALWAYS = auto()
    """Together with the groups that name it."""


class Precedence(Enum):
    """Which of several rules that match decides."""

    LONGEST = auto()
    """The longest one; a tie goes to allow."""
    FIRST = auto()
    """The one on the first line."""


class EmptyRule(Enum):
    """What a rule without a path means."""

    IGNORED = auto()
    ALLOWS = auto()
    """It is a match of length 0 that allows."""
    DISALLOWS = auto()
    """It is a match of length 0 that disallows."""


class Delay(Enum):
    """Which Crawl-delay counts for a crawler."""

    NONE = auto()
    OF_GROUP = auto()
    """The last one of the groups that count for it."""
    INHERITED = auto()
    """As OF_GROUP, or else that of ``*``."""
    LAST_IN_FILE = auto()
    """The last whole number in the file, whatever its group."""


Wildcards = Literal["", "*", "*$"]
"""The special characters of patterns: none, ``*`` for any octets, or also ``$`` for the end of the path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """One reading of robots.txt. A field that is left out is as at Google."""

    name: str

    lenient_keys: bool = True
    """Keys match by prefix, some typos count, and white space may stand for the colon."""
    allow_counts: bool = True
    """Allow is a rule, not an unknown record."""
    blank_line_ends: bool = False
    """A blank line ends a group."""
    closing_kinds: frozenset[Kind] = frozenset({Kind.ALLOW, Kind.DISALLOW})
    """The records that end a run of user-agent lines."""

    agent_match: AgentMatch = AgentMatch.EQUAL_TOKEN
    wide_tokens: bool = True
    """Of equal tokens: a crawler whose own name holds digits, dots or letters beyond ASCII is compared on all of
    them, not on the run of ``[A-Za-z_-]`` that RFC 9309 section 2.2.1 allows."""
    empty_token: bool = False
    """Of equal tokens: a line whose token is empty names a crawler without a name."""
    group_choice: GroupChoice = GroupChoice.ALL
    star: Star = Star.NOT_NAMED

    precedence: Precedence = Precedence.LONGEST
    wildcards: Wildcards = "*$"
    octets: Octets = Octets.CANONICAL
    query_counts: bool = True
    """Patterns are compared with path and query, not with the path alone."""
    empty_allow: EmptyRule = EmptyRule.ALLOWS
    empty_disallow: EmptyRule = EmptyRule.ALLOWS
    slash_added: bool = False
    """A pattern that starts with neither a slash nor a wildcard gets a slash; otherwise it never matches."""
    folder_without_slash: bool = False
    """The pattern ``/x/`` also matches the path ``/x``."""
    index_pages: bool = True
    """An allow rule for ``…/index.htm…`` also allows ``…/``."""
    robots_txt_allowed: bool = True
    """``/robots.txt`` itself is always allowed (RFC 9309 section 2.2.2)."""
    robots_txt_any_case: bool = False
    """Case does not count in ``/robots.txt``."""

    delay: Delay = Delay.OF_GROUP
    host_replaces: bool = False
    """A Host record says where every URL of the site is requested."""
    clean_params: bool = False
    """Clean-param records name parameters of URLs that make no difference."""
    permissive_pages: bool = False
    """Of directives of a page that contradict each other, the permissive one applies."""

    is_googles: bool = field(init=False, repr=False, compare=False)
    """Whether it differs from Google's reading only by switches that the compiled engine has."""
    canonical_octets: bool = field(init=False, repr=False, compare=False)
    """Whether ``octets`` are canonical."""

    def __post_init__(self) -> None:
        given = [each for each in fields(self) if each.init]
        differing = {each.name for each in given if getattr(self, each.name) != each.default}
        is_googles = differing <= _SWITCHES and self.octets in (Octets.CANONICAL, Octets.GOOGLE)
        object.__setattr__(self, "is_googles", is_googles)
        object.__setattr__(self, "canonical_octets", self.octets is Octets.CANONICAL)


_SWITCHES: Final = {"name", "octets", "robots_txt_allowed", "wide_tokens", "empty_token"}

GOOGLE: Final = Dialect(name="google")
"""Google's semantics on octets normalized as RFC 9309 asks. The default."""

GOOGLE_EXACT: Final = Dialect(
    name="google-exact",
    octets=Octets.GOOGLE,
    robots_txt_allowed=False,
    wide_tokens=False,
    empty_token=True,
)
"""What Google's open-source parser answers, URL by URL."""

_STRICT: Final = Dialect(name="", lenient_keys=False, index_pages=False, delay=Delay.NONE)
"""What the readings of others than Google have in common, unless they say otherwise."""

STANDARD_1994: Final = replace(
    _STRICT,
    name="1994",
    allow_counts=False,
    blank_line_ends=True,
    agent_match=AgentMatch.VALUE_IN_NAME,
    group_choice=GroupChoice.FIRST,
    precedence=Precedence.FIRST,
    wildcards="",
    octets=Octets.WRITTEN,
    slash_added=True,
    robots_txt_allowed=False,
)
"""\"A Standard for Robot Exclusion\", 1994; who is named, and octets, as libwww-perl reads it."""

DRAFT_1996: Final = replace(
    _STRICT,
    name="1996",
    blank_line_ends=True,
    agent_match=AgentMatch.NAME_IN_VALUE,
    group_choice=GroupChoice.FIRST,
    precedence=Precedence.FIRST,
    wildcards="",
    octets=Octets.DECODED,
    query_counts=False,
    empty_allow=EmptyRule.IGNORED,
)
"""draft-koster-robots-00, 1996."""

YANDEX: Final = replace(
    _STRICT,
    name="yandex",
    blank_line_ends=True,
    agent_match=AgentMatch.VALUE_IN_NAME,
    group_choice=GroupChoice.LONGEST_NAME,
    empty_allow=EmptyRule.IGNORED,
    empty_disallow=EmptyRule.IGNORED,
    clean_params=True,
    permissive_pages=True,
)
"""Yandex's help for webmasters; which groups count together, and octets, are assumed."""

BING: Final = replace(
    _STRICT,
    name="bing",
    empty_allow=EmptyRule.IGNORED,
    empty_disallow=EmptyRule.IGNORED,
    delay=Delay.INHERITED,
)
"""Bing's blog of 2012, and statements of its staff; that groups add up is assumed."""

BAIDU: Final = replace(
    _STRICT,
    name="baidu",
    blank_line_ends=True,
    agent_match=AgentMatch.VALUE_IN_NAME,
    group_choice=GroupChoice.FIRST,
    precedence=Precedence.FIRST,
    empty_allow=EmptyRule.IGNORED,
)
"""Baidu's help for webmasters, through copies of it; who is named is assumed to be as in 1994."""

RAMBLER_2006: Final = replace(STANDARD_1994, name="rambler-2006", wildcards="*")
"""Rambler's crawler of 2006, which is gone, by one source: as in 1994, with ``*`` for any octets."""

GEOPORTAL_FIRST: Final = replace(
    _STRICT,
    name="geoportal-first",
    closing_kinds=frozenset({Kind.ALLOW, Kind.DISALLOW, Kind.CRAWL_DELAY, Kind.HOST, Kind.SITEMAP}),
    agent_match=AgentMatch.EQUAL_VALUE,
    star=Star.NO_MATCH,
    precedence=Precedence.FIRST,
    octets=Octets.FORM_DECODED,
    empty_allow=EmptyRule.DISALLOWS,
    folder_without_slash=True,
    robots_txt_any_case=True,
    delay=Delay.LAST_IN_FILE,
    host_replaces=True,
)
"""Esri Geoportal Server as its documentation describes it."""

GEOPORTAL_LONGEST: Final = replace(
    GEOPORTAL_FIRST, name="geoportal-longest", star=Star.ALWAYS, precedence=Precedence.LONGEST
)
"""Esri Geoportal Server Harvester as its code runs today."""

DIALECTS: Final = {
    dialect.name: dialect
    for dialect in (
        GOOGLE, GOOGLE_EXACT, STANDARD_1994, DRAFT_1996, YANDEX, BING, BAIDU, RAMBLER_2006, GEOPORTAL_FIRST,
        GEOPORTAL_LONGEST,
    )
}  # fmt: skip
"""Every dialect by its name."""
