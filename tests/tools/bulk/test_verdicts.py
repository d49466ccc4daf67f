"""Bulk decisions: each URL by the robots.txt of its own origin, whatever the order and however little memory."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping

import pytest

from scrapy_rep.protocol import GOOGLE_EXACT, Access, Origin, parse
from scrapy_rep.tools.bulk import BulkVerdict, Known, Missing, decide
from scrapy_rep.tools.bulk.verdicts import LONGEST_URL, Decider

BODY = b"User-agent: *\nDisallow: /x\n\nUser-agent: NewsBot\nDisallow: /\nAllow: /news\n"


class Files:
    """A source in memory that counts what it is asked."""

    def __init__(self, files: Mapping[str, Known | Missing]) -> None:
        self.asked: Counter[str] = Counter()
        self._files = files

    def get(self, origin: Origin) -> Known | Missing:
        self.asked[str(origin)] += 1
        return self._files.get(str(origin), Missing.NO_FILE)


def rules(body: bytes) -> Known:
    return Known(Access.SUCCESSFUL, body)


def facts(verdict: BulkVerdict) -> tuple[object, ...]:
    return verdict.origin, verdict.agent, verdict.allowed, verdict.line, verdict.rule, verdict.reason


def test_each_url_gets_the_verdict_for_each_agent() -> None:
    source = Files({"https://a.example": rules(BODY)})
    urls = ["https://a.example/x/1", "https://a.example/news/1"]
    found = [(url, *facts(verdict)[1:]) for url, verdict in decide(urls, source, ["NewsBot/2.1", "*"])]
    assert found == [
        (urls[0], "NewsBot", False, 5, "Disallow: /", "rule"),
        (urls[0], "*", False, 2, "Disallow: /x", "rule"),
        (urls[1], "NewsBot", True, 6, "Allow: /news", "rule"),
        (urls[1], "*", True, None, None, "no rule"),
    ]


def test_one_agent_needs_no_list() -> None:
    source, urls = Files({"https://a.example": rules(BODY)}), ["https://a.example/news/1", "https://a.example/a"]
    assert [facts(verdict)[1:3] for _, verdict in decide(urls, source, "NewsBot")] == [
        ("NewsBot", True),
        ("NewsBot", False),
    ]


@pytest.mark.parametrize(
    ("access", "allowed", "reason"),
    [(Access.UNAVAILABLE, True, "unavailable"), (Access.UNREACHABLE, False, "unreachable")],
)
def test_what_a_fetch_meant_decides_and_robots_txt_itself_is_allowed(
    access: Access, allowed: bool, reason: str
) -> None:
    urls = ["https://a.example/x", "https://a.example/robots.txt"]
    found = [verdict for _, verdict in decide(urls, Files({"https://a.example": Known(access)}))]
    assert facts(found[0])[2:] == (allowed, None, None, reason)
    assert facts(found[1])[2:] == (True, None, None, "/robots.txt itself")


def test_an_unreachable_robots_txt_allows_where_the_owner_says_so() -> None:
    source = Files({"https://a.example": Known(Access.UNREACHABLE)})
    decider = Decider(source, (("*",),), unreachable=Access.UNAVAILABLE)
    assert facts(decider.on("https://a.example/x")[0])[2:] == (True, None, None, "unreachable")


@pytest.mark.parametrize("missing", [None, True, False])
def test_an_origin_without_a_robots_txt_is_unknown_unless_the_caller_says_otherwise(missing: bool | None) -> None:
    source = Files({"https://broken.example": Missing.UNREADABLE})
    urls = ["https://a.example/", "https://broken.example/"]
    found = [facts(verdict)[2:] for _, verdict in decide(urls, source, missing=missing)]
    assert found == [(missing, None, None, "no robots.txt"), (None, None, None, "unreadable robots.txt")]


@pytest.mark.parametrize(
    "url",
    [
        "", "/path", "a.example/x", "file:///etc/passwd", "data:,x", "https://", "https://[::1/", "https://a:b/",
        "https://a.example/\0", "https://a.example/\tx", "https://a.example/" + LONGEST_URL * "x",
    ],
)  # fmt: skip
def test_what_is_no_url_is_said_to_be_none(url: str) -> None:
    source = Files({"https://a.example": rules(b"")})
    for urls in ([url], ["https://a.example/", url]):
        *_, (given, verdict) = decide(urls, source, missing=True)
        assert (given, *facts(verdict)) == (url, "", "*", None, None, None, "not a URL")


@pytest.mark.parametrize(
    "url",
    [
        "https://A.example/x", "HTTPS://a.example:443/x", "https://user:pw@a.example/x", "wss://a.example/x",
        "https://a.example/x?q#f", "https://a.example/%78",
    ],
)  # fmt: skip
def test_however_its_origin_is_spelt_a_url_gets_the_same_file(url: str) -> None:
    source = Files({"https://a.example": rules(BODY), "https://a.example:8443": rules(b"")})
    urls = [url, "https://a.example/x", "https://a.example:8443/x", url]
    assert [verdict.allowed for _, verdict in decide(urls, source)] == [False, False, True, False]
    assert source.asked == {"https://a.example": 1, "https://a.example:8443": 1}


def test_with_little_memory_every_verdict_is_the_same_and_files_are_read_again() -> None:
    bodies = {f"https://{n}.example": f"User-agent: *\nDisallow: /{n}\n".encode() for n in range(20)}
    files = {name: rules(body) for name, body in bodies.items()}
    urls = [f"https://{n}.example/{path}" for n in range(20) for path in range(20)]
    random.Random(1).shuffle(urls)  # noqa: S311
    large, small = Files(files), Files(files)
    expected = [parse(bodies[url.rpartition("/")[0]]).verdict("*", url).allowed for url in urls]
    assert [verdict.allowed for _, verdict in decide(urls, large)] == expected
    assert [verdict.allowed for _, verdict in decide(urls, small, held=9_000)] == expected
    assert set(large.asked.values()) == {1}
    assert small.asked.total() > 100
    for one in (1_500, 1, 0):
        small.asked.clear()
        assert len([*decide(sorted(urls), small, held=one)]) == 400
        assert set(small.asked.values()) == {1}, "sorted URLs need each file once"


def test_the_first_token_with_a_group_is_the_one_that_counts() -> None:
    source = Files({"https://a.example": rules(BODY), "https://b.example": rules(b"User-agent: *\nDisallow: /x")})
    decider = Decider(source, (("MyNews", "NewsBot"),))
    assert facts(decider.on("https://a.example/y")[0])[1:3] == ("NewsBot", False)
    assert facts(decider.on("https://b.example/y")[0])[1:3] == ("NewsBot", True)


def test_the_dialect_and_the_limit_count() -> None:
    source = Files({"https://a.example": rules(b"User-agent: *\nDisallow: /robots.txt\n")})
    url = "https://a.example/robots.txt"
    answers = [
        next(decide([url], source)), next(decide([url], source, dialect=GOOGLE_EXACT)),
        next(decide([url], source, dialect=GOOGLE_EXACT, limit=20)),
    ]  # fmt: skip
    assert [verdict.allowed for _, verdict in answers] == [True, False, True]


@pytest.mark.parametrize("agents", [[], ["()"]])
def test_an_agent_without_a_name_is_refused(agents: list[str]) -> None:
    with pytest.raises(ValueError, match="product token"):
        next(decide(["https://a.example/"], Files({}), agents))
