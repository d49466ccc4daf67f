"""Charts as inline SVG and tables as HTML: text in, markup out, everything escaped.

No scaling of text: lengths along the page are per cent, heights and letters are pixels, so that a chart is as
legible on a telephone as on a wall. Colours are classes; the style sheet knows them, light and dark.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import count
from typing import Final

from scrapy_rep.protocol.display import shown

_ROW: Final = 30  # pixels
_BAR: Final = 24
_COLUMNS: Final = 150  # height of a histogram
_NAME: Final = 40  # letters of a name that are shown
_ids = count(1)


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar: what it stands for, its length in parts of the longest, the figure beside it, its colour's class.

    ``parts`` are further stretches behind the first.
    """

    name: str
    value: float
    figure: str
    colour: str = "c1"
    parts: tuple[tuple[float, str], ...] = ()

    @property
    def total(self) -> float:
        """The length with all parts."""
        return self.value + sum(value for value, _ in self.parts)


def text(anything: object) -> str:
    """*anything* as text of a page."""
    return escape(shown(str(anything)))


def bars(title: str, rows: Sequence[Bar], *, most: float = 0.0) -> str:
    """Horizontal bars with their names on them; *most* is the length of the whole width."""
    if not rows:
        return '<p class="none">None.</p>'
    most = most or max(row.total for row in rows) or 1.0
    drawn = [_bar(row, place * _ROW, most) for place, row in enumerate(rows)]
    described = "; ".join(f"{row.name}: {row.figure}" for row in rows[:12])
    return _svg(title, described, len(rows) * _ROW, drawn, "tint")


def _bar(row: Bar, top: int, most: float) -> str:
    start, stretches = 0.0, []
    for value, colour in ((row.value, row.colour), *row.parts):
        width = 100.0 * value / most
        if width:
            stretches.append(
                f'<rect class="{colour}" x="{start:.2f}%" y="{top}" width="{max(width, 0.3):.2f}%"'
                f' height="{_BAR}" rx="3"/>'
            )
        start += width
    name = row.name if len(row.name) <= _NAME else row.name[: _NAME - 1] + "…"
    middle = top + _BAR // 2 + 5
    return (
        f"<g><title>{text(row.name)}: {text(row.figure)}</title>{''.join(stretches)}"
        f'<text x="8" y="{middle}">{text(name)}</text>'
        f'<text class="figure" x="100%" y="{middle}" text-anchor="end">{text(row.figure)}</text></g>'
    )


def columns(title: str, buckets: Sequence[tuple[str, int]], *, unit: str = "") -> str:
    """A histogram: a column for each bucket, its label beneath, its figure above."""
    if not any(number for _, number in buckets):
        return '<p class="none">None.</p>'
    most, width = max(number for _, number in buckets), 100.0 / len(buckets)
    drawn = [
        _column(f"{label}{unit}", label, number, (place * width, width), number / most)
        for place, (label, number) in enumerate(buckets)
    ]
    described = "; ".join(f"{label}{unit}: {number:,}" for label, number in buckets)
    return _svg(title, described, _COLUMNS + 44, drawn, "solid")


def _column(name: str, label: str, number: int, place: tuple[float, float], share: float) -> str:
    left, width = place
    height = max(_COLUMNS * share, 1.0 if number else 0.0)
    top = 20 + _COLUMNS - height
    middle = left + width / 2
    figure = f"{number:,}" if number < 10_000 else f"{number / 1_000:,.0f}k"
    return (
        f"<g><title>{text(name)}: {number:,}</title>"
        f'<rect class="c1" x="{left + width * 0.06:.2f}%" y="{top:.1f}" width="{width * 0.88:.2f}%"'
        f' height="{height:.1f}" rx="2"/>'
        f'<text class="small figure" x="{middle:.2f}%" y="{top - 5:.1f}" text-anchor="middle">{figure}</text>'
        f'<text class="small" x="{middle:.2f}%" y="{_COLUMNS + 37}" text-anchor="middle">{text(label)}</text></g>'
    )


def stripe(title: str, parts: Sequence[tuple[str, float, str]]) -> str:
    """One bar of everything, cut into *parts*: name, amount, colour's class; with a key beneath."""
    total = sum(amount for _, amount, _ in parts)
    if not total:
        return '<p class="none">None.</p>'
    drawn, start = [], 0.0
    for name, amount, colour in parts:
        width = 100.0 * amount / total
        drawn.append(
            f"<g><title>{text(name)}: {width:.1f} %</title>"
            f'<rect class="{colour}" x="{start:.2f}%" y="0" width="{width:.2f}%" height="34"/></g>'
        )
        start += width
    described = "; ".join(f"{name}: {100 * amount / total:.1f} %" for name, amount, _ in parts)
    keys = "".join(
        f'<li><i class="{colour}"></i>{text(name)} <b>{percent(amount / total)}</b></li>'
        for name, amount, colour in parts
        if amount
    )
    return f'{_svg(title, described, 34, drawn, "solid")}<ul class="key">{keys}</ul>'


def _svg(title: str, described: str, height: int, drawn: Iterable[str], kind: str) -> str:
    number = next(_ids)
    return (
        f'<svg class="{kind}" role="img" width="100%" height="{height}" aria-labelledby="t{number} d{number}">'
        f'<title id="t{number}">{text(title)}</title><desc id="d{number}">{text(described)}</desc>'
        f"{''.join(drawn)}</svg>"
    )


def table(heads: Sequence[str], rows: Iterable[Sequence[object]], *, summary: str = "As a table") -> str:
    """A table that opens on a click; figures stand to the right."""
    head = "".join(f'<th scope="col">{text(name)}</th>' for name in heads)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return (
        f'<details><summary>{text(summary)}</summary><div class="scroll"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div></details>"
    )


def _cell(value: object) -> str:
    if isinstance(value, int):
        return f'<td class="n">{value:,}</td>'
    if isinstance(value, float):
        return f'<td class="n">{value:,.1f}</td>'
    return f"<td>{text(value)}</td>"


def percent(share: float) -> str:
    """*share*, from 0 to 1, in per cent, with a decimal where it is small."""
    figure = 100.0 * share
    if 0.0 < figure < 0.1:
        return "<0.1 %"
    return f"{figure:.1f} %" if 0.0 < figure < 9.95 else f"{figure:.0f} %"


def figure(title: str, said: str, content: str, *, span: str = "half") -> str:
    """A card: a heading, a sentence, and what it is about; *span* is its part of a wide page."""
    return (
        f'<figure class="{span}"><figcaption><h2>{text(title)}</h2><p>{text(said)}</p></figcaption>'
        f"{content}</figure>"
    )
