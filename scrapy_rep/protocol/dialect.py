"""Dialects of robots.txt as data: the fields in which crawlers differ, and a constant for each dialect.

A new dialect needs only a new constant here; every other file of this package serves all dialects. The page
"Dialects" of the documentation lists their sources.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from enum import Enum, auto
from typing import Final, Literal

from .records import Kind

__all__ = ["AgentMatch", "Delay", "Dialect", "EmptyRule", "GroupChoice", "Octets", "Precedence", "Star"]


class Octets(Enum):
    """The spelling in which patterns and paths are compared."""

    CANONICAL = auto()
    """Both in one canonical spelling (RFC 9309 sections 2.2.2 and 2.2.3)."""
    GOOGLE = auto()
    """The path as written; in patterns, non-ASCII bytes are escaped and hexadecimal digits put in upper case."""
    WRITTEN = auto()
    """Both as written."""
    DECODED = auto()
    """Escapes are decoded, except that ``%2F`` does not become ``/``."""
    FORM_DECODED = auto()
    """As DECODED, and ``+`` is a space."""


class AgentMatch(Enum):
    """When a user-agent line names a crawler; case is ignored, and ``*`` names no crawler."""

    EQUAL_TOKEN = auto()
    """The line's product token equals the crawler's (RFC 9309 section 2.2.1)."""
    EQUAL_VALUE = auto()
    """The whole value equals the crawler's name."""
    VALUE_IN_NAME = auto()
    """The value, up to a ``/``, is a substring of the crawler's name."""
    NAME_IN_VALUE = auto()
    """The crawler's name is a substring of the value."""


class GroupChoice(Enum):
    """Which of the groups that name a crawler apply; of the groups of ``*``, either the first or all."""

    ALL = auto()
    FIRST = auto()
    LONGEST_NAME = auto()
    """All groups that name the crawler by the longest name."""


class Star(Enum):
    """When the groups of ``*`` apply to a crawler."""

    NOT_NAMED = auto()
    """If no group names the crawler."""
    NO_MATCH = auto()
    """If no rule in the groups that name the crawler matches."""
    ALWAYS = auto()
    """Together with the groups that name the crawler."""


class Precedence(Enum):
    """Which of several matching rules decides."""

    LONGEST = auto()
    """The longest rule; allow wins a tie."""
    FIRST = auto()
    """The first rule in the file."""


class EmptyRule(Enum):
    """The meaning of a rule without a path."""

    IGNORED = auto()
    ALLOWS = auto()
    """It matches every path with length 0 and allows it."""
    DISALLOWS = auto()
    """It matches every path with length 0 and disallows it."""


class Delay(Enum):
    """Which Crawl-delay applies to a crawler."""

    NONE = auto()
    OF_GROUP = auto()
    """The last Crawl-delay in the groups that apply to the crawler."""
    INHERITED = auto()
    """As OF_GROUP; without one, the Crawl-delay of ``*``."""
    LAST_IN_FILE = auto()
    """The last whole number in the file, whatever its group."""


Wildcards = Literal["", "*", "*$"]
"""The special characters of patterns: none, ``*`` for any bytes, or also ``$`` for the end of the path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """The rules by which one kind of crawler reads robots.txt. The defaults are Google's."""

    name: str

    lenient_keys: bool = True
    """Keys match by prefix, common typos are accepted, and white space may replace the colon."""
    allow_counts: bool = True
    """Allow is a rule, not an unknown record."""
    blank_line_ends: bool = False
    """A blank line ends a group."""
    closing_kinds: frozenset[Kind] = frozenset({Kind.ALLOW, Kind.DISALLOW})
    """The kinds of records that end a run of user-agent lines."""

    agent_match: AgentMatch = AgentMatch.EQUAL_TOKEN
    wide_tokens: bool = True
    """With EQUAL_TOKEN: a crawler's name with digits, dots or non-ASCII letters is compared in full, not only by
    the run of ``[A-Za-z_-]`` that RFC 9309 section 2.2.1 allows."""
    empty_token: bool = False
    """With EQUAL_TOKEN: a line with an empty token names a crawler without a name."""
    group_choice: GroupChoice = GroupChoice.ALL
    star: Star = Star.NOT_NAMED

    precedence: Precedence = Precedence.LONGEST
    wildcards: Wildcards = "*$"
    octets: Octets = Octets.CANONICAL
    query_counts: bool = True
    """Patterns match against path and query, not the path alone."""
    empty_allow: EmptyRule = EmptyRule.ALLOWS
    empty_disallow: EmptyRule = EmptyRule.ALLOWS
    slash_added: bool = False
    """A slash is put before patterns that start with neither slash nor wildcard; if False, they never match."""
    folder_without_slash: bool = False
    """The pattern ``/x/`` also matches the path ``/x``."""
    index_pages: bool = True
    """An allow rule for ``…/index.htm…`` also allows ``…/``."""
    robots_txt_allowed: bool = True
    """``/robots.txt`` itself is always allowed (RFC 9309 section 2.2.2)."""
    robots_txt_any_case: bool = False
    """``/robots.txt`` is recognized in any case."""

    delay: Delay = Delay.OF_GROUP
    host_replaces: bool = False
    """A Host record replaces the host of every URL of the site."""
    clean_params: bool = False
    """Clean-param records name URL parameters that do not change the page."""
    permissive_pages: bool = False
    """The permissive directive wins if directives of a page contradict each other."""

    is_googles: bool = field(init=False, repr=False, compare=False)
    """Whether the compiled engine supports every field that differs from Google's."""
    canonical_octets: bool = field(init=False, repr=False, compare=False)
    """Whether ``octets`` is CANONICAL."""

    def __post_init__(self) -> None:
        given = [each for each in fields(self) if each.init]
        differing = {each.name for each in given if getattr(self, each.name) != each.default}
        is_googles = differing <= _SWITCHES and self.octets in (Octets.CANONICAL, Octets.GOOGLE)
        object.__setattr__(self, "is_googles", is_googles)
        object.__setattr__(self, "canonical_octets", self.octets is Octets.CANONICAL)


_SWITCHES: Final = {"name", "octets", "robots_txt_allowed", "wide_tokens", "empty_token"}

GOOGLE: Final = Dialect(name="google")
"""Google's rules, with paths normalized as RFC 9309 requires. The default."""

GOOGLE_EXACT: Final = Dialect(
    name="google-exact",
    octets=Octets.GOOGLE,
    robots_txt_allowed=False,
    wide_tokens=False,
    empty_token=True,
)
"""The exact answers of Google's open-source parser."""

_STRICT: Final = Dialect(name="", lenient_keys=False, index_pages=False, delay=Delay.NONE)
"""The common base of all dialects but Google's; each overrides what its sources say."""

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
"""\"A Standard for Robot Exclusion\", 1994; agent matching and byte comparison follow libwww-perl."""

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
"""Yandex's help for webmasters; group choice and byte comparison are assumed."""

BING: Final = replace(
    _STRICT,
    name="bing",
    empty_allow=EmptyRule.IGNORED,
    empty_disallow=EmptyRule.IGNORED,
    delay=Delay.INHERITED,
)
"""Bing's blog of 2012 and statements by its staff; the merging of groups is assumed."""

BAIDU: Final = replace(
    _STRICT,
    name="baidu",
    blank_line_ends=True,
    agent_match=AgentMatch.VALUE_IN_NAME,
    group_choice=GroupChoice.FIRST,
    precedence=Precedence.FIRST,
    empty_allow=EmptyRule.IGNORED,
)
"""Baidu's help for webmasters, read in copies; agent matching is assumed to follow 1994."""

RAMBLER_2006: Final = replace(STANDARD_1994, name="rambler-2006", wildcards="*")
"""Rambler's former crawler of 2006, from a single source: as in 1994, with ``*`` for any bytes."""

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
"""Esri Geoportal Server, by its documentation."""

GEOPORTAL_LONGEST: Final = replace(
    GEOPORTAL_FIRST, name="geoportal-longest", star=Star.ALWAYS, precedence=Precedence.LONGEST
)
"""Esri Geoportal Server Harvester, by its current code."""

DIALECTS: Final = {
    dialect.name: dialect
    for dialect in (
        GOOGLE, GOOGLE_EXACT, STANDARD_1994, DRAFT_1996, YANDEX, BING, BAIDU, RAMBLER_2006, GEOPORTAL_FIRST,
        GEOPORTAL_LONGEST,
    )
}  # fmt: skip
"""All dialects by name."""
