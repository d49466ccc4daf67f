"""What the pages say about findings."""

from __future__ import annotations

import pytest

from scrapy_rep.tools.lint import CODES, Severity
from scrapy_rep.tools.survey.texts import finding_text, finding_title, severity_of


@pytest.mark.parametrize("code", CODES)
def test_every_finding_is_explained_in_whole_sentences(code: str) -> None:
    text = finding_text(code)
    assert text.endswith(".")
    assert not set("{}") & set(text)
    assert ": ." not in text
    assert " ." not in text


def test_a_finding_of_another_version_is_a_note_of_its_code() -> None:
    assert (severity_of("x"), finding_title("x"), finding_text("x")) == (Severity.NOTE, "x", "")
