"""The mode of a site: the most specific entry of REP_MODES."""

from __future__ import annotations

import pytest

from scrapy_rep.crawl.policy.policy import Mode, Modes
from scrapy_rep.protocol import Origin

MODES = Modes(
    {
        "*.example.com": "ignore",
        "*.deep.example.com": "report",
        "shop.example.com": "report",
        "https://api.example.com:8443": "obey",
        "api.example.com": "report",
        "bücher.example": "report",
        "::1": "ignore",
    }
)


@pytest.mark.parametrize(
    ("url", "mode"),
    [
        ("https://www.example.com/", Mode.IGNORE),
        ("https://a.b.example.com/", Mode.IGNORE),
        ("https://a.deep.example.com/", Mode.REPORT),
        ("https://deep.example.com/", Mode.IGNORE),
        ("https://example.com/", None),
        ("https://notexample.com/", None),
        ("http://shop.example.com:8080/", Mode.REPORT),
        ("https://api.example.com:8443/", Mode.OBEY),
        ("https://api.example.com/", Mode.REPORT),
        ("https://xn--bcher-kva.example/", Mode.REPORT),
        ("https://[::1]/", Mode.IGNORE),
        ("https://elsewhere.example/", None),
    ],
)
def test_the_most_specific_site_decides(url: str, mode: Mode | None) -> None:
    assert MODES.of(Origin.from_url(url)) is mode


def test_a_star_covers_every_host_that_nothing_else_covers() -> None:
    modes = Modes({"*": "report", "shop.example.com": "obey"})
    assert modes.of(Origin.from_url("https://any.example/")) is Mode.REPORT
    assert modes.of(Origin.from_url("https://localhost/")) is Mode.REPORT
    assert modes.of(Origin.from_url("https://shop.example.com/")) is Mode.OBEY


@pytest.mark.parametrize(
    "site",
    ["", "*.", "a b", "example.com:8080", "https://example.com/path", "*x.com", "ftp://", ".a.com", "*.*.com",
     "https://*.example.com", "https://*", "a.com,b.com", "a\\b.com", "https://example.com?x", "https://a:b@c.com"],
)  # fmt: skip
def test_what_is_not_a_site_is_refused(site: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        Modes({site: "obey"})


@pytest.mark.parametrize("mode", ["off", "Obey", "", "never"])
def test_what_is_not_a_mode_is_refused(mode: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        Modes({"example.com": mode})


def test_a_site_that_is_named_twice_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'example\.com' has two different modes"):
        Modes({"Example.COM": "report", "example.com": "obey"})
    assert Modes({"Example.COM": "obey", "example.com": "obey"})


def test_a_dot_at_the_end_of_a_host_leads_to_no_other_mode() -> None:
    modes = Modes({"*": "ignore", "shop.example": "obey", "https://a.example.": "obey", "*.b.example": "obey"})
    for url in ("https://shop.example./", "https://a.example/", "https://a.example./", "https://x.b.example./"):
        assert modes.of(Origin.from_url(url)) is Mode.OBEY
