"""The situations of the conformance kit: that they can be read, and that each tells something."""

from __future__ import annotations

import pytest
from scrapy import Request

from scrapy_rep.testing import SITUATIONS, Question
from scrapy_rep.testing.situations import SITE, read

TEXT = """# A source

## 1.2 A section

### A sentence.

```text
User-agent: *
Disallow: /a
```

| crawler | allowed | disallowed |
|---|---|---|
| ExampleBot | `/b` `/c` | `/a` |
| `ExampleBot/1.0 (x)` | | `/a` |

### Another sentence. (disputed)

```escaped
{a\\r\\n × 2}\\x00\\xFFb
```

| crawler | allowed | disallowed |
|---|---|---|
| * | `/` | |
"""


def test_a_situation_has_an_allowed_and_a_disallowed_side() -> None:
    for situation in SITUATIONS:
        sides = {question.allowed for question in situation.questions}
        assert sides == {True, False} or situation.section.endswith("disputed"), situation.name
        assert situation.sentence.endswith("."), situation.name


def test_the_urls_are_those_that_scrapy_requests() -> None:
    urls = {question.url for situation in SITUATIONS for question in situation.questions}
    assert {url for url in urls if Request(url).url != url} == set()


def test_no_situation_asks_the_same_twice_or_has_the_name_of_another() -> None:
    assert len({situation.name for situation in SITUATIONS}) == len(SITUATIONS)
    for situation in SITUATIONS:
        asked = [(question.crawler, question.url) for question in situation.questions]
        assert len(set(asked)) == len(asked), situation.name


def test_there_are_hundreds_of_questions_and_only_those_of_the_standard_are_required() -> None:
    assert sum(len(situation.questions) for situation in SITUATIONS) >= 600
    required = {source: set[bool]() for source in ("RFC 9309", "Google", "scrapy_rep")}
    for situation in SITUATIONS:
        required[situation.source].add(situation.required)
    assert required == {"RFC 9309": {True, False}, "Google": {False}, "scrapy_rep": {False}}
    assert {each.section.endswith("disputed") for each in SITUATIONS if each.source == "RFC 9309"} == {True, False}


def test_the_limit_of_500_kib_lies_between_the_situations_that_are_about_it() -> None:
    within, beyond = (
        next(each for each in SITUATIONS if each.sentence == sentence)
        for sentence in (
            "At least 500 KiB are read: a rule at the end of as much counts.",
            "What stands beyond 500 KiB is ignored.",
        )
    )
    assert 511_000 < len(within.body) <= 512_000
    assert beyond.body.index(b"Disallow: /beyond") > 512_000


def test_a_situation_is_read_with_its_section_its_questions_and_its_body() -> None:
    first, second = read(TEXT, "file")
    assert (first.heading, first.sentence, first.name) == (
        "A source 1.2 A section", "A sentence.", "file-1.2-a-sentence",
    )  # fmt: skip
    assert first.body == b"User-agent: *\nDisallow: /a\n"
    assert first.questions == (
        Question("ExampleBot", f"{SITE}/b", allowed=True),
        Question("ExampleBot", f"{SITE}/c", allowed=True),
        Question("ExampleBot", f"{SITE}/a", allowed=False, line=2),
        Question("ExampleBot/1.0 (x)", f"{SITE}/a", allowed=False, line=2),
    )
    assert (first.required, second.required, second.section) == (True, False, "1.2 A section, disputed")


def test_whole_headers_are_asked_about_in_situations_that_are_not_required() -> None:
    """RFC 9309 speaks of product tokens; which one is in a header is not its business."""
    headers = {each.required for each in SITUATIONS for asked in each.questions if "/" in asked.crawler}
    assert headers == {False}


def test_an_escaped_body_has_its_octets_and_no_line_end_more() -> None:
    assert [*read(TEXT)][1].body == b"a\r\na\r\n\x00\xffb"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("## A section", "file: the first line must be the title"),
        (TEXT.replace("```text", "```python"), "file: every ### of '1.2 A section' needs a fence and a table"),
    ],
)
def test_a_file_that_cannot_be_read_is_an_error_that_names_the_place(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        [*read(text, "file")]
