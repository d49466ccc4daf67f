"""What a body is: a robots.txt, or what a server sent instead. The rules in either hold."""

from __future__ import annotations

import pytest
from hypothesis import given

from scrapy_rep.protocol import parse
from scrapy_rep.protocol.body_kind import BodyKind, body_kind
from scrapy_rep.protocol.reader import records_in
from scrapy_rep.protocol.records import Kind, bom_length
from tests.support.cost import seconds

from .any_body import BODIES

S3 = b'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>AccessDenied</Code><Message>No</Message></Error>'
AZURE = b"\xef\xbb\xbf" + S3.replace(b"AccessDenied", b"ResourceNotFound")
ICON = b"\0\0\1\0\3\0\x30\x30\0\0\1\0\x20\0\xa8\x25\0\0\x36\0\0\0"

KINDS = {
    BodyKind.ROBOTS_TXT: [
        b"User-agent: *\nDisallow: /\n", b"# User-agent: *\n", b"\xef\xbb\xbf# nothing", b"Sitemap: https://a.example/s",
        b"{\nUser-agent: *\nDisallow:\n", b"[robots]\nUser-agent: *", b"Noindex: /a", b"Not Found\nDisallow: /",
        b"<!-- $Id$ -->\nUser-agent: *\nDisallow: /x\n",
    ],
    BodyKind.BLANK: [b"", b"\n", b" \t\r\n\v\f", b"\xef\xbb\xbf", b"\xef\xbb\xbf\r\n"],
    BodyKind.HTML: [b"<!DOCTYPE html>", b"<html>", b"<p>Not found", b"<html>\nUser-agent: *\nDisallow: /\n"],
    BodyKind.XML: [
        S3, AZURE, b"<?xml version='1.0'?>", b"<Error><Code>NoSuchKey</Code></Error>", b"<rss version='2.0'>",
        b"<?xml version='1.0'?><!-- <html> --><Error/>",
    ],
    BodyKind.JSON: [b'{"statusCode":404}', b"{}", b'\n[{"a": 1}]', b'{\n  "error": "x"\n}\n'],
    BodyKind.UTF_16: ["User-agent: *\nDisallow: /".encode("utf-16"), "User-agent: *".encode("utf-16-be")],
    BodyKind.BINARY: [ICON, ICON + b"\n#\n", b"\0" * 300],
    BodyKind.TEXT: [b"Not Found", b"404", b"Bye", b"404 page not found\n", b"error code: 1020", b"Host-name: a"],
}  # fmt: skip


@pytest.mark.parametrize(("kind", "body"), [(kind, body) for kind, bodies in KINDS.items() for body in bodies])
def test_a_body_is_what_its_first_octets_or_its_lines_say(kind: BodyKind, body: bytes) -> None:
    assert body_kind(body) is kind


def test_rules_hold_whatever_the_body_is() -> None:
    page = b"<html>\nUser-agent: *\nDisallow: /\n</html>"
    assert body_kind(page) is BodyKind.HTML
    assert not parse(page).verdict("x", "/a").allowed
    assert parse(page).verdict("x", "/robots.txt").allowed


def test_each_kind_but_a_robots_txt_has_words() -> None:
    assert [kind for kind in BodyKind if not kind.instead] == [BodyKind.ROBOTS_TXT, BodyKind.BLANK]
    assert all(kind.is_robots_txt != bool(kind.instead) for kind in BodyKind)


@given(BODIES)
def test_no_body_raises_and_only_white_space_is_blank(body: bytes) -> None:
    assert (body_kind(body) is BodyKind.BLANK) == (not body[bom_length(body) :].strip())


@given(BODIES)
def test_a_body_with_a_record_that_the_parser_knows_is_a_robots_txt_unless_it_begins_as_something_else(
    body: bytes,
) -> None:
    if any(record.kind is not Kind.UNKNOWN for record in records_in(body)):
        assert body_kind(body) is BodyKind.ROBOTS_TXT


@pytest.mark.parametrize("line", [b"\n", b"a\n", b"foo: bar\n", b"allow this and that\n", b"<!--", b"{", b"\r \r"])
def test_half_a_million_octets_are_told_in_the_time_that_it_takes_to_read_them(line: bytes) -> None:
    assert seconds(body_kind, (line * 512_000)[:512_000] + b"x", 2) < 0.2
