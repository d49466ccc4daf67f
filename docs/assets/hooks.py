"""Hooks of MkDocs for the tables of names, and for the version."""  # noqa: INP001  # no package

from __future__ import annotations

import re
from importlib.metadata import version
from typing import Any

_FIRST_CELL = re.compile(r"<td><code>([a-z_/A-Z]+)</code></td>(?=\s*<td>)")
_NAME = re.compile(r"(<td(?: id=\"[^\"]*\")?><code>)([^<]+)")


def on_config(config: Any, **_: Any) -> Any:
    """Show the version that a page describes at the end of each."""
    config.copyright = f"scrapy_rep {version('scrapy_rep')}"
    return config


def on_page_content(html: str, **_: Any) -> str:
    """The *html* of a page whose tables of names have an anchor for each name, and fit a phone.

    A name is the only text in the first cell of its row. Long names may break behind ``_`` and ``/``.
    """
    seen: set[str] = set()

    def anchored(cell: re.Match[str]) -> str:
        name = cell[1]
        if ("/" not in name and "_" not in name) or name in seen:
            return cell[0]
        seen.add(name)
        return f'<td id="{name}"><code>{name}</code></td>'

    html = _FIRST_CELL.sub(anchored, html)
    return _NAME.sub(lambda cell: cell[1] + re.sub(r"([_/])(?=.)", r"\1<wbr>", cell[2]), html)
