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


def origin(url: str) -> tuple[str, str, int]:
    found = Origin.from_url(url)
    return found.scheme, found.host, found.port


@pytest.mark.parametrize(
    ("url", "port"),
    [("http://a.example/", 80), ("https://a.example/", 443), ("ftp://a.example/", 21)],
)
def test_rfc_2_3_a_url_without_a_port_has_the_default_one(url: str, port: int) -> None:
    assert Origin.from_url(url).port == port


def test_rfc_2_3_the_default_port_written_out_is_the_same_origin() -> None:
    assert origin("https://a.example:443/") == origin("https://a.example/")
    assert origin("https://a.example:80/") != origin("https://a.example/")


def test_rfc_2_3_an_empty_port_is_the_default_one() -> None:
    assert origin("http://a.example:/x") == ("http", "a.example", 80)


def test_rfc_2_3_port_zero_is_a_port() -> None:
    assert origin("http://a.example:0/") == ("http", "a.example", 0)


@pytest.mark.parametrize(
    "other",
    [
        pytest.param("https://a.example/", id="scheme"),
        pytest.param("ftp://a.example/", id="ftp"),
        pytest.param("http://a.example:8080/", id="port"),
        pytest.param("http://www.a.example/", id="sub-domain"),
        pytest.param("http://a.example.org/", id="longer-name"),
        pytest.param("http://192.0.2.1/", id="address"),
    ],
)
def test_rfc_2_3_each_scheme_host_and_port_has_a_file_of_its_own(other: str) -> None:
    assert origin(other) != origin("http://a.example/")


@pytest.mark.parametrize(
    "same",
    [
        pytest.param("HTTP://A.Example", id="case"),
        pytest.param("http://a.example/deep/page.html", id="path"),
        pytest.param("http://a.example?q=1#top", id="query-and-fragment"),
        pytest.param("http://someone:secret@a.example/", id="user-info"),
        pytest.param("http://someone:se%40cret@a.example:80/", id="user-info-and-port"),
    ],
)
def test_rfc_2_3_nothing_else_in_a_url_counts(same: str) -> None:
    assert origin(same) == ("http", "a.example", 80)


def test_rfc_2_3_robots_txt_lies_at_the_top_of_the_origin() -> None:
    assert Origin.from_url("https://a.example/b/c?d").robots_url == "https://a.example/robots.txt"


def test_rfc_2_3_robots_url_carries_no_user_info() -> None:
    assert Origin.from_url("http://u:p@a.example/").robots_url == "http://a.example/robots.txt"


@pytest.mark.parametrize(
    ("url", "written"),
    [
        ("http://a.example:8080/x", "http://a.example:8080"),
        ("http://a.example:80/x", "http://a.example"),
        ("https://a.example:443/x", "https://a.example"),
        ("https://a.example:80/x", "https://a.example:80"),
        ("ftp://a.example:21/x", "ftp://a.example"),
    ],
)
def test_rfc_2_3_an_origin_is_written_without_its_default_port(url: str, written: str) -> None:
    assert str(Origin.from_url(url)) == written


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://www.exämple.com/", "www.xn--exmple-cua.com"),
        ("http://WWW.EXÄMPLE.COM/", "www.xn--exmple-cua.com"),
        ("http://www.xn--exmple-cua.com/", "www.xn--exmple-cua.com"),
        ("http://例え.jp/", "xn--r8jz45g.jp"),
        ("http://a。example/", "a.example"),
    ],
    ids=["idna", "idna-upper-case", "already-encoded", "japanese", "ideographic-full-stop"],
)
def test_ours_a_host_beyond_ascii_is_idna_encoded(url: str, host: str) -> None:
    assert Origin.from_url(url).host == host


def test_ours_an_ipv6_host_loses_its_brackets_and_its_url_keeps_them() -> None:
    found = Origin.from_url("http://[2001:DB8::1]:8080/x")

    assert (found.host, found.port) == ("2001:db8::1", 8080)
    assert found.robots_url == "http://[2001:db8::1]:8080/robots.txt"


@pytest.mark.parametrize(
    ("socket", "file"),
    [
        ("ws://a.example/chat", "http://a.example/robots.txt"),
        ("wss://a.example/chat", "https://a.example/robots.txt"),
        ("wss://a.example:8443/chat", "https://a.example:8443/robots.txt"),
    ],
)
def test_ours_a_web_socket_uses_the_file_of_http(socket: str, file: str) -> None:
    assert Origin.from_url(socket).robots_url == file


def test_ours_five_schemes_have_a_robots_txt() -> None:
    assert {"http", "https", "ftp", "ws", "wss"} == SCHEMES


@pytest.mark.parametrize(
    "url",
    [
        pytest.param("file:///etc/hosts", id="file"),
        pytest.param("data:text/plain,x", id="data"),
        pytest.param("s3://bucket/key", id="s3"),
        pytest.param("a.example/x", id="no-scheme"),
        pytest.param("//a.example/x", id="scheme-relative"),
        pytest.param("", id="empty"),
    ],
)
def test_ours_any_other_scheme_has_none(url: str) -> None:
    with pytest.raises(ValueError, match=r"no robots\.txt speaks for the scheme"):
        Origin.from_url(url)


@pytest.mark.parametrize("url", ["http:///x", "http://", "http://user@/x", "http://:80/", "http:x"])
def test_ours_a_url_without_a_host_has_no_origin(url: str) -> None:
    with pytest.raises(ValueError, match="no host"):
        Origin.from_url(url)


@pytest.mark.parametrize(
    "url",
    [
        pytest.param("http://a.example:65536/", id="port-too-large"),
        pytest.param("http://a.example:http/", id="port-no-number"),
        pytest.param("http://[::1/", id="open-bracket"),
        pytest.param("http://" + "ä" * 80 + ".example/", id="label-too-long"),
    ],
)
def test_ours_an_unusable_host_or_port_is_a_value_error(url: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 (urlsplit and the idna codec word it)
        Origin.from_url(url)


def test_ours_equal_origins_are_one_key() -> None:
    keys = {Origin.from_url(url) for url in ("http://a.example/1", "http://A.EXAMPLE:80/2", "https://a.example/")}

    assert len(keys) == 2


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.8.9.10",
        "10.0.0.1",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "169.254.169.254",
        "0.0.0.0",
        "240.0.0.1",
        "[::1]",
        "[::]",
        "[fe80::1]",
        "[fd00::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:a00:1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "224.0.0.1",
        "[ff02::1]",
    ],
)
def test_ours_a_private_loopback_or_link_local_address_is_local(host: str) -> None:
    assert Origin.from_url(f"http://{host}/").is_local


@pytest.mark.parametrize("host", ["localhost", "LocalHost", "localhost.", "db.localhost", "a.b.localhost."])
def test_ours_localhost_and_what_lies_below_it_is_local(host: str) -> None:
    assert Origin.from_url(f"http://{host}/").is_local


@pytest.mark.parametrize(
    "host",
    [
        pytest.param("127.0.0.1.", id="trailing-dot"),
        pytest.param("127.1", id="short"),
        pytest.param("127.1.", id="short-trailing-dot"),
        pytest.param("2130706433", id="one-number"),
        pytest.param("0", id="zero"),
        pytest.param("0x7f000001", id="hexadecimal"),
        pytest.param("0X7F.0.0.1", id="hexadecimal-upper-case"),
        pytest.param("127.0.0.0x1", id="hexadecimal-last"),
        pytest.param("0x7f.1", id="hexadecimal-short"),
        pytest.param("0177.0.0.1", id="octal"),
        pytest.param("127。0。0。1", id="ideographic-full-stops"),
        pytest.param("１２７.0.0.1", id="full-width-digits"),
        pytest.param("ⓛocalhost", id="circled-letter"),
    ],
)
def test_ours_an_odd_spelling_of_an_address_is_local(host: str) -> None:
    assert Origin.from_url(f"http://{host}/").is_local


@pytest.mark.parametrize(
    "host",
    [
        "a.example",
        "8.8.8.8",
        "8.8.8.8.",
        "172.32.0.1",
        "[2606:4700::1111]",
        "[::ffff:8.8.8.8]",
        "localhost.example",
        "mylocalhost",
        "127.example",
        "127.0.0.1.example",
        "0x7f.example",
        "a1",
        "a.b1",
        "0xy",
    ],
)
def test_ours_a_public_name_or_address_is_not_local(host: str) -> None:
    assert not Origin.from_url(f"http://{host}/").is_local


@pytest.mark.parametrize(
    ("url", "may"),
    [
        ("https://other.example/x", True),
        ("http://a.example:8080/", True),
        ("ftp://a.example/x", False),
        ("mailto:x@a.example", False),
        ("https://", False),
        ("http://127.0.0.1/", False),
        ("http://10.0.0.1:8000/", False),
        ("http://localhost/", False),
        ("http://2130706433/", False),
    ],
)
def test_ours_a_public_host_may_lead_to_http_on_public_hosts_alone(url: str, may: bool) -> None:
    assert Origin.from_url("https://a.example/").may_lead_to(url) is may


def test_ours_a_private_host_may_lead_to_any_host() -> None:
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
def test_ours_a_split_url_has_the_origin_and_the_path_of_the_url(url: str) -> None:
    assert split(url, True) == slowly_split(url, True)
    assert split(url, False) == slowly_split(url, False)


@pytest.mark.skipif(not FOLDER, reason="SCRAPY_REP_CORPUS names no folder")
def test_ours_every_url_of_the_corpus_is_split_alike() -> None:
    rows, starts = 0, dict[str, Origin]()
    for row in answers(Path(FOLDER)):
        rows += 1
        start, path = split_url(row.url)
        origin = starts.get(start) or starts.setdefault(start, Origin._parsed(start))
        assert origin == Origin.from_url(row.url)
        assert path == path_of(row.url)
        assert split_url(row.url, canonical_octets=False) == (start, path_of(row.url, canonical_octets=False))
    assert rows == 150_296


def test_ours_a_start_is_a_key_for_an_origin_and_an_origin_may_have_several() -> None:
    assert split_url("https://a.example:443/x?y#z") == ("https://a.example:443", b"/x?y")
    assert split_url("HTTPS://u@A.example:443") == ("https://a.example", b"/")
