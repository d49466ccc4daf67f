"""Which resources a page has, what a report says about them, and what a hostile page costs."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from scrapy_rep.protocol import parse
from scrapy_rep.tools.resources import Found, LoadedAs, Resource, ResourceReport, resources_of
from tests.support.cost import is_linear_in_steps, is_linear_in_time

URL = "https://example.com/shop/page.html"
SHOP = "https://example.com/shop/"


def found(html: str | bytes, url: str = URL, content_type: str = "") -> dict[str, str]:
    """The kind of each resource by its URL, in the order of the page."""
    octets = html if isinstance(html, bytes) else html.encode()
    return {one.url: one.kind.value for one in resources_of(octets, url, content_type).resources}


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<link rel=stylesheet href=a>", {"a": "style sheet"}),
        ("<link rel='Alternate STYLESHEET' href=a>", {"a": "style sheet"}),
        ("<link rel=modulepreload href=a>", {"a": "script"}),
        ("<link rel=preload as=font href=a>", {"a": "font"}),
        ("<link rel=preload as=fetch href=a>", {"a": "other"}),
        ("<link rel=preload as=image href=a imagesrcset='b 1x'>", {"a": "image", "b": "image"}),
        ("<link rel='shortcut icon' href=a>", {"a": "icon"}),
        ("<link rel=apple-touch-icon href=a>", {"a": "icon"}),
        ("<link rel=canonical href=a><link rel=preconnect href=//b/><link href=c>", {}),
        ("<script src=a></script>", {"a": "script"}),
        ("<script type=module nomodule src=a></script>", {"a": "script"}),
        ("<script type=' Text/JavaScript' src=a></script>", {"a": "script"}),
        ("<script nomodule src=a></script><script type=application/ld+json src=b></script>", {}),
        ("<script>'<img src=a>'</script>", {}),
        ("<img src=a srcset='b 1x'>", {"a": "image", "b": "image"}),
        ("<picture><source srcset='a, b 2x'><img src=c></picture>", {"a": "image", "b": "image", "c": "image"}),
        ("<video src=a poster=b><source src=c><track src=d></video>",
         {"a": "media", "b": "image", "c": "media", "d": "media"}),
        ("<audio src=a>", {"a": "media"}),
        ("<iframe src=a><img src=b></iframe>", {"a": "frame"}),
        ("<object data=a></object><embed src=b>", {"a": "other", "b": "other"}),
        ("<input type=IMAGE src=a><input src=b>", {"a": "image"}),
        ("<img data-src=a><a href=b>c</a>", {}),
        ("<template><img src=a></template><img src=b>", {"b": "image"}),
        ("<noscript><img src=a></noscript><img src=b>", {"b": "image"}),
        ("<!-- <img src=a> --><textarea><img src=b></textarea>", {}),
        ("<style>@import 'a';</style><p style='background: url(a)'>", {}),
    ],
)  # fmt: skip
def test_each_element_loads_what_its_attributes_name(html: str, expected: dict[str, str]) -> None:
    assert found(html) == {SHOP + name: kind for name, kind in expected.items()}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a 1x, b 2x", ["a", "b"]),
        ("a 100w,b 200w", ["a", "b"]),
        ("w_1,h_2/a 1x, w_3,h_4/b 2x", ["w_1,h_2/a", "w_3,h_4/b"]),
        ("a, b,c", ["a", "b,c"]),
        ("a (1, 2) 1x, b", ["a", "b"]),
        (" , a,, b ,", ["a", "b"]),
        ("data:image/gif;base64,R0lGOD 1x, a 2x", ["a"]),
        ("\n a\t1x,\n b", ["a", "b"]),
        (", ,", []),
    ],
)
def test_the_urls_of_a_set_may_have_commas_inside(text: str, expected: list[str]) -> None:
    assert list(found(f"<img srcset='{text}'>")) == [SHOP + name for name in expected]


@pytest.mark.parametrize(
    ("address", "url"),
    [
        ("/a?b=c#d", "https://example.com/a?b=c"),
        ("//cdn.example/a", "https://cdn.example/a"),
        ("HTTP://CDN.example/a", "HTTP://CDN.example/a"),
        ("../a", "https://example.com/a"),
        ("?b", "https://example.com/shop/page.html?b"),
        (" \n/a b\t", "https://example.com/a%20b"),
        ("/a?b=1&amp;c=&#50;", "https://example.com/a?b=1&c=2"),
        ("/ä", "https://example.com/ä"),
    ],
)
def test_an_address_is_made_absolute(address: str, url: str) -> None:
    assert list(found(f'<img src="{address}">')) == [url]


@pytest.mark.parametrize(
    "address",
    ["", "#a", "data:image/png,a", "blob:https://example.com/1", "javascript:0", "about:blank", "ws://a/", "ftp://a/",
     "file:///a", "http://", "http://[::1", "https://a:x/", "https://a:99999/", "/" + "a" * 2_100],
)  # fmt: skip
def test_what_is_not_loaded_by_http_is_left_out(address: str) -> None:
    assert found(f'<iframe src="{address}"></iframe><img src=/b>') == {"https://example.com/b": "image"}


def test_the_first_base_with_an_address_counts_for_what_follows() -> None:
    html = "<img src=a><base target=x><base href=//cdn.example/x/><base href=/y/><img src=b>"
    assert list(found(html)) == [f"{SHOP}a", "https://cdn.example/x/b"]
    assert list(found("<base href=data:,x><img src=a>")) == [f"{SHOP}a"]


def test_a_url_is_named_once_with_its_first_kind() -> None:
    assert found("<link rel=preload as=font href=a><img src=a><img src=./a#b>") == {f"{SHOP}a": "font"}


def test_a_page_is_read_in_its_encoding() -> None:
    assert found("<img src=ä>".encode("cp1252"), content_type="text/html; charset=cp1252") == {f"{SHOP}ä": "image"}
    assert found("<img src=a>".encode("utf-16")) == {f"{SHOP}a": "image"}


@pytest.mark.parametrize(
    "html",
    [b"", b"<", b"<img", b"<img src=", b"<img src='a", b"<style>@import", b"\0\xff<img src=\xff\xfe>",
     b"<link rel=stylesheet><script src></script>", b"<img src=a" * 50, b"</img src=a>", b"<!--<img src=a>",
     b"<!DOCTYPE html><p><p></div>"],
)  # fmt: skip
def test_no_page_is_too_broken(html: bytes) -> None:
    assert len(resources_of(html, URL).resources) <= 1


def test_what_follows_a_broken_part_is_found() -> None:
    html = "<p <b></i><img alt='\"' src=a / ><img src=b<img src=c></span"
    assert list(found(html)) == [f"{SHOP}a", f"{SHOP}b<img"]


def test_a_hundred_thousand_images_are_a_thousand_and_a_note() -> None:
    html = b"".join(b"<img src=%d>" % number for number in range(100_000))
    result = resources_of(html, URL)
    assert (len(result.resources), result.cut) == (1_000, "Only the first 1,000 resources were checked.")
    assert resources_of(b"<img src=1>" * 100_000, URL).cut == ""
    result = resources_of(b" " * 2_097_152 + b"<img src=1>", URL)
    assert (result.resources, result.cut) == ((), "Only the first 2,097,152 octets of the page were read.")


HOSTILE: dict[str, Callable[[int], bytes]] = {
    "images": lambda size: b"<img src=x>" * size,
    "a set of commas": lambda size: b"<img srcset='" + b"," * size + b"'>",
    "a set of blanks and commas": lambda size: b"<img srcset='" + b" ," * size + b" '>",
    "a set of brackets": lambda size: b"<img srcset='a " + b"(" * size + b"'>",
    "candidates": lambda size: b"<img srcset='" + b"a 1x," * size + b"'>",
    "unclosed tags": lambda size: b"<img src='" * size,
    "styles": lambda size: b"<p style='x'>" * size,
    "noscript": lambda size: b"<noscript>" * size,
    "a long base": lambda size: b"<base href='/" + b"a/" * size + b"'>" + b"<img src=x>" * size,
}


@pytest.mark.untraced
@pytest.mark.parametrize("name", HOSTILE)
def test_a_page_takes_time_linear_in_its_octets(name: str) -> None:
    def ask(html: bytes) -> Found:
        return resources_of(html, URL)

    make = HOSTILE[name]
    assert is_linear_in_steps(ask, make(200), make(1_600))
    assert is_linear_in_time(ask, make(5_000), make(40_000))


# The report.


def report(html: str, robots: str = "", *, unknown: str = "") -> ResourceReport:
    """On the page at `URL`; the robots.txt of the origin *unknown* is unreachable."""
    robotstxt = parse(f"User-agent: *\n{robots}\n".encode())
    page, *resources = (
        one if unknown and one.url.startswith(unknown) else one.judged(robotstxt.verdict("Googlebot", one.url), "")
        for one in (Resource(URL, LoadedAs.PAGE), *resources_of(html.encode(), URL).resources)
    )
    return ResourceReport("Googlebot", [page], resources)


@pytest.mark.parametrize(
    ("html", "robots", "summary"),
    [
        ("<p>", "", "The page loads no style sheets, scripts or images."),
        ("<img src=a>", "", "The only resource is open to Googlebot."),
        ("<img src=a><img src=b>", "", "All 2 resources are open to Googlebot."),
        ("<img src=a><img src=b>", "Disallow: /shop/a", "1 of 2 resources is blocked for Googlebot (1 image),"
         " so it sees the page without it."),
        ("<img src=a><img src=b><video src=c>", "Disallow: /shop/\nAllow: /shop/p",
         "3 of 3 resources are blocked for Googlebot (2 images, 1 media file), so it sees the page without them."),
        ("<link rel=stylesheet href=a><img src=b><img src=c>", "Disallow: /shop/a\nDisallow: /shop/b",
         "2 of 3 resources are blocked for Googlebot (1 style sheet, 1 image),"
         " so it may not see the page as visitors do."),
    ],
)  # fmt: skip
def test_the_summary_says_how_many_are_closed_and_what_follows(html: str, robots: str, summary: str) -> None:
    assert report(html, robots).summary == summary


def test_unknown_resources_are_counted_beside_closed_ones_and_called_neither_open_nor_closed() -> None:
    html, one = "<img src=a><img src=b><img src=//one.example/c>", "https://one.example"
    result = report(html, "Disallow: /shop/b", unknown=one)
    assert result.summary.endswith(" Whether 1 more may be loaded is unknown.")
    assert not result.is_complete
    assert report(html, unknown=one).summary == (
        "None of 3 resources is known to be blocked for Googlebot. Whether 1 may be loaded is unknown."
    )


def test_a_page_that_is_closed_is_an_answer() -> None:
    result = report("", "Disallow: /shop")
    assert result.summary.startswith("The page itself is blocked for Googlebot: it was not fetched")
    assert (result.is_complete, [one.line for one in result.closed]) == (True, [2])
