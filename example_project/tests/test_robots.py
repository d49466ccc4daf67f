"""What crawls of this project may request: ``python -m pytest tests`` in the folder of scrapy.cfg."""

from scrapy.utils.project import get_project_settings

from scrapy_rep.testing import assert_allowed, assert_disallowed


def test_the_project_keeps_out_of_what_is_private(robots_site):
    robots_site.robots = "User-agent: ExampleBot\nDisallow: /private\nAllow: /private/open\n"
    settings = get_project_settings()
    assert_allowed(settings, robots_site.url("/about"), robots_site.url("/private/open/1"))
    assert_disallowed(settings, robots_site.url("/private/1"))


def test_the_project_requests_nothing_while_robots_txt_is_unreachable(robots_site):
    robots_site.answer("/robots.txt", status=503)
    assert_disallowed(get_project_settings(), robots_site.url("/about"))
