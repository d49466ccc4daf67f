"""The folder that a survey writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scrapy_rep.protocol import Origin
from scrapy_rep.tools.survey.measure import measure
from scrapy_rep.tools.survey.records import SiteRecord, file_name


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://example.com/", "example.com.txt"),
        ("http://example.com/", "http+example.com+80.txt"),
        ("https://example.com:8443/", "https+example.com+8443.txt"),
        ("http://[::1]:80/", "http+%3A%3A1+80.txt"),
        ("https://../", "...txt"),
    ],
)
def test_the_file_of_an_origin_has_a_name_of_its_own(url: str, name: str) -> None:
    assert file_name(Origin.from_url(url)) == name


def test_no_host_leads_out_of_the_folder_or_is_too_long_for_it(tmp_path: Path) -> None:
    for host in ("../../x", "a/b", "x" * 5_000, "\0", "a\\b", "%2e%2e"):
        path = tmp_path / file_name(Origin("https", host, 443))
        path.write_bytes(b"")
        assert path.parent.resolve() == path.resolve().parent == tmp_path.resolve()


@pytest.mark.parametrize(
    "fields",
    [
        {"site": 5}, {"access": None}, {"status": "200"}, {"status": True}, {"hops": "x"}, {"hops": [1]},
        {"bytes": 1.5},
        {"is_html": 0}, {"agents": {"*": 1}}, {"agents": {"*": {"allow": "1"}}}, {"crawl_delays": {"*": "1"}},
        {"finding_lines": {"x": [None]}}, {"crawlers": {"x": {"treatment": "shut out"}}},
        {"crawlers": {"x": {"treatment": 1, "line": 1}}}, {"crawlers": {"x": None}},
        {"ai_answers": {"x": {"y": []}}},
    ],
    ids=str,
)  # fmt: skip
def test_a_field_of_another_type_raises_a_value_error_that_names_it(fields: dict[str, object]) -> None:
    (name,) = fields
    with pytest.raises(ValueError, match=rf"^{name} is no "):
        SiteRecord.from_json(json.dumps({"site": "x", **fields}))


def test_a_record_comes_back_as_it_was() -> None:
    record = measure(
        "x", b"User-agent: GPTBot\nDisallow: /\nDisallow: b\nCrawl-delay: 1.5\nContent-Signal: search=no\n"
    )
    assert record == SiteRecord.from_json(record.to_json())
    assert SiteRecord.from_json(json.dumps({"site": "x", "crawl_delays": {"*": 1}})).crawl_delays == {"*": 1}


@pytest.mark.parametrize("line", ["", "{", "[]", "5", '{"unknown": 1}', "{}", "[" * 100_000])
def test_a_line_that_is_no_record_raises_a_value_error(line: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        SiteRecord.from_json(line)
