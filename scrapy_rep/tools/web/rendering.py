"""The templates of the page: everything is escaped, and what is not printable is shown as an escape."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from scrapy_rep.protocol.display import number_of, shown

_KEPT: Final = str.maketrans("", "", "\n\r\t")


def render(name: str, **values: Any) -> str:
    """Return the template *name* with *values*."""
    return _environment().get_template(name).render(values)


def verbatim(text: str) -> str:
    """*text* for a text field: as it is, so that it can be edited, but without what HTML cannot hold."""
    return text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader(__package__, "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_printable,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(number="{:,}".format, with_noun=number_of, verbatim=as_verbatim)
    return environment


def as_verbatim(text: str) -> Markup:
    """*text* as `verbatim`, escaped."""
    return Markup.escape(verbatim(text))


def _printable(value: Any) -> Any:
    """*value* for a page; the text of the templates themselves, and what is escaped already, stay as they are."""
    if type(value) is str and not value.translate(_KEPT).isprintable():
        return shown(value)
    return value
