"""What a robots.txt and the rules for a crawler keep in memory is bounded, for real and for hostile bodies."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from scrapy_rep.protocol import RobotsTxt, parse
from scrapy_rep.protocol.crawler_rules import shared_memory
from scrapy_rep.protocol.robotstxt import cut
from tests.support.memory import octets_kept

from .hostile import LINES, RUNS
from .test_google_verdicts import FOLDER, bodies

pytestmark = pytest.mark.untraced

BODY = b"User-agent: *\n" + b"".join(b"Disallow: /%d\n" % number for number in range(40))
SIZE = 12_000
MOST_ASKED = 100


@pytest.fixture
def bound() -> Iterator[None]:
    """Leaves the bound of the shared memory as it was."""
    before = shared_memory.most_octets
    yield
    shared_memory.most_octets = before


@pytest.fixture
def _nothing_is_dropped(bound: None) -> None:
    shared_memory.most_octets = 1 << 40


def urls(body: bytes, token: str) -> list[str]:
    """URLs that many of the rules decide about."""
    rules = parse(body).rules(token)
    paths = [rule.value.decode("latin-1").replace("*", "x").rstrip("$") for rule in rules]
    return ["https://h.example" + path for path in ["/", "/x", *paths[:: max(1, len(paths) // MOST_ASKED)]]]


def asked(body: bytes, token: str, urls: list[str]) -> RobotsTxt:
    """The file in *body*, once it has told about each of *urls* the line that decides."""
    file = parse(body)
    for url in urls:
        _ = file.verdict(token, url).line
    _ = parse(b"").verdict("x", "/").allowed  # the text of the body that was read last is kept
    return file


def keeps_what_it_is_charged_for(body: bytes, token: str) -> bool:
    """Whether a file that was asked a lot keeps no more, besides its body, than it says and was charged for."""
    to_ask, charged = urls(body, token), shared_memory.octets
    kept = octets_kept(lambda: asked(body, token, to_ask))
    return kept <= shared_memory.octets - charged + parse(body).octets - len(body)


@pytest.mark.usefixtures("_nothing_is_dropped")
def test_ours_a_hostile_body_takes_no_more_memory_than_charged() -> None:
    for name, make in (LINES | RUNS).items():
        for token in ("a", "zz"):
            assert keeps_what_it_is_charged_for(make(SIZE), token), name


@pytest.mark.skipif(not FOLDER, reason="SCRAPY_REP_CORPUS names no folder")
@pytest.mark.parametrize("each", [97, pytest.param(7, marks=pytest.mark.full)])
@pytest.mark.usefixtures("_nothing_is_dropped")
def test_ours_a_real_body_takes_no_more_memory_than_charged(each: int) -> None:
    for name, body in list(bodies(Path(FOLDER)).items())[::each]:
        assert keeps_what_it_is_charged_for(cut(body), "scrapy"), name


def test_ours_a_file_asked_once_takes_no_more_than_its_body_and_2_kib() -> None:
    for body in (b"", BODY, BODY * 50, b"User-agent: *\nAllow: /" + b"a" * 16_000):
        _ = parse(body).verdict("x", "/1").allowed  # expressions are compiled once for all files
        # Threads of other tests may allocate meanwhile.
        kept = min(octets_kept(lambda body=body: asked_once(body)) for _ in range(3))  # type: ignore[misc]
        assert len(body) + kept <= parse(body).octets == len(body) + 2_048


def asked_once(body: bytes) -> RobotsTxt:
    file = parse(body)
    _ = file.verdict("x", "/1").allowed
    _ = parse(b"User-agent: b").verdict("x", "/").allowed
    return file


def keeps_rules(file: RobotsTxt) -> bool:
    return "'x'" in repr(file)


def test_ours_beyond_the_bound_the_oldest_rules_are_dropped_and_worked_out_again(bound: None) -> None:
    shared_memory.most_octets = 100_000
    files = [parse(BODY) for _ in range(40)]
    for _ in range(3):
        for file in files:
            assert [file.verdict("x", f"/{number}").line for number in (1, 2, 39)] == [3, 4, 41]
            assert keeps_rules(file)
            assert shared_memory.octets <= shared_memory.most_octets
    assert 0 < sum(map(keeps_rules, files)) < 20


def test_ours_rules_beyond_the_bound_are_kept_until_others_come(bound: None) -> None:
    shared_memory.most_octets = 1
    first, second = parse(BODY), parse(BODY)
    for url in ("/1", "/2", "/3"):
        assert not first.verdict("x", url).allowed
        assert keeps_rules(first)
    for url in ("/1", "/2"):  # the second decision makes an index, which is charged
        assert not second.verdict("x", url).allowed
    assert keeps_rules(second)
    assert not keeps_rules(first)
