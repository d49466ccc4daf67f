"""Lines over time: where points are, which dates have room, and the same in words."""

from __future__ import annotations

import pytest

from scrapy_rep.tools.page import page_template
from scrapy_rep.tools.page.lines import LineChart, Series

DATES = [f"2026-0{month}-01" for month in range(1, 7)]


def drawn(chart: LineChart, macro: str = "lines('id', 'Title', chart)") -> str:
    source = "{% import 'charts.html' as charts %}{{ charts." + macro + " }}"
    return page_template("scrapy_rep.tools.survey").environment.from_string(source).render(chart=chart)


def test_points_are_where_their_times_and_values_are() -> None:
    chart = LineChart(["a", "b", "c"], [Series("s", "red", [0.0, 0.25, 0.5])], times=[0, 10, 100])
    (line,) = chart.drawn
    assert [point.x for point in line.points] == [0.0, 10.0, 100.0]
    top, middle, foot = (y for y, _ in chart.grid)
    assert [point.y for point in line.points] == [foot, middle, top]
    assert [text for _, text in chart.grid] == ["50%", "25%", "0%"]


def test_without_times_dates_are_evenly_apart() -> None:
    chart = LineChart(["a", "b", "c"], [Series("s", "red", [1, 1, 1])])
    assert chart.places == [0.0, 50.0, 100.0]


def test_a_value_that_is_not_known_breaks_the_line() -> None:
    chart = LineChart(["a", "b", "c", "d"], [Series("s", "red", [0.1, None, 0.2, 0.3])])
    (line,) = chart.drawn
    assert len(line.points) == 3
    assert [(one.text, other.text) for one, other in line.strokes] == [("s, c: 20%", "s, d: 30%")]
    assert chart.rows[1] == ("b", ["not known"])


@pytest.mark.parametrize(
    ("largest", "unit", "highest"),
    [(0.0, "", "100%"), (0.07, "", "8.0%"), (0.61, "", "80%"), (0.99, "", "100%"), (1.0, "", "100%"),
     (0.2, "", "20%"), (12_345, "bytes", "20,000"), (1.5, "s", "2")],
)  # fmt: skip
def test_the_scale_ends_at_a_round_number(largest: float, unit: str, highest: str) -> None:
    chart = LineChart(["a", "b"], [Series("s", "red", [0.0, largest])], unit=unit)
    assert chart.grid[0][1] == highest


def test_first_and_last_date_are_labelled_and_others_where_there_is_room() -> None:
    chart = LineChart(DATES, [Series("s", "red", [0.1] * 6)], times=[0, 1, 40, 50, 98, 100])
    assert [(label.text, label.anchor, label.is_extra) for label in chart.labels] == [
        (DATES[0], "start", False), (DATES[2], "middle", False), (DATES[3], "middle", True),
        (DATES[5], "end", False),
    ]  # fmt: skip


def test_a_chart_is_also_said_in_words_and_as_a_table() -> None:
    page = drawn(LineChart(["2026-01-01", "2026-02-01"], [Series("s", "red", [0.1, 0.2])]))
    assert "s: 10% (2026-01-01), 20% (2026-02-01)</desc>" in page
    assert "<title>s, 2026-02-01: 20%</title>" in page
    assert '<tr><th scope="row">2026-02-01</th><td class="number">20%</td></tr>' in page


def test_names_cannot_end_an_element() -> None:
    evil = "</svg><img src=x>"
    page = drawn(LineChart([evil, evil], [Series(evil, "red", [1, 1])]))
    assert "<img" not in page


def test_a_small_chart_has_lines_alone() -> None:
    chart = LineChart(["a", "b"], [Series("s", "red", [0.1, 0.2])], is_small=True, highest=0.4)
    page = drawn(chart, "small_lines(chart)")
    assert page.count("<line") == 1
    assert "<text" not in page
    assert chart.height == 22
