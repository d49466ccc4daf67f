"""Words and samples of the formats that the targets read."""

from __future__ import annotations

from typing import Final

from scrapy_rep.protocol import DIALECTS

from .inputs import SEPARATOR
from .targets.costs import NUMBER

_TEXTS: Final = (
    # robots.txt
    "User-agent: ", "useragent", "user agent ", "Allow: ", "Disallow: ", "disalow:", "Dissallow ", "Sitemap: ",
    "site-map:", "Crawl-delay: ", "crawldelay:", "Request-rate: 1/5", "10/1m 0600-0845",
    "Visit-time: 2300-0100", "Host: ", "Clean-param: ", "Content-Signal: ", "Content-Usage: ", "License: ",
    "DisallowAITraining: ", "Noindex: ", "# lint: ignore ", "# lint: ignore-file ", "needless-star",
    "/index.html", "/robots.txt", "/*", "*$", "*/", "**", "/a*b$", "$", "%2A", "%24", "%2F", "%2f", "%61",
    "%C3%A9", "%c3", "%%", "%", "é", "\ufeff", "Googlebot", "MJ12bot",
    "Mozilla/5.0 (compatible; a/1; +https://h.example)", "index.htm", "?", ";", "//", *DIALECTS,
    # addresses
    "https://h.example", "http://", "ftp://", "wss://", "[::1]", ":443", ":80", "@", "xn--", "127.1", "#", "..",
    "0x7f000001", "[64:ff9b::1]", "www.exämple.com", "localhost",
    # fields
    "noindex", "nofollow", "none", "noai", "max-snippet:0", "max-image-preview: large", "mybot:",
    "unavailable_after: 25 Jun 2010 15:00:00 PST", "2025-06-25T15:00:00+02:00",
    "Monday, 25-Jun-10 15:00:00 EST", "Sun, 06 Nov 1994 08:49:37 GMT", "max-age=60", "no-store", "train-ai=n",
    "ai-train=no", "search=yes", "use=reference", '="', "(a b);c", ";u=?1", ":AA==:", '%"%c3%a9"', "@1", "-1.5",
    '<https://h.example/l>; rel="license"; type="application/rsl+xml"', "ai-all", "tdm-reservation",
    # files and stored entries
    '{"', '":', "[[", "]]", "null", "1e999", "-0", "\\ud800", '"location": "/', '"tdm-reservation": 1',
    '"tdm-policy": "https://h.example/"', '"schema":2', '"access":"successful"', '"hops":[', '"fetched_at":1',
    '"status":200', '"event": "start"', '"prev": "', '"event": "end"', '"urls": ["', '"agents": ["',
    '"robots": "', '"dialect": "',
    # pages
    '<meta name="robots" content="', '<meta name="mybot" content="noindex">', "<base href=",
    "<a rel=nofollow href=", '<link rel="license" type="application/rsl+xml" href="',
    "<script type=application/rsl+xml>", "<title>", "<h1>", "<template>", "<!--", "-->",
    "<html><head></head><body><pre>", "</pre></body></html>", "&#110;", "&amp;",
    "<content url='/'><license><permits type='usage'>", "</permits></license></content>", "404 Not Found",
    "charset=utf-7", "charset=",
    # sitemaps, licenses and archives
    "<url><loc>", "</loc></url>", "</loc>", "<loc>/", "<sitemap>", "<lastmod>2025-06-25</lastmod>", "<news:news>",
    "<image:image><image:loc>", "<video:video><video:publication_date>", '<xhtml:link hreflang="de" href="/',
    "<![CDATA[", "]]>", "<?xml encoding='", "utf-16", "<!DOCTYPE ", "<!ENTITY", "<item><guid>", "<entry><id>",
    "<prohibits type='usage'>", "<payment type='", ' max-age="', "WARC/1.1\r\n", "WARC-Target-URI: <",
    "WARC-Type: revisit\r\n", "WARC-Truncated: ", "WARC-Payload-Digest: sha1:A", "Content-Length: 9",
    "HTTP/1.1 301 M\r\n", "Location: ", "Transfer-Encoding: chunked\r\n",
    "Content-Encoding: br, zstd\r\n", "\r\n\r\n",
)  # fmt: skip
_OCTETS: Final = (b"\r\n", b"\r", b"\n", b"\0", b"\v", b"\xef\xbb", b"\xff\xfe", b"\xff", SEPARATOR, NUMBER)

WORDS: Final = (*(text.encode() for text in _TEXTS), *_OCTETS)
"""The dictionary: keys, wildcards, escapes, marks, and the words of the other formats."""

FIELDS: Final = (
    "noindex, nofollow", "mybot: noindex, otherbot: none",
    "unavailable_after: 25 Jun 2010 15:00:00 PST, noindex",
    "max-snippet:0, max-image-preview:large max-video-preview:-1", "*;noindex, mybot;max-snippet=5",
    '"noindex"', "max-age=60, no-cache", "Sun, 06 Nov 1994 08:49:37 GMT", "120",
    "unavailable_after: 2025-06-25T15:00:00+02:00", "train-ai=n, search=y;a=1",
    "ai-train=no, search=yes, use=reference", 'a=(1 "b" c);d=?0, e=%"%c3%a9", f=:AA==:',
    '<https://h.example/l>; rel="license"; type="application/rsl+xml"', "ai-all, search",
    "Monday, 25-Jun-10 15:00:00 EST", "Mozilla/5.0 (compatible; ABot/1; +https://h.example)", "1",
    "@1750000000", "unavailable_after: 2025-06-25",
)  # fmt: skip
"""Values of header fields."""

PAGES: Final = (
    '<html><head><meta name="robots" content="noindex"><title>404 Not Found</title></head></html>',
    '<meta name=mybot content="max-snippet:5, noai"><a href=/b rel="nofollow">b</a><a href="//c/d">c</a>',
    '<base href="https://h.example/x/"><a href="é?ü=1">e</a><iframe src=f></iframe><link rel=next href=n>',
    '<meta name="tdm-reservation" content="1"><meta name="tdm-policy" content="https://h.example/p">',
    '<link rel="license" type="application/rsl+xml" href="/l"><a href="http://[">x</a>',
    '<script type="application/rsl+xml"><rsl><content url="/"><license><permits type="usage">search</permits>'
    "</license></content></rsl></script>",
    "<html><head></head><body><pre>User-agent: *&amp;\nDisallow: /\n</pre></body></html>",
    "<template><meta name=robots content=none></template><meta name='r&#111;bots' content=none>",
    "\ufeff<!doctype html><h1>Page does not exist</h1>",
)
"""HTML pages."""

_LINES: Final = (
    "Disallow: /a*b$", "Allow: /a/index.html", "Disalow /a", "Crawl-delay: 2.5",
    "Request-rate: 10/1m 0600-0845", "Visit-time: 2300-0100", "Sitemap: /s.xml",
    "Sitemap: https://b.example/s?a=ü", "Host: www.h.example:8080", "Clean-param: a&b /c",
    "Content-Signal: ai-train=no, search=yes", "Content-Usage: /a train-ai=n",
    "License: https://h.example/l.xml", "DisallowAITraining: /", "Disallow: /a # lint: ignore needless-star",
    "Disallow: /%C3%A9%2f*", "Allow:", "Disallow", "Disallow: /é\nAllow: /*%A9", "Disallow: /a\nAllow: /a",
    "Disallow: /a*\nDisallow: /a*",
)  # fmt: skip

BODIES: Final = tuple(f"User-agent: a\n{line}\n\nUser-agent: *\nDisallow: /x\n" for line in _LINES)
"""Files of robots.txt with a line of each kind."""

NUMBERED: Final = (
    "user-agent:a\x1f\n", "disallow:/\x1f\n", "allow:/*a\x1f*b$\n", "crawl-delay:\x1f\n", "noindex, \x1f, ",
    "user-agent:*\ncontent-usage:/*\x1f*a train-ai=n\n", "user-agent:*\ncontent-usage:/a train-ai=n, \x1f\n",
    "user-agent:*\ncontent-signal:ai-train=no,a\x1f=yes\n", "user-agent:*\nlicense:https://h.example/\x1f\n",
    "user-agent:*\ndisallowaitraining:/*\x1f\n", "user-agent:*\nsitemap:/\x1f\n", "max-snippet:\x1f a\x1f: ",
)  # fmt: skip
"""Short texts that are repeated to large ones; a U+001F is another number in each repetition."""

RSL: Final = (
    '<rsl xmlns="https://rslstandard.org/rsl" max-age="7"><content url="/a*" server="https://h.example"><license>'
    '<permits type="usage">search</permits><prohibits type="usage">ai-all</prohibits><payment type="crawl"/>'
    "</license><terms>x</terms></content></rsl>"
)

_URLSET: Final = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">%s</urlset>'
_NEWS: Final = (
    "<url><loc>https://h.example/n</loc><news:news><news:publication_date>2025-06-25T15:00+02:00"
    "</news:publication_date><news:title>a &amp; b</news:title></news:news><image:image><image:loc>/i</image:loc>"
    "</image:image><video:video><video:tag>a</video:tag><video:tag>b</video:tag></video:video></url>"
)
SITEMAPS: Final = (
    _URLSET % "<url><loc>https://h.example/a?b&c</loc><lastmod>2025-06</lastmod><priority>0.5</priority></url>",
    _URLSET % "<url><loc>/a</loc><xhtml:link rel='alternate' hreflang='de' href='/de'/></url><url><loc>/b</url>",
    _URLSET % _NEWS,
    "<?xml version='1.0' encoding='latin-1'?><sitemapindex><sitemap><loc><![CDATA[/s?a&b]]></loc></sitemap>",
    "<rss><channel><item><link>https://h.example/r</link><pubDate>Sun, 06 Nov 1994 08:49:37 GMT</pubDate></item>",
    "<feed><entry><link href='/f'/><updated>2025-06-25T15:00:00Z</updated></entry><entry><id>/g</id></entry>",
    "https://h.example/t\r\n# a\nhttps://h.example/u\nx\n",
    "<!DOCTYPE a [<!ENTITY b 'c'>]><urlset/>",
    "<!DOCTYPE html><html>",
)
"""Sitemaps: XML, feeds and text."""

RESPONSES: Final = (
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nUser-agent: *\nDisallow: /\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4;a=b\r\nUser\r\n1 \r\n-\r\n0\r\n\r\n",
    "HTTP/1.0 301 Moved\nLocation: /other\n\n",
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 Not Found\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Encoding: gzip, deflate, br, zstd\r\n\r\nx",
)
"""Responses as archives keep them."""
