"""The index answers as a walk over all patterns does."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_rep.protocol.index import RawRule, RuleIndex, best_of
from scrapy_rep.protocol.pattern import Pattern, path_of

PATHS = st.text("/ab.?%41é*$ [", max_size=8).map(lambda text: path_of("https://h.example/" + text))
VALUES = st.one_of(
    st.text("/ab.?*$%41é [", max_size=7).map(lambda text: ("/" + text).encode()),
    st.sampled_from([b"", b"*", b"/", b"/*", b"/a*", b"/a/*", b"*a", b"a", b"$", b"/$", b"/a$", b"*$", b"/a*$"]),
    st.sampled_from([b"/index.html", b"/a/index.htm", b"/a/index.html?b", b"/index.htm/b", b"index.htm"]),
)
RULES = st.lists(st.tuples(VALUES, st.booleans()), max_size=12).map(
    lambda rules: [(value, allow, place) for place, (value, allow) in enumerate(rules)]
)


def walk(rules: list[RawRule], path: bytes, canonical_octets: bool) -> RawRule | None:
    """Every pattern of every rule, the longest first, then allow, then the first."""
    found = []
    for value, allow, place in rules:
        values = [value]
        if allow and value.rpartition(b"/")[2].startswith(b"index.htm") and b"/" in value:
            values.append(value[: value.rindex(b"/") + 1] + b"$")
        for spelling in values:
            pattern = Pattern.of(spelling, canonical_octets=canonical_octets)
            if pattern.matches(path):
                found.append((-pattern.specificity, not allow, place))
    return rules[min(found)[2]] if found else None


@pytest.mark.parametrize("canonical_octets", [True, False])
@settings(max_examples=1_500, deadline=None, derandomize=True)
@given(rules=RULES, path=PATHS)
def test_ours_the_index_and_the_first_decision_answer_as_a_walk_does(
    canonical_octets: bool, rules: list[RawRule], path: bytes
) -> None:
    expected = walk(rules, path, canonical_octets)
    assert RuleIndex(rules, canonical_octets=canonical_octets).best(path) == expected
    assert best_of(rules, path, canonical_octets=canonical_octets) == expected


def test_ours_a_shorter_prefix_with_wildcards_behind_it_may_be_the_longer_rule() -> None:
    rules: list[RawRule] = [(b"/a/****", False, 1), (b"/a/b", True, 2)]
    index = RuleIndex(rules, canonical_octets=True)
    assert (index.best(b"/a/b"), index.best(b"/a"), index.best(b"/a/c")) == (rules[0], None, rules[0])


def test_ours_without_rules_nothing_is_found() -> None:
    assert RuleIndex([], canonical_octets=True).best(b"/") is None
    assert best_of([], b"/", canonical_octets=True) is None
