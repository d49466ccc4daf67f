"""A small soak from its start to its verdict: real servers, a real crawl, Ctrl-C in the middle."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from benchmarks.soak.__main__ import main
from benchmarks.soak.run import Run
from benchmarks.soak.spider import on_monotonic_clock
from benchmarks.soak.verdict import Verdict, judged, show
from benchmarks.soak.world import FAULTY, World

pytestmark = pytest.mark.full

WORLD = World(seed=5, sites=60, leaves=6, faults=0.2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("soak")


@pytest.fixture(scope="module")
def verdict(folder: Path) -> Verdict:
    return judged(folder, Run(folder, WORLD, obeys=True, events=["sigint"], concurrency=16).crawl())


def test_a_crawl_that_is_interrupted_and_continued_passes(verdict: Verdict) -> None:
    text = "\n".join(show(verdict))
    assert verdict.passed, text
    assert text.endswith("PASS")
    assert [name for name, _ in verdict.state.happened] == ["sigint"]
    assert verdict.state.crawls == 2


def test_it_met_the_whole_world_and_most_of_its_faults(verdict: Verdict) -> None:
    kinds = {WORLD.site(host).kind for host in WORLD.hosts()}
    assert len(kinds & set(FAULTY)) >= 5
    assert verdict.totals["sites met"] == WORLD.sites
    assert verdict.totals["pages expected"] > 200


def test_the_judge_of_a_crawl_without_robots_txt_would_find_leaks(verdict: Verdict, folder: Path) -> None:
    """The log of the same crawl, judged by other rules, as if it had not obeyed."""
    other = verdict.state.world
    state = type(verdict.state)(World(6, other.sites, other.leaves, other.faults, other.port), True, finished=True)
    assert judged(folder, state).findings.counts["disallowed"] > 0


def test_memory_files_and_cpu_were_read(verdict: Verdict) -> None:
    assert set(verdict.gauges) == {1, 2}
    assert 20e6 < verdict.cost.memory < 1e9
    assert verdict.cost.files > 10
    assert verdict.cost.requests > 1
    assert verdict.urls > verdict.totals["pages"]


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


def test_a_folder_of_another_world_is_refused(verdict: Verdict, folder: Path) -> None:
    with pytest.raises(SystemExit, match="a crawl of another world"):
        Run(folder, World(seed=6, sites=60, leaves=6, faults=0.2), obeys=True, events=[], concurrency=16)


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
