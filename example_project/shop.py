"""The shop of the tutorial, on 127.0.0.1: ``python shop.py [PORT]``.

It has what shops have: filters that combine into hundreds of URLs, a basket and an account that are not for
crawlers, a Crawl-delay, and a sitemap. It prints each request, with the seconds since the one before.
"""

from __future__ import annotations

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import monotonic
from urllib.parse import parse_qsl, urlencode, urlsplit

PORT = 8997
ROBOTS_TXT = """\
User-agent: *
Disallow: /account/
Disallow: /basket/
Disallow: /*?*colour=
Disallow: /*?*size=
Disallow: /*?*sort=
Crawl-delay: 0.2

Sitemap: {site}/sitemap.xml
"""
PRODUCTS = {
    category: [f"{category}-{number}" for number in range(1, 7)] for category in ("hats", "shirts", "socks")
}
FILTERS = {"colour": ["red", "green", "blue"], "size": ["s", "m", "l"], "sort": ["price", "name"]}
PAGE = 3  # products on one page of a category


def home() -> str:
    return page("Shop", [f"/{category}" for category in PRODUCTS] + ["/account/orders"])


def category(name: str, chosen: dict[str, str]) -> str:
    start = (int(chosen.get("page", "1")) - 1) * PAGE
    products = [f"/product/{product}" for product in PRODUCTS[name][start : start + PAGE]]
    further = [{**chosen, "page": "2"}] if start == 0 else []
    further += [{**chosen, key: value} for key, values in FILTERS.items() for value in values if key not in chosen]
    return page(name, products + [f"/{name}?{urlencode(sorted(choice.items()))}" for choice in further])


def product(name: str) -> str:
    return page(name, ["/", f"/basket/add?product={name}"], f"<p class=price>{len(name) * 3}.90</p>")


def page(title: str, links: list[str], text: str = "") -> str:
    return f"<title>{title}</title><h1>{title}</h1>{text}" + "".join(
        f"<a href='{link}'>{link}</a> " for link in links
    )


def sitemap(site: str) -> str:
    urls = "".join(f"<url><loc>{site}/product/{name}</loc></url>" for names in PRODUCTS.values() for name in names)
    return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>'


def answer(site: str, url: str) -> tuple[str, str]:
    """The content type and the text at *url*. Where *site* has nothing it shows an empty page."""
    path, query = urlsplit(url).path, urlsplit(url).query
    if path == "/robots.txt":
        return "text/plain", ROBOTS_TXT.format(site=site)
    if path == "/sitemap.xml":
        return "application/xml", sitemap(site)
    if path[1:] in PRODUCTS:
        return "text/html", category(path[1:], dict(parse_qsl(query)))
    if path.startswith("/product/"):
        return "text/html", product(path.removeprefix("/product/"))
    return "text/html", home() if path == "/" else page(path, [])


class Shop(BaseHTTPRequestHandler):
    last = monotonic()

    def do_GET(self) -> None:
        now, before = monotonic(), Shop.last
        Shop.last = now
        print(f"{now - before:6.2f} s  {self.path}\n", end="", flush=True)  # in one write: threads share it
        content_type, text = answer(f"http://{self.headers['Host']}", self.path)
        body = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", f"{content_type}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """The line of ``do_GET`` says it."""


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else PORT
    with ThreadingHTTPServer(("127.0.0.1", port), Shop) as shop:
        print(f"http://127.0.0.1:{shop.server_port}/ - Ctrl-C stops it", flush=True)
        try:
            shop.serve_forever()
        except KeyboardInterrupt:
            print("stopped")
