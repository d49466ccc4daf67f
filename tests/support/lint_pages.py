"""Write ``docs/lint/`` from the table of the codes: ``python -m tests.support.lint_pages``."""

from __future__ import annotations

import re
from textwrap import fill
from typing import Final

from scrapy_rep.tools.lint import CODES, Finding, lint

from .markdown import DOCS

FOLDER: Final = DOCS / "lint"
HEADINGS: Final = {
    "accidents": "Accidents of publishing",
    "file": "The file",
    "lines": "Lines",
    "user-agents": "User-agent lines and groups",
    "crawlers": "Known crawlers",
    "rules": "Rules, one by one",
    "rules-compared": "Rules compared with each other",
    "reach": "How far rules reach",
    "records": "Sitemaps and extensions",
    "ai-signals": "Signals about the use by AI",
    "dialects": "Other dialects",
}
"""The pages and their headings."""

_WIDTH: Final = 120
_INTRODUCTIONS: Final = {
    "crawlers": "Names are compared with a table of known crawlers: `scrapy_rep/tools/crawlers.csv`, each with "
    "the document that describes it. A crawler that is not in it may exist.",
    "ai-signals": "These records say what may be done with a page after it is fetched. None of them is part of "
    "RFC 9309, and a misspelling goes unnoticed: a crawler that does not understand a signal takes it as no "
    "signal.",
}
_LISTS: Final = re.compile(r"^- \[.*?^$\n.*\Z", re.MULTILINE | re.DOTALL)


def findings_in(example: str) -> tuple[Finding, ...]:
    """What is found in an *example* of a code: a file, or a call of `lint`."""
    if example.startswith("lint("):
        return eval(example, {"lint": lint})  # noqa: S307  # our own table
    return lint(f"{example}\n".encode())


def pages() -> dict[str, str]:
    """The text of each page by its name, index included."""
    found = {
        name: "\n\n".join([f"# {heading}", *_introduction(name), *(_entry(code) for code in _codes(name))]) + "\n"
        for name, heading in HEADINGS.items()
        if _codes(name)
    }
    index = (FOLDER / "index.md").read_text("utf-8")
    return {**found, "index": _LISTS.sub(lambda _: _lists(found), index)}


def _codes(name: str) -> list[str]:
    return [code for code, kind in CODES.items() if kind.page == name]


def _introduction(name: str) -> list[str]:
    return [fill(_INTRODUCTIONS[name], _WIDTH)] if name in _INTRODUCTIONS else []


def _entry(code: str) -> str:
    kind = CODES[code]
    finding = next(each for each in findings_in(kind.bad) if each.code == code)
    about = fill(f"*{kind.severity}*, {kind.title}. {kind.why}".strip(), _WIDTH, break_on_hyphens=False)
    said = f"```text\n{finding.message}\n    help: {finding.advice}\n```"
    return "\n\n".join([f"## {code}", about, "Bad:", _block(kind.bad), said, "Good:", _block(kind.good)])


def _block(example: str) -> str:
    return f"```{'python' if example.startswith('lint(') else 'text'}\n{example}\n```"


def _lists(found: dict[str, str]) -> str:
    """The list of the pages, and the table of the codes."""
    names = [f"- [{HEADINGS[name]}]({name}.md)" for name in found]
    codes = [
        f"| [`{code}`]({kind.page}.md#{code}) | {kind.severity} | {kind.title} |" for code, kind in CODES.items()
    ]
    return "\n".join([*names, "", "| code | severity | finding |", "|---|---|---|", *codes]) + "\n"


def main() -> None:
    """Write all pages."""
    for name, text in pages().items():
        (FOLDER / f"{name}.md").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
