"""The engine: verdicts, other answers, and explanations, the compiled against the plain and a slow reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from fuzz.inputs import parts, text_of
from scrapy_rep.protocol import DIALECTS, Dialect, Reason, RobotsTxt, Rule, Verdict, parse
from scrapy_rep.protocol.path_pattern import path_of
from scrapy_rep.protocol.reader import groups_in
from scrapy_rep.protocol.records import Kind
from scrapy_rep.protocol.robotstxt import request_rate, seconds
from scrapy_rep.protocol.rules import Rules
from scrapy_rep.tools.explanation import Explainer, Explanation
from tests.protocol.slow_reference import length, reference

from .questions import GOOGLES, questions, questions_in

_MOST_COMPARISONS: Final = 5_000
"""Octets of patterns times octets of a path that the slow reference compares."""

_INDEX_PAGE: Final = b"index.htm"


def verdict(data: bytes) -> None:
    """The compiled engine decides as the plain one, by the rule that the slow reference finds."""
    body, urls, tokens = questions_in(data)
    for dialect in GOOGLES:
        file = parse(body, dialect, limit=None)
        for token in tokens:
            plain = Rules(body, token, dialect)
            for url in urls:
                path = path_of(url, canonical_octets=dialect.canonical_octets)
                expected = plain.verdict(path)
                assert file.verdict(token, url) == expected
                assert file.verdict_on_path(token, path) == expected
                assert is_by_slow_reference(expected, plain.rules, path, dialect)


def is_by_slow_reference(verdict: Verdict, rules: Sequence[Rule], path: bytes, dialect: Dialect) -> bool:
    """Whether the rule of *verdict* is the longest that matches, octet by octet; True if that takes too long."""
    if verdict.reason is Reason.ROBOTS_TXT:
        return verdict.allowed and path == b"/robots.txt"
    if len(path) * sum(len(rule.value) for rule in rules) > _MOST_COMPARISONS:
        return True
    matching = [
        (length(pattern), rule.allow, -rule.line)
        for rule in rules
        for pattern in _patterns(rule)
        if reference(pattern, path, dialect)
    ]
    size, allow, line = max(matching, default=(0, True, 0))
    return (verdict.allowed, verdict.line) == (allow or not size, -line)


def _patterns(rule: Rule) -> list[bytes]:
    """The patterns of *rule*: its path and, if that is an index page that it allows, the folder."""
    folder, slash, page = rule.value.rpartition(b"/")
    is_index_page = rule.allow and slash and page.startswith(_INDEX_PAGE)
    return [rule.value, folder + b"/$"] if is_index_page else [rule.value]


def answers(data: bytes) -> None:
    """All other answers fit together; a limit cuts off whole lines and nothing else."""
    body, _, tokens = questions_in(data)
    for dialect in GOOGLES:
        file = parse(body, dialect, limit=None)
        assert file.groups == tuple(groups_in(file.records, dialect.closing_kinds))
        lines = [record.line for record in file.records]
        assert lines == sorted(set(lines))
        for token in tokens:
            _compare(file, Rules(body, token, dialect), token)
    _is_cut(body, len(body) // 2)


def _compare(file: RobotsTxt, plain: Rules, token: str) -> None:
    delays = [delay for record in plain.delays if (delay := seconds(record.value)) is not None]
    values = [record.value for record in plain.extensions if record.kind is Kind.REQUEST_RATE]
    rates = [rate for value in values if (rate := request_rate(value))]
    assert file.has_group(token) is plain.by_name
    assert file.agents_for(token) == plain.agents
    assert file.rules(token) == plain.rules
    assert file.extensions_for(token) == plain.extensions
    assert file.crawl_delays(token) == plain.delays
    assert file.crawl_delay(token) == (delays[-1] if delays else None)
    assert file.request_rate(token) == (rates[-1] if rates else None)


def _is_cut(body: bytes, limit: int) -> None:
    cut = parse(body, limit=limit).body
    assert len(cut) <= limit
    assert body.startswith(cut)
    records = parse(cut, limit=None).records
    assert records == parse(body, limit=None).records[: len(records)]


def explain(data: bytes) -> None:
    """In every dialect an explanation has the verdict of the engine, and the rule that decided comes first."""
    body, url, token, name = parts(data, 4)
    asked = questions(body, text_of(url), text_of(token))
    named = DIALECTS.get(text_of(name))
    for dialect in [named] if named else DIALECTS.values():
        file = parse(body, dialect, limit=None)
        for crawler in asked.tokens[:3]:
            explainer = Explainer(file, crawler)
            assert explainer.rules == file.rules(crawler)
            assert explainer.agents == file.agents_for(crawler)
            for each in asked.urls[:6]:
                explained = explainer.explain(each)
                assert explained.verdict == file.verdict(crawler, each)
                assert _names_the_rule(explained)
        for each in asked.urls:
            cleaned = file.clean_param(each)
            assert file.clean_param(cleaned) == cleaned
            assert file.verdict("zz", file.at_host(each)).allowed in {True, False}


def _names_the_rule(explained: Explanation) -> bool:
    if explained.verdict.reason is Reason.ROBOTS_TXT:
        return explained.verdict.allowed
    first = explained.matches[0].rule if explained.matches else None
    return explained.verdict.rule == first
