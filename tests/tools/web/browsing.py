"""A real Chromium that Playwright drives, and what the tests of the page do with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.chromium import CHROMIUM

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: the extra browser")

TEXT = """# shop
User-agent: *
Disallow: /private
Allow: /private/open
Disalow: /cart
Frob: x

User-agent: GPTBot
Disallow: /
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as running:
        chromium = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


class Pages:
    """Opens pages, and fails when one logs an error or breaks the Content-Security-Policy."""

    def __init__(self, browser: Any, url: str) -> None:
        self.url = url
        self._browser = browser
        self._contexts: list[Any] = []
        self.errors: list[str] = []

    def open(self, path: str = "", *, is_elsewhere: bool = False, **options: Any) -> Any:
        context = self._browser.new_context(**options)
        self._contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda line: self.errors.append(line.text) if line.type == "error" else None)
        page.goto(path if is_elsewhere else self.url + path)
        return page

    def close(self) -> None:
        for context in self._contexts:
            assert context.cookies() == []
            context.close()


def ask(page: Any, text: str = TEXT, urls: str = "/private/1\n/shop") -> None:
    """Paste, choose, and press the button."""
    page.fill("#urls", urls)
    page.fill("#robots", text)
    page.get_by_role("button", name="Check", exact=True).click()
    answered(page)


def answered(page: Any) -> None:
    """Wait until the whole answer is there."""
    page.wait_for_selector("#answer:not(.busy) #sitemaps")


def until(page: Any, expression: str) -> None:
    """Wait until the JavaScript *expression* is true; Playwright's own way breaks the Content-Security-Policy."""
    for _ in range(400):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"never true: {expression}")


def verdicts(page: Any) -> list[str]:
    return [text.split()[0] for text in page.locator(".verdicts td button").all_inner_texts()]
