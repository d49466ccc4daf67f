"""One polite fetch: what it asks, where it connects, and how it ends when a host is slow, endless or hostile."""

from __future__ import annotations

import asyncio
import gzip
import re
import socket
import ssl
import threading
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from time import monotonic
from typing import Any

import pytest
from anyio import fail_after, move_on_after

from scrapy_rep.protocol import Access
from scrapy_rep.tools.web import fetch, network
from scrapy_rep.tools.web.fetch import FetchedFile, WebFetcher, robots_url
from scrapy_rep.tools.web.network import NotFetchedError, Resolver, is_public, resolve
from scrapy_rep.tools.web.visitors import LOCAL, PUBLIC, Limits, TooManyError
from tests.support.in_process import run
from tests.support.site import Answer, Site, hang, raw, redirect, reset, robots

ROBOTS = "User-agent: *\nDisallow: /x\n"
SMALL = replace(LOCAL, robots_octets=1_000)
HASTY = replace(LOCAL, fetch_time=0.3)


def fetched(
    url: str, limits: Limits = LOCAL, resolver: Resolver = resolve, tls: ssl.SSLContext | None = None
) -> tuple[list[str], FetchedFile]:
    """The steps and the result."""

    async def work() -> list[str | FetchedFile]:
        return [step async for step in WebFetcher(limits, "Test/1", resolver=resolver, tls=tls).fetch(url)]

    *steps, result = run(work())
    assert isinstance(result, FetchedFile)
    return [str(step) for step in steps], result


def problem(url: str, limits: Limits = LOCAL, resolver: Resolver = resolve) -> str:
    with pytest.raises(NotFetchedError) as raised:
        fetched(url, limits, resolver)
    return str(raised.value)


def names(**addresses: str) -> Resolver:
    """A resolver that knows these hosts, with ``_`` for a dot, and nothing else."""

    async def look_up(host: str, port: int) -> list[str]:
        if host.replace(".", "_") not in addresses:
            raise OSError("Name or service not known")
        return addresses[host.replace(".", "_")].split()

    return look_up


@pytest.mark.parametrize(
    ("site", "url"),
    [
        ("example.com", "https://example.com/robots.txt"),
        (" http://example.com:8080/a?b#c ", "http://example.com:8080/robots.txt"),
        ("exämple.com", "https://xn--exmple-cua.com/robots.txt"),
        ("wss://example.com/", "https://example.com/robots.txt"),
        ("https://user:secret@example.com/", "https://example.com/robots.txt"),
    ],
)
def test_a_site_is_a_host_or_any_of_its_urls(site: str, url: str) -> None:
    assert robots_url(site) == url


@pytest.mark.parametrize("site", ["ftp://example.com", "file:///etc/passwd", "https://", "http://[::1", "a:b:c"])
def test_what_is_no_site_is_refused(site: str) -> None:
    with pytest.raises(NotFetchedError):
        robots_url(site)


def test_it_asks_once_says_who_it_is_and_sends_no_cookie() -> None:
    with Site() as site:
        site.answer("/robots.txt", robots(ROBOTS))
        steps, result = fetched(f"{site.origin}/robots.txt")
        (arrival,) = site.log
    assert {name: value for name, value in arrival.headers.items() if name} == {
        "host": site.origin.removeprefix("http://"),
        "user-agent": "Test/1",
        "accept": "text/plain, */*;q=0.5",
        "accept-encoding": "identity",
        "connection": "close",
    }
    assert (result.status, result.access, result.body) == (200, Access.SUCCESSFUL, ROBOTS.encode())
    assert steps == [f"asking {site.origin}/robots.txt", "status 200, 27 bytes"]


@pytest.mark.parametrize(
    ("answer", "access"),
    [
        (Answer(404, b"User-agent: *\nDisallow: /"), Access.UNAVAILABLE),
        (Answer(403), Access.UNAVAILABLE),
        (Answer(429), Access.UNREACHABLE),
        (Answer(503, b"Disallow: /"), Access.UNREACHABLE),
        (Answer(500, b"<title>404 Not Found</title>"), Access.UNAVAILABLE),
        (Answer(301), Access.UNAVAILABLE),
    ],
)
def test_statuses_mean_what_they_mean_in_a_crawl_and_an_error_has_no_rules(answer: Answer, access: Access) -> None:
    with Site() as site:
        site.answer("/robots.txt", answer)
        _, result = fetched(f"{site.origin}/robots.txt")
    assert (result.access, result.body) == (access, b"")


def test_five_redirects_are_followed_and_no_sixth() -> None:
    with Site() as site:
        for number in range(7):
            site.answer(f"/{number}", redirect(f"/{number + 1}"))
        site.answer("/robots.txt", redirect("/1"))
        steps, result = fetched(f"{site.origin}/robots.txt")
        assert site.paths() == ["/robots.txt", "/1", "/2", "/3", "/4", "/5"]
    assert result.access is Access.UNAVAILABLE
    assert "more than five redirects" in steps[-1]
    with Site() as site:
        site.answer("/robots.txt", redirect("/1#part"))
        site.answer("/1", robots(ROBOTS))
        _, result = fetched(f"{site.origin}/robots.txt")
    assert (result.hops, result.body) == ((f"{site.origin}/1",), ROBOTS.encode())


@pytest.mark.parametrize("target", ["ftp://127.0.0.1/", "file:///etc/passwd", "gopher://x/", "http://[::1/"])
def test_a_redirect_leads_to_http_alone(target: str) -> None:
    with Site() as site:
        site.answer("/robots.txt", redirect(target))
        steps, result = fetched(f"{site.origin}/robots.txt")
    assert result.access is Access.UNAVAILABLE
    assert "a redirect that is not followed" in steps[-1]


def test_user_information_in_a_redirect_is_sent_to_nobody() -> None:
    with Site() as site:
        site.answer("/robots.txt", redirect(f"http://user:secret@{site.origin.removeprefix('http://')}/x"))
        site.answer("/x", robots(ROBOTS))
        _, result = fetched(f"{site.origin}/robots.txt")
        assert [arrival.headers.get("authorization") for arrival in site.log] == [None, None]
    assert result.body == ROBOTS.encode()


def test_an_endless_body_is_cut() -> None:
    with Site() as site:
        site.answer("/robots.txt", Answer(200, streams=10**9))
        began = monotonic()
        _, result = fetched(f"{site.origin}/robots.txt", SMALL)
        assert monotonic() - began < 5  # a whole body takes longer
    assert len(result.body) == 1_000


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_a_body_that_is_compressed_all_the_same_is_read_and_a_bomb_is_cut(coding: str) -> None:
    pack = gzip.compress if coding == "gzip" else zlib.compress
    with Site() as site:
        site.answer("/robots.txt", Answer(200, pack(ROBOTS.encode()), [("Content-Encoding", coding)]))
        assert fetched(f"{site.origin}/robots.txt")[1].body == ROBOTS.encode()
        site.answer("/robots.txt", Answer(200, pack(b"\0" * 10**6), [("Content-Encoding", coding)]))
        assert len(fetched(f"{site.origin}/robots.txt", SMALL)[1].body) == 1_000


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Answer(200, b"x", [("Content-Encoding", "br")]), "is unreachable: truncated response (br)"),
        (Answer(200, b"plain", [("Content-Encoding", "gzip")]), "is unreachable: wrong content coding (not gzip)"),
        (Answer(200, b"x", length=99), "is unreachable: truncated response"),
        (raw(b"SSH-2.0-OpenSSH\r\n\r\n"), "sent an invalid HTTP response"),
        (raw(b"HTTP/1.1 200 OK\r\nX: " + b"y" * 200_000), "sent an invalid HTTP response"),
        (raw(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 100_000), "sent an invalid HTTP response"),
        (reset(), "does not answer"),
    ],
)
def test_a_server_that_does_not_behave_ends_in_a_message(answer: Answer, message: str) -> None:
    with Site() as site:
        site.answer("/robots.txt", answer)
        assert message in problem(f"{site.origin}/robots.txt")


@pytest.mark.parametrize(
    "answer",
    [
        hang(),
        Answer(200, delay=5),
        Answer(200, b"x", streams=10**9, chunk=1),
        raw(b"HTTP/1.1 100 Continue\r\n\r\n" * 10**6),
    ],
    ids=["hangs", "slow", "in drops", "informational"],
)
def test_the_time_of_a_fetch_is_bounded_whatever_the_server_does(answer: Answer) -> None:
    with Site() as site:
        site.answer("/robots.txt", answer)
        began = monotonic()
        assert "did not finish within 0.3 s" in problem(f"{site.origin}/robots.txt", HASTY)
        assert monotonic() - began < 5


def test_a_tls_handshake_that_never_ends_is_ended_and_leaves_no_connection() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        assert "did not finish within 0.3 s" in problem(f"https://127.0.0.1:{port}/robots.txt", HASTY)
        accepted, _ = silent.accept()
        with accepted:
            accepted.settimeout(10)
            assert accepted.recv(65_536)  # the start of the handshake
            assert accepted.recv(65_536) == b""


@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 400 No\r\n\r\n"])
def test_a_server_that_speaks_no_tls_ends_in_a_message(said: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as plain:

        def refuse() -> None:
            accepted, _ = plain.accept()
            with accepted:
                accepted.recv(65_536)
                accepted.sendall(said)

        answering = threading.Thread(target=refuse)
        answering.start()
        found = problem(f"https://127.0.0.1:{plain.getsockname()[1]}/robots.txt")
        answering.join()
    assert re.search("no secure connection: [A-Z_]+$", found)


def test_slow_redirects_share_one_time() -> None:
    with Site() as site:
        site.answer("*", replace(redirect("/next"), delay=0.2))
        site.answer("/robots.txt", replace(redirect("/next"), delay=0.2))
        assert "did not finish within 0.3 s" in problem(f"{site.origin}/robots.txt", HASTY)
        assert len(site.log) <= 2


def test_a_host_without_an_address_or_a_server_ends_in_a_message() -> None:
    assert "does not answer: Name or service" in problem("http://nowhere.test/robots.txt", resolver=names())
    with Site() as site:
        site.stop_listening()
        assert "does not answer" in problem(f"{site.origin}/robots.txt")


def test_a_certificate_that_nobody_trusts_ends_in_a_message() -> None:
    with Site(tls=True) as site:
        site.answer("/robots.txt", robots(ROBOTS))
        assert "no secure connection: self" in problem(f"{site.origin}/robots.txt")
        trusting = ssl.create_default_context()
        trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
        assert fetched(f"{site.origin}/robots.txt", tls=trusting)[1].body == ROBOTS.encode()


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "127.1", "0x7f000001", "2130706433", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0"],
)
def test_strangers_reach_no_loopback_address_however_it_is_spelt(host: str) -> None:
    message = problem(f"http://{host}/robots.txt", PUBLIC)
    assert "has an address that is not public" in message or "does not answer" in message


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0",
        "224.0.0.1", "255.255.255.255", "203.0.113.1", "::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1",
        "ff02::1", "::ffff:10.0.0.1", "64:ff9b::a00:1", "2002:a00:1::", "2001:db8::1", "192.0.0.9", "192.88.99.1",
        "198.18.0.1", "240.0.0.1", "64:ff9b:1::10.0.0.1", "::ffff:0:127.0.0.1", "fec0::1", "5f00::1", "3fff::1",
        "2001::1", "2001:1ff::1", "1fff::1", "4000::1", "::8.8.8.8", "100::1",
    ],
)  # fmt: skip
def test_strangers_reach_no_host_with_an_address_that_is_not_public(address: str) -> None:
    assert not is_public(address)
    resolver = names(inner_test=address, mixed_test=f"8.8.8.8 {address}")
    assert "inner.test has an address that is not public" in problem(
        "http://inner.test/robots.txt", PUBLIC, resolver
    )
    assert "mixed.test has an address that is not public" in problem(
        "http://mixed.test/robots.txt", PUBLIC, resolver
    )


@pytest.mark.parametrize(
    "address",
    [
        "8.8.8.8", "1.0.0.0", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "172.15.255.255",
        "172.32.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255", "2000::", "2606:4700::1111",
        "2001:200::1", "2003::1", "3ffe::1", "::ffff:8.8.8.8", "64:ff9b::808:808",
    ],
)  # fmt: skip
def test_the_internet_is_public(address: str) -> None:
    assert is_public(address)


def test_strangers_reach_default_ports_alone() -> None:
    for url in ("http://outer.test:22/robots.txt", "https://outer.test:80/robots.txt"):
        assert "only the default ports" in problem(url, PUBLIC, names(outer_test="8.8.8.8"))


@pytest.fixture
def two_worlds(monkeypatch: pytest.MonkeyPatch) -> None:
    """127.0.0.2 is the internet, 127.0.0.1 is not."""
    monkeypatch.setattr(network, "is_public", lambda address: address == "127.0.0.2")


@pytest.mark.usefixtures("two_worlds")
@pytest.mark.parametrize("limits", [LOCAL, PUBLIC], ids=["local", "public"])
def test_a_public_site_leads_to_no_private_address(limits: Limits, monkeypatch: pytest.MonkeyPatch) -> None:
    resolver = names(outer_test="127.0.0.2", inner_test="127.0.0.1")
    with Site(("127.0.0.2", "127.0.0.1")) as site:
        port = int(site.origin.rpartition(":")[2])
        monkeypatch.setitem(fetch._DEFAULT_PORTS, "http", port)
        site.answer("/robots.txt", redirect(f"http://inner.test:{port}/secret"))
        message = problem(f"http://outer.test:{port}/robots.txt", limits, resolver)
        assert "inner.test has an address that is not public" in message
        assert site.paths() == ["/robots.txt"]
        assert fetched(
            f"http://outer.test:{port}/robots.txt", limits, names(outer_test="127.0.0.2", inner_test="127.0.0.2")
        )[1]


@pytest.mark.usefixtures("two_worlds")
def test_a_name_that_resolves_differently_the_next_time_gains_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The address that was judged is the one that is connected to: there is no second look-up."""
    asked = []

    def no_look_up(*arguments: object, **_: object) -> None:
        raise AssertionError(f"the system is asked for {arguments}")

    async def rebinding(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.2" if len(asked) == 1 else "127.0.0.1"]

    with Site(("127.0.0.2", "127.0.0.1")) as site:
        port = int(site.origin.rpartition(":")[2])
        monkeypatch.setitem(fetch._DEFAULT_PORTS, "http", port)
        site.answer("/robots.txt", robots(ROBOTS))
        monkeypatch.setattr(socket, "getaddrinfo", no_look_up)
        _, result = fetched(f"http://outer.test:{port}/robots.txt", PUBLIC, rebinding)
        assert (result.body, asked[0]) == (ROBOTS.encode(), "outer.test")
        assert result.others[0].startswith("No answer at https://outer.test")  # it is judged like any other
        assert [arrival.origin for arrival in site.log] == [f"http://127.0.0.2:{port}"]
        assert "not public" in problem(f"http://outer.test:{port}/robots.txt", PUBLIC, rebinding)


def outcomes(port: str, hosts: Sequence[str], resolver: Resolver) -> list[str]:
    """The last line of a fetch from each of *hosts*, one after the other, with one fetcher for strangers."""
    fetcher = WebFetcher(replace(PUBLIC, fetch_interval=1_000.0), "Test/1", resolver=resolver)

    async def outcome(host: str) -> str:
        try:
            steps = [str(step) async for step in fetcher.fetch(f"http://{host}:{port}/robots.txt")]
            return next(step for step in steps if step.startswith("status") and "redirected" not in step)
        except TooManyError as error:
            return str(error)

    async def work() -> list[str]:
        return [await outcome(host) for host in hosts]

    return run(work())


@pytest.fixture
def open_site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A site at four addresses, all of them public, on the default port."""
    monkeypatch.setattr(network, "is_public", lambda _: True)
    with Site([f"127.0.0.{number}" for number in range(2, 6)]) as site:
        monkeypatch.setitem(fetch._DEFAULT_PORTS, "http", int(site.origin.rpartition(":")[2]))
        yield site


def test_every_hop_counts_for_how_often_a_host_is_asked(open_site: Site) -> None:
    resolver = names(a_test="127.0.0.2", b_test="127.0.0.3", c_test="127.0.0.4", victim_test="127.0.0.5")
    port = open_site.origin.rpartition(":")[2]
    open_site.answer("/robots.txt", redirect(f"http://victim.test:{port}/x"))
    first, *others = outcomes(port, ["a.test", "b.test", "c.test", "victim.test."], resolver)
    assert first.startswith("status 200")
    assert [text.partition(":")[0] for text in others] == ["victim.test was asked a moment ago"] * 3
    assert open_site.count("/x") == 1


def test_a_host_that_redirects_to_itself_is_asked_once_for_that(open_site: Site) -> None:
    open_site.answer("/robots.txt", redirect("/x"))
    resolver = names(a_test="127.0.0.2 127.0.0.3")
    (outcome,) = outcomes(open_site.origin.rpartition(":")[2], ["a.test"], resolver)
    assert outcome.startswith("status 200")


def test_an_address_has_its_share_however_many_names_it_has(open_site: Site) -> None:
    resolver = names(a_test="127.0.0.2", b_test="127.0.0.2", c_test="127.0.0.3 127.0.0.2", d_test="127.0.0.4")
    port = open_site.origin.rpartition(":")[2]
    first, *others, last = outcomes(port, ["a.test", "b.test", "c.test", "d.test"], resolver)
    assert (first, last) == ("status 404, 0 bytes", "status 404, 0 bytes")
    assert others == ["127.0.0.2 was asked a moment ago: try again in 200 s."] * 2


def test_the_file_with_and_without_www_over_http_and_https_is_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    resolver = names(a_test="127.0.0.1", www_a_test="127.0.0.1", b_test="127.0.0.1")
    with Site() as plain, Site(tls=True) as safe:
        for scheme, site in (("http", plain), ("https", safe)):
            monkeypatch.setitem(fetch._DEFAULT_PORTS, scheme, int(site.origin.rpartition(":")[2]))
        ports = fetch._DEFAULT_PORTS
        secure, url = f"https://a.test:{ports['https']}", f"http://a.test:{ports['http']}/robots.txt"
        plain.answer("/robots.txt", redirect(f"{secure}/robots.txt"))
        safe.answer("/robots.txt", robots(ROBOTS))
        _, result = fetched(f"{secure}/robots.txt", LOCAL, resolver, trusting)
        assert result.others == (
            f"The same file at https://www.a.test:{ports['https']}, http://a.test:{ports['http']} and "
            f"http://www.a.test:{ports['http']}.",
        )
        plain.answer("/robots.txt", robots("User-agent: *\nDisallow: /\n"))
        safe.answer("/robots.txt", Answer(404))
        _, result = fetched(url, LOCAL, resolver, trusting)
        assert [text.partition(" at ")[0] for text in result.others] == [
            "No robots.txt (status 404)",
            "The same file",
        ]
        _, result = fetched(url.replace("a.test", "b.test"), LOCAL, resolver, trusting)
        assert result.others[-1].startswith("No answer at https://www.b.test")
        arrivals = len(plain.log)
        assert fetched(f"{plain.origin}/robots.txt")[1].others == ()  # an address has no siblings
        assert len(plain.log) == arrivals + 1


def test_the_next_address_is_tried_when_one_refuses() -> None:
    with Site() as site:
        port = site.origin.rpartition(":")[2]
        site.answer("/robots.txt", robots(ROBOTS))
        _, result = fetched(f"http://two.test:{port}/robots.txt", LOCAL, names(two_test="127.0.0.9 127.0.0.1"))
    assert result.body == ROBOTS.encode()


def test_the_host_of_an_ipv6_address_is_written_in_brackets() -> None:
    heard = []
    try:
        server = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError as error:
        pytest.skip(f"no IPv6 here: {error}")
    with server as listening:

        def answer() -> None:
            accepted, _ = listening.accept()
            with accepted:
                heard.append(accepted.recv(65_536))
                accepted.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

        answering = threading.Thread(target=answer)
        answering.start()
        port = listening.getsockname()[1]
        _, result = fetched(f"http://[::1]:{port}/robots.txt")
        answering.join()
    assert result.status == 200
    assert f"\r\nHost: [::1]:{port}\r\n".encode() in heard[0]


def test_slow_name_resolution_is_bounded_too() -> None:
    async def slow(host: str, port: int) -> list[str]:
        await asyncio.sleep(60)
        return []

    assert "did not finish within 0.3 s" in problem("http://slow.test/robots.txt", HASTY, slow)


@pytest.fixture
def hanging(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """The name hangs.test resolves when this is set; every other one is that of this machine."""
    released = threading.Event()

    def look_up(host: str, *_: object, **__: object) -> list[Any]:
        assert host != "hangs.test" or released.wait(60)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 80))]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    yield released
    released.set()


def test_names_that_hang_hold_up_no_other(hanging: threading.Event) -> None:
    async def work() -> list[str]:
        stuck = [asyncio.create_task(resolve("hangs.test", 80)) for _ in range(PUBLIC.requests - 1)]
        await asyncio.sleep(0)
        with fail_after(30):
            found = await resolve("fine.test", 80)
        assert not any(task.done() for task in stuck)
        hanging.set()
        await asyncio.gather(*stuck)
        return found

    assert run(work()) == ["127.0.0.1"]


def test_a_name_that_hangs_keeps_the_place_of_its_visitor(hanging: threading.Event) -> None:
    async def work() -> None:
        asyncio.get_running_loop().call_later(0.2, hanging.set)
        with move_on_after(0.05):
            await resolve("hangs.test", 80)
        assert hanging.is_set()

    run(work())
