"""The site for tests of projects, asked over HTTP."""

from __future__ import annotations

from http.client import HTTPConnection, HTTPResponse
from socket import create_connection
from time import monotonic

import pytest

from scrapy_rep.testing import RobotsSite


def get(site: RobotsSite, path: str, method: str = "GET") -> tuple[HTTPResponse, bytes]:
    connection = HTTPConnection(site.origin.removeprefix("http://"), timeout=5)
    connection.request(method, path, headers={"User-Agent": "ExampleBot"})
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response, body


def test_a_site_has_no_robots_txt_and_a_page_everywhere_else() -> None:
    with RobotsSite() as site:
        assert [get(site, path)[0].status for path in ("/robots.txt", "/", "/a?b")] == [404, 200, 200]
        assert site.paths == ["/robots.txt", "/", "/a?b"]
        assert site.pages == ["/", "/a?b"]


def test_the_robots_txt_can_be_set_and_set_again() -> None:
    with RobotsSite("User-agent: a") as site:
        assert get(site, "/robots.txt")[1] == b"User-agent: a"
        site.robots = b"User-agent: \xff"
        response, body = get(site, "/robots.txt")
        assert (response.headers["Content-Type"], body) == ("text/plain; charset=utf-8", b"User-agent: \xff")
        assert site.robots == body


def test_an_answer_has_the_status_the_headers_and_the_body_that_were_set() -> None:
    with RobotsSite() as site:
        site.answer("/robots.txt", "later", 503, headers={"Retry-After": "5"})
        response, body = get(site, "/robots.txt")
        assert (response.status, response.headers["Retry-After"], body) == (503, "5", b"later")


def test_an_answer_to_head_has_no_body() -> None:
    with RobotsSite("User-agent: a") as site:
        host, _, port = site.origin.removeprefix("http://").partition(":")
        with create_connection((host, int(port)), 5) as connection, connection.makefile("rb") as answer:
            connection.sendall(b"HEAD /robots.txt HTTP/1.0\r\n\r\n")
            head, _, body = answer.read().partition(b"\r\n\r\n")
    assert (b"Content-Length: 13" in head, body) == (True, b"")


def test_requests_are_kept_with_their_headers() -> None:
    with RobotsSite() as site:
        get(site, "/a", "POST")
    (request,) = site.requests
    assert (request.method, request.path, request.headers["user-agent"]) == ("POST", "/a", "ExampleBot")


def test_an_answer_may_be_late_and_does_not_hold_up_the_end() -> None:
    with RobotsSite() as site:
        site.answer("/slow", delay=0.2)
        began = monotonic()
        get(site, "/slow")
        assert monotonic() - began >= 0.2
        site.answer("/slow", delay=60)
        connection = HTTPConnection(site.origin.removeprefix("http://"), timeout=5)
        connection.request("GET", "/slow")
    connection.close()
    assert monotonic() - began < 30


def test_a_site_that_is_not_open_says_so() -> None:
    with pytest.raises(RuntimeError, match="with RobotsSite"):
        RobotsSite().url("/a")
    assert "closed" in repr(RobotsSite())


def test_two_sites_are_two_origins() -> None:
    with RobotsSite() as one, RobotsSite() as other:
        assert one.origin != other.origin
        get(one, "/a")
        assert (one.paths, other.paths) == (["/a"], [])
        one.close()
