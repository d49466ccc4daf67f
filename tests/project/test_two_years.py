"""The study in ``example_project/census``: what it computes from two small repositories."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.markdown import ROOT

PROGRAM = ROOT / "example_project" / "census" / "two_years.py"
OPEN, BLOCKED = "User-agent: *\nDisallow: /private\n", "User-agent: GPTBot\nDisallow: /\n"
WEEKS = {  # the subject of each commit, and the files of its week
    "date:23/07/2023": {"a.example": OPEN, "b.example": OPEN, "c.example": "<html>Not found</html>"},
    "date:01/10/2023": {"a.example": BLOCKED, "b.example": OPEN, "c.example": OPEN},
    "date:30/06/2024": {"a.example": BLOCKED, "b.example": "User-agent: *\nDisallow: /\n", "c.example": OPEN},
}


def repository(place: Path, commits: dict[str, dict[str, str]], folder: str = ".") -> Path:
    def git(*arguments: str) -> None:
        subprocess.run(["git", "-C", place, *arguments], check=True, capture_output=True)  # noqa: S607

    (place / folder).mkdir(parents=True)
    git("init", "--quiet")
    for subject, files in commits.items():
        for name, text in files.items():
            (place / folder / name).write_text(text)
        git("add", "--all")
        git("-c", "user.name=a", "-c", "user.email=a@a.example", "commit", "--quiet", "--message", subject)
    return place


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("matplotlib")
    place = tmp_path_factory.mktemp("study")
    weekly = repository(place / "weekly", WEEKS)
    many = repository(place / "many", {"all": {"d.example": BLOCKED, "e.example": OPEN}}, "robots")
    subprocess.run([sys.executable, PROGRAM, weekly, many, "--out", place], check=True, cwd=ROOT)
    return place


def test_the_study_counts_who_blocks_by_name_and_by_star(study: Path) -> None:
    text = (study / "two_years.md").read_text("utf-8")
    assert "robots.txt of 3 popular sites over\n3 weeks, from 2023-07-23 to 2024-06-30" in text
    assert "Files that contain the name:\n1 on 2023-10-01, 1 on 2024-06-30." in text
    assert "On 2024-06-30, 1 of 3 files block GPTBot by name, 1 more block it by `*`, and 0 block\na part" in text
    assert "nothing of 0 %. On 2024-06-30 it was\n0 % and 67 %." in text


def test_the_study_finds_the_week_in_which_most_sites_block(study: Path) -> None:
    text = (study / "two_years.md").read_text("utf-8")
    assert (
        "In the week up to October 1, 2023, 1 sites changed their file, and 1 of them newly blocked an AI" in text
    )


def test_a_body_that_did_not_change_is_read_once(study: Path) -> None:
    assert "9 files, but only 4 different bodies" in (study / "two_years.md").read_text("utf-8")


def test_the_study_draws_four_pictures(study: Path) -> None:
    pictures = sorted((study / "two_years").glob("*.svg"))
    assert [each.stem for each in pictures] == ["names", "ranks", "treatments", "weeks"]
    assert all(b"</svg>" in each.read_bytes() for each in pictures)
