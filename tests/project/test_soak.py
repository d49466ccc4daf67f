"""A small soak from its start to its verdict: real servers, real crawls, Ctrl-C and a kill in the middle."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from math import isnan
from pathlib import Path

import pytest

from benchmarks.soak.__main__ import main
from benchmarks.soak.gauges import Reading
from benchmarks.soak.run import Plan, Run
from benchmarks.soak.spider import on_monotonic_clock
from benchmarks.soak.verdict import Verdict, judged, read_urls, show
from benchmarks.soak.world import FAULTY, World

pytestmark = pytest.mark.full

WORLD = World(seed=5, sites=60, leaves=6, faults=0.2, processes=2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("soak")


@pytest.fixture(scope="module")
def verdict(folder: Path) -> Verdict:
    return judged(folder, Run(folder, WORLD, Plan(["sigint", "kill"], concurrency=16)).crawl())


def test_two_crawls_that_are_interrupted_killed_and_continued_pass(verdict: Verdict) -> None:
    text = "\n".join(show(verdict))
    assert verdict.passed, text
    assert text.endswith("PASS")
    assert [name for name, _ in verdict.state.happened] == ["sigint", "kill"]
    assert verdict.state.crawls in {4, 5}  # one of the two may be done before the other is interrupted


def test_it_met_the_whole_world_and_most_of_its_faults(verdict: Verdict) -> None:
    kinds = {WORLD.site(host).kind for host in WORLD.hosts()}
    assert len(kinds & set(FAULTY)) >= 5
    assert verdict.totals["sites met"] == WORLD.sites
    assert verdict.totals["pages expected"] > 200


def test_crawls_with_one_queue_in_redis_lose_nothing_and_request_nothing_twice(tmp_path: Path) -> None:
    world = replace(WORLD, one_queue=True)
    verdict = judged(tmp_path, Run(tmp_path, world, Plan(["sigint", "kill"], redis=True, concurrency=16)).crawl())
    assert verdict.state.finished
    found = verdict.findings.counts
    assert not {"disallowed", "before robots.txt", "lost", "requested twice", "traceback"} & {*found}, found


def test_the_judge_of_a_crawl_without_robots_txt_would_find_leaks(verdict: Verdict, folder: Path) -> None:
    """The log of the same crawl, judged by other rules, as if it had not obeyed."""
    other = verdict.state.world
    state = type(verdict.state)(World(6, other.sites, other.leaves, other.faults, other.port), True, done=[0])
    assert judged(folder, state).findings.counts["disallowed"] > 0


def test_memory_files_and_cpu_were_read(verdict: Verdict) -> None:
    assert set(verdict.gauges) == {*range(verdict.state.crawls)}
    assert 20e6 < verdict.cost.memory < 1e9
    assert verdict.cost.files > 10
    assert verdict.cost.requests > 1


def test_how_many_urls_there_were_is_not_known_when_one_process_did_not_say(tmp_path: Path) -> None:
    tmp_path.joinpath("stats-0.json").write_text('{"scheduler/dequeued": 7}')
    assert read_urls(tmp_path, 1) == 7
    assert isnan(read_urls(tmp_path, 2))  # the other was killed


def test_the_chart_names_the_events(verdict: Verdict, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from benchmarks.soak.chart import draw  # noqa: PLC0415

    draw(verdict, verdict, tmp_path / "soak.svg")
    drawn = (tmp_path / "soak.svg").read_text("utf-8")
    assert "Ctrl-C" in drawn
    assert f"{verdict.cost.requests:,.0f} requests per second" in drawn


@pytest.mark.parametrize(("passed", "noted"), [(0.5, 99.5), (-3_600.0, 100.0), (93_600.0, 100.0)])
def test_a_start_by_the_wall_clock_is_noted_when_it_was_unless_the_clock_was_turned(
    monkeypatch: pytest.MonkeyPatch, passed: float, noted: float
) -> None:
    monkeypatch.setattr(time, "time", lambda: 2e9 + passed)
    monkeypatch.setattr(time, "monotonic", lambda: 100.0)
    assert on_monotonic_clock(2e9) == noted


def test_a_crawl_that_disobeys_one_robots_txt_fails(tmp_path: Path) -> None:
    plan = Plan(disobeys=True, concurrency=16)
    found = judged(tmp_path, Run(tmp_path, replace(WORLD, processes=1, sites=10), plan).crawl())
    assert found.state.finished
    assert {"before robots.txt", "disallowed"} & {*found.failures}


def test_memory_that_grows_in_the_last_third_of_a_long_process_is_a_failure(verdict: Verdict) -> None:
    def failures(growth: float, seconds: float, fingerprints: int = 0) -> list[str]:
        memory = [1e8 * (1 + growth * share / 300) for share in range(300)]
        readings = [
            Reading(seconds * share / 300, int(octets), 9, 1.0, 0.0, 22 * fingerprints * share // 300)
            for share, octets in enumerate(memory)
        ]
        return replace(verdict, gauges={7: readings}).failures

    assert failures(0.1, 9_000.0) == failures(1.0, 900.0) == []
    assert failures(1.0, 9_000.0) == ["memory of process 7 grew from 164 to 197 MB"]
    assert failures(1.0, 9_000.0, fingerprints=1_200_000) == []  # which Scrapy keeps


def test_a_folder_of_another_world_is_refused(verdict: Verdict, folder: Path) -> None:
    with pytest.raises(SystemExit, match="a crawl of another world"):
        Run(folder, World(seed=6, sites=60, leaves=6, faults=0.2, processes=2), Plan())


def test_a_crawl_that_is_stopped_before_its_first_request_is_not_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Run, "crawl", lambda run: run.state)
    for name in ("arrivals.log", "notes.log", "gauges.log"):
        (tmp_path / name).touch()
    monkeypatch.setattr(sys, "argv", ["soak", "--folder", str(tmp_path), "--sites", "3"])
    with pytest.raises(SystemExit, match="nothing was requested yet: the same command continues"):
        main()


def test_a_folder_without_a_crawl_is_not_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["soak", "--folder", str(tmp_path / "none"), "--judge"])
    with pytest.raises(SystemExit, match="none has no crawl to judge"):
        main()
    assert not (tmp_path / "none").exists()
