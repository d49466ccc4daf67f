"""The page in a real Chromium: with and without a script, by keyboard, on a phone, in the dark, and for axe."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scrapy_rep.tools.web.visitors import LOCAL
from tests.support.chromium import CHROMIUM, needs_chromium
from tests.support.site import Answer, Site, redirect, robots

from .browsing import TEXT, Pages, answered, ask, browser, until, verdicts
from .checker import ROBOTS, Checker, checker

__all__ = ["browser"]

axe = pytest.importorskip("axe_playwright_python.base", reason="axe is not installed: the extra browser")

pytestmark = [pytest.mark.full, needs_chromium]

DROPPED = """() => {
    const octets = [...new TextEncoder().encode("User-agent: *\\r\\nDisallow: /"), 0xe9];
    const transfer = new DataTransfer();
    transfer.items.add(new File([new Uint8Array(octets)], "robots.txt"));
    return transfer;
}"""
AXE = Path(axe.__file__).with_name("axe.min.js").read_text("utf-8")


@pytest.fixture
def pages(browser: Any, local: Checker) -> Iterator[Pages]:
    opened = Pages(browser, local.url)
    yield opened
    opened.close()
    assert opened.errors == []


def choose(page: Any, *agents: str) -> None:
    """Choose these crawlers and no others."""
    page.locator("details").evaluate_all("all => all.forEach((one) => { one.open = true; })")
    boxes = page.locator("input[type=checkbox]")
    boxes.evaluate_all("all => all.forEach((one) => { one.checked = false; })")
    for agent in agents:
        page.locator(f"input[type=checkbox][value='{agent}']").check()


def test_a_text_that_is_pasted_is_answered_at_once_as_one_types(pages: Pages) -> None:
    page = pages.open()
    page.fill("#urls", "/private/1")
    page.fill("#robots", TEXT)
    answered(page)
    assert verdicts(page) == ["disallowed"] * 3 + ["all"]
    page.locator("#robots").press_sequentially("\nUser-agent: Bingbot\nAllow: /")
    until(page, "document.querySelectorAll('.verdicts td.yes').length === 1")


def test_the_form_asks_about_what_is_chosen(pages: Pages) -> None:
    page = pages.open()
    choose(page, "Googlebot")
    page.fill("#names", "gptbot/2.0")
    ask(page, urls="/private/open\n/x")
    assert page.locator(".verdicts thead th").all_inner_texts() == ["URL", "Googlebot", "gptbot"]
    assert verdicts(page) == ["allowed", "disallowed", "allowed", "disallowed"]


def test_pointing_at_a_verdict_lists_the_rules_that_match(pages: Pages) -> None:
    page = pages.open()
    ask(page, urls="/private/open/1")
    cell = page.locator(".verdicts td").first
    cell.hover()
    why = page.locator(".why:popover-open")
    why.wait_for()
    assert re.findall(r"line (\d)", why.inner_text()) == ["4", "3"]
    box, at = why.bounding_box(), cell.bounding_box()
    assert abs(box["y"] - at["y"] - at["height"]) < 3
    why.get_by_role("link").first.hover()
    assert why.count() == 1
    page.locator("#answer-title").hover()
    until(page, "!document.querySelector('.why:popover-open')")


def test_a_file_that_is_dropped_counts_with_all_its_octets(pages: Pages) -> None:
    page = pages.open()
    transfer = page.evaluate_handle(DROPPED)
    page.dispatch_event("#robots", "dragover", {"dataTransfer": transfer})
    assert "over" in page.locator("#drop").get_attribute("class")
    page.dispatch_event("#robots", "drop", {"dataTransfer": transfer})
    answered(page)
    assert page.locator(".finding", has_text="not-utf-8").count() == 1
    assert page.locator(".finding", has_text="crlf-line-ends").count() == 1
    assert page.input_value("#robots") == "User-agent: *\nDisallow: /\ufffd"


def test_a_file_that_is_far_too_large_is_not_sent(pages: Pages) -> None:
    page = pages.open()
    large = {"name": "x", "mimeType": "text/plain", "buffer": b"x" * 2_048_001}
    page.set_input_files("#file", files=[large])
    page.wait_for_selector(".problem")
    assert "2,048,001 bytes" in page.inner_text(".problem")


def test_a_site_is_fetched_with_its_steps_and_checked(pages: Pages) -> None:
    released: list[bool] = []
    with Site() as site:
        site.answer("/robots.txt", redirect("/other"))
        site.answer("/other", Answer(200, ROBOTS.encode(), when=lambda: bool(released)))
        page = pages.open()
        page.fill("#site", site.origin)
        page.fill("#urls", "/cart")
        page.get_by_role("button", name="Fetch").click()
        until(page, "document.querySelectorAll('#steps li').length === 3")
        assert page.get_by_role("progressbar").is_visible()
        released.append(True)
        answered(page)
    assert not page.get_by_role("progressbar").is_visible()
    assert page.input_value("#robots") == ROBOTS
    assert f"status 200, {len(ROBOTS)} bytes" in page.inner_text("#steps")
    assert f"by {site.origin}/robots.txt" in page.inner_text("#answer")
    page.locator("#robots").press_sequentially("#")
    until(page, "!document.getElementById('answer').innerText.includes('/robots.txt')")


def test_a_fetch_can_be_stopped_and_one_that_fails_says_why(pages: Pages) -> None:
    with Site() as site:
        site.answer("/robots.txt", Answer(hangs=True))
        page = pages.open()
        page.fill("#site", site.origin)
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Stop").click()
        until(page, "document.getElementById('steps').innerText.includes('stopped')")
    page.fill("#site", site.origin)
    page.get_by_role("button", name="Fetch").click()
    page.wait_for_selector(".problem")
    assert "does not answer" in page.inner_text(".problem")


def test_a_site_without_a_robots_txt_allows_everything_until_something_is_pasted(pages: Pages) -> None:
    with Site() as site:
        page = pages.open()
        page.fill("#site", site.origin)
        page.fill("#urls", "/private")
        page.get_by_role("button", name="Fetch").click()
        answered(page)
    assert set(verdicts(page)) == {"allowed", "all"}
    assert "status 404: there is no robots.txt" in page.inner_text("#answer")
    ask(page, urls="/private")
    assert "disallowed" in verdicts(page)


def test_a_fix_is_applied_to_the_text_and_the_focus_moves_to_the_next_one(pages: Pages) -> None:
    page = pages.open()
    ask(page, TEXT.replace("Frob: x", "Allowed: /cart/open"))
    page.locator(".finding", has_text="Disalow").get_by_role(
        "button", name="Apply: Write “Disallow: /cart”."
    ).focus()
    page.keyboard.press("Enter")
    until(page, "document.getElementById('robots').value.includes('Disallow: /cart')")
    answered(page)
    assert "Disalow" not in page.inner_text("#answer")
    assert page.evaluate("document.activeElement.value.startsWith('misspelt-key:6:')")
    page.keyboard.press("Enter")
    until(page, "document.getElementById('robots').value.includes('Allow: /cart/open')")
    answered(page)
    assert page.evaluate("document.activeElement.id") == "findings"
    fixed = TEXT.replace("Disalow", "Disallow").replace("Frob: x", "Allow: /cart/open")
    assert page.input_value("#robots") == fixed


def test_a_fix_that_changes_verdicts_is_offered_apart_and_asked_for_twice(pages: Pages) -> None:
    for script in (True, False):
        page = pages.open(java_script_enabled=script)
        text = "User-agnt: *\nDisallow: /cart\n"
        ask(page, text, "/cart/1")
        see = page.get_by_role("button", name="See what changes: Write “User-agent: *”; crawlers then obey it.")
        see.click()
        page.wait_for_selector(".considered")
        assert page.input_value("#robots") == text
        assert "/cart/1" in page.inner_text(".considered")
        assert page.evaluate("document.activeElement.id") == "considered-title"
        page.get_by_role("button", name="Leave it as it is").click()
        see.wait_for()
        assert page.input_value("#robots") == text
        see.click()
        page.get_by_role("button", name="Change it").click()
        page.wait_for_selector(".considered", state="detached")
        answered(page)
        assert page.input_value("#robots") == text.replace("agnt", "agent")
        assert page.evaluate("document.activeElement.closest('#answer') !== null")


def test_the_answer_begins_with_the_verdict_and_each_finding_jumps_to_its_line(pages: Pages) -> None:
    page = pages.open()
    ask(page)
    first = page.locator("#part-file > *").first
    assert first.inner_text() == "Works, with 2 warnings. Blocks 2 paths, and the whole site for GPTBot."
    page.locator(".finding", has_text="Disalow").get_by_role("link", name="line 5").click()
    until(page, "document.querySelector('#L5:target') !== null")
    page.locator("#L5").get_by_role("link").first.click()
    until(page, "document.querySelector('.finding:target').innerText.includes('Disalow')")


def test_one_box_stands_for_all_that_train_ai_and_one_dialect_has_a_name(pages: Pages) -> None:
    page = pages.open()
    choose(page)
    page.get_by_label("all crawlers that train AI").check()
    page.get_by_label("the standard of 1994").check()
    ask(page, "User-agent: GPT\nDisallow: /\n", "/x")
    assert page.locator(".verdicts thead th").all_inner_texts() == ["URL", "all crawlers that train AI"]
    assert verdicts(page) == ["1"]
    page.locator(".verdicts td button").click()
    assert "GPTBot line 2" in page.locator(".why:popover-open").inner_text()


def test_a_robots_txt_is_written_from_choices_without_a_script(pages: Pages) -> None:
    page = pages.open(java_script_enabled=False)
    page.get_by_role("link", name="Write a robots.txt").first.click()
    page.get_by_label("Keep crawlers that train AI away").check()
    page.get_by_label("URL parameters").fill("sort")
    page.get_by_label("URL of the sitemap").fill("sitemap.xml")
    page.get_by_role("button", name="Write it").click()
    assert "must be a complete URL" in page.locator(".problem").inner_text()
    assert "400" in pages.errors.pop()  # Chromium logs the status of a page
    page.get_by_label("URL of the sitemap").fill("https://www.example/sitemap.xml")
    page.get_by_role("button", name="Write it").click()
    answered(page)
    assert "Disallow: /*?sort=" in page.input_value("#robots")
    assert "crawlers that train AI are blocked from everything" in page.inner_text(".sentences")
    page.fill("#urls", "/?sort=price")
    page.get_by_role("button", name="Check", exact=True).click()
    answered(page)
    assert verdicts(page)[0] == "disallowed"


def test_a_link_holds_the_question_and_the_server_never_sees_it(pages: Pages) -> None:
    page = pages.open()
    page.get_by_text("Crawlers and dialect").click()
    page.get_by_label("bingbot", exact=True).uncheck()
    page.fill("#names", "Ünï")
    ask(page, TEXT + "# é\n", "/private/1")
    page.get_by_role("button", name="Share this answer").click()
    page.wait_for_selector("#shared:not([hidden])")
    link = page.input_value("#link")
    assert link == page.url
    asked: list[str] = []
    other = pages.open()
    other.on("request", lambda request: asked.append(request.url))
    other.goto(link)
    other.reload()
    answered(other)
    assert other.input_value("#robots") == TEXT + "# é\n"
    assert verdicts(other) == verdicts(page)
    assert (
        other.locator(".verdicts thead th").all_inner_texts()
        == page.locator(".verdicts thead th").all_inner_texts()
    )
    assert not any("q=" in url.partition("#")[0] for url in asked)


def test_a_damaged_link_says_so(pages: Pages) -> None:
    page = pages.open("#q=abc")
    page.wait_for_selector(".problem")
    assert "The link is damaged" in page.inner_text(".problem")


def test_without_a_script_all_of_it_works(pages: Pages) -> None:
    page = pages.open(java_script_enabled=False)
    assert not page.get_by_role("button", name="Share this answer").is_visible()
    page.fill("#robots", TEXT)
    page.fill("#urls", "/cart")
    page.get_by_role("button", name="Check", exact=True).click()
    page.wait_for_selector("#sitemaps", state="attached")
    assert verdicts(page)[0] == "disallowed"
    page.locator(".verdicts td button").first.click()
    assert "Disallow: /cart" in page.locator(".why:popover-open").inner_text()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Apply: Write “Disallow: /cart”.").click()
    page.wait_for_selector("#sitemaps", state="attached")
    assert "Disallow: /cart" in page.input_value("#robots")
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nAllow: /\n"))
        page.fill("#site", site.origin)
        page.get_by_role("button", name="Fetch").click()
        page.wait_for_selector("#sitemaps", state="attached")
    assert page.input_value("#robots") == "User-agent: *\nAllow: /\n"
    assert set(verdicts(page)) == {"allowed", "all"}


def test_the_table_can_be_saved(pages: Pages) -> None:
    page = pages.open()
    ask(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Save the table as CSV").click()
    assert download.value.suggested_filename == "verdicts.csv"
    assert Path(download.value.path()).read_text("utf-8").startswith("url,agent")


def test_the_keyboard_alone_is_enough(pages: Pages) -> None:
    page = pages.open()

    def tab_to(name: str) -> None:
        for _ in range(80):
            page.keyboard.press("Tab")
            focused = page.evaluate("document.activeElement.innerText || document.activeElement.id")
            if focused.startswith(name):
                return
        raise AssertionError(f"Tab does not reach {name}")

    tab_to("robots")
    page.keyboard.insert_text(TEXT)
    tab_to("urls")
    page.keyboard.insert_text("/cart")
    tab_to("Check")
    page.keyboard.press("Enter")
    answered(page)
    tab_to("Apply")
    page.keyboard.press("Space")
    until(page, "document.getElementById('robots').value.includes('Disallow: /cart')")
    answered(page)
    tab_to("disallowed")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    page.wait_for_selector(".why:popover-open")
    page.keyboard.press("Escape")
    until(page, "!document.querySelector('.why:popover-open')")


def test_what_a_file_holds_is_never_run(pages: Pages) -> None:
    page = pages.open()
    hostile = "<img src=x onerror=window.hit=1><script>window.hit=1</script>"
    ask(
        page,
        f"User-agent: *\nDisallow: /{hostile}\n{hostile}\nSitemap: javascript:window.hit=1//{hostile}\n",
        f"/{hostile}",
    )
    assert hostile in page.text_content(".file")
    assert page.evaluate("window.hit") is None
    assert page.locator("#answer img, #answer script").count() == 0


LOOKS: dict[str, dict[str, Any]] = {
    "light": {"viewport": {"width": 1400, "height": 900}},
    "dark": {"viewport": {"width": 1400, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 360, "height": 780}, "is_mobile": True, "has_touch": True},
    "dark phone": {"viewport": {"width": 360, "height": 780}, "color_scheme": "dark"},
}


@pytest.mark.parametrize("look", LOOKS)
def test_axe_finds_nothing_and_nothing_is_cut_off(pages: Pages, look: str) -> None:
    page = pages.open(**LOOKS[look], bypass_csp=True)
    assert faults(page) == []
    ask(page, TEXT + "x" * 300 + "\n", f"/private/1\n/{'long' * 100}")
    page.locator("details").evaluate_all("all => all.forEach((one) => { one.open = true; })")
    assert faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.locator(".verdicts td button").first.click()
    assert faults(page) == []
    page.keyboard.press("Escape")
    ask(page, "User-agnt: *\nDisallow: /" + "x" * 300 + "\n")
    page.get_by_role("button", name="See what changes").click()
    page.wait_for_selector(".considered")
    answered(page)
    assert faults(page) == []
    for name in ("Write a robots.txt", "Checker"):
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.get_by_role("link", name=name).first.click(force=True)
        assert faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def faults(page: Any) -> list[str]:
    """The violations that axe-core finds, however small."""
    page.wait_for_load_state()
    page.evaluate(AXE)
    found = page.evaluate("axe.run({resultTypes: ['violations']})")["violations"]
    return [
        f"{one['id']}: {node['html'][:200]} {node['failureSummary']}" for one in found for node in one["nodes"]
    ]


SCREENS: dict[str, dict[str, Any]] = {
    "laptop": {"viewport": {"width": 1280, "height": 800}},
    "phone": {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True},
}


def is_on_screen(page: Any, selector: str) -> bool:
    """Whether the beginning of the element is in the upper half of the screen, or all of a button is on it."""
    box, screen = page.locator(selector).bounding_box(), page.viewport_size
    bottom = box["y"] + box["height"] if "button" in selector else box["y"] + screen["height"] / 2
    return bool(box["y"] >= 0 and bottom <= screen["height"])


@pytest.mark.parametrize("script", [True, False])
@pytest.mark.parametrize("screen", SCREENS)
def test_check_is_under_the_text_and_the_answer_is_on_the_screen_after_it(
    pages: Pages, screen: str, script: bool
) -> None:
    page = pages.open(**SCREENS[screen], java_script_enabled=script)
    text, check = page.locator("#robots").bounding_box(), page.locator("button.primary").bounding_box()
    assert 0 < check["y"] - text["y"] - text["height"] < 20
    assert is_on_screen(page, "button.primary")
    page.fill("#robots", TEXT)
    page.locator("button.primary").focus()
    page.keyboard.press("Enter")
    answered(page)
    page.wait_for_timeout(300)
    assert is_on_screen(page, "#answer-title")
    assert is_on_screen(page, ".verdict")


@pytest.mark.parametrize("script", [True, False])
def test_the_answer_to_a_fetch_is_on_the_screen_of_a_phone(pages: Pages, script: bool) -> None:
    page = pages.open(**SCREENS["phone"], java_script_enabled=script)
    with Site() as site:
        site.answer("/robots.txt", robots(TEXT))
        page.fill("#site", site.origin)
        page.keyboard.press("Enter")
        answered(page)
    page.wait_for_timeout(300)
    assert is_on_screen(page, "#answer-title")


def test_a_problem_is_on_the_screen_of_a_phone(pages: Pages) -> None:
    page = pages.open(**SCREENS["phone"], java_script_enabled=False)
    page.get_by_text("Crawlers and dialect").click()
    page.fill("#names", "(")
    page.get_by_role("button", name="Check again").click()
    page.wait_for_selector(".problem")
    assert is_on_screen(page, ".problem")
    assert page.input_value("#names").strip() == "("
    assert "400" in pages.errors.pop()


def test_a_refusal_is_shown_in_place_of_the_answer(browser: Any) -> None:
    with checker(replace(LOCAL, requests_per_client=0)) as running:
        pages = Pages(browser, running.url)
        page = pages.open()
        page.fill("#robots", TEXT)
        page.locator("button.primary").click()
        page.wait_for_selector("#answer:not(.busy) .problem")
        assert page.locator(".problem").all_inner_texts() == [
            "You ask several questions at once: wait for an answer."
        ]
        assert page.input_value("#robots") == TEXT
        pages.close()


EVIL = """<form method=post action="{url}" enctype=multipart/form-data>
<input name=robots value="User-agent: *"><button>Win</button></form>"""


def test_a_form_of_another_site_is_refused_with_a_page(local: Checker, browser: Any) -> None:
    """Another port is the same site, another name is another one, and a sandboxed frame has no origin."""
    pages = Pages(browser, local.url)
    with Site() as site:
        for path in ("", "write", "api/check", "api/fetch"):
            html = EVIL.format(url=pages.url + path)
            frame = f"<iframe sandbox='allow-forms allow-scripts' srcdoc='{html}'></iframe>"
            for number, body in enumerate((html, frame)):
                site.answer(f"/{number}", Answer(body=body.encode(), headers=[("Content-Type", "text/html")]))
            named = site.origin.replace("127.0.0.1", "localhost")
            for url in (f"{site.origin}/0", f"{named}/0", f"{site.origin}/1"):
                page = pages.open(url, is_elsewhere=True)
                form = page.frame_locator("iframe") if url.endswith("/1") else page
                with page.expect_response(lambda one: one.request.method == "POST") as answer:
                    form.get_by_role("button").click()
                assert answer.value.status == 403
                kind = "application/json" if path.startswith("api/") else "text/html; charset=utf-8"
                assert answer.value.headers["content-type"] == kind
    pages.close()


def test_a_name_that_was_rebound_to_this_machine_gets_a_page_that_says_no(local: Checker, browser: Any) -> None:
    rebound = browser.browser_type.launch(
        executable_path=CHROMIUM, args=["--no-sandbox", "--host-resolver-rules=MAP evil.test 127.0.0.1"]
    )
    page = rebound.new_page()
    answer = page.goto(local.url.replace("127.0.0.1", "evil.test"))
    assert (answer.status, "unknown host" in page.inner_text(".problem")) == (421, True)
    rebound.close()


def test_print_shows_the_answer_with_its_site_and_date_without_the_form(pages: Pages) -> None:
    page = pages.open()
    ask(page)
    page.emulate_media(media="print")
    assert not page.locator("#ask").is_visible()
    assert not page.locator("#share").is_visible()
    assert page.locator(".verdict").is_visible()
    assert re.search(r"Pasted text .* checked \d{4}-\d\d-\d\d", page.locator(".facts").inner_text())
    assert page.locator(".verdicts").is_visible()
    assert page.locator(".file li").last.is_visible()
    assert page.locator(".file").evaluate("one => one.scrollHeight <= one.clientHeight + 1")
