"""Product tokens of crawlers and of user-agent lines: RFC 9309 section 2.2.1."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scrapy_rep.protocol import GOOGLE, product_token
from scrapy_rep.protocol.product_token import ProductToken, is_global, meant_token

FIRST_PRODUCTS = {
    "Scrapy/2.19 (+https://scrapy.org)": "Scrapy",
    "Scrapy": "Scrapy",
    "my-bot_x": "my-bot_x",
    "MJ12bot/1.4": "MJ12bot",
    "news.bot.v2": "news.bot.v2",
    "  spaced/1": "spaced",
    "First/1 Second/2": "First",
    "bücher/1": "bücher",
    "Mybot/1 (compatible; Other/2)": "Mybot",
    "Mozillabot/1 (compatible; Other/2)": "Mozillabot",
    '"Quoted/1.0"': "Quoted",
    "360Spider": "360Spider",
    "example.com/1": "example.com",
    **dict.fromkeys(["", " ", "*", "()/;", "\t"], ""),
}
NO_PRODUCTS = {
    "User-Agent: ExampleBot/1.0": "ExampleBot", "user-agent:ExampleBot": "ExampleBot",
    "USER_AGENT = 'ExampleBot/1.0'": "ExampleBot", "UserAgent: Mozilla/5.0 (compatible; B/1)": "Mozilla",
    "(compatible; ExampleBot/1.0)": "ExampleBot", "compatible; ExampleBot": "ExampleBot",
    **dict.fromkeys([
        "+http://example.com/bot", "https://example.com/bot", "http://example.com (ExampleBot)",
        "HTTPS://example.com", "www.example.com/bot", "//example.com/bot", "mailto:bot@example.com",
        "bot@example.com", "(+https://e.com)",
        "(ExampleBot)", "(compatible; +https://example.com)", "(compatible; https://example.com)", "1.0", "-",
        "/1.0",        "...", "ftp://example.com", "From: bot@example.com", '""', "a" * 100_000 + ":",
    ], ""),
}  # fmt: skip
BEHIND_MOZILLA = {
    "(compatible; Examplebot/2.1; +http://bot.example/)": "Examplebot",
    "(X11) AppleWebKit/537 (KHTML, like Gecko; compatible; Late/1.2; +https://x.example)": "Late",
    "(X11) Gecko/1 Firefox/1 (compatible; Tail12/3)": "Tail12",
    "(COMPATIBLE;Tight)": "Tight",
    "(Second/1; +http://s.example) (compatible; First/1)": "First",
    "(Macintosh) AppleWebKit/600 (KHTML, like Gecko) Safari/600 (Fruit/0.1; +http://f.example)": "Fruit",
    "(Linux; Named/3.2; https://n.example)": "Named",
    "(Any/1; HTTP://a.example)": "Any",
}
BROWSERS = [
    "",
    "(Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120",
    "(compatible; )",
    "(Name/1; no address)",
    "(incompatible; Name)",
    "(Name; +http://n.example)",
    "(compatible; http://n.example)",
    "(compatible; 1.0)",
    "(compatible; www.n.example)",
]


def test_rfc_2_2_1_the_first_product_of_a_header_is_the_token() -> None:
    assert {header: product_token(header) for header in FIRST_PRODUCTS} == FIRST_PRODUCTS


def test_what_begins_with_no_product_has_no_token_and_may_mean_one() -> None:
    assert {header: product_token(header) for header in NO_PRODUCTS} == dict.fromkeys(NO_PRODUCTS, "")
    assert {header: meant_token(header) for header in NO_PRODUCTS} == NO_PRODUCTS


def test_after_mozilla_a_crawler_names_itself_behind_compatible_or_beside_its_address() -> None:
    for mozilla in ("Mozilla/5.0", "mozilla/4"):
        assert {rest: product_token(f"{mozilla} {rest}") for rest in BEHIND_MOZILLA} == BEHIND_MOZILLA


def test_a_browser_that_does_not_say_who_it_is_is_mozilla() -> None:
    for rest in BROWSERS:
        assert product_token(f"Mozilla/5.0 {rest}") == "Mozilla", rest


def test_octets_that_are_no_text_survive_in_a_token() -> None:
    assert product_token(b"caf\xe9bot/1") == "caf\udce9bot"
    assert ProductToken.of("caf\udce9bot", GOOGLE).name == b"caf\xe9bot"


def test_google_a_star_alone_or_before_white_space_is_global() -> None:
    assert all(map(is_global, [b"*", b"* ", b"*\tall of you", b"* foo", b"*\x0bx", b"*\x0cx"]))
    assert not any(map(is_global, [b"", b"*foo", b"**", b"*/1", b" *", b"a*", b"*\xc2\xa0x"]))


def test_case_is_folded_in_ascii_alone() -> None:
    token = ProductToken.of("Éric", GOOGLE)
    assert [token.is_named_by(value.encode()) for value in ("ÉRIC", "éric")] == [True, False]


@given(
    st.text("aB1._-/:;@=+ ()'\"", max_size=12)
    | st.sampled_from(["Mozilla/5.0 (compatible; %s)", "%s/1 (+http://e)"])
)
def test_a_token_is_its_own_token(header: str) -> None:
    for each in (header, header.replace("%s", "aB1._-")):
        assert product_token(product_token(each)) == product_token(each)
