"""What a robots.txt and the rules for a crawler keep in memory is bounded, for real and for hostile bodies."""

from __future__ import annotations

import gc
import os
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from scrapy_rep.protocol import RobotsTxt, parse
from scrapy_rep.protocol.crawler_rules import shared_memory

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


def urls(body: bytes, token: str) -> list[str]:
    """URLs that many of the rules decide about."""
    rules = parse(body).rules(token)
    paths = [rule.value.decode("latin-1").replace("*", "x").rstrip("$") for rule in rules]
    return ["https://h.example" + path for path in ["/", "/x", *paths[:: max(1, len(paths) // MOST_ASKED)]]]


def kept_and_bounded(body: bytes, token: str) -> tuple[int, int]:
    """The octets that a file keeps besides its body once it was asked a lot, and how many it says at most."""
    asked = urls(body, token)
    gc.collect()
    charged = shared_memory.octets
    tracemalloc.start()
    file = parse(body)
    for url in asked:
        _ = file.verdict(token, url).line
    bounded = shared_memory.octets - charged + file.octets - len(body)
    _ = parse(b"").verdict("x", "/")  # the text of the body that was read last is kept
    gc.collect()
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return kept, bounded


@pytest.fixture
def _nothing_is_dropped(bound: None) -> None:
    shared_memory.most_octets = 1 << 40


@pytest.mark.parametrize("make", (LINES | RUNS).values(), ids=LINES | RUNS)
@pytest.mark.usefixtures("_nothing_is_dropped")
def test_ours_a_hostile_body_takes_no_more_memory_than_charged(make: Callable[[int], bytes]) -> None:
    for token in ("a", "zz"):
        kept, bounded = kept_and_bounded(make(SIZE), token)
        assert kept <= bounded


@pytest.mark.skipif(not FOLDER, reason="SCRAPY_REP_CORPUS names no folder")
@pytest.mark.usefixtures("_nothing_is_dropped")
def test_ours_a_real_body_takes_no_more_memory_than_charged() -> None:
    for body in list(bodies(Path(os.environ["SCRAPY_REP_CORPUS"])).values())[::97]:
        kept, bounded = kept_and_bounded(body, "scrapy")
        assert kept <= bounded


def test_ours_a_file_asked_once_takes_no_more_than_its_body_and_2_kib() -> None:
    for body in (b"", BODY, BODY * 50, b"User-agent: *\nAllow: /" + b"a" * 16_000):
        _ = parse(body).verdict("x", "/1").allowed  # expressions are compiled once for all files
        kept = min(kept_after_one_verdict(body) for _ in range(3))  # threads of other tests may allocate meanwhile
        assert len(body) + kept <= parse(body).octets == len(body) + 2_048


def kept_after_one_verdict(body: bytes) -> int:
    gc.collect()
    tracemalloc.start()
    file = parse(body)
    _ = file.verdict("x", "/1").allowed
    _ = parse(b"User-agent: b").verdict("x", "/").allowed
    gc.collect()
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return kept


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
