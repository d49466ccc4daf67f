"""RSL: what the licenses of a document say about the use of a URL, and what no document can do to its reader."""

from __future__ import annotations

import re
import time
import tracemalloc
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_rep.directives import ai_answers
from scrapy_rep.directives.rsl import (
    MAX_CONTENTS,
    MAX_DEPTH,
    MAX_ELEMENTS,
    MAX_SIZE,
    License,
    RslFile,
    as_page_says,
    read_licenses,
    said_by_licenses,
)
from scrapy_rep.directives.vocabulary import Purpose, Signal, Statement, answers
from scrapy_rep.protocol import parse
from tests.directives.cases import CASES, said

READ = [case for case in CASES if case.number in {118, 119}]
OF_FILES = [case for case in CASES if case.after("RSL file")]
TOKENS = ["all", "ai-all", "ai-train", "ai-input", "ai-index", "search", "train-ai"]
LISTS = st.lists(st.sampled_from(TOKENS)).map(" ".join)
CONDITIONS = st.lists(st.sampled_from(["payment: use", "permits geo: EU"]), max_size=2).map(tuple)
LICENSES = st.lists(st.builds(License, st.none() | LISTS, LISTS, CONDITIONS))
NAMESPACE = 'xmlns="https://rslstandard.org/rsl"'
SECONDS = 10.0
MEGABYTE = 1_000_000


def file(text: str) -> RslFile:
    """The document with *text* as its contents, unless it has a root of its own."""
    is_whole = text.startswith(("<rsl", "<rss", "<?xml"))
    return RslFile((text if is_whole else f"<rsl {NAMESPACE}>{text}</rsl>").encode())


def content(url: str, *licenses: str, attributes: str = "") -> str:
    inside = "".join(f"<license>{each}</license>" for each in licenses)
    return f'<content url="{url}" {attributes}>{inside}</content>'


def usage(name: str, tokens: str) -> str:
    return f'<{name} type="usage">{tokens}</{name}>'


def texts(statements: tuple[Statement, ...]) -> list[str]:
    """What is recorded and answers nothing."""
    return [one.text for one in statements if one.category is None]


# The cases.


def test_the_given_license_means_what_is_expected() -> None:
    for case in READ:
        elements = dict(re.findall(r'<(\w+) type="usage">(.*?)<', case.given))
        license_ = License(elements.get("permits"), elements.get("prohibits", ""))
        found = answers(read_licenses([license_]))
        for categories, answer in re.findall(r"([\w, -]+): (yes|no)", case.expected):
            assert {found[Purpose(name)] for name in categories.strip(", ").split(", ")} == {answer}, case


@pytest.mark.parametrize("case", OF_FILES, ids=lambda case: str(case.number))
def test_the_given_file_means_what_is_expected(case) -> None:  # type: ignore[no-untyped-def]
    ((text,), (path,)) = case.after("RSL file"), case.after("path")
    assert said(file(text).statements(f"https://e.org{path}", "license")) == case.expected


# One license.


def test_rsl_a_prohibition_wins_over_a_permission() -> None:
    found = read_licenses([License("all", "ai-train")])
    assert said(found) == "ai-index: yes, ai-input: yes, ai-train: no, search: yes"


def test_rsl_a_license_without_permits_restricts_nothing() -> None:
    assert said(read_licenses([License()])) == "unknown throughout"


def test_rsl_a_license_that_permits_nothing_restricts_all() -> None:
    found = read_licenses([License("")])
    assert said(found) == "ai-index: no, ai-input: no, ai-train: no, search: no"


def test_rsl_what_another_license_of_the_content_lists_is_not_forbidden() -> None:
    found = read_licenses([License("search"), License("ai-input")])
    assert said(found) == "ai-index: no, ai-input: yes, ai-train: no, search: yes"


@pytest.mark.parametrize(
    ("license_", "text"),
    [
        (License("ai-train", conditions=("payment: crawl",)), "permits: ai-train (payment: crawl)"),
        (License("ai-train", conditions=("permits geo: EU", "x")), "permits: ai-train (permits geo: EU; x)"),
        (License(conditions=("payment: subscription",)), "payment: subscription"),
    ],
)
def test_a_permission_with_a_condition_is_recorded_and_no_yes(license_: License, text: str) -> None:
    found = read_licenses([license_])
    assert (found[0].category, found[0].text) == (None, text)
    assert "yes" not in said(found)
    assert "ai-train: no" not in said(found)


def test_tokens_are_read_in_any_case_and_with_commas() -> None:
    assert said(read_licenses([License(prohibits=" AI-Train,search\n")])) == "ai-train: no, search: no"


def test_an_unknown_token_is_recorded_as_irregular() -> None:
    (one,) = read_licenses([License(prohibits="ai-summarize")])
    assert (one.category, one.irregular) == (None, True)


@given(LICENSES)
def test_rsl_the_order_of_licenses_does_not_matter(licenses: list[License]) -> None:
    assert said(read_licenses(licenses)) == said(read_licenses(licenses[::-1]))


@given(LICENSES, st.sampled_from(TOKENS))
def test_rsl_one_more_prohibition_never_permits_more(licenses: list[License], token: str) -> None:
    before, after = (said(read_licenses(one)) for one in (licenses, [*licenses, License(prohibits=token)]))
    assert {yes for yes in after.split(", ") if "yes" in yes} <= set(before.split(", "))


# The document.


def test_rsl_a_file_answers_by_purpose_for_a_url() -> None:
    body = content("/open/", usage("permits", "all")) + content("/", usage("prohibits", "ai-all"))
    document = f"<rsl {NAMESPACE}>{body}</rsl>".encode()
    assert ai_answers("mybot", "/x", rsl=document) == {"search": None, "ai-input": False, "ai-train": False}
    assert ai_answers("mybot", "/open/x", rsl=document) == {"search": True, "ai-input": True, "ai-train": True}
    closed = parse(b"User-agent: *\nDisallow: /")
    assert ai_answers("mybot", "/x", robots=closed, rsl=document)["ai-train"] is None


@pytest.mark.parametrize(
    ("url", "matching", "other"),
    [
        ("/images/*.jpg$", "https://e.org/images/a.jpg", "https://e.org/images/a.jpg?x"),
        ("*.pdf", "https://e.org/a/b.pdf", "https://e.org/a"),
        ("https://e.org/a", "https://E.org:443/a/b", "http://e.org/a/b"),
        ("https://e.org", "https://e.org/a/b", "https://www.e.org/a"),
        ("/caf%c3%a9", "https://e.org/caf\xe9", "https://e.org/CAF%C3%A9"),
        ("images/", "https://e.org/images/a", "https://e.org/a/images/"),
    ],
)
def test_rfc_9309_the_url_of_a_content_matches_as_a_rule_does(url: str, matching: str, other: str) -> None:
    found = file(content(url, usage("prohibits", "search")))
    assert said(found.statements(matching, "license")) == "search: no"
    assert found.statements(other, "license") == ()


@pytest.mark.parametrize("url", ["http://[", "//e.org/", "ftp://e.org/", "https://e.org:x/", "mailto:a@e.org"])
def test_a_content_whose_url_is_none_says_nothing(url: str) -> None:
    assert file(content(url, usage("prohibits", "all"))).statements("https://e.org/", "license") == ()


def test_rsl_an_empty_url_is_for_all_of_the_site() -> None:
    assert said(file(content("", usage("prohibits", "search"))).statements("https://e.org/a", "l")) == "search: no"


def test_an_offer_of_the_narrower_content_sets_a_permission_aside_and_no_prohibition() -> None:
    offer = content("/paid/", usage("permits", "ai-train") + '<payment type="crawl"/>')
    wide = content("/", usage("permits", "all"))
    assert "ai-train" not in said(file(wide + offer).statements("/paid/x", "l"))
    forbidding = content("/", usage("prohibits", "ai-train"))
    assert "ai-train: no" in said(file(forbidding + offer).statements("/paid/x", "l"))


def test_of_contents_that_are_equally_wide_each_may_forbid() -> None:
    body = content("/a*c", usage("permits", "ai-train")) + content("/ab*", usage("permits", "search"))
    assert said(file(body).statements("/abc", "l")) == "ai-index: no, ai-input: no, ai-train: no, search: no"
    offer = content("/a*c", usage("permits", "all")) + content(
        "/ab*", usage("permits", "all"), attributes="server='s'"
    )
    assert said(file(offer).statements("/abc", "l")) == "unknown throughout"


def test_rsl_contents_with_one_url_are_read_together() -> None:
    body = content("/n/*", usage("permits", "search")) + content(
        "/n/*", usage("permits", "ai-input"), attributes="server='s'"
    )
    assert said(file(body).statements("/n/1", "l")) == "ai-index: no, ai-train: no, search: yes"


def test_what_is_asked_for_is_named_and_never_done() -> None:
    license_ = (
        usage("permits", "ai-train")
        + '<permits type="user">education</permits><prohibits type="geo">CN</prohibits>'
        + '<payment type="Crawl"><amount currency="USD">0.015</amount><standard>https://e.org/p</standard></payment>'
        + '<reporting type="audit"/><legal type="disclaimer">as-is\n no-warranty</legal>'
    )
    body = content("/", license_, attributes='server="https://l.org/api" encrypted="true"')
    body = body.replace("</content>", "<terms>https://e.org/terms</terms></content>")
    found = file(body).statements("/x", "https://e.org/l.xml")
    assert texts(found) == [
        "/ permits: ai-train (server: https://l.org/api, a license must be obtained;"
        " encrypted, a license must be obtained; payment: crawl amount 0.015 USD standard https://e.org/p;"
        " permits user: education; prohibits geo: CN; reporting audit)",
        "/ legal disclaimer: as-is no-warranty",
        "/ terms: https://e.org/terms",
    ]
    assert {one.source for one in found} == {"https://e.org/l.xml"}
    assert said(found) == "ai-index: no, ai-input: no, search: no"


def test_a_content_without_a_license_names_what_it_asks_for() -> None:
    body = '<content url="/" server="https://l.org"><terms>https://e.org/t</terms></content>'
    expected = ["/ terms: https://e.org/t", "/ server: https://l.org, a license must be obtained"]
    assert texts(file(body).statements("/", "l")) == expected


def test_an_unknown_element_takes_the_permissions_away_and_leaves_the_prohibitions() -> None:
    found = file(content("/", usage("permits", "search ai-train") + "<prohibit>x</prohibit>")).statements("/", "l")
    assert said(found) == "ai-index: no, ai-input: no"
    assert texts(found)[:1] == ["/ permits: search ai-train (invalid document)"]
    assert [one.text for one in found if one.irregular] == ["unknown element <prohibit>"]


def test_rsl_an_extension_and_what_it_holds_are_ignored() -> None:
    inside = f'<x:y xmlns:x="https://x.org"><permits {NAMESPACE} type="usage">all</permits></x:y>'
    found = file(content("/", inside + usage("prohibits", "search")) + f"<x xmlns='y'>{content('/', '')}</x>")
    assert (said(found.statements("/", "l")), found.problem) == ("search: no", "")
    other = file('<rsl xmlns="https://other.org">' + content("/", usage("prohibits", "all")) + "</rsl>")
    assert (said(other.statements("/", "l")), other.problem) == (
        "unknown throughout",
        "no RSL",
    )


@pytest.mark.parametrize(
    ("text", "days"),
    [("7", 7), (" 1 ", 1), ("0", 1), ("", 30), ("-1", 30), ("1.5", 30), ("9" * 10_000, 30), ("\u0663", 30)],
)
def test_rsl_a_document_counts_for_a_number_of_days(text: str, days: int) -> None:
    assert file(f'<rsl {NAMESPACE} max-age="{text}"/>').max_age == days * 86_400
    assert file(f"<rsl {NAMESPACE}/>").max_age == 30 * 86_400


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1"])
def test_xml_a_document_has_one_of_several_encodings(encoding: str) -> None:
    body = content("/caf\xe9", usage("prohibits", "all"))
    text = f'<?xml version="1.0" encoding="{encoding}"?><rsl {NAMESPACE}>{body}</rsl>'
    assert len(RslFile(text.encode(encoding)).statements("/caf\xe9", "l")) == len(Purpose)


# What a site and a page say together.


def of_site(allows: bool, category: Purpose = Purpose.AI_TRAIN) -> Statement:
    return Statement(Signal.RSL, category, allows, "https://e.org/l.xml", "x")


def test_rsl_of_several_licenses_each_may_forbid() -> None:
    files = {
        "a": file(content("/", usage("permits", "all"))),
        "b": file(content("/", usage("prohibits", "search"))),
    }
    assert (
        said(said_by_licenses(["a", "b"], files, "/")) == "ai-index: yes, ai-input: yes, ai-train: yes, search: no"
    )


def test_while_one_license_is_unknown_another_permits_nothing() -> None:
    files = {"a": file(content("/", usage("permits", "search")))}
    found = said_by_licenses(["a", "https://e.org/b.xml"], files, "/")
    assert said(found) == "ai-index: no, ai-input: no, ai-train: no"
    assert (found[-1].source, found[-1].text) == ("https://e.org/b.xml", "license not read")


@pytest.mark.parametrize("body", [b"<html><p>not found</p></html>", b"<rsl><content", b"<!DOCTYPE rsl><rsl/>"])
def test_while_one_license_is_broken_another_permits_nothing(body: bytes) -> None:
    files = {"a": file(content("/", usage("permits", "search"))), "b": RslFile(body)}
    found = said_by_licenses(["a", "b"], files, "/")
    assert said(found) == "ai-index: no, ai-input: no, ai-train: no"
    assert [one.text for one in found if one.source == "b"] == [files["b"].problem]


def test_rsl_a_license_in_a_page_precedes_that_of_the_site_where_it_speaks() -> None:
    own = [of_site(allows=True)]
    site = [of_site(allows=False), of_site(allows=False, category=Purpose.SEARCH)]
    assert as_page_says(site, own, ()) == site[1:]
    other = Statement(Signal.NOAI, Purpose.AI_TRAIN, allows=False, source="header", text="noai")
    assert as_page_says([other], own, ()) == [other]


def test_where_a_page_names_another_license_that_of_the_site_permits_nothing() -> None:
    site = [of_site(allows=True), of_site(allows=False, category=Purpose.SEARCH)]
    assert as_page_says(site, (), ["https://e.org/page.xml"]) == site[1:]
    assert as_page_says(site, (), ["https://e.org/l.xml"]) == as_page_says(site, (), ()) == site


# What no document can do.


def quadratic(size: int) -> str:
    return f'<!DOCTYPE rsl [<!ENTITY a "{"a" * size}">]><rsl>{"&a;" * size}</rsl>'


def exponential(levels: int) -> str:
    entities = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, levels))
    return f'<!DOCTYPE rsl [<!ENTITY a0 "ha">{entities}]><rsl>&a{levels - 1};</rsl>'


DOCUMENT_TYPE = "a document type, which may declare entities"
NOT_XML = "no well-formed XML, line 1"
ENCODING = "an encoding that cannot be read"
BOMBS: dict[str, tuple[Callable[[], bytes], str]] = {
    "quadratic entities": (lambda: quadratic(100_000).encode(), DOCUMENT_TYPE),
    "exponential entities": (lambda: exponential(30).encode(), DOCUMENT_TYPE),
    "external entity": (
        lambda: b'<!DOCTYPE rsl [<!ENTITY a SYSTEM "file:///etc/passwd">]><rsl>&a;</rsl>',
        DOCUMENT_TYPE,
    ),
    "external document type": (
        lambda: b'<!DOCTYPE rsl SYSTEM "http://127.0.0.1:1/x"><rsl/>', DOCUMENT_TYPE
    ),
    "an entity without a document type": (lambda: b"<rsl>&a;</rsl>", NOT_XML),
    "a file of 100 MB": (lambda: b"<rsl>" + b" " * 100 * MEGABYTE, "larger than 1,048,576 bytes"),
    "a depth of 100,000": (lambda: b"<rsl>" + b"<a>" * 100_000, "more than 100 nested elements"),
    "a million octets of elements": (lambda: b"<rsl>" + b"<a/>" * 250_000, "more than 20,000 elements"),
    "100,000 contents": (
        lambda: b"<rsl>" + b"<content url='/'/>" * 50_000, "more than 1,000 content elements"
    ),
    "attributes": (
        lambda: b"<rsl " + b" ".join(b"a%d=''" % number for number in range(80_000)) + b"/>", ""
    ),
    "a long attribute": (lambda: b"<rsl><content url='" + b"*a" * 500_000 + b"'/></rsl>", ""),
    "tokens": (
        lambda: b"<rsl><content url='/'><license><permits type='usage'>" + b"a b " * 250_000, NOT_XML
    ),
    "notes": (
        lambda: b"<rsl><content url='/'><license>"
        + b"".join(b"<legal type='%d'/>" % number for number in range(19_000))
        + b"</license></content></rsl>",
        "",
    ),
    "an encoding that is none": (lambda: b"<?xml version='1.0' encoding='hex'?><rsl/>", ENCODING),
    "a wide encoding": (lambda: b"<?xml version='1.0' encoding='shift_jis'?><rsl/>", ENCODING),
    "octets of zero": (lambda: b"\0" * 1_000_000, NOT_XML),
    "nothing": (lambda: b"", NOT_XML),
    "an HTML page": (lambda: b"<!DOCTYPE html><p>404", DOCUMENT_TYPE),
}  # fmt: skip


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_takes_little_time_and_memory_and_permits_nothing(name: str) -> None:
    make, problem = BOMBS[name]
    octets = make()
    tracemalloc.start()
    start = time.process_time()
    try:
        found = RslFile(octets)
        statements = found.statements("https://e.org/x", "l")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert time.process_time() - start < SECONDS
    assert peak < 40 * MEGABYTE
    assert found.problem == problem
    assert not any(one.allows for one in statements)
    assert len(statements) <= 30


def test_the_bounds_leave_room_for_an_honest_file() -> None:
    body = "".join(content(f"/{number}", usage("prohibits", "search")) for number in range(MAX_CONTENTS))
    found = file(body)
    assert found.problem == ""
    assert said(found.statements(f"/{MAX_CONTENTS - 1}", "l")) == "search: no"
    assert (MAX_DEPTH, MAX_ELEMENTS > 10 * MAX_CONTENTS, len(body) < MAX_SIZE) == (100, True, True)


PIECES = [
    "<rsl>", "</rsl>", f"<rsl {NAMESPACE}>", "<content url='/'>", "<content url='*'", ">", "</content>",
    "<license>", "</license>", "<permits type='usage'>", "</permits>", "search", "<payment/>", "<x:y>", "<!--",
    "-->", "<![CDATA[", "]]>", "&amp;", "&", "\0", "\ud800", "<?x?>", "<!DOCTYPE x>",
    "<?xml version='1.0' encoding='utf-16'?>",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES)).map("".join) | st.text(), st.sampled_from(["/", "", "http://[", "*"]))
def test_no_document_makes_its_reader_raise(text: str, url: str) -> None:
    for document in (text, text.encode("utf-8", "replace"), text.encode("utf-16", "replace")):
        for one in RslFile(document, url).statements(url, "l"):
            one.text.encode()


@given(st.binary())
def test_no_octets_make_their_reader_raise(octets: bytes) -> None:
    RslFile(octets).statements("/", "l")
