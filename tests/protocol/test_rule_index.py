"""The index answers as a walk over all patterns does."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_rep.protocol.path_pattern import Pattern, path_of
from scrapy_rep.protocol.rule_index import RuleIndex, best_by_walk
from scrapy_rep.protocol.verdict import RulePaths
from tests.support.properties import fewer

PATHS = st.text("/ab.?%41é*$ [", max_size=8).map(lambda text: path_of("https://h.example/" + text))
VALUES = st.one_of(
    st.text("/ab.?*$%41é [", max_size=7).map(lambda text: ("/" + text).encode()),
    st.sampled_from([b"", b"*", b"/", b"/*", b"/a*", b"/a/*", b"*a", b"a", b"$", b"/$", b"/a$", b"*$", b"/a*$"]),
    st.sampled_from([b"/index.html", b"/a/index.htm", b"/a/index.html?b", b"/index.htm/b", b"index.htm"]),
)
PATHS_OF_RULES = st.lists(VALUES, max_size=8)


def walk(allow: list[bytes], disallow: list[bytes], path: bytes, canonical_octets: bool) -> bytes | None:
    """Every pattern of every rule, the longest first, then allow, then the first."""
    found = []
    for number, value in enumerate([*allow, *disallow]):
        values = [value]
        if number < len(allow) and value.rpartition(b"/")[2].startswith(b"index.htm") and b"/" in value:
            values.append(value[: value.rindex(b"/") + 1] + b"$")
        for spelling in values:
            pattern = Pattern.of(spelling, canonical_octets=canonical_octets)
            if pattern.matches(path):
                found.append((-pattern.specificity, number, value))
    return min(found)[2] if found else None


@pytest.mark.untraced
@pytest.mark.parametrize("canonical_octets", [True, False])
@given(allow=PATHS_OF_RULES, disallow=PATHS_OF_RULES, path=PATHS, end=st.sampled_from([b"", b"/ab." * 80]))
def test_ours_the_index_and_the_first_decision_answer_as_a_walk_does(
    canonical_octets: bool, allow: list[bytes], disallow: list[bytes], path: bytes, end: bytes
) -> None:
    path += end
    expected = walk(allow, disallow, path, canonical_octets)
    rules = RulePaths.of(allow, disallow)
    assert RuleIndex(rules, canonical_octets=canonical_octets).best(path) == expected
    assert best_by_walk(allow, disallow, path, canonical_octets=canonical_octets) == expected


@fewer(4)
@given(path=PATHS)
def test_ours_hundreds_of_literals_are_found_as_a_few_are(path: bytes) -> None:
    disallow = [b"/*" + bytes((first, second)) for first in b"/ab.?41" for second in b"/ab.?41[% ]"]
    rules = RulePaths.of([b"/*a/", b"*b?"], disallow)
    assert RuleIndex(rules, canonical_octets=True).best(path) == walk([b"/*a/", b"*b?"], disallow, path, True)


@pytest.mark.parametrize("canonical_octets", [True, False])
@fewer(10)
@given(
    rules=st.lists(st.text("/ab*$", max_size=7).map(lambda text: ("/" + text).encode()), max_size=8),
    path=PATHS,
)
@example(rules=[b"/*a/*ab*"], path=b"/a/ab%b")
def test_ours_thousands_of_patterns_are_told_apart_as_a_few_are(
    canonical_octets: bool, rules: list[bytes], path: bytes
) -> None:
    many = [b"/*" + bytes(run) + end for run in product(b"/ab*$%", repeat=3) for end in (b"", b"$")]
    expected = walk(rules, many, path, canonical_octets)
    assert RuleIndex(RulePaths.of(rules, many), canonical_octets=canonical_octets).best(path) == expected
    assert best_by_walk(rules, many, path, canonical_octets=canonical_octets) == expected


def test_ours_a_shorter_prefix_with_wildcards_behind_it_may_be_the_longer_rule() -> None:
    index = RuleIndex(RulePaths.of([b"/a/b"], [b"/a/****"]), canonical_octets=True)
    assert (index.best(b"/a/b"), index.best(b"/a"), index.best(b"/a/c")) == (b"/a/****", None, b"/a/****")


def test_ours_without_rules_nothing_is_found() -> None:
    rules = RulePaths.of([], [])
    assert RuleIndex(rules, canonical_octets=True).best(b"/") is None
    assert best_by_walk([], [], b"/", canonical_octets=True) is None


def test_ours_an_empty_path_is_a_rule_and_no_path_is_none() -> None:
    assert (RulePaths.of([], []).paths, RulePaths.of([b""], []).paths, RulePaths.of([], [b"", b"/a"]).paths) == (
        [],
        [b""],
        [b"", b"/a"],
    )
    assert (RulePaths.of([], [b""]).has_allow(b""), RulePaths.of([b""], []).has_allow(b"")) == (False, True)
