"""Links that lead nowhere hold nothing up: what cannot have a robots.txt is not asked for it again and again."""

from __future__ import annotations

from socketserver import BaseRequestHandler, ThreadingTCPServer
from threading import Thread

import pytest
from scrapy import Request

from tests.support.crawl import crawl, on_each_download_handler
from tests.support.site import Answer, Site, robots


@pytest.mark.parametrize(
    "url", ["http://exa mple/x", "http://%zz/", f"http://{'a' * 64}.example/", "http://a..b/"]
)
def test_a_host_that_cannot_exist_is_never_looked_up(url: str) -> None:
    with Site() as site:
        result = crawl(url, f"{site.origin}/")
    assert [page.url for page in result.pages] == [f"{site.origin}/"]
    assert (len(result.failures), result.stats.get("rep/request_count")) == (1, 1)
    assert result.seconds < 3


class SpeaksHttp(BaseRequestHandler):
    """What a web server answers to the first octets of TLS."""

    def handle(self) -> None:
        self.request.recv(1_024)
        self.request.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


@on_each_download_handler
def test_a_port_that_speaks_no_tls_is_asked_once(loop: str) -> None:
    with ThreadingTCPServer(("127.0.0.1", 0), SpeaksHttp) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        result = crawl(f"https://127.0.0.1:{server.server_address[1]}/x", loop=loop)
        server.shutdown()
    assert (len(result.failures), result.stats["rep/request_count"]) == (1, 1)
    assert result.seconds < 3


@pytest.mark.skipif(not hasattr(Request, "_url_is_verbatim"), reason="Scrapy refuses the URL itself")
def test_a_link_with_a_malformed_host_does_not_end_the_crawl() -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nDisallow:\n"))
        site.answer("/", Answer(body=b"ok"))
        malformed = {"url": "http://127.0.0.1:80[x", "meta": {"verbatim_url": True}}
        result = crawl(malformed, f"{site.origin}/")
    assert result.reason == "finished"
    assert [page.url for page in result.pages] == [f"{site.origin}/"]
