"""The cache is bounded, and evicts the least recently used values."""

from __future__ import annotations

from scrapy_rep.protocol import Origin
from scrapy_rep.stores.lru_cache import LruCache

A, B, C = (Origin("https", host, 443) for host in ("a.example", "b.example", "c.example"))


def test_get_returns_what_was_put_for_an_origin() -> None:
    cache: LruCache[str] = LruCache(2, 100)
    cache.put(A, "a", 10)
    assert (cache.get(A), cache.get(B)) == ("a", None)


def test_the_least_recently_used_value_is_evicted_when_there_are_too_many() -> None:
    cache: LruCache[str] = LruCache(2, 100)
    cache.put(A, "a", 1)
    cache.put(B, "b", 1)
    cache.get(A)
    cache.put(C, "c", 1)
    assert (cache.get(A), cache.get(B), cache.get(C)) == ("a", None, "c")
    assert cache.evicted == 1


def test_the_least_recently_used_values_are_evicted_when_they_are_too_large() -> None:
    cache: LruCache[str] = LruCache(10, 100)
    cache.put(A, "a", 40)
    cache.put(B, "b", 40)
    cache.put(C, "c", 90)
    assert (cache.get(A), cache.get(B), cache.get(C)) == (None, None, "c")


def test_a_new_value_frees_the_octets_of_the_one_it_replaces() -> None:
    cache: LruCache[str] = LruCache(10, 100)
    for size in (90, 60, 30):
        cache.put(A, f"a{size}", size)
    cache.put(B, "b", 70)
    assert (cache.get(A), cache.get(B)) == ("a30", "b")


def test_a_value_larger_than_the_cache_evicts_no_other() -> None:
    cache: LruCache[str] = LruCache(10, 100)
    cache.put(A, "a", 10)
    cache.put(B, "b", 90)
    cache.put(A, "a", 101)
    assert (cache.get(A), cache.get(B), cache.evicted) == (None, "b", 1)
    cache.put(C, "c", 100)
    assert (cache.get(B), cache.get(C)) == (None, "c")
