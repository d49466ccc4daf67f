"""``explain`` and the census read what answers refuse as the table says."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scrapy_rep.census import Capture, rows
from scrapy_rep.census.warc import WarcReader
from scrapy_rep.directives.refusals import Refusal
from tests.census.archives import record
from tests.support.command_here import robots_here
from tests.support.refusals import CASES
from tests.support.site import Answer, Site

ONCE = ("-s", "REP_RETRY_TIMES=0", "-s", "RETRY_ENABLED=False", "-s", "REP_STORE=memory")
EXPECTED = {name: case.refused for name, case in CASES.items()}
HTML = Answer(headers=[("Content-Type", "text/html")], body=b"<meta name=robots content=noindex>")


@pytest.fixture(scope="module")
def world() -> Iterator[tuple[Site, dict[str, str]]]:
    """A site for each answer, to ``/page`` and at another port to ``/robots.txt``; and their names by origin."""
    addresses = [f"127.0.62.{number}" for number in range(1, len(CASES) + 1)]
    with Site(addresses) as site:
        names = dict(zip(site.origins, CASES))
        for origin, name in names.items():
            site.answer("/page", CASES[name].answer, origin)
        yield site, names


@pytest.fixture(scope="module")
def refusing() -> Iterator[dict[str, str]]:
    """The origins of sites whose robots.txt is such an answer, by its name."""
    with Site([f"127.0.63.{number}" for number in range(1, len(CASES) + 1)]) as site:
        for origin, name in zip(site.origins, CASES):
            site.answer("/robots.txt", CASES[name].answer, origin)
            site.answer("/page", HTML, origin)
        yield dict(zip(CASES, site.origins))


def text(facts: dict[str, Any] | None) -> str:
    return str(Refusal(**facts)) if facts else ""


def explained(folder: Path, *arguments: str) -> list[dict[str, Any]]:
    _, out, _ = robots_here(folder, "explain", *arguments, "--full", "--json", "--agent", "mybot", *ONCE)
    return [json.loads(line) for line in out.splitlines()]


def test_explain_reads_a_page_as_the_table_says(world: tuple[Site, dict[str, str]], tmp_path: Path) -> None:
    _, names = world
    found = explained(tmp_path, *(f"{origin}/page" for origin in names), "--page")
    assert {names[facts["origin"]]: text(facts["page"]["refused"]) for facts in found} == EXPECTED
    assert all(facts["allowed"] for facts in found)


def test_explain_reads_a_robots_txt_as_the_table_says(refusing: dict[str, str], tmp_path: Path) -> None:
    explanations = explained(tmp_path, *(f"{origin}/page" for origin in refusing.values()))
    found = {facts["origin"]: text(facts["robots_txt"]["refused"]) for facts in explanations}
    assert {name: found[origin] for name, origin in refusing.items()} == EXPECTED


def test_a_survey_reads_a_robots_txt_as_the_table_says(refusing: dict[str, str], tmp_path: Path) -> None:
    robots_here(tmp_path, "survey", *refusing.values(), "--out", "out", "--light", *ONCE)
    lines = (tmp_path / "out" / "survey.jsonl").read_text().splitlines()
    found = {row["site"]: row["refused"] or "" for row in map(json.loads, lines)}
    assert {name: found[origin] for name, origin in refusing.items()} == EXPECTED
    page = (tmp_path / "out" / "survey.html").read_text()
    number = sum(map(bool, EXPECTED.values()))
    assert f"{number} sites answer with a refusal instead of a robots.txt" in page


@pytest.mark.parametrize("name", CASES)
def test_an_archive_reads_a_robots_txt_as_the_table_says(name: str) -> None:
    case = CASES[name]
    head = [f"HTTP/1.1 {case.status} Answer", *(f"{key}: {value}" for key, value in case.headers), "", ""]
    octets = record("\r\n".join(head).encode() + b"<html>")
    (row,) = rows(WarcReader().captures(io.BytesIO(octets)))
    assert (row["refused"] or "") == case.refused
    assert row["access"] == "unreachable" or case.kind != "challenge"


def test_a_capture_without_headers_refuses_what_its_status_says() -> None:
    captures = [Capture("https://e.example/robots.txt", status) for status in (402, 404)]
    assert [row["refused"] for row in rows(captures)] == ["402", None]


# What people read.


def sentence(world: tuple[Site, dict[str, str]], name: str, folder: Path, *arguments: str) -> tuple[int, str]:
    origin = next(origin for origin, each in world[1].items() if each == name)
    code, out, _ = robots_here(folder, "explain", f"{origin}/page", *arguments, "--agent", "mybot", *ONCE)
    return code, out.replace(origin, "ORIGIN")


def test_explain_says_that_the_site_refuses_what_robots_txt_allows(
    world: tuple[Site, dict[str, str]], tmp_path: Path
) -> None:
    code, out = sentence(world, "price", tmp_path, "--page")
    assert out.startswith("allowed, refused by the site (402, USD 0.01)  ORIGIN/page\n")
    assert "refused by the site (402, USD 0.01): what the answer says has no effect" in out
    assert code == 0
    assert sentence(world, "aws-challenge", tmp_path, "--page")[1].startswith(
        "allowed, refused by the site (202, challenge, AWS WAF)  ORIGIN/page\n"
    )
    assert sentence(world, "charged", tmp_path, "--page")[1].startswith("allowed  ORIGIN/page\n")


def test_explain_says_what_a_refused_robots_txt_means(refusing: dict[str, str], tmp_path: Path) -> None:
    for name, verdict, line in (
        ("price", "allowed  ", "refused by the site (402, USD 0.01), which RFC 9309 takes for no robots.txt"),
        ("403", "allowed  ", "refused by the site (403), which RFC 9309 takes for no robots.txt"),
        (
            "cloudflare-403",
            "disallowed  ",
            "unreachable: a challenge in place of the answer (cf-mitigated, HTTP status 403)",
        ),
    ):
        _, out, _ = robots_here(tmp_path, "explain", f"{refusing[name]}/page", "--agent", "mybot", *ONCE)
        assert out.startswith(verdict)
        assert line in out
