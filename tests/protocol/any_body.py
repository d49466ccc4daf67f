"""Any robots.txt, and what it may be asked: made of pieces that the readers of a line tell apart."""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st

TOKENS: Final = ["a", "b", "Aa", "a-b_c", "MJ12bot", "", "*", "é"]
PAGES: Final = ("/", "/a", "/a/b?c", "/a.b", "/robots.txt", "/index.html", "/%61")
URLS: Final = ["https://h.example" + path for path in PAGES]

KEYS: Final = (
    b"User-agent: ", b"user-agent:", b"USERAGENT: ", b"User Agent ", b"user-agents: ", b"Disallow: ", b"disallow:",
    b"Disallow :", b"Disallow ", b"Dissalow: ", b"disalow:", b"diasllow: ", b"disallaw:", b"Allow: ", b"allow:",
    b"Allowed: ", b"Sitemap: ", b"Crawl-delay: ", b"foo: ", b"disallow", b"\xef\xbb\xbfallow: ", b"# Disallow: ",
    b"x\nDisallow: ", b": ", b"", b"user-agent ", b"User-agent\t", b"user-agents\v", b"Disallow\t", b"dissallow:",
    b"Site-map: ", b"sitemap ", b"crawl delay:", b"Crawl-delay ", b"Request-rate: ",
)  # fmt: skip
VALUES: Final = (
    b"a", b"A", b"b", b"aa/1", b"a-b_c", b"mj12BOT", b"*", b"* x", b"*x", b"", b"\xc3\xa9", b"/", b"/a", b"/a*b",
    b"/*b$", b"/a/", b"/a$", b"/$a", b"/index.htm", b"/a # x", b"a b", b"a:b", b"/\xc3\xa9", b"/%61", b"/%2f",
    b"disallow: /a", b"1", b"2.5", b"1/5", b"/a \v", b"a \v", b"* \f", b"b #x", b"/a#b", b"*\tx",
)  # fmt: skip
ENDS: Final = (b"\n", b"\r\n", b"\r", b"\n\n", b"\n\r", b" \n", b"\t\r\n", b"\x00rest\n", b"\v\n", b"\x85")
STARTS: Final = (b"", b" ", b"\t", b"\f ", b"\x00", b"\xef\xbb\xbf", b"\xef")
PATTERNS: Final = (
    b"", b"*", b"/", b"/*", b"/a*", b"/a/*", b"*a", b"a", b"$", b"/$", b"/a$", b"*$", b"/a*$", b"/a/$",
    b"/index.html", b"/a/index.htm", b"/a/index.html?b", b"/index.htm/b", b"index.htm", b"/a/index.htm$",
    b"/*" + b"ab" * 40 + b"a", b"/*" + b"ab" * 40 + b"/*b", b"/*" + b"b" * 70 + b"$",
)  # fmt: skip

LINES = st.tuples(*map(st.sampled_from, (STARTS, KEYS, VALUES, ENDS))).map(b"".join)
BODIES = st.one_of(
    st.tuples(st.sampled_from(STARTS), st.lists(LINES, max_size=14).map(b"".join)).map(b"".join),
    st.binary(max_size=200),
)
PATHS = st.text("/ab.?%41é*$ [", max_size=8)
RULES = st.one_of(
    st.text("/ab.?*$%41é [", max_size=7).map(lambda text: ("/" + text).encode()),
    st.sampled_from(PATTERNS),
)
