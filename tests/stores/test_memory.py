"""What a process remembers is bounded, and what was used last stays."""

from __future__ import annotations

from scrapy_rep.protocol import Origin
from scrapy_rep.stores.memory import Memory

A, B, C = (Origin("https", host, 443) for host in ("a.example", "b.example", "c.example"))


def test_a_value_is_had_again_by_its_origin() -> None:
    memory: Memory[str] = Memory(2, 100)
    memory.put(A, "a", 10)
    assert (memory.get(A), memory.get(B)) == ("a", None)


def test_the_least_recently_used_leaves_when_there_are_too_many() -> None:
    memory: Memory[str] = Memory(2, 100)
    memory.put(A, "a", 1)
    memory.put(B, "b", 1)
    memory.get(A)
    memory.put(C, "c", 1)
    assert (memory.get(A), memory.get(B), memory.get(C)) == ("a", None, "c")
    assert memory.evicted == 1


def test_the_least_recently_used_leave_when_they_are_too_large() -> None:
    memory: Memory[str] = Memory(10, 100)
    memory.put(A, "a", 40)
    memory.put(B, "b", 40)
    memory.put(C, "c", 90)
    assert (memory.get(A), memory.get(B), memory.get(C)) == (None, None, "c")


def test_a_new_value_gives_the_octets_of_the_old_one_back() -> None:
    memory: Memory[str] = Memory(10, 100)
    for size in (90, 60, 30):
        memory.put(A, f"a{size}", size)
    memory.put(B, "b", 70)
    assert (memory.get(A), memory.get(B)) == ("a30", "b")


def test_a_value_larger_than_the_bound_is_not_kept_and_costs_no_other() -> None:
    memory: Memory[str] = Memory(10, 100)
    memory.put(A, "a", 10)
    memory.put(B, "b", 90)
    memory.put(A, "a", 101)
    assert (memory.get(A), memory.get(B), memory.evicted) == (None, "b", 1)
    memory.put(C, "c", 100)
    assert (memory.get(B), memory.get(C)) == (None, "c")
