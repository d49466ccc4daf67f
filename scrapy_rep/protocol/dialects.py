"""The dialects, as data: a new one is a new constant here.

The sources of each are on the documentation's page "Dialects".
"""

from __future__ import annotations

from typing import Final

from .dialect import AgentMatch, Delay, Dialect, EmptyRule, GroupChoice, Octets, Precedence, Star
from .records import Kind

GOOGLE: Final = Dialect(name="google")
"""Google's semantics on octets normalised as RFC 9309 asks. The default."""

GOOGLE_EXACT: Final = Dialect(
    name="google-exact",
    octets=Octets.GOOGLE,
    robots_txt_allowed=False,
    wide_tokens=False,
    empty_token=True,
)
"""What Google's open-source parser answers, URL by URL."""

STANDARD_1994: Final = Dialect(
    name="1994",
    lenient_keys=False,
    allow_counts=False,
    blank_line_ends=True,
    agent_match=AgentMatch.VALUE_IN_NAME,
    group_choice=GroupChoice.FIRST,
    precedence=Precedence.FIRST,
    wildcards="",
    octets=Octets.WRITTEN,
    slash_added=True,
    index_pages=False,
    robots_txt_allowed=False,
    delay=Delay.NONE,
)
"""\"A Standard for Robot Exclusion\", 1994; who is named, and octets, as libwww-perl reads it."""

DRAFT_1996: Final = Dialect(
    name="1996",
    lenient_keys=False,
    blank_line_ends=True,
    agent_match=AgentMatch.NAME_IN_VALUE,
    group_choice=GroupChoice.FIRST,
    precedence=Precedence.FIRST,
    wildcards="",
    octets=Octets.DECODED,
    query_counts=False,
    empty_allow=EmptyRule.IGNORED,
    index_pages=False,
    delay=Delay.NONE,
)
"""draft-koster-robots-00, 1996."""

YANDEX: Final = Dialect(
    name="yandex",
    lenient_keys=False,
    blank_line_ends=True,
    agent_match=AgentMatch.VALUE_IN_NAME,
    group_choice=GroupChoice.LONGEST_NAME,
    empty_allow=EmptyRule.IGNORED,
    empty_disallow=EmptyRule.IGNORED,
    index_pages=False,
    delay=Delay.NONE,
    clean_params=True,
    permissive_pages=True,
)
"""Yandex's help for webmasters; which groups count together, and octets, are assumed."""

BING: Final = Dialect(
    name="bing",
    lenient_keys=False,
    empty_allow=EmptyRule.IGNORED,
    empty_disallow=EmptyRule.IGNORED,
    index_pages=False,
    delay=Delay.INHERITED,
)
"""Bing's blog of 2012, and statements of its staff; that groups add up is assumed."""

BAIDU: Final = Dialect(
    name="baidu",
    lenient_keys=False,
    blank_line_ends=True,
    agent_match=AgentMatch.VALUE_IN_NAME,
    group_choice=GroupChoice.FIRST,
    precedence=Precedence.FIRST,
    empty_allow=EmptyRule.IGNORED,
    index_pages=False,
    delay=Delay.NONE,
)
"""Baidu's help for webmasters, through copies of it; who is named is assumed to be as in 1994."""

RAMBLER_2006: Final = Dialect(
    name="rambler-2006",
    lenient_keys=False,
    allow_counts=False,
    blank_line_ends=True,
    agent_match=AgentMatch.VALUE_IN_NAME,
    group_choice=GroupChoice.FIRST,
    precedence=Precedence.FIRST,
    wildcards="*",
    octets=Octets.WRITTEN,
    slash_added=True,
    index_pages=False,
    robots_txt_allowed=False,
    delay=Delay.NONE,
)
"""Rambler's crawler of 2006, which is gone, by one source: as in 1994, with ``*`` for any octets."""

GEOPORTAL_FIRST: Final = Dialect(
    name="geoportal-first",
    lenient_keys=False,
    closing_kinds=frozenset({Kind.ALLOW, Kind.DISALLOW, Kind.CRAWL_DELAY, Kind.HOST, Kind.SITEMAP}),
    agent_match=AgentMatch.EQUAL_VALUE,
    star=Star.NO_MATCH,
    precedence=Precedence.FIRST,
    octets=Octets.FORM_DECODED,
    empty_allow=EmptyRule.DISALLOWS,
    folder_without_slash=True,
    index_pages=False,
    robots_txt_any_case=True,
    delay=Delay.LAST_IN_FILE,
    host_replaces=True,
)
"""Esri Geoportal Server as its documentation describes it."""

GEOPORTAL_LONGEST: Final = Dialect(
    name="geoportal-longest",
    lenient_keys=False,
    closing_kinds=GEOPORTAL_FIRST.closing_kinds,
    agent_match=AgentMatch.EQUAL_VALUE,
    star=Star.ALWAYS,
    octets=Octets.FORM_DECODED,
    empty_allow=EmptyRule.DISALLOWS,
    folder_without_slash=True,
    index_pages=False,
    robots_txt_any_case=True,
    delay=Delay.LAST_IN_FILE,
    host_replaces=True,
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
