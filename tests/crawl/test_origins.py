"""Which robots.txt speaks for a page: one per scheme, host and port, wherever it is kept."""

from __future__ import annotations

from tests.support.crawl import crawl, on_each_download_handler
from tests.support.crawl_site import visit
from tests.support.site import Site, redirect, robots

ALL = robots("User-agent: *\nDisallow: /\n")
RULES = "User-agent: *\nDisallow: /private\n"
TWO = ["127.0.0.1", "127.0.0.2"]


def test_rfc_2_3_two_ports_of_one_host_have_a_robots_txt_each() -> None:
    with Site(ports=2) as site:
        first, second = site.origins
        site.answer("/robots.txt", ALL, first)
        result = crawl(f"{first}/page", f"{second}/page")
    assert (site.paths(first), site.paths(second)) == (["/robots.txt"], ["/robots.txt", "/page"])
    assert result.urls == [f"{second}/page"]


@on_each_download_handler
def test_rfc_2_3_http_and_https_of_one_host_have_a_robots_txt_each(loop: str) -> None:
    with Site() as plain, Site(tls=True) as secure:
        secure.answer("/robots.txt", ALL)
        result = crawl(f"{plain.origin}/page", f"{secure.origin}/page", loop=loop)
    assert (plain.paths(), secure.paths()) == (["/robots.txt", "/page"], ["/robots.txt"])
    assert result.urls == [f"{plain.origin}/page"]


def test_rfc_2_3_two_hosts_that_share_an_address_have_a_robots_txt_each() -> None:
    with Site() as site:
        port = site.origin.rpartition(":")[2]
        urls = [f"http://localhost:{port}/page", f"http://127.0.0.1:{port}/page"]
        result = crawl(*urls)
    hosts = [arrival.headers["host"] for arrival in site.log if arrival.path == "/robots.txt"]
    assert sorted(hosts) == [f"127.0.0.1:{port}", f"localhost:{port}"]
    assert sorted(result.urls) == sorted(urls)


def test_a_start_url_outside_allowed_domains_is_obeyed() -> None:
    site, result = visit(RULES, "/page", "/private", attributes={"allowed_domains": ["example.com"]})
    assert site.paths() == ["/robots.txt", "/page"]
    assert result.urls == [f"{site.origin}/page"]


def test_rfc_2_3_1_2_rules_at_another_host_are_those_of_the_origin_first_asked() -> None:
    with Site(TWO) as site:
        first, second = site.origins
        site.answer("/robots.txt", redirect(f"{second}/shared.txt", 301), first)
        site.answer("/shared.txt", ALL, second)
        domains = {"allowed_domains": ["127.0.0.1"]}
        result = crawl(f"{first}/page", f"{second}/page", settings={"OFFSITE_ENABLED": True}, attributes=domains)
    assert result.urls == [f"{second}/page"]
    assert result.failure(f"{first}/page").origin == first


def test_a_page_redirected_to_another_origin_is_decided_there() -> None:
    with Site(TWO) as site:
        first, second = site.origins
        site.answer("/moved", redirect(f"{second}/private"), first)
        site.answer("/robots.txt", robots(RULES), second)
        result = crawl(f"{first}/moved")
    assert site.paths(second) == ["/robots.txt"]
    assert result.failures[0].origin == second
