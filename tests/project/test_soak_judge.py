"""The judge of the soak finds each thing that a crawl must not do in a log that is otherwise without fault."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from benchmarks.soak.answers import Limiter
from benchmarks.soak.judge import Findings, Judge, allows, permits
from benchmarks.soak.log import Arrival
from benchmarks.soak.notes import GIVEN_UP, RETRIED, START, Note
from benchmarks.soak.world import FRONT, LEAF, LIST, SHARED, SITEMAP_XML, Page, Rule, Site, World, number_of

pytestmark = pytest.mark.full

WORLD = World(seed=3, sites=120, leaves=25, faults=0.2)
VERSION = 7


def meaning(site: Site) -> str:
    return f"rules:{VERSION if site.kind == 'changing' else 0}" if site.access == "rules" else site.access.value


def visit(site: Site, began: float) -> Iterator[Arrival]:
    """What a site sees of a crawler without fault, but for pages that move to another site."""
    now = began
    yield Arrival(now, site.host, "/robots.txt", 200, meaning(site))
    for page in pages(site):
        now += site.delay or 0.001
        yield Arrival(now, site.host, site.path(page), 200, "-")


def pages(site: Site) -> Iterator[Page]:
    if not permits(site, meaning(site), "/"):
        return
    known = [FRONT, *(link for number in range(WORLD.lists) for link in site.links(number))]
    if site.kind == "sitemap":
        known += [SITEMAP_XML, *site.in_sitemap()]
    for page in known:
        seen: set[Page] = set()
        here: Page | None = page
        while here is not None and here not in seen and permits(site, meaning(site), site.path(here)):
            yield here
            seen.add(here)
            target = site.redirect(here)
            here = target[1] if target and target[0] is site else None


def moved_away(log: list[Arrival]) -> Iterator[Arrival]:
    """The requests to which pages of the sites before lead."""
    for arrival in log:
        site = WORLD.site(arrival.host)
        page = site.page(arrival.path)
        target = site.redirect(page) if page else None
        if target and target[0] is not site and permits(target[0], meaning(target[0]), target[0].path(target[1])):
            yield Arrival(60.0 + len(log) + arrival.time, target[0].host, target[0].path(target[1]), 200, "-")


def ideal() -> list[Arrival]:
    log = [
        arrival for number, host in enumerate(WORLD.hosts()) for arrival in visit(WORLD.site(host), number / 100)
    ]
    return sorted([*log, *moved_away(log)])


IDEAL = ideal()


def findings(log: Iterable[Arrival], notes: Iterable[Note] = (), **options: Any) -> Findings:
    judge = Judge(WORLD, **options)
    for note in notes:
        judge.note(note)
    for arrival in sorted(log):
        judge.read(arrival)
    judge.close()
    return judge.findings


def first(part: str, *, delayed: bool = False, kind: str = "") -> Arrival:
    """The first request for a sound page of that part."""
    for arrival in IDEAL:
        site = WORLD.site(arrival.host)
        page = site.page(arrival.path)
        is_right = page and page.part == part and (part != LEAF or site.leaf(page.number) == "sound")
        if is_right and bool(site.delay) == delayed and kind in ("", site.kind):
            return arrival
    raise LookupError(part)


def forbidden(kind: str = "plain") -> Arrival:
    """A leaf that its site forbids."""
    for host in WORLD.hosts():
        site = WORLD.site(host)
        for number in range(WORLD.leaves):
            path = site.path(Page(LEAF, number))
            if site.kind == kind and not permits(site, meaning(site), path):
                return Arrival(50.0, host, path, 200, "-")
    raise LookupError(kind)


def test_a_crawl_without_fault_has_no_findings() -> None:
    assert len(IDEAL) > 1_500
    assert findings(IDEAL) == Findings()


def test_a_forbidden_page_is_found() -> None:
    leak = forbidden()
    assert findings([*IDEAL, leak]).counts == {"disallowed": 1}


def test_any_page_of_an_unreachable_site_is_found() -> None:
    hosts = [host for host in WORLD.hosts() if WORLD.site(host).access == "none"]
    leaks = [Arrival(50.0, host, "/", 200, "-") for host in hosts]
    assert len(hosts) > 5
    assert findings([*IDEAL, *leaks]).counts["disallowed"] == len(hosts)


def test_a_page_before_robots_txt_is_found() -> None:
    early = first(LIST)
    log = [*(arrival for arrival in IDEAL if arrival != early), early._replace(time=-1.0)]
    assert findings(log).counts == {"before robots.txt": 1}


def test_a_page_that_was_never_requested_is_found() -> None:
    lost = first(LEAF)
    found = findings(arrival for arrival in IDEAL if arrival != lost)
    assert found.counts == {"lost": 1}
    assert found.examples["lost"] == [WORLD.url(lost.host, lost.path)]


def test_a_page_whose_requests_scrapy_gave_up_before_they_arrived_is_told_apart() -> None:
    lost = first(LEAF)
    note = Note(lost.time, GIVEN_UP, f"{lost.host}{lost.path}")
    assert findings([arrival for arrival in IDEAL if arrival != lost], [note]).counts == {
        "lost to a connection": 1
    }
    assert findings(IDEAL, [note]) == Findings()


def test_the_target_of_a_redirect_that_was_never_requested_is_found() -> None:
    lost = first("hopped")
    assert findings(arrival for arrival in IDEAL if arrival != lost).counts == {"lost": 1}


def test_a_site_that_was_never_asked_is_found() -> None:
    host = first(LEAF).host
    assert findings(arrival for arrival in IDEAL if arrival.host != host).counts["lost"] > 5


def test_a_page_that_was_requested_twice_is_found() -> None:
    twice = first(LEAF)
    assert findings([*IDEAL, twice._replace(time=90.0)]).counts == {"requested twice": 1}


def test_a_retry_of_a_failure_is_no_finding_but_a_second_one_is() -> None:
    retried = next(
        arrival for arrival in IDEAL
        if (page := WORLD.site(arrival.host).page(arrival.path))
        and page.part == LEAF and WORLD.site(arrival.host).leaf(page.number) == "503"
        and not WORLD.site(arrival.host).delay
    )  # fmt: skip
    once = [*IDEAL, retried._replace(time=90.0)]
    assert findings(once) == Findings()
    assert findings([*once, retried._replace(time=91.0)]).counts == {"requested twice": 1}


def test_a_repetition_is_explained_by_a_kill_while_it_was_in_the_air() -> None:
    twice = first(LEAF)
    log = [*IDEAL, twice._replace(time=90.0)]
    assert findings(log, kills=[twice.time + 1.0]).counts == {"repeated after a kill": 1}
    assert findings(log, kills=[twice.time + 20.0]).counts == {"requested twice": 1}


def test_a_repetition_is_explained_by_a_retry_of_scrapy() -> None:
    twice = first(LEAF)
    log = [*IDEAL, twice._replace(time=90.0)]
    retry = Note(89.0, RETRIED, f"{twice.host}{twice.path}")
    assert findings(log, [retry]).counts == {"repeated after a time-out": 1}
    assert findings(log, [retry._replace(about=f"{twice.host}/")]).counts == {"requested twice": 1}


def test_a_request_that_nothing_leads_to_is_found() -> None:
    host = first(LEAF).host
    for path in ("/elsewhere.html", "/list/99.html", "/forum/0.gif"):
        assert findings([*IDEAL, Arrival(90.0, host, path, 404, "-")]).counts["unknown page"] == 1


def test_a_short_gap_between_starts_is_found() -> None:
    site = WORLD.site(first(LEAF, delayed=True).host)
    notes = [Note(time, START, site.host) for time in (0.0, site.delay, 2 * site.delay - 0.01)]
    assert findings(IDEAL, notes[:2]) == Findings()
    assert findings(IDEAL, notes).counts == {"short gap at the download slot": 1}
    assert findings(IDEAL, notes, obeys=False).counts["short gap at the download slot"] == 0


def test_two_processes_that_share_no_store_for_a_while_may_each_keep_the_delay() -> None:
    site = WORLD.site(first(LEAF, delayed=True).host)
    notes = [Note(time, START, site.host) for time in (10.0, 10.0 + site.delay / 2)]
    found = [findings(IDEAL, notes, outages=[outage]).counts for outage in (9.0, 11.0, -31.0)]
    names = ["short gap at the download slot in an outage", *["short gap at the download slot"] * 2]
    assert found == [{name: 1} for name in names]
    refusals = [*IDEAL, refused()[0], refused()[1]._replace(time=52.0)]
    assert findings(refusals, outages=[49.0]).counts == {"requested within Retry-After in an outage": 1}


def test_arrivals_that_come_faster_than_their_delay_are_found() -> None:
    host = first(LEAF, delayed=True).host
    own = [arrival for arrival in IDEAL if arrival.host == host and arrival.time < 60]
    squeezed = [arrival._replace(time=own[0].time + 0.5 * (arrival.time - own[0].time)) for arrival in own]
    found = findings([*(arrival for arrival in IDEAL if arrival not in own), *squeezed])
    assert found.counts["too fast at the server"] > 0
    assert found.counts["short gap at the server"] == len(own) - 1
    excused = findings([*(each for each in IDEAL if each not in own), *squeezed], sqlite=[own[0].time - 1.0])
    assert excused.counts["too fast at the server"] == 0


def test_one_late_request_is_reported_but_is_not_too_fast() -> None:
    late = first(LEAF, delayed=True)
    log = [arrival._replace(time=arrival.time + 0.1) if arrival is late else arrival for arrival in IDEAL]
    assert findings(log).counts == {"short gap at the server": 1}


def changed(site: Site) -> tuple[Page, str]:
    """A leaf that `VERSION` of *site* forbids, and a version before that which allows it."""
    for version in range(VERSION):
        for number in range(WORLD.leaves):
            path = site.path(Page(LEAF, number))
            if permits(site, f"rules:{version}", path) and not permits(site, f"rules:{VERSION}", path):
                return Page(LEAF, number), f"rules:{version}"
    raise LookupError(site)


def test_the_answer_before_the_last_one_counts_for_a_moment() -> None:
    site = WORLD.site(first(LEAF, kind="changing").host)
    page, before = changed(site)
    robots = next(arrival for arrival in IDEAL if arrival.host == site.host)
    old = robots._replace(time=robots.time - 1.0, meaning=before)
    leak = Arrival(robots.time + 1.0, site.host, site.path(page), 200, "-")
    assert findings([*IDEAL, old, leak]).counts["disallowed"] == 0
    assert findings([*IDEAL, old, leak._replace(time=robots.time + 6.0)]).counts["disallowed"] == 1
    assert findings([*IDEAL, leak]).counts["disallowed"] == 1


def test_a_page_by_a_robots_txt_that_is_out_of_date_is_found() -> None:
    late = first(LEAF, kind="changing")
    log = [arrival for arrival in IDEAL if arrival != late]
    assert findings([*log, late._replace(time=late.time + WORLD.max_age)]) == Findings()
    found = findings([*log, late._replace(time=late.time + WORLD.max_age + 6.0)])
    assert found.counts == {"robots.txt out of date": 1}


def test_a_page_that_comes_next_after_its_robots_txt_may_be_as_late_as_that_was() -> None:
    late = first(LEAF, kind="changing")
    others = [arrival for arrival in IDEAL if arrival.host != late.host]
    robots, *before = [arrival for arrival in IDEAL if arrival.host == late.host and arrival < late]
    other = next(arrival for arrival in IDEAL if arrival.host == late.host and arrival > late)
    delay = WORLD.max_age + 10.0
    again = robots._replace(time=max(before).time + delay)
    late, later = (late._replace(time=again.time + delay + lag) for lag in (0.0, 6.0))
    between = other._replace(time=again.time + 1.0)
    found = [
        findings([*others, robots, *before, again, *after]).counts["robots.txt out of date"]
        for after in ([late], [later], [between, late])
    ]
    assert found == [0, 1, 1]


def test_a_page_that_comes_next_after_the_first_request_of_all_has_no_such_reason() -> None:
    front = first(FRONT.part, kind="changing")
    log = [arrival for arrival in IDEAL if arrival.host != front.host or arrival < front]
    found = findings([*log, front._replace(time=front.time + WORLD.max_age + 6.0)])
    assert found.counts["robots.txt out of date"] == 1


def test_what_a_kill_loses_is_lost() -> None:
    lost = first(LEAF)
    log = [arrival for arrival in IDEAL if arrival != lost]
    assert findings(log, kills=[lost.time]).counts == {"lost": 1}


def test_what_was_decided_before_a_pause_may_be_requested_after_it() -> None:
    site = WORLD.site(first(LEAF, kind="changing").host)
    page, before = changed(site)
    robots = next(arrival for arrival in IDEAL if arrival.host == site.host)
    old = robots._replace(time=robots.time - 1.0, meaning=before)
    leak = Arrival(robots.time + 20.0, site.host, site.path(page), 200, "-")
    log = [*IDEAL, old, leak]
    assert findings(log).counts["disallowed"] == findings(log).counts["robots.txt out of date"] == 1
    after = findings(log, pauses=[(robots.time - 0.5, leak.time - 0.5)])
    assert after.counts["disallowed"] == after.counts["robots.txt out of date"] == 0
    assert findings(log, pauses=[(robots.time - 9.0, leak.time - 6.0)]).counts["disallowed"] == 1


def test_an_answer_that_was_on_its_way_in_a_pause_counts_from_the_end_of_it() -> None:
    late = first(LEAF, kind="changing")
    log = [
        *(arrival for arrival in IDEAL if arrival != late),
        late._replace(time=late.time + WORLD.max_age + 20.0),
    ]
    answered = next(arrival.time for arrival in IDEAL if arrival.host == late.host)
    found = [findings(log, pauses=[(answered + since, answered + 20.0)]).counts for since in (1.0, 9.0)]
    assert [counts["robots.txt out of date"] for counts in found] == [0, 1]


@pytest.mark.parametrize(("kind", "expected"), [("plain", 1), ("missing", 1), ("changing", 0), ("loop", 0)])
def test_a_robots_txt_that_was_in_hand_and_is_fetched_again_is_found(kind: str, expected: int) -> None:
    hosts = [host for host in WORLD.hosts() if WORLD.site(host).kind == kind]
    fetch = next(arrival for arrival in IDEAL if arrival.host == hosts[0])
    log = [*IDEAL, fetch._replace(time=fetch.time + 30.0)]
    assert findings(log).counts["robots.txt fetched again"] == expected
    late = findings([*IDEAL, fetch._replace(time=fetch.time + 3.1)])
    unshared, shared = (findings(log, outages=[fetch.time - since]) for since in (1.0, -1.0))
    assert shared.counts["robots.txt fetched again"] == expected
    for explained in (findings(log, steps=[fetch.time + 29.0]), unshared, late):
        assert explained.counts["robots.txt fetched again"] == 0
        assert explained.counts["robots.txt fetched again for a reason"] == expected
    at_once = findings([*IDEAL, fetch._replace(time=fetch.time + 2.0)])
    assert at_once.counts["robots.txt fetched again"] == expected
    assert findings(log, obeys=False).counts["robots.txt fetched again"] == 0


def refused() -> list[Arrival]:
    """Three requests for leaves of a limited site: the first one is told to wait for four seconds."""
    host = first(LEAF, kind="limited").host
    leaves = [arrival for arrival in IDEAL if arrival.host == host and WORLD.site(host).page(arrival.path)]
    one, two, three = [leaf for leaf in leaves if leaf.path not in ("/", "/robots.txt")][-3:]
    return [
        one._replace(time=50.0, status=429, meaning="hold:4"),
        two._replace(time=53.0),
        three._replace(time=54.1),
    ]


def test_a_request_before_retry_after_is_over_is_found_but_for_what_was_under_way() -> None:
    early, late = refused()[1], refused()[2]
    again = [early._replace(time=51.0), late]
    assert findings([*IDEAL, *refused()]).counts["requested within Retry-After"] == 0
    assert findings([*IDEAL, refused()[0], *again]).counts["requested within Retry-After"] == 0
    within = [refused()[0], early._replace(time=52.0)]
    assert findings([*IDEAL, *within]).counts == {"requested within Retry-After": 1}
    assert findings([*IDEAL, *within], pauses=[(49.0, 51.9)]).counts["requested within Retry-After"] == 0


def test_a_limited_site_refuses_what_is_too_fast_until_its_retry_after_is_over() -> None:
    limiter = Limiter()
    answers = [limiter.refusal(now) for now in (0.0, 2.0, 4.0, 6.0, 8.0, 9.0, 10.5, 13.5)]
    assert [answer and (answer.headers, answer.meaning) for answer in answers] == [
        *[None] * 5, (("Retry-After: 4",), "hold:4"), (("Retry-After: 3",), "hold:3"), None,
    ]  # fmt: skip


def test_two_processes_share_some_sites_and_each_has_its_own() -> None:
    world = replace(WORLD, processes=2)
    pages = [Page(LIST, 0), *(Page(LEAF, number) for number in range(4))]
    due = {
        host: [[site.is_due(page, process) for page in pages] for process in range(2)]
        for host in list(world.hosts())[:6]
        for site in [world.site(host)]
    }
    own, shared = [True] * 5, [[True, True, False, True, False], [True, False, True, False, True]]
    assert list(due.values()) == [
        shared, [[False] * 5, own], [own, [False] * 5], shared, [own, [False] * 5], [[False] * 5, own],
    ]  # fmt: skip


def test_a_process_that_is_moved_to_a_site_of_another_one_may_request_its_sitemap_too() -> None:
    world = replace(WORLD, processes=2)
    sites = [world.site(host) for host in world.hosts() if world.site(host).kind == "sitemap"]
    from_before = {
        target[0].host
        for host in world.hosts()
        for page in range(world.leaves)
        if (target := world.site(host).redirect(Page(LEAF, page))) and target[0].host != host
    }
    asked = {site.host: site.requests(SITEMAP_XML) for site in sites if number_of(site.host) % SHARED}
    assert asked == {host: 1 + (host in from_before) for host in asked}
    assert {*asked.values()} == {1, 2}


def test_with_robots_txt_off_all_pages_are_expected_and_none_is_forbidden() -> None:
    found = findings([*IDEAL, forbidden()], obeys=False)
    assert set(found.counts) == {"lost"}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/", True),
        ("/a/", False),
        ("/a/b", True),
        ("/c/x.pdf", False),
        ("/c/x.pdf?", True),
        ("/tie/", True),
        ("/d/1?sort=2", False),
    ],
)
def test_rfc_the_longest_match_decides(path: str, expected: bool) -> None:
    rules = [
        (False, "/a"),
        (True, "/a/b"),
        (False, "/*.pdf$"),
        (True, "/tie/"),
        (False, "/tie/"),
        (False, "/*?sort="),
    ]
    assert allows([Rule(*rule) for rule in rules], path) is expected


def test_a_world_is_the_same_for_everybody_and_another_seed_is_another_world() -> None:
    here, there, other = WORLD, replace(WORLD), replace(WORLD, seed=4)
    facts = [
        [
            (site.kind, site.rules(0), [site.path(Page(LEAF, n)) for n in range(25)])
            for site in map(world.site, hosts)
        ]
        for world in (here, there, other)
        for hosts in [list(world.hosts())]
    ]
    assert facts[0] == facts[1] != facts[2]


def test_every_page_is_known_by_its_path() -> None:
    for host in WORLD.hosts():
        site = WORLD.site(host)
        for page in (FRONT, SITEMAP_XML, *site.links(0), Page("moved", 3), Page("circle", 24)):
            assert site.page(site.path(page)) == page
