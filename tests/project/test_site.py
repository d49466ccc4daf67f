"""The server that the integration tests stand on, asked octet by octet."""

from __future__ import annotations

import errno
import gc
import socket
import ssl
import threading
from time import monotonic, sleep
from typing import Any

import pytest

from tests.support.redis_server import free_port
from tests.support.site import Answer, Arrival, Site, hang, raw, redirect, reset, sequence, stream, truncated


def connect(origin: str) -> socket.socket:
    scheme, _, place = origin.partition("://")
    host, _, port = place.partition(":")
    connection = socket.create_connection((host, int(port)), 5)
    if scheme == "http":
        return connection
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context.wrap_socket(connection)


def send(origin: str, path: str, *headers: str) -> socket.socket:
    connection = connect(origin)
    connection.sendall("\r\n".join([f"GET {path} HTTP/1.1", *headers, "", ""]).encode())
    return connection


def ask(origin: str, path: str, *headers: str) -> tuple[bytes, bytes]:
    """The head and the body of the answer, as they came."""
    with send(origin, path, *headers) as connection, connection.makefile("rb") as file:
        head, _, body = file.read().partition(b"\r\n\r\n")
    return head, body


def ask_status(origin: str, path: str) -> int:
    return int(ask(origin, path)[0].split()[1])


def test_a_site_has_no_robots_txt_and_a_page_everywhere_else() -> None:
    with Site() as site:
        assert ask_status(site.origin, "/robots.txt") == 404
        assert ask_status(site.origin, "/a?b=c") == 200
        assert site.paths() == ["/robots.txt", "/a?b=c"]


def test_the_most_particular_answer_wins() -> None:
    with Site(["127.0.0.1", "127.0.0.2"]) as site:
        one, other = site.origins
        site.answer("*", Answer(501))
        site.answer("/a?b", Answer(502))
        site.answer("*", Answer(503), one)
        site.answer("/a?b", Answer(504), one)
        assert [ask_status(one, path) for path in ("/a?b", "/a", "/robots.txt")] == [504, 503, 503]
        assert [ask_status(other, path) for path in ("/a?b", "/a", "/robots.txt")] == [502, 501, 501]


def test_an_answer_is_sent_as_it_is() -> None:
    with Site() as site:
        site.answer("/plain", Answer(203, b"body", [("X-A", "1")]))
        site.answer("/raw", raw(b"not HTTP"))
        site.answer("/moved", redirect("/there", 301))
        assert ask(site.origin, "/plain") == (
            b"HTTP/1.1 203 Answer\r\nX-A: 1\r\nContent-Length: 4\r\nConnection: close",
            b"body",
        )
        assert ask(site.origin, "/raw") == (b"not HTTP", b"")
        assert b" 301 Answer\r\nLocation: /there\r\n" in ask(site.origin, "/moved")[0]


def test_a_stream_and_a_truncated_body_have_their_sizes() -> None:
    with Site() as site:
        site.answer("/stream", stream(100_001, 1_000))
        site.answer("/truncated", truncated(b"half"))
        head, body = ask(site.origin, "/stream")
        assert (b"Content-Length: 100001" in head, len(body)) == (True, 100_001)
        head, body = ask(site.origin, "/truncated")
        assert (b"Content-Length: 104" in head, body) == (True, b"half")


def test_a_delay_passes_before_the_answer() -> None:
    with Site() as site:
        site.answer("/late", Answer(delay=0.3))
        began = monotonic()
        ask(site.origin, "/late")
        assert monotonic() - began >= 0.3


def test_a_reset_is_a_reset() -> None:
    with Site() as site:
        site.answer("/reset", reset())
        with send(site.origin, "/reset") as connection, pytest.raises(ConnectionResetError):
            connection.recv(1)


def test_answers_can_follow_each_other_and_be_computed() -> None:
    def mirror(arrival: Arrival) -> Answer:
        return Answer(body=f"{arrival.method} {arrival.headers['x-me']}".encode())

    with Site() as site:
        site.answer("/", sequence(Answer(500), Answer(200)))
        site.answer("/mirror", mirror)
        assert [ask_status(site.origin, "/") for _ in range(3)] == [500, 200, 200]
        assert ask(site.origin, "/mirror", "X-Me: You")[1] == b"GET You"


def test_an_origin_is_where_the_connection_came_in_whatever_the_host_header_says() -> None:
    with Site(["127.0.0.1", "127.0.0.2"], ports=2) as site:
        places = [origin.removeprefix("http://").split(":") for origin in site.origins]
        assert [address for address, _ in places] == ["127.0.0.1"] * 2 + ["127.0.0.2"] * 2
        assert [port for _, port in places[:2]] == [port for _, port in places[2:]]
        for origin in reversed(site.origins):
            ask(origin, "/", "Host: example.com")
        assert [arrival.origin for arrival in site.log] == site.origins[::-1]
        assert (site.count("/"), site.count("/", site.origins[2])) == (4, 1)


def test_several_hundred_addresses_share_one_port() -> None:
    with Site([f"127.0.{high}.{low}" for high in (5, 6) for low in range(1, 201)]) as site:
        assert len({origin.rpartition(":")[2] for origin in site.origins}) == 1
        assert ask_status(site.origins[-1], "/") == 200


def test_a_port_that_is_taken_at_one_address_is_changed_for_another(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = [OSError(errno.EADDRINUSE, "taken")]
    create = socket.create_server

    def create_server(place: tuple[str, int], **kwargs: Any) -> socket.socket:
        if place[0] == "127.0.0.2" and taken:
            raise taken.pop()
        return create(place, **kwargs)

    monkeypatch.setattr(socket, "create_server", create_server)
    with Site(["127.0.0.1", "127.0.0.2"]) as site:
        assert [ask_status(origin, "/") for origin in site.origins] == [200, 200]


def test_a_server_that_is_gone_refuses_and_keeps_its_log() -> None:
    with Site() as site:
        ask(site.origin, "/")
        site.stop_listening()
        with pytest.raises(ConnectionRefusedError):
            connect(site.origin)
        place = ("127.0.0.1", int(site.origin.rpartition(":")[2]))
        with pytest.raises(OSError, match="Address already in use"):
            socket.create_server(place)
    assert site.paths() == ["/"]
    socket.create_server(place).close()


def test_the_port_of_a_server_that_ends_and_starts_again_is_none_of_the_systems_choice() -> None:
    ports = [free_port() for _ in range(3)]
    assert len({*ports}) == 3
    assert max(ports) < 32_768


@pytest.mark.parametrize("tls", [False, True])
def test_closing_waits_for_nobody_and_leaves_nothing(tls: bool) -> None:
    threads = threading.enumerate()
    with Site(tls=tls) as site:
        site.answer("/hang", hang())
        site.answer("/stream", stream(1_000_000_000))
        clients = [send(site.origin, path) for path in ("/hang", "/stream", "/page")]
        silent = socket.create_connection(clients[0].getpeername())
        sleep(0.2)
        began = monotonic()
    assert monotonic() - began < 30  # what hangs hangs for an hour
    site.close()
    for client in (*clients, silent):
        client.close()
    gc.collect()
    assert threading.enumerate() == threads


def test_clients_that_leave_or_talk_nonsense_are_no_news(caplog: pytest.LogCaptureFixture) -> None:
    with Site() as site:
        site.answer("/stream", stream(1_000_000_000))
        send(site.origin, "/stream").close()
        for nonsense in (b"", b"GET /half", b"nonsense\r\n\r\n", b"x" * 200_000):
            with connect(site.origin) as connection:
                connection.sendall(nonsense)
        sleep(0.3)
        assert ask_status(site.origin, "/") == 200
    assert caplog.records == []
