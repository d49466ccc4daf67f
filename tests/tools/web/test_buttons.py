"""Every button, in each mode of the command, in a real Chromium with and without a script: the page that comes."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.support.chromium import needs_chromium
from tests.support.command import scrapy_process
from tests.support.site import Answer, Site, robots

from .browsing import TEXT, Pages, answered, browser

__all__ = ["browser"]

pytestmark = [pytest.mark.full, needs_chromium]

TWO_TYPOS = TEXT.replace("Frob: x", "Allowed: /help")
CONSIDERED = "User-agnt: *\nDisallow: /cart\n"
ADDRESSES = count(1)


@dataclass(frozen=True)
class Mode:
    """The command as it runs: where, and whether for strangers."""

    url: str
    is_public: bool


@pytest.fixture(scope="module", params=["default", "public"])
def mode(request: pytest.FixtureRequest) -> Iterator[Mode]:
    is_public = request.param == "public"
    process = scrapy_process("robots", "serve", "--port", "0", *(["--public"] if is_public else []))
    assert process.stdout
    try:
        yield Mode(process.stdout.readline().decode().split()[0], is_public)
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


@dataclass(frozen=True)
class Visit:
    """A page that was opened, with or without a script."""

    page: Any
    mode: Mode
    has_script: bool

    def press(self, name: str) -> None:
        """Press the button with this text, and wait for the page where no script answers."""
        button = self.page.locator("button:visible", has_text=re.compile(f"^{name}$")).first
        if self.has_script:
            button.click()
        else:
            with self.page.expect_navigation():
                button.click()

    def open(self, path: str) -> None:
        self.page.goto(self.mode.url + path)

    def ask(self, text: str = TEXT, urls: str = "/private/1") -> None:
        self.page.fill("#robots", text)
        self.page.fill("#urls", urls)
        self.press("Check")
        answered(self.page)

    @property
    def answer(self) -> str:
        return str(self.page.inner_text("#answer"))


@pytest.fixture(params=["script", "no script"])
def visit(request: pytest.FixtureRequest, browser: Any, mode: Mode) -> Iterator[Visit]:
    has_script = request.param == "script"
    pages = Pages(browser, mode.url)
    yield Visit(pages.open(java_script_enabled=has_script), mode, has_script)
    pages.close()
    refused = re.compile("the server responded with a status of (400|422)")
    assert [error for error in pages.errors if not refused.search(error)] == []


# What is pressed, and what comes.


def check(visit: Visit) -> None:
    visit.ask()
    assert "disallowed" in visit.page.inner_text(".verdicts")
    assert visit.page.input_value("#robots") == TEXT


def fetch(visit: Visit) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots(TEXT))
        visit.page.fill("#site", f"http://127.0.1.{next(ADDRESSES)}" if visit.mode.is_public else site.origin)
        visit.press("Fetch")
        if visit.mode.is_public:
            visit.page.wait_for_selector(".problem")
            assert "not public" in visit.answer
        else:
            answered(visit.page)
            assert f"by {site.origin}/robots.txt" in visit.answer


def stop(visit: Visit) -> None:
    if not visit.has_script or visit.mode.is_public:
        assert not visit.page.locator("#stop").is_visible()
        return
    with Site() as site:
        site.answer("/robots.txt", Answer(hangs=True))
        visit.page.fill("#site", site.origin)
        visit.press("Fetch")
        visit.press("Stop")
        visit.page.locator("#steps", has_text="stopped").wait_for()


def link(visit: Visit) -> None:
    if not visit.has_script:
        assert not visit.page.locator("#share").is_visible()
        return
    visit.ask()
    visit.press("Share this answer")
    visit.page.wait_for_selector("#shared:not([hidden])")
    assert "#q=" in visit.page.input_value("#link")


def save(visit: Visit) -> None:
    visit.ask()
    for button, name, start in (
        ("Save robots.txt", "robots.txt", "# shop"),
        ("Save the table as CSV", "verdicts.csv", "url,"),
    ):
        with visit.page.expect_download() as download:
            visit.page.get_by_role("button", name=button).click()
        assert download.value.suggested_filename == name
        assert Path(download.value.path()).read_text("utf-8").startswith(start)


def example(visit: Visit) -> None:
    visit.press("Try an example")
    answered(visit.page)
    assert visit.page.input_value("#robots").startswith("# The robots.txt of a shop")
    assert "/account" in visit.page.input_value("#urls")
    assert "Content-Signal says yes to search and no to AI training" in visit.answer


def check_again(visit: Visit) -> None:
    visit.ask()
    visit.page.get_by_text("Crawlers and dialect").click()
    visit.page.fill("#names", "(")
    visit.press("Check again")
    visit.page.locator(".problem", has_text="contains no product token").wait_for()
    assert visit.page.input_value("#names").strip() == "("


def print_it(visit: Visit) -> None:
    visit.ask()
    if not visit.has_script:
        assert not visit.page.locator("#print").is_visible()
        return
    visit.page.evaluate("window.print = () => { document.title = 'printed'; }")
    visit.press("Print")
    assert visit.page.title() == "printed"


def apply_all(visit: Visit) -> None:
    visit.ask(TWO_TYPOS)
    visit.press("Apply all 2")
    visit.page.locator(".finding", has_text="misspelt-key").wait_for(state="detached")
    answered(visit.page)
    assert "Disallow: /cart\nAllow: /help" in visit.page.input_value("#robots")


def apply(visit: Visit) -> None:
    visit.ask()
    visit.press("Apply")
    visit.page.locator(".finding", has_text="Disalow").wait_for(state="detached")
    answered(visit.page)
    assert "Disallow: /cart" in visit.page.input_value("#robots")


def change(visit: Visit) -> None:
    visit.ask(CONSIDERED, "/cart")
    visit.press("See what changes")
    visit.page.wait_for_selector(".considered")
    visit.press("Leave it as it is")
    visit.page.wait_for_selector(".considered", state="detached")
    answered(visit.page)
    visit.press("See what changes")
    visit.press("Change it")
    visit.page.wait_for_selector(".considered", state="detached")
    answered(visit.page)
    assert visit.page.input_value("#robots") == CONSIDERED.replace("agnt", "agent")


def why(visit: Visit) -> None:
    visit.ask()
    visit.page.locator(".verdicts td button").first.click()
    assert "Disallow: /private" in visit.page.locator(".why:popover-open").inner_text()


def write(visit: Visit) -> None:
    visit.page.get_by_role("link", name="Write a robots.txt", exact=True).click()
    visit.page.get_by_label("Keep crawlers that train AI away").check()
    visit.page.locator("button", has_text="Write it").click()
    answered(visit.page)
    assert "User-agent: GPTBot" in visit.page.input_value("#robots")
    assert visit.page.url.startswith(visit.mode.url)


PRESSES: dict[str, tuple[Callable[[Visit], None], ...]] = {
    "Check": (check,), "Fetch": (fetch,), "Stop": (stop,), "Share this answer": (link,),
    "Try an example": (example,), "Check again": (check_again,), "Print": (print_it,), "Apply all 2": (apply_all,),
    "Save robots.txt": (save,), "Save the table as CSV": (save,), "Apply": (apply,),
    "See what changes": (change,), "Leave it as it is": (change,), "Change it": (change,),
    "verdict": (why,), "Write it": (write,),
}  # fmt: skip
"""What each button is pressed by; "verdict" are those in the table."""


@pytest.mark.parametrize("pressed", dict.fromkeys(one for each in PRESSES.values() for one in each))
def test_each_button_answers_with_what_it_promises(visit: Visit, pressed: Callable[[Visit], None]) -> None:
    pressed(visit)


def test_no_button_is_left_out(browser: Any, mode: Mode) -> None:
    pages = Pages(browser, mode.url)
    visit, found = Visit(pages.open(java_script_enabled=False), mode, False), set[str]()
    texts = "all => all.map((one) => one.closest('.verdicts') ? 'verdict' : one.textContent.trim())"
    for text in (TWO_TYPOS, CONSIDERED):
        visit.ask(text)
        found |= {*visit.page.locator("button").evaluate_all(texts)}
    visit.press("See what changes")
    for path in ("", "write"):
        found |= {*visit.page.locator("button").evaluate_all(texts)}
        visit.open(path)
    found |= {*visit.page.locator("button").evaluate_all(texts)}
    pages.close()
    assert found == PRESSES.keys()
