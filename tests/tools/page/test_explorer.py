"""A list of items and a page for each, in a real browser, whatever the items say."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import quote, unquote

import pytest

from scrapy_rep.tools.page import CHUNK, Column, Explorer, ItemDetails, Tag, page_template
from tests.support.chromium import dump_dom, needs_chromium
from tests.support.site import Answer, Site

EVIL = '</script><script>document.title="run"</script><img src=x onerror=\'document.title="run"\'>'
PAGE = """{% extends "base.html" %}{% import "explorer.html" as explorer %}
{% block policy %}; script-src {{ script_hash|safe }}{% endblock %}
{% block style %}{{ explorer.style() }}{% endblock %}
{% block main %}{{ explorer.navigation("things") }}<div id="overview"><h1>All</h1></div>
{{ explorer.views("things", "Things", "Only") }}{{ explorer.data(index, chunks, script) }}{% endblock %}"""


def page(explorer: Explorer) -> str:
    template = page_template("scrapy_rep.tools.survey").environment.from_string(PAGE)
    return template.render(explorer.packed())


def things() -> Explorer:
    """More than a chunk of items: 0 to 99, and one with a hostile name and text."""
    explorer = Explorer("things", [Column("Thing"), Column("Size", "number")])
    for number in range(100):
        tags = [Tag("even", "Kind", "Even", "Divisible by 2.")] if number % 2 == 0 else []
        explorer.add([f"thing {number}", number or None], tags, ItemDetails([("Number", str(number))]))
    marks = [(EVIL, [("red", EVIL, [2])])]
    item = ItemDetails([("Fact", EVIL)], marks, EVIL, [EVIL, "second"], {1: [("red", EVIL)]})
    explorer.add([EVIL, 1_000], [Tag(EVIL, EVIL, EVIL, EVIL)], item)
    return explorer


QUERIES = [
    ("", ("thing 0", ""), 100, "101 of 101 things"),
    ("?sort=-1", ("&lt;/script&gt;", "1,000"), 100, "101 of 101 things"),
    ("?sort=1", ("thing 1", "1"), 100, "101 of 101 things"),
    ("?sort=-0&find=THING", ("thing 99", "99"), 100, "100 of 101 things"),
    ("?tag=even&find=thing 1", ("thing 10", "10"), 5, "5 of 101 things"),
    ("?find=nothing+like+this", None, 0, "0 of 101 things"),
    ("?sort=9&tag=unknown", ("thing 0", ""), 100, "101 of 101 things"),
]
FRAGMENTS = [
    *(f"list{query}" for query, *_ in QUERIES),
    *("item?" + quote(name) for name in ("thing 0", f"thing {CHUNK}", "thing 99", "x", EVIL)),
]
FRAMES = """<!DOCTYPE html><title></title><body><script>
for (const fragment of %s) {
    const frame = document.createElement("iframe");
    frame.src = "page.html#" + fragment;
    document.body.append(frame);
}
setTimeout(() => {
    const frames = [...document.querySelectorAll("iframe")];
    const seen = frames.map(one => one.contentDocument.documentElement.outerHTML);
    document.title = encodeURIComponent(JSON.stringify(seen));
}, 4000);
</script>"""


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The page as the browser has it, without its data and script, by fragment: all in frames of one page."""
    html, folder = [("Content-Type", "text/html; charset=utf-8")], tmp_path_factory.mktemp("explorer")
    with Site() as site:
        site.answer("/page.html", Answer(body=page(things()).encode(), headers=html))
        site.answer("/", Answer(body=(FRAMES % json.dumps(FRAGMENTS)).encode(), headers=html))
        document = dump_dom(site.origin, folder, "--virtual-time-budget=5000").decode()
    title = re.search("<title>(.*?)</title>", document)
    assert title, document
    seen = json.loads(unquote(title[1]))
    return {
        fragment: re.sub(r"(?s)<script.*?</script>", "", one)
        for fragment, one in zip(FRAGMENTS, seen, strict=True)
    }


def rows(document: str) -> list[tuple[str, str]]:
    return re.findall(r'<tr><th scope="row"><a [^>]*>(.*?)</a></th><td class="number">(.*?)</td></tr>', document)


@needs_chromium
@pytest.mark.parametrize(("query", "first", "number", "count"), QUERIES)
def test_the_list_is_filtered_and_sorted_as_the_url_says(
    shown: dict[str, str], query: str, first: tuple[str, str] | None, number: int, count: str
) -> None:
    document = shown[f"list{query}"]
    found = rows(document)
    assert len(found) == number
    if first:
        assert found[0][0].startswith(first[0])
        assert found[0][1] == first[1]
    assert f'<p id="count" role="status">{count}</p>' in document
    assert ("Divisible by 2." in document) == ("even" in query)
    assert re.search(r'<div id="overview" hidden(="")?>', document)
    assert ('id="none" class="soft" hidden' in document) == (number > 0)


@needs_chromium
def test_an_item_is_shown_from_whatever_chunk_it_is_in(shown: dict[str, str]) -> None:
    assert CHUNK < 99
    for number in (0, CHUNK, 99):
        document = shown["item?" + quote(f"thing {number}")]
        assert f"<dt>Number</dt><dd>{number}</dd>" in document
        assert f'<h1 id="item-name">thing {number}</h1>' in document
    assert "There is no “x” here" in shown["item?x"]


@needs_chromium
def test_what_an_item_says_is_text(shown: dict[str, str]) -> None:
    for fragment in ("list", "item?" + quote(EVIL)):
        document = shown[fragment]
        assert "<img" not in document
        assert "<title></title>" in document.replace("\n", "")
        assert "&lt;img src=x" in document
    assert document.count("&lt;img src=x") >= 7
    assert '<button type="button" class="link">line 2</button>' in document


def test_no_text_ends_the_element_with_the_data() -> None:
    document = page(things())
    assert EVIL not in document
    assert "<img" not in document
    assert document.count("</script>") == document.count("<script") == 4


@needs_chromium
def test_another_script_than_ours_does_not_run(tmp_path: Path) -> None:
    added = page(things()).replace("</main>", "<script>document.title = 'run'</script></main>")
    (tmp_path / "page.html").write_text(added, encoding="utf-8")
    document = dump_dom((tmp_path / "page.html").as_uri(), tmp_path, "--virtual-time-budget=5000").decode()
    assert "<title></title>" in document
    assert '<nav id="views" aria-label="Views">' in document
