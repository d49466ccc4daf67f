"""What ``scrapy check`` says about the robots.txt of a real site."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from scrapy_rep import contracts
from scrapy_rep.contracts import CONTRACTS
from tests.support.command import scrapy_command
from tests.support.site import Answer, Site, redirect, robots

ROBOTS_TXT = """\
User-agent: *
Disallow: /private
Allow: /private/notice
Crawl-delay: 1.5
Sitemap: /1.xml
Sitemap: https://cdn.example/2.xml
"""
SETTINGS = 'SPIDER_MODULES = ["checked"]\nADDONS = {"scrapy_rep.Addon": 300}\nREP_UNREACHABLE_WAIT = 0\n'
HOLD = ["robots_allows /open /private/notice.html", "robots_disallows /private /private/x?y", "crawl_delay 1.5"]
HOLD += ["sitemaps 2", "sitemaps https://cdn.example/2.xml /1.xml"]


@pytest.fixture
def site() -> Iterator[Site]:
    with Site(("127.0.0.1", "127.0.0.2")) as running:
        running.answer("/robots.txt", robots(ROBOTS_TXT))
        yield running


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = checked_settings\n")
    (tmp_path / "checked_settings.py").write_text(SETTINGS)
    return tmp_path


def check(project: Path, *callbacks: list[str], spider: str = "Spider") -> tuple[int, int, str]:
    """The exit code of ``scrapy check``, how many contracts ran, and its output, of a spider with *callbacks*."""
    code = ["import scrapy.spiders", f"class Checked(scrapy.spiders.{spider}):", "    name = 'checked'"]
    for number, lines in enumerate(callbacks):
        docstring = "\n".join(f"        @{line}" for line in lines)
        code.append(f"    def parse_{number}(self, response):\n        '''\n{docstring}\n        '''")
    (project / "checked.py").write_text("\n".join(code) + "\n")
    exit_code, _, output = scrapy_command(project, "check")
    ran = re.search(r"^Ran (\d+) contract", output, re.MULTILINE)
    return exit_code, int(ran[1]) if ran else 0, output


@pytest.mark.parametrize("settings", ["", "ROBOTSTXT_OBEY = False\n"], ids=["obeying", "not-obeying"])
def test_contracts_that_hold_pass(site: Site, project: Path, settings: str) -> None:
    (project / "checked_settings.py").write_text(SETTINGS + settings)
    code, ran, output = check(project, [f"url {site.origin}/open", *HOLD])
    assert (code, ran) == (0, len(HOLD)), output
    assert site.paths() == ["/robots.txt", "/open"]


def test_a_contract_that_fails_names_the_rule_and_its_line(site: Site, project: Path) -> None:
    fails = {
        "robots_allows /open /private/x": "disallows /private/x: line 2, Disallow: /private",
        "robots_disallows /private/notice": "allows /private/notice: line 3, Allow: /private/notice",
        "robots_disallows /open": "allows /open: no rule",
        "robots_disallows /robots.txt": "allows /robots.txt: /robots.txt itself",
        "robots_allows https://other.example/": "does not apply to https://other.example/",
        "crawl_delay 0": "asks for a Crawl-delay of 1.5 s on line 4, not 0 s",
        "sitemaps 1": "names 2 sitemaps (/1.xml on line 5, https://cdn.example/2.xml on line 6), not 1",
        "sitemaps /1.xml": "on line 6), not /1.xml",
    }
    code, ran, output = check(project, [f"url {site.origin}/open", *fails])
    assert (code, ran) == (1, len(fails))
    assert output.count(f"ContractFail: robots.txt of {site.origin} ") == len(fails)
    missing = [text for text in fails.values() if text not in output]
    assert not missing, output
    assert "(as Scrapy)" in output


def test_messages_of_contracts_contain_no_control_characters(site: Site, project: Path) -> None:
    site.answer(
        "/robots.txt", robots("User-agent: *\nDisallow: /x*\x1b\nDisallow: /x\nSitemap: /\x1b[2J\u202e.xml\n")
    )
    _, _, output = check(project, [f"url {site.origin}/open", "sitemaps 2", "robots_allows /x%1B"])
    assert r"names 1 sitemap (/\x1b[2J\u202e.xml on line 4), not 2" in output
    assert r"disallows /x%1B: line 2, Disallow: /x*\x1b" in output
    assert output.replace("\n", "").isprintable()


def test_invalid_arguments_and_forbidden_samples_fail_and_say_why(site: Site, project: Path) -> None:
    here, there = site.origins
    site.answer("/robots.txt", Answer(503), there)
    code, _, output = check(
        project,
        [f"url {there}/", "robots_allows /"],
        [f"url {here}/open", "robots_allows"],
        [f"url {here}/open", "crawl_delay soon"],
        [f"url {here}/open", "sitemaps"],
        [f"url {here}/open", "robots_disallows http://[bad/"],
        [f"url {here}/open", "crawl_delay nan"],
        [f"url {here}/open", "sitemaps -1"],
    )
    assert code == 1
    assert "ForbiddenByRobots" in output  # the sample request itself
    assert "@robots_allows: expected paths or URLs of the origin in @url" in output
    assert "@crawl_delay soon: expected one number of seconds, 0 for no Crawl-delay" in output
    assert "@sitemaps: expected a number of sitemaps, or their URLs" in output
    assert "@robots_disallows http://[bad/: expected paths or URLs" in output
    assert "@crawl_delay nan: expected one number of seconds" in output
    assert "@sitemaps -1: expected a number of sitemaps" in output


def test_an_unreachable_robots_txt_that_is_not_obeyed_fails_a_contract(site: Site, project: Path) -> None:
    site.answer("/robots.txt", Answer(503))
    (project / "checked_settings.py").write_text(SETTINGS + "ROBOTSTXT_OBEY = False\n")
    code, ran, output = check(project, [f"url {site.origin}/open", "robots_allows /open"])
    assert (code, ran) == (1, 1)
    assert "is unreachable: HTTP status 503" in output


def test_after_a_redirect_the_origin_that_answered_is_checked(site: Site, project: Path) -> None:
    here, there = site.origins
    site.answer("/moved", redirect(f"{there}/open"), here)
    site.answer("/robots.txt", robots("User-agent: *\nDisallow: /there\n"), there)
    code, ran, output = check(project, [f"url {here}/moved", "robots_disallows /there"])
    assert (code, ran) == (0, 1), output


def test_a_parser_back_end_without_line_numbers_works_too(site: Site, project: Path) -> None:
    (project / "checked_settings.py").write_text(
        SETTINGS + 'ROBOTSTXT_PARSER = "scrapy.robotstxt.ProtegoRobotParser"\n'
    )
    code, ran, output = check(project, [f"url {site.origin}/open", *HOLD[:2], *HOLD[3:], "robots_allows /private"])
    assert (code, ran) == (1, 5)
    assert "disallows /private: rule (as" in output


def test_without_the_gate_a_contract_says_what_it_needs(site: Site, project: Path) -> None:
    names = [f"scrapy_rep.contracts.{contract.__name__}" for contract in CONTRACTS]
    (project / "checked_settings.py").write_text(
        f'SPIDER_MODULES = ["checked"]\nSPIDER_CONTRACTS = {dict.fromkeys(names, 10)}\n'
    )
    code, _, output = check(project, [f"url {site.origin}/open", "robots_allows /open"])
    assert code == 1
    assert "was not fetched: enable scrapy_rep.Addon in ADDONS" in output


def test_a_sitemap_spider_follows_no_sitemaps_under_scrapy_check(site: Site, project: Path) -> None:
    (project / "checked_settings.py").write_text(SETTINGS + "REP_FOLLOW_SITEMAPS = True\n")
    code, ran, output = check(project, [f"url {site.origin}/open", "sitemaps 2"], spider="SitemapSpider")
    assert (code, ran) == (0, 1), output
    assert site.paths() == ["/robots.txt", "/open"]


def test_the_add_on_sets_every_contract_of_the_module() -> None:
    public = {
        value
        for name, value in vars(contracts).items()
        if isinstance(value, type) and issubclass(value, contracts.RobotsContract) and not name.startswith("_")
    }
    assert public - {contracts.RobotsContract} == set(CONTRACTS)
