"""What a download handler sends for a URL, compared with its library, the URL standard and a real server."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from time import perf_counter
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_rep.crawl.runtime.wire import respells, spellings
from scrapy_rep.protocol.origin import Origin
from scrapy_rep.protocol.path_pattern import path_of
from tests.support.crawl import crawl
from tests.support.site import Site

_HANDLERS = "scrapy.core.downloader.handlers"
_CLASSES = {
    "http11": f"{_HANDLERS}.http11.HTTP11DownloadHandler",
    "http2": f"{_HANDLERS}.http2.H2DownloadHandler",
    "aiohttp": f"{_HANDLERS}._aiohttp.AiohttpDownloadHandler",
    "httpx": f"{_HANDLERS}._httpx.HttpxDownloadHandler",
    "ftp": f"{_HANDLERS}.ftp.FTPDownloadHandler",
}


class Browser:
    """A handler that has nothing to do with Scrapy's."""


def _made() -> dict[str, Any]:
    """A handler of each kind, which never connects; Scrapy 2.14 lacks some, and libraries may be missing."""
    made: dict[str, Any] = {"browser": Browser()}
    for name, path in _CLASSES.items():
        module, _, class_name = path.rpartition(".")
        try:
            handler_class = getattr(import_module(module), class_name)
        except ImportError:
            continue
        if getattr(sys.modules[module], "httpx", True):
            made[name] = object.__new__(handler_class)
    made["playwright"] = object.__new__(type("Playwright", (type(made["http11"]),), {"__module__": "playwright"}))
    return made


HANDLERS = _made()
on_each_handler = pytest.mark.parametrize("name", HANDLERS)


def sent(name: str, url: str) -> set[str]:
    if name not in HANDLERS:
        pytest.skip(f"no {name} here")
    return set(spellings(url, HANDLERS[name]))


H = "http://h.example"
F = "ftp://h.example"


@pytest.mark.parametrize(("name", "url", "expected"), [
    ("http11", f"{H}/search;?q=1", {f"{H}/search?q=1"}),
    ("http11", f"{H}/admin;", {f"{H}/admin"}),
    ("http11", f"{H}/admin;#f", {f"{H}/admin"}),
    ("http11", f"{H}/a;/b", set()),
    ("http11", f"{H}/a;b?q", set()),
    ("http11", f"{H}/x?", {f"{H}/x"}),
    ("http11", f"{H}/x?#f", {f"{H}/x"}),
    ("http11", f"{H}/x#f", set()),
    ("http11", f" {H}/x\t", {f"{H}/x"}),
    ("http11", f"\t{H}/se\ncret", {f"{H}/secret"}),
    ("http11", f"{H}/%2e%2E/%24", set()),
    ("http11", f"{H}:8080/x;", {f"{H}:8080/x"}),
    ("http11", "http://[::1]:8080/x;", {"http://[::1]:8080/x"}),
    ("http2", f"{H}/secret;x", {f"{H}/secret"}),
    ("http2", f"{H}/secret;x?q;r", {f"{H}/secret?q;r"}),
    ("http2", f"{H}/x?", {f"{H}/x"}),
    ("http2", f" {H}/x ", {f"{H}/x ", f"{H}/x"}),
    ("aiohttp", f"{H}/public/%2e%2e/secret", {f"{H}/secret"}),
    ("aiohttp", f"{H}/./a/../b", {f"{H}/b"}),
    ("aiohttp", f"{H}/%24%7E", {f"{H}/$~"}),
    ("aiohttp", f"{H}/a/../b?", {f"{H}/b", f"{H}/a/../b"}),  # the latter with verbatim_url
    ("aiohttp", f" {H}/x ", {f"{H}/x%20", f"{H}/x ", f"{H}/x"}),
    ("aiohttp", f"{H}/x ?", {f"{H}/x%20", f"{H}/x ", f"{H}/x"}),
    ("aiohttp", f"{H}/x;?q#f", set()),
    ("httpx", f"{H}/public/../secret", {f"{H}/secret"}),
    ("httpx", f"{H}/public/.", {f"{H}/public"}),
    ("httpx", f"{H}/x?", set()),
    ("ftp", f"{F}/private%2Ffile", {f"{F}/private/file"}),
    ("ftp", f"{F}/file;type=i?q", {f"{F}/file"}),
    ("ftp", f"{F}/%24%23", {f"{F}/$%23"}),
    ("ftp", f"{F}/%2525%3F/%2F", {f"{F}/%25?//", f"{F}/%2525%3F//"}),
    ("ftp", f"{F}/%C3%A9", {f"{F}/%E9"}),  # Twisted sends Latin-1
    ("ftp", f"{F}:2121/a//b", set()),
    ("ftp", f"{F}/a%20", {f"{F}/a"}),
    ("browser", f"{H}/a\\..\\%2E%2e/./b", {f"{H}/b"}),
    ("browser", f"{H}/a/%2e", {f"{H}/a/"}),
    ("browser", f"{H}/a/..?", {f"{H}/?"}),
    ("browser", f" {H.upper()}:80/a b#f", {f"{H}/a%20b"}),
    ("browser", "http:\\\\u:p@h.example\\@i.example/", {f"{H}/@i.example/"}),
    ("browser", "http://0x7f.1:81/", {"http://127.0.0.1:81/"}),
    ("browser", "http://bücher.example/ü", {"http://xn--bcher-kva.example/%C3%BC"}),
    ("browser", f"{H}/%24%7e;x//?'%27", {f"{H}/%24%7e;x//?%27%27"}),
    ("browser", "data:,x", set()),
    ("playwright", f"{H}/a/../b;", {f"{H}/b;", f"{H}/a/../b"}),
])  # fmt: skip
def test_spellings(name: str, url: str, expected: set[str]) -> None:
    assert sent(name, url) == expected
    assert not expected or respells(HANDLERS[name])(url)


@pytest.mark.parametrize(("name", "url"), [
    ("http11", f"{H}/é"),
    ("http11", "http:///x"),
    ("http2", "http://h.example:x/"),
    ("aiohttp", "http://h.example\\a/"),
    ("aiohttp", "http://[::1]:80@"),
    ("httpx", f"\t{H}/"),
    ("httpx", f" {H}/"),
    ("ftp", f"{F}/%E2%82%AC"),
    ("browser", "http://h.example:x/"),
    ("browser", "http://1.2.3.256/"),
    ("browser", "http://h%20.example/"),
    ("browser", "http://[h]/"),
])  # fmt: skip
def test_what_a_library_refuses_is_a_value_error(name: str, url: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  # each library has its own words
        sent(name, url)


@pytest.mark.parametrize("name", HANDLERS)
def test_ordinary_urls_need_no_spelling(name: str) -> None:
    scheme = "ftp" if name == "ftp" else "https"
    paths = ["", "/", "/p/123", "/robots.txt", "/a-b_c~d/(x),y=z&@:+!$*/it.html"]
    paths += [] if name == "ftp" else ["/p/123?page=2", "/%E4%B8%AD/%20?q=%C3%A9&r=/?:@#top"]
    for host in ("www.shop.example", "h.example:8080", "127.0.0.1:80"):
        for path in paths:
            assert not respells(HANDLERS[name])(f"{scheme}://{host}{path}"), path


PIECES = [
    *"/////abs.;?#&=*$'~!(|^{[]\\\"<` \t\n\x01\x7fé@:+,-_", "secret", "..", "//", "/../", "/./", "%2e", "%2E",
    "%2f", "%24", "%7E", "%C3%A9", "%c3", "%20", "%25", "%", "%3b", "%3F", "%E4%B8",
]  # fmt: skip
HOSTS = [
    *["h.example"] * 9, "h.example:80", "h.example:8080", "H.example", "u:p@h.example", "127.0.0.1", "127.1",
    "0x7f.1", "010.0.0.1", "[::1]:80", "h.example.", "bücher.example", "1.2.3.4.5", "h.e_x", "h%41.ex", "a.1b",
]  # fmt: skip
STARTS = [*["http://"] * 5, "https://", *["ftp://"] * 3, "HTTP://", " http://", "\thttp://", "http:\\\\", "http:/"]
urls = st.tuples(
    st.sampled_from(STARTS), st.sampled_from(HOSTS), st.sampled_from(["", *"//////"]),
    st.lists(st.sampled_from(PIECES), max_size=8).map("".join),
).map("".join)  # fmt: skip


def what_rules_see(url: str) -> tuple[Origin, bytes]:
    return Origin.from_url(url), path_of(url, canonical_octets=False)


@on_each_handler
@given(urls)
@example("http://h.example//x")
@example("http://h.example?q")
@example("http://h.example/;;")
@example("http://00.0.0.1/")
def test_no_rule_tells_apart_what_the_test_lets_pass(name: str, url: str) -> None:
    if respells(HANDLERS[name])(url):
        return
    try:
        others = spellings(url, HANDLERS[name])
    except ValueError:
        return  # nothing is sent
    assert {what_rules_see(each) for each in others} <= {what_rules_see(url)}


@given(urls)
def test_a_browser_is_the_url_standard(url: str) -> None:
    ada_url = pytest.importorskip("ada_url")
    try:
        parts = ada_url.URL(url)
    except ValueError:
        with pytest.raises(ValueError):  # noqa: PT011
            spellings(url, Browser())
        return
    if "xn--" in parts.host and parts.host != "xn--bcher-kva.example":
        return  # `idna` refuses some host names that the standard lets pass
    parts.username = parts.password = ""
    standard = parts.href.partition("#")[0]
    assert (spellings(url, Browser()) or (url.partition("#")[0],)) == (standard,)


ODD = [
    "/search;?q=1", "/admin;", "/x?", "/x?#f", "//x", "//x;", "/a;b", "/a;b/c;d?e", "/./a/../b", "/a/%2e%2E/b",
    "/a/..", "/a/.", "/\\..\\b", "/%24", "/%7e%2F%2f", "/%", "/a b", "/é", "/a|b^c{d}`[e]", "?q", "/x?'%27<>",
    "/%C3%A9%c3%a9", "/x??", "/x;;?", "/;", "/*;?*$",
]  # fmt: skip
VERBATIM = ["/x?", "/a/../b?", "/se\tcret", "/secret ", "/a\\b", "/é?é", "/a/%2e%2e/b?#f", "/%61;"]
HTTP_HANDLERS = [
    ("http11", "asyncio"),
    ("httpx", "asyncio"),
    *(pytest.param(name, "reactorless", marks=pytest.mark.other_loop) for name in ("aiohttp", "httpx")),
]  # fmt: skip


@pytest.mark.parametrize(("name", "loop"), HTTP_HANDLERS)
def test_a_server_receives_nothing_else(name: str, loop: str) -> None:
    if name not in HANDLERS:
        pytest.skip(f"no {name} here")
    with Site() as site:
        requests: list[dict[str, Any]] = [{"url": f"{site.origin}{path}"} for path in ODD]
        verbatim = [f"{site.origin}{path}" for path in VERBATIM]
        verbatim += [f"{space}{site.origin}/x" for space in " \t"]
        requests += [{"url": url, "meta": {"verbatim_url": True}} for url in verbatim]
        settings: dict[str, Any] = {"ADDONS": {}, "ROBOTSTXT_OBEY": False, "RETRY_ENABLED": False}
        settings["DOWNLOAD_HANDLERS"] = {"http": _CLASSES[name]}
        result = crawl(*requests, loop=loop, settings=settings)
        paths = [path.encode("latin-1").decode(errors="surrogateescape") for path in site.paths()]
        arrived = {path_of(f"{site.origin}{path}", canonical_octets=False) for path in paths}
    expected: set[bytes] = set()
    for page in [*(page.url for page in result.pages), *verbatim]:
        try:
            known = {page, *spellings(page, HANDLERS[name])}
        except ValueError:
            continue
        expected |= {path_of(url, canonical_octets=False) for url in known}
    assert len(arrived) >= 20
    assert arrived <= expected


@pytest.mark.parametrize("library", ["yarl", "httpx", "httpx2", "twisted.internet.reactor", "twisted.web.client"])
def test_no_library_is_imported_before_it_is_needed(library: str) -> None:
    code = "import sys, scrapy_rep.crawl.runtime.wire as w; w.spellings('http://h/.', w)"
    code += f"; sys.exit({library!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


LONG: dict[str, Callable[[int], str]] = {
    "segments": lambda size: H + "/a" * size,
    "slashes": lambda size: H + "/" * size,
    "escapes": lambda size: f"{H}/" + "%E4" * size,
    "parameters": lambda size: f"{H}/" + ";a" * size,
    "dots": lambda size: H + "/.." * size,
    "labels": lambda size: "http://" + "a." * size,
    "digits": lambda size: "http://" + "1" * size,
    "users": lambda size: "http://" + "@" * size,
    "backslashes": lambda size: "http:" + "/\\" * size,
}


@pytest.mark.untraced
@pytest.mark.parametrize("make", LONG.values(), ids=LONG)
def test_time_is_linear_in_the_length_of_a_url(make: Callable[[int], str]) -> None:
    handler = HANDLERS["playwright"]
    url = make(20_000) + " :x"
    began = perf_counter()
    respells(handler)(url)
    with suppress(ValueError):
        spellings(url, handler)
    assert perf_counter() - began < 0.5  # twice the square of that length would take minutes
