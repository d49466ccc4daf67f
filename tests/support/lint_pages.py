"""Write ``docs/lint/`` from the table of the codes: ``python -m tests.support.lint_pages``."""

from __future__ import annotations

import re
from textwrap import fill
from typing import Final

from scrapy_rep.tools.lint import CODES, example_of

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

_INTRODUCTIONS: Final = {
    "file": "The linter does not check single lines of a file that is HTML, XML, JSON, binary or UTF-16.",
    "crawlers": "The linter knows the crawlers of `scrapy_rep/tools/crawlers.csv`, which names a source for each.",
    "ai-signals": "These records say how a fetched page may be used. RFC 9309 defines none of them. Crawlers "
    "ignore a signal that they cannot read.",
}
_LIST: Final = re.compile(r"^(\*\*(\w+)\*\*: .*\n\n)(?:- .*\n)*", re.MULTILINE)
_MARKS: Final = re.compile(r"[\\`*_\[\]#]|(?<!\S)[-+](?!\S)")


def pages() -> dict[str, str]:
    """The text of each page by its name, index included."""
    found = {
        name: "\n\n".join([f"# {heading}", *_introduction(name), *[_entry(code) for code in _codes(name)]]) + "\n"
        for name, heading in HEADINGS.items()
    }
    index = (FOLDER / "index.md").read_text("utf-8")
    return {**found, "index": _LIST.sub(lambda found: found[1] + _list(found[2]), index)}


def _list(severity: str) -> str:
    """The codes with *severity*."""
    kinds = ((code, kind) for code, kind in CODES.items() if kind.severity == severity)
    return "".join(f"- [`{code}`]({kind.page}.md#{code}): {kind.title}\n" for code, kind in kinds)


def _codes(name: str) -> list[str]:
    return [code for code, kind in CODES.items() if kind.page == name]


def _introduction(name: str) -> list[str]:
    return [_paragraph(_INTRODUCTIONS[name])] if name in _INTRODUCTIONS else []


def _entry(code: str) -> str:
    """A file, what the linter says about it, and what else there is to know."""
    kind, finding = CODES[code], example_of(code)
    said = _paragraph(f"**{kind.severity}**: {_escaped(f'{finding.message} {finding.advice}')}")
    parts = [f"## {code}", _block(kind.bad), said]
    if kind.why:
        parts.append(_paragraph(kind.why))
    if kind.good:
        parts += ["Good:", _block(kind.good)]
    return "\n\n".join(parts)


def _escaped(text: str) -> str:
    """*text* as Markdown that shows each of its characters."""
    return _MARKS.sub(r"\\\g<0>", text).replace("&", "&amp;").replace("<", "&lt;")


def _paragraph(text: str) -> str:
    return fill(text, 120, break_on_hyphens=False, break_long_words=False)


def _block(example: str) -> str:
    return f"```{'python' if example.startswith('lint(') else 'text'}\n{example}\n```"


def main() -> None:
    """Write all pages."""
    for name, text in pages().items():
        (FOLDER / f"{name}.md").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
