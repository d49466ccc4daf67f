"""Sketches: what is alike, how well a sketch estimates it, and that hostile files cost little."""

from __future__ import annotations

import tracemalloc
from itertools import count

import pytest

from scrapy_rep.census import sketch as sketch_module
from scrapy_rep.census.sketch import ALIKE, KEPT, groups, similarity, sketch
from scrapy_rep.protocol import parse


def sketch_of(*lines: str) -> str:
    return sketch(parse("\n".join(lines).encode()).records)


def rules(numbers: range) -> list[str]:
    return ["User-agent: *", *(f"Disallow: /{number}" for number in numbers)]


@pytest.mark.parametrize(
    "other",
    [
        ["user-agent: *", "disallow: /A  # why", "Sitemap: https://b.example/s.xml"],
        ["# a comment", "Sitemap: http://c.example:8080/s.xml", "", "User-Agent: *", "Disallow:/a"],
    ],
)
def test_ours_comments_case_order_and_hosts_make_no_difference(other: list[str]) -> None:
    assert sketch_of(*other) == sketch_of("User-agent: *", "Disallow: /a", "Sitemap: https://a.example/s.xml")


def test_ours_the_same_rule_for_another_crawler_is_another_line() -> None:
    one = sketch_of("User-agent: a", "Disallow: /", "User-agent: b", "Allow: /")
    other = sketch_of("User-agent: a", "Allow: /", "User-agent: b", "Disallow: /")
    assert similarity(one, other) == pytest.approx(2 / 6)


def test_a_short_file_is_compared_exactly() -> None:
    assert similarity(sketch_of(*rules(range(40))), sketch_of(*rules(range(10, 50)))) == pytest.approx(31 / 51)
    assert similarity(sketch_of(*rules(range(9))), sketch_of()) == 0.0


def test_a_long_file_is_compared_to_within_a_fifth() -> None:
    found = similarity(sketch_of(*rules(range(1_000))), sketch_of(*rules(range(100, 1_100))))
    assert found == pytest.approx(900 / 1_100, abs=0.2)
    assert len(sketch_of(*rules(range(1_000)))) == 8 * KEPT


def test_files_are_grouped_with_the_first_that_they_are_like() -> None:
    sketches = {
        "a": sketch_of(*rules(range(50))), "b": sketch_of(*rules(range(48))), "c": sketch_of("Disallow: /c"),
        "d": sketch_of(*rules(range(500, 520))), "empty": "", "e": sketch_of(*rules(range(500, 521))), "blank": "",
    }  # fmt: skip
    assert [[name for name, _ in members] for members in groups(sketches)] == [["a", "b"], ["d", "e"]]
    assert all(alike >= ALIKE for members in groups(sketches) for _, alike in members)


def test_a_file_is_compared_with_a_few_though_thousands_share_its_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"{number:08x}" for number in range(128)]
    sketches = {str(start): "".join((lines + lines)[start % 128 : start % 128 + KEPT]) for start in range(300)}
    sketches |= {f"x{start}": f"{start:07x}f" + "".join(lines[start % 7 :: 2]) for start in range(300)}
    compared = count()
    monkeypatch.setattr(sketch_module, "similarity", lambda *_: next(compared) * 0.0)
    groups(sketches)
    assert len(sketches) < next(compared) <= 64 * len(sketches)


def test_what_is_no_sketch_is_like_nothing() -> None:
    assert groups({"a": "no sketch", "b": "no sketch", "c": "00", "d": "00"}) == []


def test_a_file_that_is_compared_needs_less_than_five_kilobytes() -> None:
    numbers = iter(range(2_000 * KEPT))
    sketches = {str(file): "".join(f"{next(numbers) * 2_654_435_761 % 2**32:08x}" for _ in range(KEPT))
                for file in range(2_000)}  # fmt: skip
    tracemalloc.start()
    groups(sketches)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 2_000 * 5_000  # octets
