"""What holds for every robots.txt, pattern and URL: the engine against slow references."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_rep.protocol import DIALECTS, GOOGLE, GOOGLE_EXACT, Dialect, parse, split_url
from scrapy_rep.protocol.path_pattern import Pattern, canonical, octets, path_of
from tests.support.properties import fewer

from .slow_reference import HEX, NEVER_PLAIN, length, reference, spelt

pytestmark = pytest.mark.untraced

BOTH = pytest.mark.parametrize("dialect", [GOOGLE, GOOGLE_EXACT], ids=lambda dialect: dialect.name)
SPELLINGS = ["/", "a", "b", "*", "$", "%", "%61", "%62", "%2A", "%2a", "%24", "%2f", "%aa", "é", "?", "|", "%7c"]
TEXTS = st.lists(st.sampled_from(SPELLINGS), max_size=10).map("".join)
WILD = st.text("/ab*$", max_size=10)
STARS = st.tuples(st.text("ab*", max_size=8), st.sampled_from(["", "$"])).map("".join)
PATTERNS = st.one_of(TEXTS, WILD, *(texts.map("/".__add__) for texts in (TEXTS, WILD, STARS)))
URLS = st.one_of(TEXTS, st.text("/ab", max_size=12)).map("/".__add__).filter(lambda url: not url.startswith("//"))
PERCENTS = st.lists(
    st.one_of(st.sampled_from([b"%", b"%%", b"%2", b"%25", b"%4", b"%7E", b"\xe9", b" ", b"*", b"$"]), st.binary())
    | st.binary(min_size=1, max_size=1).map(lambda octet: b"%%%02x" % octet[0])
    | st.sampled_from([bytes((digit,)) for digit in HEX]),
    max_size=12,
).map(b"".join)

KEYS = ["User-agent", "Allow", "Disallow", "Sitemap", "Crawl-delay", "Request-rate", "Host", "Foo"]
VALUES = ["*", "a", "b", "a1", "ab/2", "/", "/a", "/ab", "/*b", "/a$", "/a/index.htm", "", "1", "1/5", "%61", "-1"]
LINES = st.lists(st.tuples(st.sampled_from(KEYS), st.sampled_from(VALUES)), max_size=12)
TOKENS = ["a", "b", "ab", "a1", "", "other"]
PATHS = ["/", "/a", "/ab", "/a/", "/a/b", "/b", "/%61", "?a", "/robots.txt"]


# Patterns and paths


@BOTH
@given(pattern=PATTERNS, url=URLS)
def test_rfc_2_2_3_a_pattern_matches_as_the_slow_reference_does(dialect: Dialect, pattern: str, url: str) -> None:
    compiled = Pattern.of(octets(pattern), canonical_octets=dialect.canonical_octets)
    path = path_of(url, canonical_octets=dialect.canonical_octets)

    assert compiled.matches(path) is reference(octets(pattern), octets(url), dialect)


@BOTH
@given(rules=st.lists(st.tuples(st.booleans(), PATTERNS), max_size=6), url=URLS)
def test_rfc_2_2_2_the_longest_match_wins_then_allow_then_the_first_line(
    dialect: Dialect, rules: list[tuple[bool, str]], url: str
) -> None:
    lines = ["User-agent: *", *(f"{'Allow' if allow else 'Disallow'}: {pattern}" for allow, pattern in rules)]
    verdict = parse("\n".join(lines).encode(), dialect).verdict("foobot", url)
    matching = [
        (length(octets(pattern)), allow, -line)
        for line, (allow, pattern) in enumerate(rules, start=2)
        if reference(octets(pattern), octets(url), dialect)
    ]
    size, allow, line = max(matching, default=(0, True, 0))

    assert (verdict.allowed, verdict.line) == (allow or not size, -line)


@given(PERCENTS)
def test_the_canonical_spelling_is_that_of_the_slow_reference_and_idempotent(text: bytes) -> None:
    assert canonical(text) == spelt(text, decode=True, always_escaped=NEVER_PLAIN) == canonical(canonical(text))


@BOTH
@given(url=st.one_of(st.text(), st.text("/?;:#%a*$", max_size=12), TEXTS, PERCENTS))
def test_a_path_is_the_path_of_itself(dialect: Dialect, url: str | bytes) -> None:
    path = path_of(url, canonical_octets=dialect.canonical_octets)

    assert path.startswith(b"/")
    assert b"#" not in path
    assert path_of(b"http://h.example" + path, canonical_octets=dialect.canonical_octets) == path
    if not path.startswith(b"//"):
        assert path_of(path, canonical_octets=dialect.canonical_octets) == path


# Whole files


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
@fewer(4)
@given(
    rules=st.lists(st.tuples(st.booleans(), PATTERNS), max_size=6),
    path=st.one_of(st.sampled_from(["/robots.txt", "/ROBOTS.TXT", "/robots%2Etxt"]), URLS),
)
def test_a_verdict_on_a_path_is_that_on_its_url(
    dialect: Dialect, rules: list[tuple[bool, str]], path: str
) -> None:
    lines = ["User-agent: *", *(f"{'Allow' if allow else 'Disallow'}: {pattern}" for allow, pattern in rules)]
    file, url = parse("\n".join(lines).encode(), dialect), f"https://h.example{path}#x"
    _, split = split_url(url, canonical_octets=dialect.canonical_octets)

    assert file.verdict_on_path("foobot", split) == file.verdict("foobot", url)


@BOTH
@given(
    body=st.one_of(
        st.binary(max_size=200),
        st.lists(
            st.sampled_from(
                [b"User-agent:", b"*", b"a", b"allow", b":", b"Disallow: /", b"\r", b"\n", b"\n", b"\0"]
            )
            | st.sampled_from([b"Crawl-delay:", b"Request-rate: 1/", b"Host:", b"Sitemap:", b"\xef\xbb\xbf", b" "])
            | st.binary(max_size=4),
            max_size=20,
        ).map(b"".join),
    ),
    token=st.one_of(st.text(max_size=4), st.sampled_from(["a", "*", "\udcff", "\ud800"])),
    url=st.one_of(st.text(max_size=8), st.binary(max_size=8)),
    limit=st.none() | st.integers(0, 60),
)
def test_no_body_makes_any_answer_fail(
    dialect: Dialect, body: bytes, token: str, url: str | bytes, limit: int | None
) -> None:
    file = parse(body, dialect, limit=limit)
    verdict = file.verdict(token, url)
    delay, rate = file.crawl_delay(token), file.request_rate(token)
    lines = [record.line for record in file.records]

    assert lines == sorted(set(lines))
    assert verdict.line in {0, *lines}
    assert verdict.allowed or verdict.rule in file.rules(token)
    assert {rule.line for rule in file.rules(token)} <= {
        rule.line for group in file.groups for rule in group.rules
    }
    assert set(file.extensions_for(token)) <= {extension.record for extension in file.extensions}
    assert file.has_group(token) in {True, False}
    assert delay is None or 0 <= delay < math.inf
    assert rate is None or (rate.requests > 0 and rate.seconds > 0)
    assert len(file.sitemaps) == len(set(file.sitemaps))
    assert file.host is None or file.host in {record.text for record in file.records}
    assert file.dialect.name in repr(file)


def answers(body: bytes, dialect: Dialect) -> object:
    """Everything that a file says, the lines included."""
    file = parse(body, dialect)
    verdicts = [file.verdict(token, path) for token in TOKENS for path in PATHS]
    return (
        [(verdict.allowed, verdict.line) for verdict in verdicts],
        [(file.has_group(token), file.crawl_delay(token), file.request_rate(token)) for token in TOKENS],
        file.sitemaps,
        file.host,
    )


def written(lines: list[tuple[str, str]], end: str = "\n") -> bytes:
    return end.join(f"{key}: {value}" for key, value in lines).encode()


@BOTH
@pytest.mark.parametrize(
    "rewrite",
    [
        lambda lines: written(lines, "\r"),
        lambda lines: written(lines, "\r\n"),
        lambda lines: written(lines) + b"\n",
        lambda lines: b"\xef\xbb\xbf" + written(lines),
        lambda lines: written([(key.upper(), value) for key, value in lines]),
        lambda lines: written([(key.swapcase(), value) for key, value in lines]),
        lambda lines: written([(key, f"{value} # c: d") for key, value in lines]),
        lambda lines: written([(key, f"{value}#") for key, value in lines]),
        lambda lines: written([(f" \t{key}\t ", f" \t {value} \x0b\x0c\t") for key, value in lines]),
        lambda lines: written(lines).replace(b": ", b":"),
    ],
    ids=["cr", "crlf", "end", "mark", "upper", "swapped", "comment", "hash", "white-space", "tight"],
)
@fewer(4)
@given(lines=LINES)
def test_rfc_2_2_the_looks_of_a_file_change_no_answer(
    dialect: Dialect, rewrite: Callable[[list[tuple[str, str]]], bytes], lines: list[tuple[str, str]]
) -> None:
    assert answers(rewrite(lines), dialect) == answers(written(lines), dialect)


@BOTH
@fewer(4)
@given(lines=LINES, at=st.integers(0, 12), noise=st.sampled_from(["", "# c", "Foo: bar", "two words here", "\0x"]))
def test_rfc_2_2_4_lines_that_say_nothing_change_no_allowed_or_disallowed(
    dialect: Dialect, lines: list[tuple[str, str]], at: int, noise: str
) -> None:
    plain = written(lines).split(b"\n")
    noisy = b"\n".join([*plain[:at], noise.encode(), *plain[at:]])
    one, other = parse(b"\n".join(plain), dialect), parse(noisy, dialect)

    for token in TOKENS:
        assert one.has_group(token) is other.has_group(token)
        for path in PATHS:
            assert one.verdict(token, path).allowed is other.verdict(token, path).allowed
