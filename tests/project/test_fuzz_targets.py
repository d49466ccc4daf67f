"""The targets hold for every seed, for what once failed, and for a few hundred inputs made of these."""

from __future__ import annotations

from random import Random

import pytest

from fuzz.mutation import edited
from fuzz.regressions import REGRESSIONS
from fuzz.seeds import seeds
from fuzz.targets import TARGETS, Target

pytestmark = [pytest.mark.untraced, pytest.mark.full]

SEEDS = {name: seeds(name) for name in TARGETS}
EACH = pytest.mark.parametrize(("name", "target"), TARGETS.items(), ids=TARGETS)
KNOWN = [(name, what) for name, inputs in REGRESSIONS.items() for what in inputs]
MOST_SEEDS = 60


@EACH
def test_a_target_holds_for_its_seeds(name: str, target: Target) -> None:
    step = -(-len(SEEDS[name]) // MOST_SEEDS)
    for data in SEEDS[name][::step]:
        target(data)


@EACH
def test_a_target_holds_for_what_is_made_of_its_seeds(name: str, target: Target) -> None:
    random = Random(name)  # noqa: S311
    for _ in range(25):
        target(edited(random, random.choice(SEEDS[name])))


@EACH
@pytest.mark.parametrize("data", [b"", b"\0", b"\x1e\x1e\x1e\x1e\x1e", b"\xff" * 50, b"a" * 50])
def test_every_string_of_octets_is_an_input(name: str, target: Target, data: bytes) -> None:
    target(data)


@pytest.mark.parametrize(("name", "what"), KNOWN)
def test_what_once_failed_does_not_fail_again(name: str, what: str) -> None:
    TARGETS[name](REGRESSIONS[name][what])
