"""Where bulk decisions find robots.txt files: exact origins, what a fetch meant, nothing guessed."""

from __future__ import annotations

from pathlib import Path

import pytest

from scrapy_rep.census import Row
from scrapy_rep.protocol import Access, Origin
from scrapy_rep.tools.bulk.sources import Known, Missing, SourceError, open_source
from scrapy_rep.tools.survey.folder import SurveyFolder


def origin(url: str) -> Origin:
    return Origin.from_url(url)


@pytest.mark.parametrize(
    ("name", "speaks_for", "not_for"),
    [
        ("a.example", ["http://a.example", "https://a.example"], ["https://a.example:8443", "ftp://a.example"]),
        ("a.example.txt", ["http://a.example", "https://a.example"], ["http://a.example:443"]),
        ("a.example_443", ["https://a.example"], ["http://a.example"]),
        ("http+a.example+80.txt", ["http://a.example"], ["https://a.example"]),
        ("%3A%3A1_8080", ["http://[::1]:8080"], ["http://[::1]"]),
        ("xn--bcher-kva.example", ["https://bücher.example"], ["https://bucher.example"]),
        ("bücher.example", ["https://bücher.example", "http://xn--bcher-kva.example"], ["https://bucher.example"]),
        ("Facebook.com.txt", ["https://facebook.com", "http://facebook.com"], ["https://facebook.com:8443"]),
        ("192.0.2.1", ["https://192.0.2.1"], ["https://192.0.2.2"]),
        ("2001:db8::1", ["https://[2001:db8::1]"], ["https://[2001:db8::2]"]),
        ("a.example:8443", ["https://a.example:8443", "http://a.example:8443"], ["https://a.example"]),
        ("HTTP+a.example+80", ["http://a.example"], ["https://a.example"]),
    ],
)
def test_a_file_speaks_for_the_origins_of_its_name_alone(
    tmp_path: Path, name: str, speaks_for: list[str], not_for: list[str]
) -> None:
    (tmp_path / name).write_bytes(b"Disallow: /x")
    source = open_source(tmp_path)
    known = Known(Access.SUCCESSFUL, b"Disallow: /x")
    assert [source.get(origin(url)) for url in speaks_for] == [known] * len(speaks_for)
    assert [source.get(origin(url)) for url in not_for] == [Missing.NO_FILE] * len(not_for)


def test_the_most_exact_name_counts(tmp_path: Path) -> None:
    (tmp_path / "a.example").write_bytes(b"host")
    (tmp_path / "a.example_80").write_bytes(b"port")
    source = open_source(tmp_path)
    assert source.get(origin("http://a.example")) == Known(Access.SUCCESSFUL, b"port")
    assert source.get(origin("https://a.example")) == Known(Access.SUCCESSFUL, b"host")


def test_a_file_that_cannot_be_read_allows_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.example").mkdir()
    assert open_source(tmp_path).get(origin("https://a.example")) is Missing.UNREADABLE


@pytest.mark.parametrize("host", ["..", ".", "..%2f..%2fsecret", "..\\secret"])
def test_no_host_leads_out_of_the_folder(tmp_path: Path, host: str) -> None:
    (tmp_path / "robots").mkdir()
    (tmp_path / "secret").write_bytes(b"")
    (tmp_path / "..secret").write_bytes(b"")
    assert open_source(tmp_path / "robots").get(Origin("https", host, 443)) is Missing.NO_FILE


def test_a_survey_says_which_sites_have_no_file(tmp_path: Path) -> None:
    survey = SurveyFolder(tmp_path)
    survey.open(append=False)
    https, http = origin("https://a.example"), origin("http://a.example")
    survey.add(Row(site=str(https), file=survey.save_body(https, b"Disallow: /x")))
    survey.add(Row(site="https://gone.example", access="unavailable", status=404))
    survey.add(Row(site="https://dead.example", access="unreachable", problem="dead"))
    survey.close()
    source = open_source(tmp_path)
    assert source.get(https) == Known(Access.SUCCESSFUL, b"Disallow: /x")
    assert source.get(http) is Missing.NO_FILE
    assert source.get(origin("https://gone.example")) == Known(Access.UNAVAILABLE)
    assert source.get(origin("https://dead.example")) == Known(Access.UNREACHABLE)


def test_a_survey_with_a_damaged_record_is_refused(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "survey.jsonl").write_text('{"name": 5}\n')
    with pytest.raises(SourceError, match="line 1 is not a row of a survey"):
        open_source(tmp_path)


@pytest.mark.parametrize("content", [b"User-agent: *", b""])
def test_what_is_no_source_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(SourceError, match="file"):
        open_source(tmp_path / "file")
    with pytest.raises(SourceError, match="No such file"):
        open_source(tmp_path / "nowhere")
