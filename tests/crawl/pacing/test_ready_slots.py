"""The least busy download slot first, and equally busy ones in rotation."""

from __future__ import annotations

from scrapy_rep.pacing.slots import ReadySlots


def test_the_least_busy_comes_first() -> None:
    ready: ReadySlots[str] = ReadySlots()
    for name, load in (("a", 2), ("b", 0), ("c", 1)):
        ready.add(name, load)
    assert ready.first() == "b"
    ready.discard("b")
    assert ready.first() == "c"


def test_equals_take_turns() -> None:
    ready: ReadySlots[str] = ReadySlots()
    for name in "abc":
        ready.add(name, 0)
    served = []
    for _ in range(6):
        first = ready.first()
        assert first is not None
        served.append(first)
        ready.discard(first)
        ready.add(first, 0)
    assert served == list("abcabc")


def test_who_is_added_again_with_the_same_load_keeps_its_turn() -> None:
    ready: ReadySlots[str] = ReadySlots()
    ready.add("a", 0)
    ready.add("b", 0)
    ready.add("a", 0)
    assert (ready.first(), len(ready)) == ("a", 2)


def test_who_is_not_there_may_be_discarded() -> None:
    ready: ReadySlots[str] = ReadySlots()
    ready.discard("a")
    assert ready.first() is None
    assert "a" not in ready
