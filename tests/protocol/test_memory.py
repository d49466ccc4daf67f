"""What a robots.txt keeps in memory is about what it says, for real and for hostile bodies, and bounded."""

from __future__ import annotations

from pathlib import Path

import pytest

from scrapy_rep.protocol import RobotsTxt, parse
from tests.support.memory import octets_kept

from .hostile import LINES, RUNS
from .test_google_verdicts import FOLDER, bodies

pytestmark = pytest.mark.untraced

FACTOR = 1.5
FACTOR_OF_HOSTILE = 6
SIZE = 12_000


def asked(body: bytes, token: str) -> RobotsTxt:
    """The file in *body*, once it has told a crawler about a few URLs."""
    file = parse(body, limit=None)
    for path in ("/", "/a", "/a/b?c"):
        _ = file.verdict(token, f"https://h.example{path}").line
    return file


@pytest.mark.skipif(not FOLDER, reason="SCRAPY_REP_CORPUS names no folder")
def test_real_files_keep_about_what_they_say() -> None:
    files = list(bodies(Path(FOLDER)).values())[::3]
    kept = octets_kept(lambda: [asked(body, "scrapy") for body in files]) + sum(map(len, files))
    said = sum(parse(body, limit=None).octets for body in files)
    assert said / FACTOR < kept < said * FACTOR


def test_hostile_bodies_keep_at_most_six_times_what_they_say() -> None:
    for name, make in (LINES | RUNS).items():
        body = make(SIZE)
        for token in ("a", "zz"):
            kept = len(body) + octets_kept(lambda body=body, token=token: asked(body, token))  # type: ignore[misc]
            assert kept < parse(body).octets * FACTOR_OF_HOSTILE, (name, token)


def test_the_rules_of_a_few_crawlers_are_kept() -> None:
    file = parse(b"User-agent: *\nDisallow: /x\n")
    for number in range(100):
        assert not file.verdict(f"bot{number}", "/x").allowed
    assert repr(file).count("'bot") <= 16
