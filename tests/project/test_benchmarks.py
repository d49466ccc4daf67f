"""The figures and the pictures of the pages are those that were measured."""

from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.support.markdown import DOCS, PAGES, ROOT, names

pytest.importorskip("robots")
from benchmarks.all import (
    BLOCK,
    NAMES,
    NOT_HERE,
    blocks,
    filled,
    is_current,
)  # needs robotspy, as do the next lines
from benchmarks.figures import benchmark, draw, origin, pretty, read, save, sources

RESULTS = {name: result for name in NAMES if (result := read(name, DOCS))}
SHOWN = {match[1]: page for page, text in PAGES.items() for match in BLOCK.findall(text)}


@pytest.mark.parametrize("page", sorted(set(SHOWN.values())))
def test_the_figures_of_a_page_are_those_of_the_results(page: str) -> None:
    assert filled(PAGES[page], DOCS) == PAGES[page]


def test_every_block_of_a_benchmark_is_shown_and_every_block_that_is_shown_is_of_a_benchmark() -> None:
    assert set(SHOWN) == {*blocks(), "all"}


@pytest.mark.parametrize("name", blocks())
def test_a_block_is_filled_as_soon_as_its_benchmarks_have_results(name: str) -> None:
    has_results = set(sources(blocks()[name])) <= set(RESULTS)
    (body,) = (match[2] for match in BLOCK.findall(PAGES[SHOWN[name]]) if match[1] == name)
    assert bool(body.strip()) is has_results


def test_every_benchmark_of_the_page_is_in_the_one_run_or_has_a_reason_not_to_be() -> None:
    table, _, _ = PAGES["docs/benchmarks.md"].partition("<!-- figures: all -->")
    listed = names(table)
    assert {*listed} == {*NAMES, *NOT_HERE}
    modules = re.findall(r"python -m benchmarks\.(\w+)", "".join(PAGES.values()))
    assert set(modules) <= {*NAMES, *NOT_HERE, "all", "NAME"}
    folder = ROOT / "benchmarks"
    assert all((folder / f"{name}.py").exists() or (folder / name / "__main__.py").exists() for name in listed)


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_is_of_a_run_that_counts(name: str) -> None:
    options = benchmark(name).options()
    assert RESULTS[name]["options"] == benchmark(name).stamp(options)["options"]
    assert (DOCS / "figures" / f"{name}.json").read_text("utf-8") == pretty(RESULTS[name]) + "\n"


def test_a_run_goes_on_behind_what_was_measured_with_the_same_versions_and_options(tmp_path: Path) -> None:
    options = benchmark("store").options()
    assert not is_current("store", tmp_path, options)
    save("store", {**benchmark("store").stamp(options), "figures": {}}, tmp_path)
    assert is_current("store", tmp_path, options)
    assert not is_current("store", tmp_path, options | {"origins": 1})


def test_figures_tell_that_the_machine_was_busy() -> None:
    result = {"date": "2026-01-02", "machine": "2 cores, a processor, 8 GB", "load": 0.3}
    idle = result | {"versions": {"Python": "3.11.7", "Scrapy": "2.19.0"}}
    told = "Measured by `python -m benchmarks.gate`, 2026-01-02: 2 cores, Python 3.11.7, Scrapy 2.19.0."
    assert origin({"gate": idle}) == told
    assert "busy with other work (load 5)" in origin({"gate": idle | {"load": 5.1}})


@pytest.mark.parametrize("name", [name for name in RESULTS if benchmark(name).pictures])
def test_a_picture_is_drawn_from_the_result(name: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    if version("matplotlib") != RESULTS[name]["versions"]["matplotlib"]:
        pytest.skip("another version than the pictures were drawn with")
    draw(name, DOCS, tmp_path)
    for picture in benchmark(name).pictures:
        assert (tmp_path / picture).read_text("utf-8") == (DOCS / picture).read_text("utf-8")
