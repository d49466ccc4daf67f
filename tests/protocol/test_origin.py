"""Which robots.txt speaks for a URL: RFC 9309 section 2.3."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_rep.protocol import SCHEMES, Origin, path_of, split_url

from .test_google_verdicts import FOLDER, answers

URLS = st.builds(
    "".join,
    st.tuples(
        st.sampled_from(["http://", "https://", "HTTPS://", "ws://", "ftp://", "http:/", " http://", "//", ""]),
        st.sampled_from(["", "u@", "u:p@"]),
        st.text("ab.-A1é[]", max_size=4) | st.sampled_from(["a.example", "[::1]", "192.0.2.1", "ａ。b"]),
        st.sampled_from(["", ":", ":80", ":443", ":8080", ":99999", ":0", ":8a", ":٤", ":1:2"]),
        st.sampled_from(["", "/", ";", "?", "#", "\n", "\\"]),
        st.text("/ab?;:#%614*$é \n\t\0", max_size=8),
    ),
)

WRITTEN = {
    "http://a.example/deep/page.html": "http://a.example",
    "https://a.example": "https://a.example",
    "ftp://a.example/": "ftp://a.example",
    "https://a.example:443/x": "https://a.example",
    "https://a.example:80/x": "https://a.example:80",
    "http://a.example:/x": "http://a.example",
    "http://a.example:0/": "http://a.example:0",
    "http://a.example:8080/": "http://a.example:8080",
    # Nothing else in a URL counts.
    "HTTP://A.Example": "http://a.example",
    "http://a.example?q=1#top": "http://a.example",
    "http://someone:se%40cret@a.example:80/": "http://a.example",
    # A web socket uses the file of http.
    "ws://a.example/chat": "http://a.example",
    "wss://a.example/chat": "https://a.example",
    "wss://a.example:8443/chat": "https://a.example:8443",
    # A host beyond ASCII is IDNA encoded; that of an IPv6 address is written in brackets.
    "http://WWW.EXÄMPLE.COM/": "http://www.xn--exmple-cua.com",
    "http://www.xn--exmple-cua.com/": "http://www.xn--exmple-cua.com",
    "http://例え.jp/": "http://xn--r8jz45g.jp",
    "http://a。example/": "http://a.example",
    "http://[2001:DB8::1]:8080/x": "http://[2001:db8::1]:8080",
}
NO_ORIGIN = {
    r"no robots\.txt speaks for the scheme": [
        "", "file:///etc/hosts", "data:text/plain,x", "s3://bucket/key", "a.example/x", "//a.example/x",
    ],
    "no host": ["http:///x", "http://", "http://user@/x", "http://:80/", "http:x"],
    "out of range|could not be cast|Invalid IPv6|label": [  # as urlsplit and the idna codec word it
        "http://a.example:65536/", "http://a.example:http/", "http://[::1/", f"http://{'ä' * 80}.example/",
    ],
}  # fmt: skip
LOCAL_HOSTS = {
    "loopback and the like": ["127.0.0.1", "127.8.9.10", "0.0.0.0", "[::1]", "[::]"],
    "private": ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "[fd00::1]"],
    "link-local and multicast": ["169.254.169.254", "[fe80::1]", "224.0.0.1", "240.0.0.1", "[ff02::1]"],
    "IPv4 in IPv6": ["[::ffff:127.0.0.1]", "[::ffff:a00:1]", "[::127.0.0.1]"],
    "IPv4 by IPv6": ["[64:ff9b::7f00:1]", "[2002:7f00:1::]"],
    "names": ["localhost", "LocalHost", "localhost.", "db.localhost", "a.b.localhost."],
    "a dot at the end, or few": ["127.0.0.1.", "127.1", "127.1.", "2130706433", "0"],
    "hexadecimal and octal": ["0x7f000001", "0X7F.0.0.1", "127.0.0.0x1", "0x7f.1", "0177.0.0.1"],
    "beyond ASCII": ["127。0。0。1", "１２７.0.0.1", "ⓛocalhost"],
}  # fmt: skip
PUBLIC_HOSTS = [
    "a.example", "8.8.8.8", "8.8.8.8.", "172.32.0.1", "[2606:4700::1111]", "[::ffff:8.8.8.8]", "localhost.example",
    "mylocalhost", "127.example", "127.0.0.1.example", "0x7f.example", "a1", "a.b1", "0xy",
]  # fmt: skip


def test_rfc_2_3_the_origin_of_a_url_is_its_scheme_host_and_port() -> None:
    assert {url: str(Origin.from_url(url)) for url in WRITTEN} == WRITTEN
    assert [Origin.from_url(f"{scheme}://a.example/").port for scheme in ("http", "https", "ftp")] == [80, 443, 21]
    assert Origin.from_url("http://[2001:DB8::1]:8080/x") == Origin("http", "2001:db8::1", 8080)


def test_rfc_2_3_robots_txt_lies_at_the_top_of_the_origin() -> None:
    assert Origin.from_url("https://u:p@a.example/b/c?d").robots_url == "https://a.example/robots.txt"


def test_equal_origins_are_one_key() -> None:
    urls = ("http://a.example/1", "http://A.EXAMPLE:80/2", "https://a.example/", "http://www.a.example/")
    assert len({Origin.from_url(url) for url in urls}) == 3


def test_five_schemes_have_a_robots_txt() -> None:
    assert {"http", "https", "ftp", "ws", "wss"} == SCHEMES


@pytest.mark.parametrize("problem", NO_ORIGIN)
def test_a_url_without_an_origin_is_a_value_error(problem: str) -> None:
    for url in NO_ORIGIN[problem]:
        with pytest.raises(ValueError, match=problem):
            Origin.from_url(url)


@pytest.mark.parametrize("kind", LOCAL_HOSTS)
def test_a_host_that_is_spelt_as_this_machine_or_a_private_network_is_local(kind: str) -> None:
    for host in LOCAL_HOSTS[kind]:
        assert Origin.from_url(f"http://{host}/").is_local, host


def test_any_other_host_is_not_local() -> None:
    for host in PUBLIC_HOSTS:
        assert not Origin.from_url(f"http://{host}/").is_local, host


def test_a_public_host_may_lead_to_http_on_public_hosts_alone() -> None:
    public = Origin.from_url("https://a.example/")
    for url in ("https://other.example/x", "http://a.example:8080/"):
        assert public.may_lead_to(url), url
    for url in ("ftp://a.example/x", "mailto:x@a.example", "https://"):
        assert not public.may_lead_to(url), url
    for host in ("127.0.0.1", "10.0.0.1:8000", "localhost", "2130706433"):
        assert not public.may_lead_to(f"http://{host}/"), host


def test_a_private_host_may_lead_to_any_host() -> None:
    here = Origin.from_url("http://127.0.0.1:8998/")
    assert here.may_lead_to("http://10.0.0.1/")
    assert here.may_lead_to("https://a.example/")


def slowly_split(url: str, canonical_octets: bool) -> tuple[Origin, bytes] | None:
    try:
        return Origin._parsed(url), path_of(url, canonical_octets=canonical_octets)
    except ValueError:
        return None


def split(url: str, canonical_octets: bool) -> tuple[Origin, bytes] | None:
    try:
        start, path = split_url(url, canonical_octets=canonical_octets)
    except ValueError:
        return None
    assert "/" not in start.partition("://")[2]
    return Origin._parsed(start), path


@given(url=URLS)
@example("https://a.example:8080/a?b#c")
@example("https://a.example/%7e\0")
@example("https://a.example:99999/")
@example("https://a.example:٤/")
@example("https://a.example;b/c")
def test_a_split_url_has_the_origin_and_the_path_of_the_url(url: str) -> None:
    assert split(url, True) == slowly_split(url, True)
    assert split(url, False) == slowly_split(url, False)


@pytest.mark.full
@pytest.mark.skipif(not FOLDER, reason="SCRAPY_REP_CORPUS names no folder")
def test_every_url_of_the_corpus_is_split_alike() -> None:
    starts: dict[str, Origin] = {}
    rows = 0
    for rows, row in enumerate(answers(Path(FOLDER)), start=1):  # noqa: B007
        start, path = split_url(row.url)
        origin = starts.get(start) or starts.setdefault(start, Origin._parsed(start))
        assert origin == Origin.from_url(row.url)
        assert path == path_of(row.url)
        assert split_url(row.url, canonical_octets=False) == (start, path_of(row.url, canonical_octets=False))
    assert rows == 150_296


def test_a_start_is_a_key_for_an_origin_and_an_origin_may_have_several() -> None:
    assert split_url("https://a.example:443/x?y#z") == ("https://a.example:443", b"/x?y")
    assert split_url("HTTPS://u@A.example:443") == ("https://a.example", b"/")


@pytest.mark.parametrize(
    "url", ["https://a.example:443/b", "ws://a.example", "mailto:a@a.example", "http://", "/a"]
)
def test_an_origin_is_found_where_there_is_one(url: str) -> None:
    found = Origin.find(url)
    assert (found is not None) is url.startswith(("https://a", "ws://a"))
    assert found is None or found == Origin.from_url(url)
