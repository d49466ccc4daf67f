"""The reader of sitemaps by itself: what it makes of octets, and that no octets cost it more than others."""

from __future__ import annotations

import gzip
import tracemalloc
from collections.abc import Callable
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_rep.directives.dates import read_date
from scrapy_rep.directives.sitemap import MOST_ENTRIES, MOST_ERRORS, MOST_OCTETS, NotASitemapError, Sitemap
from tests.support.cost import is_linear_in_steps, is_linear_in_time, too_costly

URL = "https://h.example/maps/sitemap.xml"
ENTRY = b"<url><loc>https://h.example/a</loc></url>"
WORDS = [
    b"<urlset>", b"<url>", b"</url>", b"<loc>", b"</loc>", b"https://h.example/a", b"/b?x=1&y=2", b"&amp;",
    b"&#0;", b"&x;", b"<![CDATA[", b"]]>", b"<!--", b"-->", b"<?", b"?>", b"<!DOCTYPE x [", b"]>", b"<a b='",
    b"'/>", b"<n:c>", b"\0", b"\xff", b"\xc3\xa9", b" ", b"\n", b"<image:image>", b"</image:image>",
    b"<xhtml:link href='/c'/>", b"<lastmod>2026</lastmod>", b"<sitemapindex>", b"<rss>", b"<item>", b"<feed>",
    b"<entry>", ENTRY,
]  # fmt: skip


def read(body: bytes) -> tuple[list[str], Sitemap]:
    sitemap = Sitemap(body, URL)
    return [entry.loc for entry in sitemap], sitemap


def urlset(entries: bytes) -> bytes:
    return b"<urlset>" + entries + b"</urlset>"


def test_the_limits_are_those_of_the_protocol() -> None:
    assert (MOST_OCTETS, MOST_ENTRIES) == (52_428_800, 50_000)


@pytest.fixture
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scrapy_rep.directives.sitemap.MOST_OCTETS", 500_000)
    monkeypatch.setattr("scrapy_rep.directives.sitemap.MOST_ENTRIES", 500)


@pytest.mark.parametrize("more", [0, 1])
@pytest.mark.usefixtures("_small")
def test_as_many_octets_are_read_as_the_limit_allows(more: int) -> None:
    blanks = b" " * (500_000 - 2 * len(ENTRY) - len(b"<urlset>") + more)
    for pack in (bytes, gzip.compress):
        urls, sitemap = read(pack(b"<urlset>" + ENTRY + blanks[len(b"</urlset>") :] + ENTRY + b"</urlset>"))
        assert (len(urls), sitemap.cut) == (2, "octets" * more)  # of the end tag only the last octet is missing
    urls, sitemap = read(b"http://h.example/".ljust(500_000, b"\n") + more * b"http://h.example/b")
    assert (urls, sitemap.cut) == (["http://h.example/"], "octets" * more)


@pytest.mark.parametrize("more", [0, 1])
@pytest.mark.usefixtures("_small")
def test_as_many_entries_are_read_as_the_limit_allows(more: int) -> None:
    for body in (urlset((500 + more) * ENTRY), (500 + more) * b"http://h.example/\n"):
        urls, sitemap = read(body)
        assert (len(urls), sitemap.cut) == (500, "entries" * more)


def test_a_sitemap_with_thousands_of_errors_is_given_up() -> None:
    urls, sitemap = read(b"<urlset>" + (MOST_ERRORS + 10) * (ENTRY + b"<url>&#0;</url>"))
    assert (len(urls), sitemap.cut) == (MOST_ERRORS + 1, "errors")


@pytest.mark.parametrize("inside", [b"<a>" * 100_000, b"<a b='" + b"x" * 1_000_000, b"<!--" + b"x" * 1_000_000])
def test_what_never_ends_costs_what_is_in_it_and_no_entry_before_it(inside: bytes) -> None:
    urls, sitemap = read(b"<urlset>" + ENTRY + inside)
    assert (len(urls), sitemap.errors) == (1, 1)


def test_names_without_end_are_not_kept() -> None:
    names = b"".join(b"<n%d/>" % number for number in range(200_000))
    urls, sitemap = read(b"<urlset>" + ENTRY + names + ENTRY)
    assert (len(urls), sitemap.errors) == (2, 1)


@pytest.mark.usefixtures("_small")
def test_a_bomb_is_unpacked_in_pieces_and_to_its_limit() -> None:
    bomb = gzip.compress(gzip.compress(b"<urlset>" + bytes(50_000_000), 1))
    tracemalloc.start()
    try:
        urls, sitemap = read(bomb)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (urls, sitemap.cut) == ([], "octets")
    assert peak < 2_000_000


def test_a_file_in_four_layers_of_gzip_is_no_sitemap() -> None:
    body = urlset(ENTRY)
    for layers in range(1, 5):
        body = gzip.compress(body, mtime=0)
        if layers < 4:
            assert read(body)[0] == ["https://h.example/a"]
    with pytest.raises(NotASitemapError):
        Sitemap(body, URL)


def test_a_gzip_file_may_have_several_members_and_be_cut_off() -> None:
    packed = gzip.compress(b"<urlset>" + ENTRY) + gzip.compress(ENTRY + b"</urlset>")
    assert len(read(packed)[0]) == 2
    assert len(read(packed[:-12])[0]) >= 1


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "it is empty"),
        (b"\xef\xbb\xbf \n", "it is empty"),
        (
            b"<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><urlset><url><loc>&b;</loc></url></urlset>",
            "entities",
        ),
        (b"<html><urlset></urlset></html>", "it is HTML"),
        (b'{"urlset": []}', "neither"),
        (b"<!--" + b"x" * 70_000 + b"--><urlset/>", "neither"),
    ],
)
def test_what_is_no_sitemap_is_refused_with_a_reason(body: bytes, why: str) -> None:
    with pytest.raises(NotASitemapError, match=why):
        Sitemap(body, URL)


def test_an_entity_is_left_as_it_stands() -> None:
    assert read(urlset(b"<url><loc>http://h/&lol;&amp;&#97;&xxe;</loc></url>"))[0] == ["http://h/&lol;&a&xxe;"]


def test_a_location_with_a_slash_counts_from_the_sitemap_and_no_other_is_changed() -> None:
    locations = [b"/a", b"//other.example/a", b"a", b"www.h.example/a", b"ftp://h.example/a", b"//[/"]
    urls, _ = read(urlset(b"".join(b"<url><loc>%s</loc></url>" % each for each in locations)))
    assert urls == [
        "https://h.example/a", "https://other.example/a", "a", "www.h.example/a", "ftp://h.example/a", "//[/"
    ]  # fmt: skip


@pytest.mark.parametrize("step", [1, 7, 32_767, 32_769])
def test_where_the_octets_are_divided_makes_no_difference(step: int) -> None:
    entry = "<url><loc><![CDATA[https://h.example/é?a=1&b=2]]></loc><x>a>b &amp; c & d</x></url>".encode()
    urls, sitemap = read(b"<urlset>" + b" " * step + 2_000 * entry)
    assert (set(urls), len(urls), sitemap.errors) == ({"https://h.example/é?a=1&b=2"}, 2_000, 0)


@pytest.mark.parametrize("pack", [lambda body: body.decode().encode("utf-16"), gzip.compress])
def test_what_a_file_is_shows_where_each_member_of_gzip_has_one_octet(pack: Callable[[bytes], bytes]) -> None:
    packed = b"".join(gzip.compress(bytes((octet,))) for octet in pack(urlset(ENTRY)))
    assert read(packed)[0] == ["https://h.example/a"]


@given(st.lists(st.sampled_from(WORDS), max_size=40).map(b"".join), st.sampled_from(["utf-8", "utf-16", "gzip"]))
def test_whatever_is_sent_is_read_or_refused(body: bytes, form: str) -> None:
    body = b"<urlset>" + body
    if form == "utf-16":
        body = body.decode("latin-1").encode("utf-16")
    elif form == "gzip":
        body = gzip.compress(body, mtime=0)
    try:
        entries = [*Sitemap(body, URL)]
    except NotASitemapError:
        return
    for entry in entries:
        assert entry.loc
        assert entry.as_dict(URL).keys() >= {"loc", "lastmod", "sitemap"}
        assert entry.as_scrapys()["loc"] == entry.loc


def of(part: bytes) -> Callable[[int], bytes]:
    """Sitemaps of *part* again and again."""
    return lambda size: b"<urlset>" + (part * size)[:size]


def count(body: bytes) -> int:
    return sum(1 for _ in Sitemap(body, URL))


@pytest.mark.untraced
def test_a_sitemap_takes_steps_linear_in_its_octets() -> None:
    assert too_costly(is_linear_in_steps, count, {repr(word): of(word) for word in WORDS}, 500) == []


@pytest.mark.full
@pytest.mark.untraced
@pytest.mark.usefixtures("_no_collection")
def test_a_sitemap_takes_time_linear_in_its_octets() -> None:
    assert too_costly(is_linear_in_time, count, {repr(word): of(word) for word in WORDS}, 40_000) == []


@pytest.mark.parametrize(
    ("text", "until"),
    [
        ("2026", datetime(2027, 1, 1, 12, tzinfo=timezone.utc)),
        ("2026-12", datetime(2027, 1, 1, 12, tzinfo=timezone.utc)),
        ("2026-05-01", datetime(2026, 5, 2, 12, tzinfo=timezone.utc)),
        ("2026-05-01Z", datetime(2026, 5, 2, tzinfo=timezone.utc)),
        ("2026-05-01T10:00Z", datetime(2026, 5, 1, 10, 1, tzinfo=timezone.utc)),
        ("2026-05-01T10:00:00", datetime(2026, 5, 1, 22, 0, 1, tzinfo=timezone.utc)),
        ("2026-05-01T10:00:00+02:00", datetime(2026, 5, 1, 8, 0, 1, tzinfo=timezone.utc)),
    ],
)
def test_a_date_means_all_that_it_may_mean(text: str, until: datetime) -> None:
    date = read_date(text)
    assert date is not None
    assert date.until == until
    assert date.at.tzinfo is not None


@pytest.mark.parametrize(
    "text",
    ["", "x", "2026-13-01", "2026-02-30", "2026-05-01T25:00Z", "9999-12-31", "0000", "2026-05-01+99:00", "1" * 99],
)
def test_what_is_no_date_is_none(text: str) -> None:
    assert read_date(text) is None


@given(st.text("0123456789-:+TZ. MonJul,", max_size=40))
def test_whatever_stands_for_a_date_is_read_or_none(text: str) -> None:
    date = read_date(text)
    assert date is None or timedelta() <= date.until - date.at <= timedelta(days=367)


XML = b"<urlset>" + 2 * ENTRY + b"</urlset>"
TEXT = b"https://h.example/a\nhttps://h.example/bcd"


@pytest.mark.parametrize(
    ("body", "cut", "is_empty"),
    [
        (XML, "", False), (XML + b"<!-- x -->\n", "", False), (XML.replace(b"urlset", b"s:urlset"), "", False),
        (XML[:-9], "end", False), (XML[:-20], "end", False), (b"<urlset>", "end", True),
        (b"<urlset/>", "end", True),
        (b"<urlset></urlset>", "", True), (b"<urlset>" + ENTRY + b"</url></urlset>", "", False),
        (b"<sitemapindex><sitemap><loc>https://h.example/s</loc></sitemap>", "end", False),
        (b"<rss><channel><item><link>https://h.example/s</link></item></channel></rss>", "", False),
        (b"<feed><entry><link href='https://h.example/s'/></entry>", "end", False),
        (gzip.compress(XML, mtime=0), "", False), (gzip.compress(XML, mtime=0)[:-12], "end", False),
        (gzip.compress(XML, mtime=0)[:-8], "", False),
        (TEXT, "", False), (gzip.compress(TEXT, mtime=0), "", False),
        (gzip.compress(TEXT, mtime=0)[:-12], "end", False),
    ],
)  # fmt: skip
def test_a_sitemap_without_its_end_and_one_without_an_entry_say_so(body: bytes, cut: str, is_empty: bool) -> None:
    _, sitemap = read(body)
    assert (sitemap.cut, sitemap.is_empty) == (cut, is_empty)
    assert bool(sitemap.problem) == bool(cut)


def test_a_line_that_a_damaged_gzip_file_cuts_off_is_no_url() -> None:
    urls, _ = read(gzip.compress(TEXT, mtime=0)[:-12])
    assert urls == ["https://h.example/a"]
