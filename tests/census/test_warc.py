"""WARC files: which records are captures of a robots.txt, and what is said of the others."""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from tempfile import TemporaryFile

import brotli
import pytest
from fastwarc.stream_io import ZstdWriter

from scrapy_rep.census import rows, warc
from scrapy_rep.census.capture import Capture
from scrapy_rep.census.warc import WarcReader, captures
from scrapy_rep.protocol import parse
from tests.support.answers import ALLOWED, CASES, FORBIDDEN, UNREACHABLE

from .archives import DATE, IDENTICAL, NOT_MODIFIED, RULES, URL, Archive, archive, record

AT = datetime(2026, 5, 1, 10, 20, 30, tzinfo=timezone.utc)
OK = b"HTTP/1.1 200 OK\r\n\r\n"
NOT_THERE = "revisit of a capture that is not in these files"


@pytest.fixture(params=["a.warc", "a.warc.gz"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / str(request.param)


def read(*records: bytes) -> tuple[list[Capture], int]:
    """The captures in a WARC file of *records*, and how many records were skipped."""
    reader = WarcReader()
    return list(reader.captures(io.BytesIO(b"".join(records)))), reader.skipped


def read_until_error(path: Path) -> tuple[list[Capture], str]:
    """The captures in the file at *path*, and what is wrong with it."""
    found: list[Capture] = []
    try:
        for capture in captures(path):
            found.append(capture)  # noqa: PERF402  # those before the error count
    except ValueError as error:
        return found, str(error)
    raise AssertionError("no error")


# What counts


def test_a_response_is_a_capture(path: Path) -> None:
    with archive(path) as to:
        to.info()
        to.add(head={"Content-Type": "text/plain"})
        to.add("http://b.example:8080/robots.txt", b"", status="404 Not Found")
    assert list(captures(path)) == [
        Capture(URL, 200, RULES, AT),
        Capture("http://b.example:8080/robots.txt", 404, b"", AT),
    ]


def test_other_records_and_other_urls_do_not_count(path: Path) -> None:
    with archive(path) as to:
        to.info()
        to.add("dns:a.example", b"20260501102030\na.example. 1 IN A 127.0.0.1\n", kind="resource", status=None)
        to.add(kind="resource", status=None)
        to.add(kind="metadata", status=None)
        for url in ("/a/robots.txt", "/robots.txt?a", "/", "/ROBOTS.TXT", "/robots.txt/", "/?/robots.txt"):
            to.add(f"https://a.example{url}")
        to.add("ftp://a.example/robots.txt")
    reader = WarcReader()
    assert (list(reader.captures(path)), reader.skipped) == ([], 0)


def test_a_request_does_not_count() -> None:
    request = record(b"GET /robots.txt HTTP/1.1\r\n\r\n", WARC_Type="request")
    assert read(request, record(OK)) == ([Capture(URL, 200, b"", AT)], 0)


def test_rfc_codings_are_removed(path: Path) -> None:
    coded = gzip.compress(RULES, mtime=0)
    with archive(path) as to:
        to.add(
            body=b"%x\r\n%s\r\n0\r\n\r\n" % (len(coded), coded),
            head={"Content-Encoding": "gzip", "Transfer-Encoding": "chunked"},
        )
        to.add(body=brotli.compress(RULES), head={"Content-Encoding": "br"})
        to.add(head={"X-Crawler-Content-Encoding": "gzip", "X-Crawler-Transfer-Encoding": "chunked"})
    assert [capture.body for capture in captures(path)] == [RULES] * 3


@pytest.mark.parametrize(
    ("location", "absolute"),
    [
        ("https://www.a.example/robots.txt", "https://www.a.example/robots.txt"),
        ("/en/robots.txt", "https://a.example/en/robots.txt"),
        ("//b.example/x", "https://b.example/x"),
    ],
)
def test_rfc_a_redirect_leads_to_an_absolute_url(path: Path, location: str, absolute: str) -> None:
    with archive(path) as to:
        to.add(body=b"<p>moved", status="301 Moved", head={"Location": location})
    assert list(captures(path)) == [Capture(URL, 301, None, AT, absolute)]


def test_a_redirect_to_no_url_is_a_problem() -> None:
    block = b"HTTP/1.1 302 Found\r\nLocation: http://[a/\r\n\r\n"
    assert read(record(block)) == ([Capture(URL, 302, None, AT, None, "redirect to an invalid URL")], 0)


def test_a_location_without_a_redirect_leads_nowhere() -> None:
    block = b"HTTP/1.1 201 Created\r\nLocation: /a\r\n\r\n"
    assert read(record(block)) == ([Capture(URL, 201, b"", AT)], 0)
    assert read(record(b"HTTP/1.1 304 Not Modified\r\n\r\n")) == ([Capture(URL, 304, b"", AT)], 0)


@pytest.mark.parametrize(
    ("text", "ticks"),
    [
        ("2026-05-01T10:20:30.25Z", timedelta(microseconds=250_000)),
        ("2026-05-01T10:20:30.123456789Z", timedelta(microseconds=123_456)),
        ("2026-05-01T12:20:30+02:00", timedelta(0)),
    ],
)
def test_the_time_is_in_utc_with_fractions_of_a_second(text: str, ticks: timedelta) -> None:
    [found], _ = read(record(OK, WARC_Date=text))
    assert found.fetched_at == AT + ticks
    assert found.fetched_at.utcoffset() == timedelta(0)


@pytest.mark.parametrize("url", [f"<{URL}>", f" {URL} "])
def test_old_spellings_of_a_target_are_read(url: str) -> None:
    assert read(record(OK, WARC_Target_URI=url)) == ([Capture(URL, 200, b"", AT)], 0)


# Records that are not whole


@pytest.mark.parametrize("reason", ["time", "disconnect", "unspecified"])
def test_a_truncated_response_is_a_problem_but_keeps_its_status(path: Path, reason: str) -> None:
    with archive(path) as to:
        to.add(WARC_Truncated=reason)
    assert list(captures(path)) == [Capture(URL, 200, None, AT, None, f"truncated response ({reason})")]


def test_a_response_that_broke_off_in_its_head_has_no_status() -> None:
    found = read(record(b"HTTP/1.1 200 OK\r\nA", WARC_Truncated="disconnect"))
    assert found == ([Capture(URL, None, None, AT, None, "truncated response (disconnect)")], 0)


def test_the_size_limit_of_a_crawler_is_no_problem(path: Path) -> None:
    with archive(path) as to:
        to.add(WARC_Truncated="length")
    assert list(captures(path)) == [Capture(URL, 200, RULES, AT)]


def test_of_a_huge_body_the_start_is_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warc, "MOST_OCTETS", most := 100_000)
    with archive(path) as to:
        to.add(body=b"a" * 5 * most)
        to.add(body=gzip.compress(b"b" * 50 * most), head={"Content-Encoding": "gzip"})
        to.add()
    first, second, last = captures(path)
    assert first.body
    assert second.body
    assert (first.body.strip(b"a"), second.body, last.body) == (b"", b"b" * most, RULES)
    assert most - 100 < len(first.body) < most


@pytest.mark.parametrize(
    "changed",
    [
        {"WARC_Date": "yesterday"},
        {"WARC_Date": None},
        {"WARC_Date": "9999-12-31T23:59:59-02:00"},
        {"WARC_Target_URI": "https:///robots.txt"},
        {"WARC_Target_URI": "https://a b.example/robots.txt"},
        {"WARC_Target_URI": "https://a.example:99999/robots.txt"},
        {"WARC_Target_URI": "https://[a/robots.txt"},
    ],
)
def test_a_record_that_cannot_be_read_is_skipped_and_counted(changed: dict[str, str | None]) -> None:
    assert read(record(OK, **changed), record(OK)) == ([Capture(URL, 200, b"", AT)], 1)


def test_a_capture_with_an_odd_status_line_counts() -> None:
    assert read(record(b"http/1.1 200 OK\r\n\r\n" + RULES)) == ([Capture(URL, 200, RULES, AT)], 0)


@pytest.mark.parametrize("block", [b"", RULES, b"ICY 200 OK\r\n\r\n", b"HTTP/1.1 200 OK\r\nA: b"])
def test_a_response_without_a_head_is_skipped_and_counted(block: bytes) -> None:
    assert read(record(block), record(OK)) == ([Capture(URL, 200, b"", AT)], 1)


# Revisits


def revisit(to: Archive, digest: str, profile: str = IDENTICAL, status: str | None = "200 OK") -> None:
    to.add(
        body=b"", kind="revisit", WARC_Date="2026-06-01T00:00:00Z", WARC_Profile=profile,
        WARC_Payload_Digest=digest, status=status,
    )  # fmt: skip


def test_a_revisit_has_the_body_of_an_earlier_record_and_its_own_date(path: Path) -> None:
    later = datetime(2026, 6, 1, tzinfo=timezone.utc)
    with archive(path) as to:
        to.add(WARC_Payload_Digest="sha1:A")
        revisit(to, "sha1:A", status="203 Changed")
        revisit(to, "sha1:A", status=None)
    assert list(captures(path))[1:] == [Capture(URL, 203, RULES, later), Capture(URL, 200, RULES, later)]


def test_a_revisit_may_refer_to_an_earlier_file_of_the_same_reader(tmp_path: Path) -> None:
    with archive(tmp_path / "1.warc.gz") as to:
        to.add(WARC_Payload_Digest="sha1:A")
    with archive(tmp_path / "2.warc.gz") as to:
        revisit(to, "sha1:A")
    reader = WarcReader()
    found = [capture.body for name in ("1.warc.gz", "2.warc.gz") for capture in reader.captures(tmp_path / name)]
    assert found == [RULES, RULES]


@pytest.mark.parametrize(
    ("url", "digest", "profile"),
    [(URL, "sha1:B", IDENTICAL), ("https://b.example/robots.txt", "sha1:A", NOT_MODIFIED), (URL, "sha1:A", "new")],
)
def test_a_revisit_of_what_is_not_there_is_a_problem(path: Path, url: str, digest: str, profile: str) -> None:
    later = datetime(2026, 6, 1, tzinfo=timezone.utc)
    with archive(path) as to:
        to.add(url, WARC_Payload_Digest="sha1:A")
        revisit(to, digest, profile, "304 Not Modified")
    assert list(captures(path))[1:] == [Capture(URL, 304, None, later, None, NOT_THERE)]


@pytest.mark.parametrize(("digest", "profile"), [("sha1:A", IDENTICAL), ("sha1:B", NOT_MODIFIED)])
def test_rfc_what_was_not_modified_is_what_the_url_had_last(path: Path, digest: str, profile: str) -> None:
    with archive(path) as to:
        to.add(body=b"old")
        to.add(WARC_Payload_Digest="sha1:A")
        revisit(to, digest, profile, "304 Not Modified")
    assert list(captures(path))[2] == Capture(URL, 200, RULES, datetime(2026, 6, 1, tzinfo=timezone.utc))


def test_rfc_chunks_without_the_last_one_are_a_truncated_response(path: Path) -> None:
    with archive(path) as to:
        to.add(body=b"5\r\nUser-\r\n", head={"Transfer-Encoding": "chunked"})
        to.add(WARC_Truncated="LENGTH")
    assert [capture.problem for capture in captures(path)] == ["truncated response (chunks)", None]


def test_records_without_a_digest_have_nothing_in_common() -> None:
    again = record(OK, WARC_Type="revisit", WARC_Profile=IDENTICAL)
    assert read(record(OK + RULES), again)[0][1] == Capture(URL, 200, None, AT, None, NOT_THERE)


def test_a_revisit_of_a_redirect_is_a_redirect(path: Path) -> None:
    with archive(path) as to:
        to.add(
            body=b"", kind="revisit", status="301 Moved", head={"Location": "/a"}, WARC_Profile=IDENTICAL,
            WARC_Payload_Digest="sha1:A",
        )  # fmt: skip
    assert list(captures(path)) == [Capture(URL, 301, None, AT, "https://a.example/a")]


def test_what_was_not_used_for_longest_is_forgotten_first(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warc, "_MOST_REMEMBERED", 3_500)  # one of them is also the newest of the URL
    with archive(path) as to:
        to.add(body=b"A" * 500, WARC_Payload_Digest="sha1:A")
        to.add(body=b"B" * 500, WARC_Payload_Digest="sha1:B")
        revisit(to, "sha1:A")
        to.add(body=b"C" * 500, WARC_Payload_Digest="sha1:C")
        for digest in ("sha1:A", "sha1:B", "sha1:C"):
            revisit(to, digest)
    assert [capture.body and capture.body[:1] for capture in captures(path)][-3:] == [b"A", None, b"C"]


# Files that are not whole


def cut(octets: bytes, starts: list[int]) -> bytes:
    return octets[: starts[2] + (starts[3] - starts[2]) * 9 // 10]


def cut_in_head(octets: bytes, starts: list[int]) -> bytes:
    return octets[: starts[2] + 60]


def damaged(octets: bytes, starts: list[int]) -> bytes:
    return octets[: starts[2]] + b"damaged!" + octets[starts[2] + 8 :]


def with_tail(octets: bytes, starts: list[int]) -> bytes:
    return octets[: starts[2]] + b"\0" * 512


@pytest.mark.parametrize(
    ("harm", "problem", "number"),
    [
        (cut, "cut off or damaged in the record at byte", 2),
        (cut_in_head, "cut off or damaged in the record at byte", 2),
        (damaged, "damaged in or behind the record at byte", 1),
        (with_tail, "damaged in or behind the record at byte", 1),
    ],
)
def test_a_harmed_file_raises_after_all_good_records(
    path: Path, harm: Callable[[bytes, list[int]], bytes], problem: str, number: int
) -> None:
    with archive(path) as to:
        for name in "0123":
            to.add(f"https://{name}.example/robots.txt", os.urandom(500))
    path.write_bytes(harm(path.read_bytes(), to.starts))
    found, message = read_until_error(path)
    assert [capture.url[8] for capture in found] == ["0", "1"]
    assert message.startswith(f"{path}: {problem} {to.starts[number]:,}")


def test_a_file_that_is_cut_off_in_a_record_of_another_kind_raises_too(path: Path) -> None:
    with archive(path) as to:
        to.add()
        to.add("https://a.example/", os.urandom(5_000))
    path.write_bytes(path.read_bytes()[:-1_000])
    found, problem = read_until_error(path)
    assert len(found) == 1
    assert problem == f"{path}: cut off or damaged in the record at byte {to.starts[1]:,}"


def test_a_record_with_a_wrong_checksum_is_damage(tmp_path: Path) -> None:
    with archive(path := tmp_path / "a.warc.gz") as to:
        to.add()
        to.add()
    octets = bytearray(path.read_bytes())
    octets[to.starts[1] - 8] ^= 1
    path.write_bytes(octets)
    assert "damaged in or behind the record at byte" in read_until_error(path)[1]


def test_a_record_without_a_length_is_damage() -> None:
    for length in (None, "many", "-9"):
        with pytest.raises(ValueError, match="a stream: cut off or damaged in the record at byte 0"):
            read(record(OK, Content_Length=length))


# Where the octets come from


def test_a_file_may_be_a_pipe(tmp_path: Path) -> None:
    with archive(path := tmp_path / "a.warc.gz") as to:
        to.info()
        to.add()
    program = (
        "import sys; from scrapy_rep.census.warc import captures; print(*captures(sys.stdin.buffer), sep='\\n')"
    )
    with subprocess.Popen(["/bin/cat", str(path)], stdout=subprocess.PIPE) as cat:
        done = subprocess.run([sys.executable, "-c", program], stdin=cat.stdout, capture_output=True, check=True)
    assert done.stdout.decode().strip() == str(Capture(URL, 200, RULES, AT))


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_a_stream_may_give_a_few_octets_at_a_time(compress: Callable[[bytes], bytes]) -> None:
    octets = compress(record(OK + RULES))

    class Stream(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            return super().read(5)

    assert [*captures(Stream(octets))] == [*captures(io.BytesIO(octets))]


def test_a_copy_of_standard_input_is_called_so() -> None:
    with TemporaryFile() as copy, pytest.raises(ValueError, match=r"^standard input: an empty file, not a WARC"):
        list(captures(copy))


def test_what_comes_on_standard_input_and_is_no_warc_file_is_named() -> None:
    program = "import sys; from scrapy_rep.census.warc import captures; list(captures(sys.stdin.buffer))"
    done = subprocess.run([sys.executable, "-c", program], input=RULES, capture_output=True, check=False)
    assert b"ValueError: standard input: a text file, not a WARC file; " in done.stderr


def test_a_file_may_be_compressed_as_a_whole_or_with_zstandard(tmp_path: Path) -> None:
    records = record(OK + RULES) * 3
    (tmp_path / "a.gz").write_bytes(gzip.compress(records))
    with (tmp_path / "a.zst").open("wb") as file, ZstdWriter(file) as writer:
        writer.write(records)
    for name in ("a.gz", "a.zst"):
        assert list(captures(tmp_path / name)) == [Capture(URL, 200, RULES, AT)] * 3


def test_an_open_file_stays_open(tmp_path: Path) -> None:
    with io.BytesIO(record(OK)) as stream:
        assert len(list(captures(stream))) == 1
        assert not stream.closed


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (RULES, "a text file, not a WARC file; scrapy robots survey --files reads the folder that it is in"),
        (b"PAR1\x15\x04", "a Parquet file, not a WARC file; scrapy robots survey --rows reads it"),
        (gzip.compress(RULES), "a gzip file, not a WARC file"),
        (b"", "an empty file, not a WARC file"),
    ],
    ids=["text", "Parquet", "gzip", "empty"],
)
def test_another_file_is_named_with_the_option_that_reads_it(tmp_path: Path, body: bytes, problem: str) -> None:
    (tmp_path / "it").write_bytes(body)
    assert read_until_error(tmp_path / "it") == ([], f"{tmp_path / 'it'}: {problem}")


def test_a_folder_is_named_with_the_option_that_reads_it(tmp_path: Path) -> None:
    (tmp_path / "a.example").write_bytes(RULES)
    problem = f"{tmp_path}: a folder, not a WARC file; scrapy robots survey --files reads it"
    assert read_until_error(tmp_path) == ([], problem)


def test_a_file_that_is_not_there_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"none\.warc"):
        list(captures(tmp_path / "none.warc"))


def test_the_dates_of_the_tests_are_one() -> None:
    assert f"{AT:%Y-%m-%dT%H:%M:%SZ}" == DATE


# What a response means: the table that every reader is held against


@pytest.mark.parametrize("name", CASES)
def test_an_archived_answer_means_what_the_table_says(name: str) -> None:
    case = CASES[name]
    found, skipped = read(record(case.octets))
    [row], [capture] = rows(found), found
    body = capture.body if row["access"] == "successful" else None
    fate = ALLOWED if parse(body or b"").verdict("*", "/page").allowed else FORBIDDEN
    assert (UNREACHABLE if row["access"] == "unreachable" else fate) == (case.archived or case.outcome)
    assert skipped == 0


def test_a_response_without_rules_means_what_its_status_says_though_it_is_cut(path: Path) -> None:
    with archive(path) as to:
        to.add(status="404 Not Found", WARC_Truncated="disconnect")
    [row] = rows(captures(path))
    assert (row["access"], row["problem"]) == ("unavailable", None)


def test_a_body_that_is_shorter_than_its_length_is_cut_unless_it_was_decoded() -> None:
    for fields, problem in [
        (b"Content-Length: 40", "truncated response"),
        (b"Content-Length: 3", None),
        (b"Content-Length: 40\r\nContent-Encoding: gzip", None),
        (b"Content-Length: x", None),
    ]:
        [capture], _ = read(record(b"HTTP/1.1 200 OK\r\n" + fields + b"\r\n\r\nUser-agent: *\n"))
        assert capture.problem == problem, fields
