"""Reasons, kinds and the like are the strings that the README names, on every Python."""

from __future__ import annotations

import json
from collections.abc import Callable
from io import BytesIO

import pytest
from scrapy.exporters import (
    BaseItemExporter,
    CsvItemExporter,
    JsonItemExporter,
    JsonLinesItemExporter,
    XmlItemExporter,
)

from scrapy_rep.protocol import Access, Kind, Reason
from scrapy_rep.tools.lint import Severity

MEMBERS = [*Access, *Kind, *Reason, *Severity]


def test_a_member_equals_its_value_and_stands_for_it_as_a_key() -> None:
    for member in MEMBERS:
        assert member == member.value
        assert {member.value: 1}[member] == 1


def test_a_member_is_written_as_its_value() -> None:
    # What a member with the base class str gives by itself differs between Python 3.10, 3.11 and 3.12.
    for member in MEMBERS:
        value = member.value
        assert (str(member), f"{member}", "%s" % member, f"{member:>30}") == (value, value, value, f"{value:>30}")  # noqa: UP031
        assert json.dumps({"it": member}) == json.dumps({"it": value})


@pytest.mark.parametrize("exporter", [JsonItemExporter, JsonLinesItemExporter, CsvItemExporter, XmlItemExporter])
def test_a_feed_holds_the_value_of_a_member(exporter: Callable[[BytesIO], BaseItemExporter]) -> None:
    def exported(reason: str) -> bytes:
        file = BytesIO()
        feed = exporter(file)
        feed.start_exporting()
        feed.export_item({"reason": reason})
        feed.finish_exporting()
        return file.getvalue()

    assert exported(Reason.RULE) == exported("rule")
