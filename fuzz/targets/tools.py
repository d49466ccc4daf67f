"""The tools that read a robots.txt: linter, difference, decisions in bulk, survey, and the web checker."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict
from typing import Final

from fuzz.inputs import parts, text_of
from scrapy_rep.census import ALL, Capture, Row, rows
from scrapy_rep.census.row import to_json
from scrapy_rep.protocol import DIALECTS, GOOGLE, Access, Dialect, Origin, RobotsTxt, parse, product_token
from scrapy_rep.tools.bulk.sources import Known, Missing
from scrapy_rep.tools.bulk.verdicts import LONGEST_URL, decide
from scrapy_rep.tools.difference import Difference
from scrapy_rep.tools.lint import CODES, lint
from scrapy_rep.tools.lint.config import Config
from scrapy_rep.tools.lint.file_linter import FileLinter
from scrapy_rep.tools.lint.fixes import Fixer
from scrapy_rep.tools.lint.sarif import sarif_results
from scrapy_rep.tools.web.question import CheckQuestion, QuestionError, question_in
from scrapy_rep.tools.web.verdicts import judge
from scrapy_rep.tools.web.visitors import LOCAL

from .questions import GOOGLES, SITE, Questions, questions, questions_in

_MOST_FIXES: Final = 6
_MOST_PATHS: Final = 16


def lint_(data: bytes) -> None:
    """Findings are in order, lie in the file, and can be shown; no fix changes an answer of the engine."""
    body, url, token, status = parts(data, 4)
    asked = questions(body, text_of(url), text_of(token))
    source = {"url": text_of(url), "hops": text_of(url).split()[:2], "status": len(status) * 100 or None}
    lint(body, **source)  # type: ignore[arg-type]
    for dialect in GOOGLES:
        _check_findings(body, dialect)
        _check_fixes(asked, dialect)


def _check_findings(body: bytes, dialect: Dialect) -> None:
    findings, lines = lint(body, dialect), body.splitlines()
    places = [(not CODES[each.code].is_accident, each.line, each.column, each.severity.rank) for each in findings]
    assert places == sorted(places)
    for each in findings:
        assert each.code in CODES
        assert 0 <= each.line <= max(len(lines), 1)
        assert 0 <= each.column <= (len(lines[each.line - 1]) + 1 if each.line and lines else 0)
        assert (each.message + each.advice).isprintable()
        for consequence in each.consequences:
            assert consequence.code in CODES
            assert 0 <= consequence.line <= max(len(lines), 1)
            assert consequence.message.isprintable()


def _check_fixes(asked: Questions, dialect: Dialect) -> None:
    body, before = asked.body, _answers(asked, parse(asked.body, dialect))
    fixer = Fixer(body, dialect)
    fixes = [fix for each in lint(body, dialect) if (fix := fixer.fix_for(each))]
    for fix in fixes[:_MOST_FIXES]:
        assert all(0 <= edit.start <= edit.end <= len(body) for edit in fix.edits)
        assert _answers(asked, parse(fix.applied_to(body), dialect)) == before
    linter = FileLinter(Config(), dialect, is_fixing=True)
    fixed = linter.lint("robots.txt", body)
    assert _answers(asked, parse(fixed.body, dialect)) == before
    assert linter.lint("robots.txt", fixed.body).body == fixed.body
    json.dumps(sarif_results(fixed))


def _answers(asked: Questions, file: RobotsTxt) -> list[object]:
    verdicts = [file.verdict(token, url).allowed for token in asked.tokens for url in asked.urls]
    return [verdicts, file.sitemaps, [file.crawl_delay(token) for token in asked.tokens]]


def diff(data: bytes) -> None:
    """A file does not differ from itself; each change is one of a verdict, and is one the other way round, too."""
    old, new, url, token, name = parts(data, 5)
    asked = questions(new, text_of(url), text_of(token))
    dialects = GOOGLE, DIALECTS.get(text_of(name), GOOGLE)
    same = Difference(old, old, asked.tokens, (GOOGLE, GOOGLE), limit=None)
    there = Difference(old, new, asked.tokens, dialects, limit=None)
    back = Difference(new, old, asked.tokens, dialects[::-1], limit=None)
    paths, count = there.sample_paths()
    assert 0 < len(paths) <= count
    before, after = parse(old, limit=None), parse(new, dialects[1], limit=None)
    for each in [*asked.urls, *paths[:_MOST_PATHS]]:
        changes = [*there.changes(each)]
        assert not [*same.changes(each)]
        assert [(one.agent, one.old, one.new) for one in changes] == [
            (one.agent, one.new, one.old) for one in back.changes(each)
        ]
        differing = [t for t in asked.tokens if before.verdict(t, each).allowed != after.verdict(t, each).allowed]
        assert [change.agent for change in changes] == differing


class _OneFile:
    """A source with one robots.txt, for every origin."""

    def __init__(self, body: bytes) -> None:
        self._known = Known(Access.SUCCESSFUL, body)

    def get(self, origin: Origin) -> Known | Missing:  # noqa: ARG002
        return self._known


def bulk(data: bytes) -> None:
    """Each URL gets the verdict of the engine, or is said to be none."""
    body, lines, token = parts(data, 3)
    agent = product_token(token) or "*"
    urls = [*text_of(lines).split("\n"), *questions(body, "", agent).urls] * 2
    file = parse(body)
    decided = [*decide(urls, _OneFile(body), [agent])]
    assert [url for url, _ in decided] == urls
    for url, said in decided:
        if said.reason == Missing.NO_URL:
            assert said.allowed is None
            assert _is_no_url(url)
        else:
            verdict = file.verdict(agent, url)
            assert (said.allowed, said.line, said.reason) == (
                verdict.allowed,
                verdict.line or None,
                verdict.reason,
            )
            assert said.origin == str(Origin.from_url(url))


def _is_no_url(url: str) -> bool:
    if len(url) > LONGEST_URL or any(character < " " or character == "\x7f" for character in url):
        return True
    with suppress(ValueError):
        Origin.from_url(url)
        return False
    return True


def survey(data: bytes) -> None:
    """A row comes back from its line; a line that is none raises nothing but `ValueError`."""
    body, line = parts(data, 2)
    (values,) = rows([Capture(f"{SITE}/robots.txt", 200, body)])
    text = to_json(values)
    assert text.isascii()
    assert text.isprintable()
    assert Row.from_json(text).as_dict() == values
    closed = {agent for agent, closes in values["restriction"].items() if closes == ALL}
    assert closed <= {*values["home_closed"]} <= {*values["restriction"]}
    with suppress(ValueError):
        Row.from_json(line.decode("utf-8"))


def web(data: bytes) -> None:
    """A question is refused with a sentence, or each of its answers is the engine's and can be sent."""
    body, text = parts(data, 2)
    asked = questions_in(body)
    with suppress(QuestionError):
        _check_web(question_in({"robots": text_of(asked.body), "urls": [*asked.urls]}, LOCAL))
    with suppress(QuestionError, ValueError, RecursionError):  # as the server does with what is no JSON
        _check_web(question_in(json.loads(text), LOCAL))


def _check_web(question: CheckQuestion) -> None:
    verdicts = judge(question)
    json.dumps(asdict(verdicts))
    file = parse(question.robots, question.flavour, limit=question.limit)
    for each in verdicts.verdicts:
        assert each.allowed is file.verdict(each.agent, each.url).allowed
