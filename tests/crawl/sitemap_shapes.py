"""Sitemaps in every shape that documents describe and that users of Scrapy report, with what they say.

From https://www.sitemaps.org/protocol.html, Google's pages on sitemaps for news, images, videos and localized
versions, RFC 4287, and Scrapy's issues 369, 2900, 3529, 6293, 6362 and 7852.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass, field
from typing import Any, Final

GZIP: Final = ("Content-Encoding", "gzip")
NAMESPACE: Final = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


@dataclass(frozen=True)
class Shape:
    """A sitemap: what is sent for it, and what the entries of its pages say at least, by their names.

    In ``body`` an ``@`` in front of a page's name stands for the URL of a folder that only this shape has.
    """

    name: str
    body: str | bytes
    pages: dict[str, dict[str, Any]]
    path: str = "sitemap.xml"
    type: str = "application/xml"
    headers: list[tuple[str, str]] = field(default_factory=list)
    encoding: str = "utf-8"
    packed: int = 0

    def octets(self, folder: str) -> bytes:
        if isinstance(self.body, bytes):
            octets = self.body.replace(b"@", folder.encode())
        else:
            octets = self.body.replace("@", folder).encode(self.encoding)
        for _ in range(self.packed):
            octets = gzip.compress(octets)
        return octets


def urlset(*entries: str, more: str = NAMESPACE) -> str:
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset {more}>{"".join(entries)}</urlset>'


def url(page: str, more: str = "") -> str:
    return f"<url><loc>@{page}</loc>{more}</url>"


A: Final = urlset(url("a"))
ONLY_A: Final[dict[str, dict[str, Any]]] = {"a": {}}
DATED: Final = "<lastmod>2026-05-01T10:00:00+02:00</lastmod>"

DATES: Final = {
    "2026": "2026-01-01T00:00:00+00:00",
    "2026-05": "2026-05-01T00:00:00+00:00",
    "2026-05-01": "2026-05-01T00:00:00+00:00",
    "2026-05-01T10:00Z": "2026-05-01T10:00:00+00:00",
    "2026-05-01T10:00:00+02:00": "2026-05-01T10:00:00+02:00",
    "2026-05-01T10:00:00.5-05:00": "2026-05-01T10:00:00.500000-05:00",
    "2026-05-01 10:00:00": "2026-05-01T10:00:00+00:00",
    "2026-05-01T10:00:00+0200": "2026-05-01T10:00:00+02:00",
    "20260501": "2026-05-01T00:00:00+00:00",
    "Fri, 01 May 2026 10:00:00 GMT": "2026-05-01T10:00:00+00:00",
    "2026-02-30": None,
    "yesterday": None,
}
"""What dates in sitemaps mean."""

SHAPES: Final = [
    Shape("as documented", urlset(url("a", f"{DATED}<changefreq>monthly</changefreq><priority>0.8</priority>")),
          {"a": {"lastmod": "2026-05-01T10:00:00+02:00", "changefreq": "monthly", "priority": 0.8,
                 "alternates": {}, "news": None, "images": [], "video": []}}),
    Shape("without a namespace", urlset(url("a"), more=""), ONLY_A),
    Shape("with a prefix", f'<s:urlset xmlns:s="x"><s:url><s:loc>@a</s:loc>{DATED.replace("<", "<s:", 1)}'
          .replace("</lastmod", "</s:lastmod") + "</s:url></s:urlset>",
          {"a": {"lastmod": "2026-05-01T10:00:00+02:00"}}),
    Shape("another namespace", urlset(url("a"), more="xmlns='http://www.google.com/schemas/sitemap/0.84'"),
          ONLY_A),
    Shape("gzip", A, ONLY_A, "sitemap.xml.gz", "application/x-gzip", packed=1),
    Shape("gzip twice", A, ONLY_A, "sitemap.xml.gz", "application/gzip", packed=2),
    Shape("gzip that is called text", A, ONLY_A, "sitemap.txt", "text/plain", packed=1),
    Shape("no gzip, but called so", A, ONLY_A, "sitemap.xml.gz", "application/x-gzip"),
    Shape("gzip on the way", A, ONLY_A, headers=[GZIP], packed=1),
    Shape("gzip of gzip on the way", A, ONLY_A, "sitemap.xml.gz", "application/gzip", [GZIP], packed=2),
    Shape("HTML by its type", A, ONLY_A, type="text/html; charset=utf-8"),
    Shape("a query string", A, ONLY_A, "sitemap_products_8.xml?from=7155352010944&to=7482320519360", "text/html"),
    Shape("no name and no type", A, ONLY_A, "sitemap", ""),
    Shape("octets by its type", A, ONLY_A, "download.php?id=1", "application/octet-stream"),
    Shape("text", "@a\n@b?x=1&y=2\n", {"a": {"lastmod": None}, "b?x=1&y=2": {}}, "sitemap.txt", "text/plain"),
    Shape("text of Windows", "\ufeff# pages\r\n\r\n  @a  \r\nnonsense\r\n@b", {"a": {}, "b": {}}, "urls",
          "text/plain"),
    Shape("text in gzip", "@a\n", ONLY_A, "urllist.txt.gz", "application/gzip", packed=1),
    Shape("RSS", "<rss version='2.0'><channel><link>@home</link><item><title>A</title><link>@a</link>"
          "<pubDate>Fri, 01 May 2026 10:00:00 +0200</pubDate></item></channel></rss>",
          {"a": {"lastmod": "2026-05-01T10:00:00+02:00"}}, "feed", "application/rss+xml"),
    Shape("RSS with a permanent link", "<rss xmlns:atom='a'><channel><atom:link href='@self'/><item>"
          "<guid isPermaLink='true'>@a</guid><dc:date>2026-05-01</dc:date></item></channel></rss>",
          {"a": {"lastmod": "2026-05-01T00:00:00+00:00"}}, "feed?format=rss", "text/xml"),
    Shape("Atom", "<feed xmlns='http://www.w3.org/2005/Atom'><link rel='self' href='@self'/><entry><id>urn:x</id>"
          "<link rel='edit' href='@edit'/><link href='@a'/><updated>2026-05-01T10:00:00Z</updated></entry></feed>",
          {"a": {"lastmod": "2026-05-01T10:00:00+00:00"}}, "atom", "application/atom+xml"),
    Shape("a byte order mark", A, ONLY_A, encoding="utf-8-sig"),
    Shape("UTF-16", A.replace("UTF-8", "UTF-16"), ONLY_A, encoding="utf-16"),
    Shape("UTF-16 without a mark", A, ONLY_A, encoding="utf-16-be"),
    Shape("Latin-1", urlset(url("caf\xe9")).replace("UTF-8", "ISO-8859-1"), {"caf%C3%A9": {}}, encoding="latin-1"),
    Shape("blank lines in front", f"\n\r\n  {A}", ONLY_A),
    Shape("a warning in front", f"<br />\n<b>Warning</b>: foo() in bar.php on line 3<br />\n{A}", ONLY_A),
    Shape("comments", "<!-- <urlset> --><?xml-stylesheet href='a.xsl'?>" + urlset("<!-- <url> -->", url("a")),
          ONLY_A),
    Shape("a document type", "<!DOCTYPE urlset SYSTEM 'urlset.dtd'>" + urlset(url("a")), ONLY_A),
    Shape("CDATA", urlset("<url><loc>\n <![CDATA[@a?x=1&y=2]]>\n</loc></url>"), {"a?x=1&y=2": {}}),
    Shape("an ampersand", urlset(url("a?x=1&y=2"), url("b?x=1&amp;y=2")), {"a?x=1&y=2": {}, "b?x=1&y=2": {}}),
    Shape("entities of HTML", urlset(url("a", "<news:news><news:title>&eacute;</news:title></news:news>")),
          {"a": {"news": {"title": "&eacute;"}}}),
    Shape("missing ends", urlset("<url><loc>@a</loc>", url("b"), "<url><loc>@c</loc></ur>", url("d")),
          {"a": {}, "b": {}, "c": {}, "d": {}}),
    Shape("cut off", urlset(url("a"), url("b"))[:-22], ONLY_A),
    Shape("control characters", urlset("<url>\0<loc>@a\x0b</loc>\x1f</url>"), ONLY_A),
    Shape("no UTF-8", b"<urlset><url><loc>@a</loc><x>\xff\xfe</x></url></urlset>", ONLY_A),
    Shape("two documents", A + A.replace("@a", "@b"), {"a": {}, "b": {}}),
    Shape("no locations", urlset("<url/>", "<url><loc> </loc></url>", url("a"), url("").replace("@", "x y")),
          ONLY_A),
    Shape("news", urlset(url("a", "<news:news><news:publication><news:name>Times</news:name><news:language>en"
          "</news:language></news:publication><news:publication_date>2026-05-01</news:publication_date>"
          "<news:title>A &amp; B</news:title></news:news>")),
          {"a": {"news": {"name": "Times", "language": "en", "publication_date": "2026-05-01T00:00:00+00:00",
                          "title": "A & B"}}}),
    Shape("images", urlset("<url><image:image><image:loc>@1.png</image:loc></image:image><image:image><image:loc>"
          "@2.png</image:loc><image:caption>Two</image:caption></image:image><loc>@a</loc></url>"),
          {"a": {"images": [{"loc": "@1.png"}, {"loc": "@2.png", "caption": "Two"}]}}),
    Shape("a video", urlset(url("a", "<video:video><video:title>V</video:title><video:duration>600"
          "</video:duration><video:tag>x</video:tag><video:tag>y</video:tag></video:video>")),
          {"a": {"video": [{"title": "V", "duration": "600", "tag": ["x", "y"]}]}}),
    Shape("languages", urlset(url("a", '<xhtml:link rel="alternate" hreflang="de" href="@de?x=1&y=2"/>'
          '<xhtml:link rel="alternate" hreflang="x-default" href="/en"/>')),
          {"a": {"alternates": {"de": "@de?x=1&y=2", "x-default": "^/en"}}}),
    Shape("dates", urlset(*(url(f"{number}", f"<lastmod>{date}</lastmod>") for number, date in enumerate(DATES))),
          {str(number): {"lastmod": date} for number, date in enumerate(DATES.values())}),
    Shape("odd values", urlset(url("a", "<priority>high</priority><changefreq>Daily</changefreq>"),
          url("b", "<priority>1,0</priority><changefreq/>"), url("c", "<priority>7</priority>")),
          {"a": {"priority": None, "changefreq": "daily"}, "b": {"priority": 1.0, "changefreq": None},
           "c": {"priority": None}}),
    Shape("entities of its own", "<!DOCTYPE x [<!ENTITY a 'a'>]><urlset><url><loc>@&a;</loc></url></urlset>", {}),
    Shape("a page", "<!DOCTYPE html><html><body><a href='@a'>not found</a></body></html>", {}, type="text/html"),
    Shape("nothing", "", {}),
]  # fmt: skip
