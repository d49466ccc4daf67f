"""Tasks of a newcomer, done by what the page shows: each takes a few presses, and its answer is in view."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.chromium import needs_chromium
from tests.support.site import Answer, Site, robots

from .browsing import Pages, answered, browser
from .checker import Checker

__all__ = ["browser"]

pytestmark = [pytest.mark.full, needs_chromium]

SCREENS: dict[str, dict[str, Any]] = {
    "laptop": {"viewport": {"width": 1280, "height": 800}},
    "phone": {"viewport": {"width": 360, "height": 780}, "is_mobile": True, "has_touch": True},
    "keyboard": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "dark"},
}
FAULTS = """User-agnt: *
Disallow: search
Crawl-delay: 5 sec

User-agent: Googelbot
Disallow: /assets/
Sitemap: /s.xml
"""
TYPO = "User-agent: *\nDisalow: /cart\n"


class Newcomer:
    """Presses what has a name and is seen, and reads what is on the screen."""

    def __init__(self, page: Any, *, has_mouse: bool) -> None:
        self.page = page
        self.presses = 0
        self._has_mouse = has_mouse

    def press(self, name: str, role: str = "button") -> None:
        self.presses += 1
        target = self.page.get_by_role(role, name=name, exact=True)
        if self._has_mouse:
            target.click()
        else:
            self._reach(target)
            self.page.keyboard.press("Enter")

    def choose(self, label: str) -> None:
        box = self.page.get_by_label(label)
        if self._has_mouse:
            box.check()
        else:
            self._reach(box)
            self.page.keyboard.press("Space")

    def _reach(self, target: Any) -> None:
        for _ in range(60):
            if target.evaluate("one => one === document.activeElement"):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"Tab does not reach {target}")

    def check(self, text: str) -> None:
        self.page.fill("#robots", text)
        self.press("Check")
        answered(self.page)

    def sees(self, text: str, part: str = "#answer") -> None:
        """*text* stands in that *part* of the page, without scrolling further than the checker did."""
        self.page.wait_for_timeout(300)
        place = self.page.locator(part).get_by_text(text).first
        place.wait_for()
        box = place.bounding_box()
        assert 0 <= box["y"] < self.page.viewport_size["height"], (text, box)


@pytest.fixture(params=SCREENS)
def newcomer(request: pytest.FixtureRequest, browser: Any, local: Checker) -> Iterator[Newcomer]:
    pages = Pages(browser, local.url)
    someone = Newcomer(pages.open(**SCREENS[request.param]), has_mouse=request.param != "keyboard")
    yield someone
    pages.close()
    assert pages.errors == []
    assert someone.presses <= 3


def test_why_is_my_site_closed(newcomer: Newcomer) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /\n"))
        newcomer.page.fill("#site", site.origin)
        newcomer.press("Fetch")
        answered(newcomer.page)
    newcomer.sees("Blocks the whole site.")
    newcomer.sees("All crawlers are blocked from everything (line 2).")
    newcomer.sees("Start with line 2")


def test_a_bookmark_shows_the_answer(newcomer: Newcomer) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /\n"))
        newcomer.page.goto(f"{newcomer.page.url}?site={site.origin}")
        answered(newcomer.page)
    newcomer.sees("Blocks the whole site.")


def test_a_link_of_another_site_fetches_nothing(newcomer: Newcomer) -> None:
    with Site() as site:
        link = f"<a href='{newcomer.page.url}?site={site.origin}'>robots.txt</a>"
        site.answer("/", Answer(body=link.encode(), headers=[("Content-Type", "text/html")]))
        newcomer.page.goto(site.origin)
        newcomer.press("robots.txt", "link")
        newcomer.page.get_by_text("Press Fetch to check the robots.txt of").wait_for()
        assert newcomer.page.input_value("#site") == site.origin
        assert "/robots.txt" not in site.paths()


def test_shut_out_ai_training(newcomer: Newcomer) -> None:
    newcomer.press("Write a robots.txt", "link")
    newcomer.choose("Keep crawlers that train AI away")
    newcomer.press("Write it")
    answered(newcomer.page)
    newcomer.sees("Works. Blocks the whole site for")
    newcomer.sees("known crawlers that train AI are blocked from everything")
    with newcomer.page.expect_download() as download:
        newcomer.press("Save robots.txt")
    assert "User-agent: GPTBot" in Path(download.value.path()).read_text("utf-8")


def test_fix_the_typo(newcomer: Newcomer) -> None:
    newcomer.check(TYPO)
    newcomer.sees("Write “Disallow: /cart”.")
    newcomer.press("Apply: Write “Disallow: /cart”.")
    newcomer.page.locator(".finding", has_text="misspelt-key").wait_for(state="detached")
    answered(newcomer.page)
    with newcomer.page.expect_download() as download:
        newcomer.press("Save robots.txt")
    assert Path(download.value.path()).read_text("utf-8") == TYPO.replace("Disalow", "Disallow")


def test_what_changes(newcomer: Newcomer) -> None:
    newcomer.check("User-agnt: *\nDisallow: /cart\n")
    newcomer.press("See what changes: Write “User-agent: *”; crawlers then obey it.")
    newcomer.page.wait_for_selector(".considered")
    answered(newcomer.page)
    newcomer.sees("may no longer fetch /cart")


def test_what_changes_far_down_in_a_list_of_faults(newcomer: Newcomer) -> None:
    newcomer.check(FAULTS)
    newcomer.press("See what changes: Write “User-agent: Googlebot”; Googlebot then follows this group.")
    newcomer.page.wait_for_selector(".considered")
    answered(newcomer.page)
    newcomer.sees("This changes what crawlers may fetch.", ".considered")


def test_share_the_answer(newcomer: Newcomer) -> None:
    newcomer.check(TYPO)
    newcomer.press("Share this answer")
    newcomer.page.wait_for_selector("#shared:not([hidden])")
    link = newcomer.page.input_value("#link")
    newcomer.page.goto("about:blank")
    newcomer.page.goto(link)
    answered(newcomer.page)
    newcomer.sees("Blocks 1 path.")
