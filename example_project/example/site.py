"""A small site on 127.0.0.1 with a robots.txt worth reading: ``python -m example.site``."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT = 8998

ROBOTS_TXT = """\
# For everybody.
User-agent: *
Disallow: /private/
Allow: /private/notice.html
Disallow: /*?sort=
Disallow: /*.pdf$

# For our own crawler: its group replaces the one above.
User-agent: ExampleBot
Disallow: /drafts/
Allow: /drafts/published/
Disallow: /*?sort=
Crawl-delay: 0.1

Sitemap: http://127.0.0.1:8998/sitemap.xml
"""

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
}


class Site(BaseHTTPRequestHandler):
    """Answers with robots.txt, or with a page of links."""

    def do_GET(self) -> None:
        if self.path == "/robots.txt":
            self._answer(200, "text/plain; charset=utf-8", ROBOTS_TXT)
        elif self.path in PAGES:
            links = "".join(f'<li><a href="{link}">{link}</a></li>' for link in PAGES[self.path])
            self._answer(200, "text/html; charset=utf-8", f"<title>{self.path}</title><ul>{links}</ul>")
        else:
            self._answer(404, "text/html; charset=utf-8", "<title>Page not found</title>")

    def _answer(self, status: int, content_type: str, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
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
        print(f"http://127.0.0.1:{PORT}/ - Ctrl-C stops it")
        try:
            site.serve_forever()
        except KeyboardInterrupt:
            print("stopped")
