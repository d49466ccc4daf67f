"""A hook of MkDocs: long names in tables may break behind ``_`` and ``/``, so that tables fit a phone."""  # noqa: INP001  # no package

from __future__ import annotations

import re
from typing import Any


def on_page_content(html: str, **_: Any) -> str:
    """The *html* of a page with break opportunities in the names that its tables hold."""
    return re.sub(r"(?<=<td><code>)[^<]+", lambda name: re.sub(r"([_/])(?=.)", r"\1<wbr>", name[0]), html)
