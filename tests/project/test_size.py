"""How large each room may be, and how well the core is commented. A bound is never raised.

The page of a room, the docstring of its package in ``crawl/`` or ``extras/``, has a bound of its own: it argues
the model, and does not compete with code.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "scrapy_rep"

# A comment names the goal of a room that is over it. Its bound is the size that it had on 2026-11-28: lower it
# when the room shrinks.
ROOMS = {  # files, how many there may be, and how many lines in them but for the pages
    "top": ("*.py settings/**/*.py", 9, 1_221),  # goal: 1,100 lines
    "protocol": ("protocol/**/*.py", 14, 2_415),  # goal: 2,300 lines
    "directives": ("directives/**/*.py", 11, 2_587),  # goal: 2,400 lines
    "crawl": ("crawl/**/*.py", 46, 9_480),  # goal: 7,600 lines
    "crawl/runtime": ("crawl/runtime/**/*.py", 9, 1_641),  # goal: 7 files, 1,100 lines
    "crawl/robots": ("crawl/robots/**/*.py", 13, 2_386),  # goal: 2,300 lines
    "crawl/policy": ("crawl/policy/**/*.py", 4, 891),  # goal: 700 lines
    "crawl/pacing": ("crawl/pacing/**/*.py", 10, 2_735),  # goal: 9 files, 1,950 lines
    "crawl/gate": ("crawl/gate/**/*.py", 5, 1_078),  # goal: 900 lines
    "crawl/sitemaps": ("crawl/sitemaps/**/*.py", 4, 731),  # goal: 650 lines
    "extras": ("extras/**/*.py", 30, 4_399),
    "testing": ("testing/**/*.py", 6, 769),
    "tools": ("tools/**/*.py census/**/*.py", 98, 18_148),  # goal: 88 files, 16,000 lines
    "scrapy_rep": ("**/*.py", 214, 39_019),  # goal: 204 files, 34,600 lines
}

COMMENTS_PER_100_LINES = 1.15
"""In ``crawl/``, at least. Raise it when you add comments. Nobody makes room by deleting reasons."""

_FOR_TOOLS = ("# noqa", "# fmt:", "# type:")

PAGES = [PACKAGE / part / "__init__.py" for part in ("crawl", "extras")]
PAGES += [page for part in ("crawl", "extras") for page in sorted((PACKAGE / part).glob("*/__init__.py"))]
LINES_OF_A_PAGE = range(10, 32)


def page_of(file: Path) -> ast.Expr:
    """The docstring of *file*, which begins with it."""
    page = ast.parse(file.read_bytes()).body[0]
    assert isinstance(page, ast.Expr)
    return page


def source(file: Path) -> bytes:
    """The text of *file* without its page."""
    lines = file.read_bytes().splitlines(keepends=True)
    return b"".join(lines[page_of(file).end_lineno :] if file in PAGES else lines)


def sources(patterns: str) -> list[bytes]:
    return [source(file) for pattern in patterns.split() for file in PACKAGE.glob(pattern)]


@pytest.mark.parametrize("file", PAGES, ids=lambda file: file.parent.name)
def test_each_room_argues_its_model_on_one_page(file: Path) -> None:
    page = page_of(file)
    text = str(ast.literal_eval(page.value))
    assert text.count("\n") + 1 in LINES_OF_A_PAGE
    assert "must not know" not in text.lower(), "say what the room does, and why so"


@pytest.mark.parametrize("room", ROOMS)
def test_no_room_grows_past_its_bound(room: str) -> None:
    patterns, most_files, most_lines = ROOMS[room]
    texts = sources(patterns)
    for what, count, most in (
        ("files", len(texts), most_files),
        ("lines", sum(text.count(b"\n") for text in texts), most_lines),
    ):
        assert count <= most, (
            f"{room} has {count:,} {what}, {count - most:,} more than its {most:,}. Make room elsewhere in it:"
            " delete what nobody needs, or solve the problem where it does not arise. Bounds are never raised."
        )


def test_the_core_keeps_its_comments() -> None:
    lines = [line.strip() for text in sources(ROOMS["crawl"][0]) for line in text.decode().splitlines()]
    comments = [line for line in lines if line.startswith("#") and not line.startswith(_FOR_TOOLS)]
    share = 100 * len(comments) / len(lines)
    assert share >= COMMENTS_PER_100_LINES, (
        f"crawl has {share:.3f} comment lines in 100 lines, fewer than {COMMENTS_PER_100_LINES}. Write down the"
        " reasons, invariants and worst cases of what you changed. This bound only rises."
    )
