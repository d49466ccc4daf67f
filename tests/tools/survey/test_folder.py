"""What a survey writes: files with names, records as CSV and as Parquet."""

from __future__ import annotations

import csv
import json
from datetime import datetime, timezone
from pathlib import Path

import pytest

from scrapy_rep.census import Capture, Row, rows
from scrapy_rep.census.row import TYPES
from scrapy_rep.protocol import Origin
from scrapy_rep.tools.survey.folder import SurveyFolder, file_name, folded_name, write_csv
from scrapy_rep.tools.survey.inputs import Files

BODY = b"User-agent: GPTBot\nDisallow: x\nCrawl-delay: 2\nUser-agent: *\nContent-Signal: ai-train=no\nAllow: /\n"


def measure(body: bytes, file: str | None = None) -> Row:
    (values,) = rows(
        [Capture("https://a.example/robots.txt", 200, body, datetime(2026, 11, 24, tzinfo=timezone.utc))]
    )
    return Row.of(values | {"file": file})


RECORDS = [
    measure(BODY),
    Row("=1+1", "unreachable", problem='X: \ud800, "y"\n'),
]


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


@pytest.mark.parametrize(
    "url", ["https://a.example", "http://[::1]:80", "https://localhost:8443", "http://b.example"]
)
def test_the_name_that_a_survey_gives_a_file_stands_for_its_origin(url: str) -> None:
    origin = Origin.from_url(url)
    assert Files(Path()).site(Path(file_name(origin))) == str(origin)


@pytest.mark.parametrize(
    ("name", "site"),
    [
        ("Facebook.com", "https://facebook.com"), ("WWW.Facebook.COM.txt", "https://www.facebook.com"),
        ("192.0.2.1", "https://192.0.2.1"), ("192.0.2.1.txt", "https://192.0.2.1"), ("192.0.2.1_80", "http://192.0.2.1"),
        ("2001:db8::1", "https://[2001:db8::1]"), ("[2001:DB8::1]", "https://[2001:db8::1]"),
        ("[::1]:8080", "https://[::1]:8080"), ("%3A%3A1_8080", "https://[::1]:8080"),
        ("a.example:8443", "https://a.example:8443"), ("a.example:80", "http://a.example"),
        ("localhost:8080", "https://localhost:8080"), ("http+localhost+8080.txt", "http://localhost:8080"),
        ("HTTP+A.example+80.txt", "http://a.example"), ("http+a.example.txt", "http://a.example"),
        ("bücher.example", "https://xn--bcher-kva.example"), ("xn--bcher-kva.example", "https://xn--bcher-kva.example"),
        ("президент.рф", "https://xn--d1abbgf6aiiy.xn--p1ai"), ("my_shop.example_8443", "https://my_shop.example:8443"),
        ("my_shop.example", "https://my_shop.example"), ("a.example.", "https://a.example."),
        # Names of their own:
        ("robots.txt", "robots"), ("localhost", "localhost"), ("1.2.3", "1.2.3"), ("999.0.2.1", "999.0.2.1"),
        ("a b.example", "a b.example"), ("12:34", "12:34"), ("a.example:99999", "a.example:99999"),
        ("..txt", "."), ("a..example", "a..example"), ("%2e%2e", "%2e%2e"), ("-", "-"),
        ("report-2026_11", "report-2026_11"),
    ],
)  # fmt: skip
def test_the_name_of_a_file_stands_for_a_site_however_it_is_spelled(name: str, site: str) -> None:
    assert Files(Path("folder")).site(Path("folder", name)) == site


def test_no_host_leads_out_of_the_folder_or_is_too_long_for_it(tmp_path: Path) -> None:
    for host in ("../../x", "a/b", "x" * 5_000, "\0", "a\\b", "%2e%2e"):
        path = tmp_path / file_name(Origin("https", host, 443))
        path.write_bytes(b"")
        assert path.parent.resolve() == path.resolve().parent == tmp_path.resolve()


def test_a_file_that_is_another_than_the_one_surveyed_is_not_to_be_had(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(BODY)
    folder = SurveyFolder(tmp_path)
    assert folder.body(measure(BODY, "a.txt")) == BODY
    for body, name in ((b"secret", "a.txt"), (BODY, "b.txt"), (BODY, "\0"), (BODY, None)):
        assert folder.body(measure(body, name)) is None


def test_a_row_of_csv_is_a_record(tmp_path: Path) -> None:
    write_csv(RECORDS, tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as file:
        first, second = csv.DictReader(file)
    assert list(first) == [*TYPES]
    assert (first["site"], first["status"], first["is_html"], first["problem"]) == (
        "https://a.example", "200", "false", ""
    )  # fmt: skip
    assert json.loads(first["restriction"])["GPTBot"] == "none"
    assert json.loads(first["named"]) == {"GPTBot": 1}
    assert first["fetched_at"] == "2026-11-24T00:00:00+00:00"
    assert json.loads(first["finding_lines"])["path-without-slash"] == [2]
    assert second["problem"] == 'X: \\ud800, "y"\n'


def test_no_cell_of_csv_is_a_formula(tmp_path: Path) -> None:
    write_csv(RECORDS, tmp_path / "t.csv")
    assert "\n'=1+1," in (tmp_path / "t.csv").read_text("utf-8")


def test_the_files_of_many_sites_go_to_several_folders(tmp_path: Path) -> None:
    origin = Origin.from_url("https://example.com")
    folder = SurveyFolder(tmp_path)
    for sites, name in ((10_000, "example.com.txt"), (10_001, folded_name(origin))):
        folder.open(append=False, sites=sites)
        assert folder.save_body(origin, BODY) == f"files/{name}"
        assert (tmp_path / "files" / name).read_bytes() == BODY
        folder.close()
    assert len({folded_name(Origin.from_url(f"https://{n}.example"))[:2] for n in range(5_000)}) == 256
