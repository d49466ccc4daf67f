"""The lowest rank first, as that of the least busy download slot, and equals in rotation."""

from __future__ import annotations

from scrapy_rep.crawl.pacing.origin_queue import Turns


def test_the_lowest_rank_comes_first() -> None:
    turns: Turns[str] = Turns()
    for name, rank in (("a", 2), ("b", 0), ("c", 1)):
        turns.add(name, rank)
    assert turns.first() == "b"
    turns.pop("b", None)
    assert turns.first() == "c"


def test_equals_take_turns() -> None:
    turns: Turns[str] = Turns()
    for name in "abc":
        turns.add(name, 0)
    served = []
    for _ in range(6):
        first = turns.first()
        assert first is not None
        served.append(first)
        turns.pop(first, None)
        turns.add(first, 0)
    assert served == list("abcabc")


def test_who_is_added_again_with_the_same_rank_keeps_its_turn() -> None:
    turns: Turns[str] = Turns()
    turns.add("a", 0)
    turns.add("b", 0)
    turns.add("a", 0)
    assert (turns.first(), len(turns)) == ("a", 2)


def test_who_is_not_there_may_be_discarded() -> None:
    turns: Turns[str] = Turns()
    turns.pop("a", None)
    assert turns.first() is None
    assert "a" not in turns


def test_one_that_changes_its_rank_all_the_time_leaves_little_behind() -> None:
    turns: Turns[str] = Turns()
    turns.add("first", -1)
    for number in range(1_000):
        turns.add("busy", number % 3)
    assert len(turns._heap) < 50
    turns.pop("first", None)
    assert turns.first() == "busy"
