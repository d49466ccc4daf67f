"""Sitemap lines feed sitemap spiders: ours and Scrapy's, from one fetch of robots.txt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scrapy_rep.crawl.sitemaps.spider import MAX_NESTING
from tests.support.crawl import Crawl, crawl
from tests.support.site import Answer, Arrival, Site, hang, redirect, robots, sitemap, sitemap_index

with_each_spider = pytest.mark.parametrize("spider", ["Ours", "Scrapys"])


@pytest.fixture
def site() -> Iterator[Site]:
    with Site(("127.0.0.1", "127.0.0.2")) as running:
        yield running


def crawl_sitemaps(
    site: Site,
    spider: str = "Ours",
    settings: dict[str, Any] | None = None,
    **attributes: Any,
) -> Crawl:
    """Crawl the sitemaps that the first origin of *site* names."""
    where = {"Ours": {"sites": [site.origin]}, "Scrapys": {"sitemap_urls": [f"{site.origin}/robots.txt"]}}
    result = crawl(
        spider=f"tests.crawl.sitemap_spiders:{spider}",
        settings=settings,
        attributes={**where.get(spider, {}), **attributes},
    )
    assert not result.tracebacks
    return result


def names(site: Site, *entries: str, rules: str = "") -> None:
    """Have robots.txt name a sitemap of *entries*, and state *rules*."""
    site.answer("/robots.txt", robots(f"Sitemap: /sitemap.xml\n{rules}"))
    site.answer("/sitemap.xml", sitemap(*entries))


def paths(site: Site, origin: str | None = None) -> list[str]:
    """The sorted paths that were requested from the first origin, or from *origin*."""
    return sorted(site.paths(origin or site.origin))


@with_each_spider
def test_robots_txt_each_sitemap_and_each_page_is_requested_once(site: Site, spider: str) -> None:
    site.answer(
        "/robots.txt", robots("Sitemap: /index.xml\nSitemap: /more.xml\nUser-agent: *\nDisallow: /private\n")
    )
    site.answer("/index.xml", sitemap_index(f"{site.origin}/some.xml", f"{site.origin}/more.xml"))
    site.answer("/some.xml", sitemap(*(f"{site.origin}/{page}" for page in ("a", "b", "private"))))
    site.answer("/more.xml", sitemap(*(f"{site.origin}/{page}" for page in ("b", "c"))))
    result = crawl_sitemaps(site, spider)
    assert paths(site) == sorted(["/robots.txt", "/index.xml", "/some.xml", "/more.xml", "/a", "/b", "/c"])
    assert sorted(result.urls) == [f"{site.origin}/{page}" for page in "abc"]
    assert (result.stats["robotstxt/request_count"], result.stats["robotstxt/forbidden"]) == (1, 1)


@with_each_spider
def test_an_index_and_compressed_sitemaps_are_read(site: Site, spider: str) -> None:
    site.answer("/robots.txt", robots("Sitemap: /index.xml.gz\n"))
    site.answer("/index.xml.gz", sitemap_index(f"{site.origin}/a.xml.gz", f"{site.origin}/b.xml", compressed=True))
    site.answer("/a.xml.gz", sitemap(f"{site.origin}/a", compressed=True))
    site.answer("/b.xml", sitemap(f"{site.origin}/b"))
    assert sorted(crawl_sitemaps(site, spider).urls) == [f"{site.origin}/a", f"{site.origin}/b"]


@with_each_spider
@pytest.mark.parametrize("wanted", [True, False])
def test_alternate_links_are_followed_when_the_spider_says_so(site: Site, spider: str, wanted: bool) -> None:
    entry = f"{site.origin}/en <xhtml:link rel='alternate' href='{site.origin}/de'/>"
    names(site, entry)
    result = crawl_sitemaps(site, spider, sitemap_alternate_links=wanted)
    assert sorted(result.urls) == [f"{site.origin}/de"] * wanted + [f"{site.origin}/en"]


@with_each_spider
def test_rules_choose_the_sitemaps_and_the_pages(site: Site, spider: str) -> None:
    site.answer("/robots.txt", robots("Sitemap: /index.xml\n"))
    site.answer("/index.xml", sitemap_index(f"{site.origin}/news.xml", f"{site.origin}/shop.xml"))
    site.answer("/news.xml", sitemap(f"{site.origin}/news/1", f"{site.origin}/about"))
    crawl_sitemaps(site, spider, sitemap_follow=["/news"], sitemap_rules=[["/news/", "page"]])
    assert paths(site) == ["/index.xml", "/news.xml", "/news/1", "/robots.txt"]


@with_each_spider
def test_a_filter_of_the_spider_chooses_entries(site: Site, spider: str) -> None:
    dated = [f"{site.origin}/{year} <lastmod>{year}-05-01</lastmod>" for year in (2024, 2025, 2026)]
    names(site, *dated)
    result = crawl_sitemaps(site, spider, newest="2025")
    assert sorted(result.urls) == [f"{site.origin}/2025", f"{site.origin}/2026"]


def test_a_link_that_is_no_url_does_not_cost_those_after_it(site: Site) -> None:
    entries = ["/relative", f"{site.origin}/a", "http://[::1/", "http:///nohost", f"{site.origin}/b"]
    alternate = f"<xhtml:link rel='alternate' href='nowhere'/><xhtml:link rel='alternate' href='{site.origin}/d'/>"
    site.answer("/robots.txt", robots("Sitemap: /index.xml\n"))
    site.answer("/index.xml", sitemap_index("sitemap.xml", f"{site.origin}/sitemap.xml"))
    site.answer("/sitemap.xml", sitemap(*entries, f"{site.origin}/c {alternate}"))
    result = crawl_sitemaps(site, sitemap_alternate_links=True)
    assert sorted(result.urls) == [f"{site.origin}/{page}" for page in ["a", "b", "c", "d", "relative"]]
    assert result.stats["rep/sitemap/bad_url_count"] == 4


@with_each_spider
def test_sitemap_lines_are_read_as_the_engine_reads_them(site: Site, spider: str) -> None:
    lines = [
        "\ufeffSITEMAP:/1.xml",
        " sitemap : /2.xml # two",
        "SiteMap: 3.xml#top",
        "Site-map: /4.xml",
        "sitemap: /1.xml",
    ]
    lines += ["Sitemap:", "Sitemap: mailto:x@example.com", "Sitemap: http://[", "Sitemap: ftp://127.0.0.1/5.xml"]
    lines += ["Sitemap: /robots.txt", "Sitemap: /caf\u00e9 6.xml", "# Sitemap: /7.xml"]
    site.answer("/robots.txt", robots("\r".join(lines)))
    result = crawl_sitemaps(site, spider)
    assert paths(site) == sorted([*(f"/{n}.xml" for n in range(1, 5)), "/caf%C3%A9%206.xml", "/robots.txt"])
    assert (result.stats["rep/sitemap/named_count"], result.stats["rep/sitemap/unusable_count"]) == (5, 5)


def test_a_relative_line_counts_from_the_origin_that_the_file_speaks_for(site: Site) -> None:
    here, there = site.origins
    site.answer("/robots.txt", redirect(f"{there}/shared/robots.txt"), here)
    site.answer("/shared/robots.txt", robots("Sitemap: sitemap.xml\n"), there)
    crawl_sitemaps(site)
    assert (paths(site), site.count("/sitemap.xml", there)) == (["/robots.txt", "/sitemap.xml"], 0)


@with_each_spider
@pytest.mark.parametrize(
    ("domains", "settings", "follows"),
    [
        pytest.param(["127.0.0.1", "27.0.0.2"], {}, False, id="not-allowed"),
        pytest.param(["127.0.0.1"], {"REP_OFFSITE_SITEMAPS": True}, True, id="by-the-setting"),
        pytest.param(["127.0.0.1", "0.0.2"], {}, True, id="sub-domain-allowed"),
    ],
)
def test_a_sitemap_on_another_host_is_followed_when_allowed_and_counted_when_not(
    site: Site, spider: str, domains: list[str], settings: dict[str, Any], follows: bool
) -> None:
    here, there = site.origins
    site.answer("/robots.txt", robots(f"Sitemap: {there}/sitemap.xml\n"), here)
    site.answer("/sitemap.xml", sitemap(f"{here}/a"), there)
    result = crawl_sitemaps(site, spider, settings, allowed_domains=domains)
    assert result.urls == [f"{here}/a"] * follows
    assert result.stats.get("rep/sitemap/offsite_count", 0) == (not follows)
    assert site.count("/sitemap.xml", there) == follows


def test_the_setting_for_sitemaps_lets_no_page_of_another_host_pass(site: Site) -> None:
    here, there = site.origins
    site.answer("/robots.txt", robots("Sitemap: /sitemap.xml\n"), here)
    site.answer("/sitemap.xml", sitemap(f"{there}/a"))
    result = crawl_sitemaps(site, settings={"REP_OFFSITE_SITEMAPS": True}, allowed_domains=["127.0.0.1"])
    assert result.urls == []
    assert result.stats["offsite/filtered"] == 1


def test_without_allowed_domains_a_sitemap_on_another_host_is_followed(site: Site) -> None:
    here, there = site.origins
    site.answer("/robots.txt", robots(f"Sitemap: {there}/sitemap.xml\n"), here)
    crawl_sitemaps(site)
    assert site.count("/sitemap.xml", there) == 1


@with_each_spider
def test_an_endless_chain_of_sitemaps_is_cut_and_one_that_names_itself_is_read_once(
    site: Site, spider: str
) -> None:
    def next_one(arrival: Arrival) -> Answer:
        return sitemap_index(f"{site.origin}/{int(arrival.path.strip('/x.ml')) + 1}.xml")

    site.answer("*", next_one)
    site.answer("/robots.txt", robots("Sitemap: /1.xml\nSitemap: /self.xml\n"))
    site.answer("/self.xml", sitemap_index(f"{site.origin}/self.xml", f"{site.origin}/robots.txt"))
    result = crawl_sitemaps(site, spider)
    assert paths(site) == sorted([*(f"/{n}.xml" for n in range(1, MAX_NESTING + 1)), "/robots.txt", "/self.xml"])
    assert result.stats["rep/sitemap/too_deep_count"] == 1


@with_each_spider
def test_a_sitemap_that_robots_txt_disallows_is_not_requested(site: Site, spider: str) -> None:
    site.answer("/robots.txt", robots("Sitemap: /maps/1.xml\nSitemap: /2.xml\nUser-agent: *\nDisallow: /maps/\n"))
    result = crawl_sitemaps(site, spider)
    assert paths(site) == ["/2.xml", "/robots.txt"]
    assert result.stats["robotstxt/forbidden"] == 1


@pytest.mark.parametrize(
    "answer", [Answer(404), Answer(403), robots("User-agent: *\nDisallow:\n")], ids=[404, 403, 200]
)
def test_a_site_without_sitemap_lines_falls_back_when_the_spider_says_so(site: Site, answer: Answer) -> None:
    site.answer("/robots.txt", answer)
    site.answer("/sitemap.xml", sitemap(f"{site.origin}/a"))
    assert crawl_sitemaps(site, sitemap_fallback=True).urls == [f"{site.origin}/a"]
    assert paths(site) == ["/a", "/robots.txt", "/sitemap.xml"]


def test_a_site_falls_back_neither_by_default_nor_with_a_sitemap_line(site: Site) -> None:
    crawl_sitemaps(site)
    assert paths(site) == ["/robots.txt"]
    site.answer("/robots.txt", robots("Sitemap: /2.xml\n"))
    crawl_sitemaps(site, sitemap_fallback=True)
    assert "/sitemap.xml" not in paths(site)


@with_each_spider
def test_an_unreachable_site_is_given_up_and_the_others_go_on(site: Site, spider: str) -> None:
    here, there = site.origins
    site.answer("/robots.txt", hang(), here)
    site.answer("/robots.txt", robots("Sitemap: /sitemap.xml\n"), there)
    site.answer("/sitemap.xml", sitemap(f"{there}/a"), there)
    result = crawl_sitemaps(
        site,
        spider,
        {"REP_TIMEOUT": 0.5, "REP_UNREACHABLE_WAIT": 0},
        sites=[here, there],
        sitemap_urls=[] if spider == "Ours" else [f"{origin}/robots.txt" for origin in (here, there)],
        sitemap_fallback=True,
    )
    assert result.urls == [f"{there}/a"]
    assert paths(site) == ["/robots.txt"]
    assert result.stats["rep/forbidden_unreachable_count"] == 1


@pytest.mark.parametrize("follows", [True, False])
def test_a_sitemap_spider_follows_the_sitemaps_of_every_origin_it_meets(site: Site, follows: bool) -> None:
    here, there = site.origins
    site.answer("/robots.txt", robots("Sitemap: /sitemap.xml\n"))
    site.answer("/sitemap.xml", sitemap(f"{here}/a"), here)
    site.answer("/sitemap.xml", sitemap(f"{here}/a", f"{there}/b"), there)
    first = [f"{here}/1", f"{here}/2", f"{there}/3"]
    settings = {"REP_FOLLOW_SITEMAPS": follows}
    result = crawl_sitemaps(site, "Scrapys", settings, sitemap_urls=[], first_pages=first)
    assert sorted(result.urls) == sorted([*first, *([f"{here}/a", f"{there}/b"] if follows else [])])
    assert Counter(site.paths())["/sitemap.xml"] == 2 * follows


@pytest.mark.parametrize("parser", ["scrapy_rep.RepRobotParser", "scrapy.robotstxt.ProtegoRobotParser"])
def test_the_signal_is_sent_once_per_origin(site: Site, parser: str) -> None:
    here, there = site.origins
    site.answer("/robots.txt", robots(f"Sitemap: /1.xml\nSitemap: {there}/2.xml\n"), here)
    urls = [f"{here}/a", f"{here}/b", f"{there}/c"]
    result = crawl(*urls, spider="tests.crawl.sitemap_spiders:Listens", settings={"ROBOTSTXT_PARSER": parser})
    heard = {name: value for name, value in result.stats.items() if name.startswith("heard/")}
    assert heard == {f"heard/{here}": f"{here}/1.xml {there}/2.xml because of {here}/a"}
    assert len(result.pages) == 3


@with_each_spider
def test_with_obeying_off_the_sitemaps_are_read_and_nothing_is_forbidden(site: Site, spider: str) -> None:
    names(site, f"{site.origin}/a", rules="User-agent: *\nDisallow: /\n")
    result = crawl_sitemaps(site, spider, {"ROBOTSTXT_OBEY": False})
    assert result.urls == [f"{site.origin}/a"]
    assert paths(site) == ["/a", "/robots.txt", "/sitemap.xml"]
    assert (result.stats["rep/fetched_count"], result.stats["rep/sitemap/named_count"]) == (1, 1)


@with_each_spider
def test_a_job_goes_on_where_it_was_stopped(site: Site, spider: str, tmp_path: Path) -> None:
    pages = [f"{site.origin}/{number}" for number in range(30)]
    site.answer("/robots.txt", robots("Sitemap: /index.xml\n"))
    site.answer("/index.xml", sitemap_index(f"{site.origin}/1.xml", f"{site.origin}/2.xml"))
    site.answer("/1.xml", sitemap(*pages[:15]))
    site.answer("/2.xml", sitemap(*pages[15:]))
    settings = {"JOBDIR": str(tmp_path / "job"), "REP_STORE_PATH": str(tmp_path / "robots.sqlite")}
    first = crawl_sitemaps(site, spider, {**settings, "CLOSESPIDER_PAGECOUNT": 12, "CONCURRENT_REQUESTS": 2})
    second = crawl_sitemaps(site, spider, settings)
    assert first.reason == "closespider_pagecount"
    assert sorted(first.urls + second.urls) == sorted(pages)
    assert set(Counter(site.paths()).values()) == {1}


def test_a_replay_from_the_http_cache_finds_robots_txt_and_its_sitemaps(site: Site, tmp_path: Path) -> None:
    names(site, f"{site.origin}/a", f"{site.origin}/b", rules="User-agent: *\nDisallow: /b\n")
    settings = {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": str(tmp_path)}
    urls = [crawl_sitemaps(site, settings=settings).urls for _ in range(2)]
    assert urls == [[f"{site.origin}/a"]] * 2
    assert len(site.log) == 3


def test_sites_from_the_command_line_are_split_at_commas_and_requested_once_each(site: Site) -> None:
    crawl_sitemaps(site, sites=f"{site.origin}/some/page, {site.origin},")
    assert paths(site) == ["/robots.txt"]


def test_sitemap_urls_of_the_spider_are_crawled_besides_its_sites(site: Site) -> None:
    there = site.origins[1]
    site.answer("/sitemap.xml", sitemap(f"{there}/a"), there)
    assert crawl_sitemaps(site, sitemap_urls=[f"{there}/sitemap.xml"]).urls == [f"{there}/a"]


@pytest.mark.parametrize("name", ["sites", "sitemap_urls"])
def test_a_spider_may_set_its_sites_in_start(site: Site, name: str) -> None:
    names(site, f"{site.origin}/a")
    where = {"sites": site.origin, "sitemap_urls": [f"{site.origin}/sitemap.xml"]}[name]
    assert crawl_sitemaps(site, "ToldLater", later={name: where}).urls == [f"{site.origin}/a"]


def test_a_spider_without_sites_after_start_warns(site: Site) -> None:
    (warning,) = crawl_sitemaps(site, "ToldLater").lines("WARNING", "told-later")
    assert warning == "told-later has no sites: expected sites to be URLs or host names, or sitemap_urls to be set"


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        (
            {"sites": ["gopher://x"]},
            "sites = ['gopher://x']: expected URLs or host names, such as https://example.com",
        ),
        ({"sites": "ftp://x"}, "sites = ['ftp://x']: expected"),
        ({}, "ours has no sites: expected sites to be URLs or host names"),
        ({"sites": "x", "sitemap_fallback": "perhaps"}, "sitemap_fallback = 'perhaps': expected True or False"),
    ],
)
def test_an_invalid_argument_stops_the_crawl_and_says_what_is_expected(
    attributes: dict[str, Any], message: str
) -> None:
    result = crawl(spider="tests.crawl.sitemap_spiders:Ours", attributes=attributes, apart=True)
    assert message in result.stderr
    assert result.exit_code == 1


def test_arguments_from_the_command_line_are_strings(site: Site) -> None:
    crawl_sitemaps(site, sitemap_fallback="False")
    assert paths(site) == ["/robots.txt"]
    names(site, f"{site.origin}/a")
    assert crawl_sitemaps(site, allowed_domains="127.0.0.1,other.example").urls == [f"{site.origin}/a"]


def test_a_site_outside_allowed_domains_is_requested(site: Site) -> None:
    crawl_sitemaps(site, allowed_domains=["other.example"])
    assert paths(site) == ["/robots.txt"]


def test_our_spider_without_the_add_on_says_what_to_set(site: Site) -> None:
    result = crawl(
        spider="tests.crawl.sitemap_spiders:Ours",
        attributes={"sites": [site.origin]},
        settings={"ADDONS": {}},
    )
    assert 'set ADDONS = {"scrapy_rep.Addon": 300}' in result.tracebacks[0].traceback
    assert site.log == []
