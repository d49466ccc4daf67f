"""Every reader of what pages and sites say takes time linear in it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support.cost import is_linear_in_steps, is_linear_in_time, too_costly

from .test_hostile import FIELDS, READERS

pytestmark = pytest.mark.untraced


def of(part: str) -> Callable[[int], str]:
    """Texts of *part* again and again."""
    return lambda size: (part * size)[:size]


TEXTS = {part: of(part) for part in [*FIELDS, "noindex, ", "a: ", "unavailable_after: ", "1 Jun ", "a=y, ", "/*a"]}


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_a_reader_takes_steps_linear_in_its_text(read: Callable[[str], object]) -> None:
    assert too_costly(is_linear_in_steps, read, TEXTS, 500) == []


@pytest.mark.full
@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
@pytest.mark.usefixtures("_no_collection")
def test_a_reader_takes_time_linear_in_its_text(read: Callable[[str], object]) -> None:
    assert too_costly(is_linear_in_time, read, TEXTS, 4_000) == []
