"""A small site on 127.0.0.1 with a robots.txt worth reading: ``python -m example.site``.

It answers with the robots.txt next to this file as it is now: change a line, and crawl or check again.
"""

from __future__ import annotations

import gzip
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PORT = 8998
ROBOTS_TXT = Path(__file__).with_name("robots.txt")

PAGES = {
    "/": ["/about", "/private/", "/drafts/", "/drafts/published/1", "/list", "/list?sort=price", "/manual.pdf"],
    "/about": [],
    "/private/": [],
    "/drafts/": [],
    "/drafts/published/1": ["/drafts/2"],
    "/drafts/2": [],
    "/list": ["/list?page=2", "/list?page=2&sort=price"],
    "/list?sort=price": [],
    "/list?page=2": [],
    "/list?page=2&sort=price": [],
    "/manual.pdf": [],
    "/news/": [],
    "/news/2025/harvest": [],
    "/news/2026/frost": [],
    "/news/2026/thaw": [],
    "/shop/": ["/shop/basket", "/shop/essay", "/shop/old", "/shop/photos", "/shop/print"],
    "/shop/basket": ["/shop/basket/step/2"],
    "/shop/basket/step/2": [],
    "/shop/essay": [],
    "/shop/old": [],
    "/shop/photos": [],
    "/shop/print": ["/about"],
}
SAYS = {  # header fields with which pages speak about themselves
    "/shop/": {"X-Robots-Tag": "max-snippet:50"},
    "/shop/basket": {"X-Robots-Tag": "nofollow"},
    "/shop/print": {"X-Robots-Tag": "OtherBot: none, ExampleBot: noindex"},
    "/shop/essay": {"tdm-reservation": "1"},
}
META = {"/shop/old": '<meta name="robots" content="unavailable_after: 2020-01-01">'}
SITEMAPS = {
    "/sitemap.xml": ["/about", "/drafts/", "/list", "/news/"],
    "/news/2025.xml": ["/news/2025/harvest"],
    "/news/2026.xml.gz": ["/news/2026/frost", "/news/2026/thaw"],
}
INDEXES = {"/news/index.xml.gz": ["/news/2025.xml", "/news/2026.xml.gz"]}


def page(path: str) -> str:
    links = "".join(f'<li><a href="{link}">{link}</a></li>' for link in PAGES[path])
    return f"<title>{path}</title>{META.get(path, '')}<ul>{links}</ul>"


def sitemap(root: str, element: str, paths: list[str]) -> str:
    entries = "".join(f"<{element}><loc>http://127.0.0.1:{PORT}{path}</loc></{element}>" for path in paths)
    return f'<{root} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</{root}>'


class Site(BaseHTTPRequestHandler):
    """Answers with robots.txt, a sitemap, or a page of links."""

    def do_GET(self) -> None:
        if self.path == "/robots.txt":
            self._answer(200, "text/plain; charset=utf-8", ROBOTS_TXT.read_text("utf-8"))
        elif self.path in SITEMAPS:
            self._answer(200, "application/xml", sitemap("urlset", "url", SITEMAPS[self.path]))
        elif self.path in INDEXES:
            self._answer(200, "application/xml", sitemap("sitemapindex", "sitemap", INDEXES[self.path]))
        elif self.path in PAGES:
            self._answer(200, "text/html; charset=utf-8", page(self.path))
        else:
            self._answer(404, "text/html; charset=utf-8", "<title>Page not found</title>")

    def _answer(self, status: int, content_type: str, text: str) -> None:
        body = text.encode()
        if self.path.endswith(".gz"):
            content_type, body = "application/gzip", gzip.compress(body)
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        for name, value in SAYS.get(self.path, {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Keep the terminal for the crawl."""


def serve(port: int = PORT) -> ThreadingHTTPServer:
    """The site, ready for ``serve_forever``; ends the process when the port is taken."""
    try:
        return ThreadingHTTPServer(("127.0.0.1", port), Site)
    except OSError as error:
        raise SystemExit(
            f"127.0.0.1:{port} cannot be used ({error.strerror}): is another example site running?"
        ) from None


if __name__ == "__main__":
    with serve() as site:
        print(f"http://127.0.0.1:{PORT}/ - Ctrl-C stops it", flush=True)
        try:
            site.serve_forever()
        except KeyboardInterrupt:
            print("stopped")
