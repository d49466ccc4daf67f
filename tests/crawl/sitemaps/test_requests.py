"""What the Sitemap lines of a robots.txt name."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_rep import RepRobotParser
from scrapy_rep.crawl.robots.robots import Robots
from scrapy_rep.crawl.sitemaps.requests import Sitemaps, sitemaps_of
from scrapy_rep.protocol import Access, Origin
from scrapy_rep.protocol.freshness import Entry


def named(*values: str, access: Access = Access.SUCCESSFUL) -> Sitemaps:
    """The sitemaps of ``https://a.example``, whose robots.txt names *values* and lies on another host."""
    body = "".join(f"Sitemap: {value}\n" for value in values).encode("utf-8", "surrogateescape")
    url = "https://cdn.example/files/robots.txt"
    entry = Entry(Origin.from_url("https://a.example"), Access.SUCCESSFUL, url, 200, body, (url,), 0.0, 0.0)
    return sitemaps_of(Robots(entry, access, 0.0, RepRobotParser(body)))


@pytest.mark.parametrize(
    ("value", "url"),
    [
        ("https://b.example/s.xml", "https://b.example/s.xml"),
        ("/s.xml", "https://a.example/s.xml"),
        ("s.xml", "https://a.example/s.xml"),
        ("//b.example/s.xml", "https://b.example/s.xml"),
        ("https://a.example/s.xml?page=1&x=ü", "https://a.example/s.xml?page=1&x=%C3%BC"),
        ("/s\udcff.xml", "https://a.example/s%FF.xml"),
    ],
)
def test_a_line_names_an_absolute_url_on_any_host(value: str, url: str) -> None:
    assert named(value) == Sitemaps((url,), ())


@pytest.mark.parametrize(
    "value",
    [
        "",
        "/robots.txt",
        "mailto:x@a.example",
        "ftp://a.example/s.xml",
        "https://[",
        "https://me:secret@a.example/s.xml",
        "//\ae/s.xml",
        "https://a b.example/s.xml",
        "https://a.example<b/s.xml",
    ],
)
def test_a_line_that_leads_nowhere_is_kept_apart(value: str) -> None:
    assert named(value) == Sitemaps((), (value,))


def test_a_public_host_names_no_sitemap_on_a_private_one() -> None:
    assert named("http://192.168.0.1/s.xml").urls == ()


def test_a_sitemap_that_is_named_in_two_spellings_is_one() -> None:
    assert named("/s.xml", "https://a.example/s.xml#top").urls == ("https://a.example/s.xml",)


@pytest.mark.parametrize("access", [Access.UNAVAILABLE, Access.UNREACHABLE])
def test_a_robots_txt_that_does_not_count_names_none(access: Access) -> None:
    assert named("/s.xml", access=access) == Sitemaps()


@example("a.example", "robots.txt")
@example("a.example", "a?")
@example("a.example", "b/../c")
@example("a.example:80", "")
@example("b.example:99999", "")
@given(st.sampled_from(["a.example"]) | st.text("ab09.:-", max_size=12), st.text("aZ09_./?=&~-", max_size=12))
def test_a_plain_line_names_the_url_that_it_resolves_to(host: str, path: str) -> None:
    url = f"https://{host}/{path}"
    assert named(url).urls == named(f"{url}#top").urls
