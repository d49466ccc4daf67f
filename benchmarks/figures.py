"""What all benchmarks share: options, results with date, machine and versions, and the blocks of pages they fill.

A module with a benchmark has `BENCHMARK`, and ends by calling `main`. Its result is ``docs/figures/NAME.json``.
"""

from __future__ import annotations

import json
import os
import platform
import re
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from inspect import signature
from pathlib import Path
from textwrap import fill
from time import perf_counter
from typing import Any, Final

import scrapy_rep

DOCS: Final = Path(__file__).parents[1] / "docs"
WIDTH: Final = 115  # of a line of JSON

Block = Callable[..., Iterable[str]]
"""Lines of Markdown; its parameters are the benchmarks whose figures it shows."""


@dataclass(frozen=True)
class Benchmark:
    """*measure* answers figures, as JSON; its keyword arguments are the options, and *quick* those of a trial.

    *pictures* are paths of functions of the figures and of a file, by the names of the files. The figures of what
    *is_timed* depend on how busy the machine is.
    """

    measure: Callable[..., Any]
    minutes: float
    quick: Mapping[str, Any] = field(default_factory=dict)
    blocks: Mapping[str, Block] = field(default_factory=dict)
    pictures: Mapping[str, str] = field(default_factory=dict)
    versions: tuple[str, ...] = ()
    is_timed: bool = True

    def options(self) -> dict[str, Any]:
        """The options of a run that counts."""
        return {name: parameter.default for name, parameter in signature(self.measure).parameters.items()}

    def stamp(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """What a result depends on, beside the machine."""
        found = {"Python": platform.python_version(), "scrapy_rep": scrapy_rep.__version__}
        found |= {name: installed(name) for name in ("Scrapy", "Twisted", "Protego", *self.versions)}
        found |= {"matplotlib": installed("matplotlib")} if self.pictures else {}
        return {"versions": found, "options": json.loads(json.dumps(options))}


def installed(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "missing"


def benchmark(name: str) -> Benchmark:
    found: Benchmark = import_module(f"benchmarks.{name}").BENCHMARK
    return found


def machine() -> str:
    """The class of this machine; no name of it."""
    model = re.search(r"model name\s*: (.+)", Path("/proc/cpuinfo").read_text("utf-8"))
    gigabytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    return f"{os.cpu_count()} cores, {model[1] if model else platform.machine()}, {gigabytes:.0f} GB"


def measured(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The result of a run: its figures, and all that they depend on."""
    one, began = benchmark(name), perf_counter()
    head = {
        "date": datetime.now(timezone.utc).date().isoformat(),
        "machine": machine(),
        "load": round(os.getloadavg()[0], 1),
        **one.stamp(options),
    }
    figures = json.loads(json.dumps(one.measure(**options)), parse_float=four_digits)
    return {**head, "minutes": round((perf_counter() - began) / 60, 1), "figures": figures}


def four_digits(text: str) -> float:
    """Nothing that is measured here is more exact."""
    return float(f"{float(text):.4g}")


# Files


def path_of(name: str, docs: Path) -> Path:
    return docs / "figures" / f"{name}.json"


def read(name: str, docs: Path) -> dict[str, Any]:
    """The result of a benchmark; empty without one."""
    path = path_of(name, docs)
    found: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return found


def save(name: str, result: dict[str, Any], docs: Path) -> None:
    """The result, and its pictures."""
    path_of(name, docs).parent.mkdir(parents=True, exist_ok=True)
    path_of(name, docs).write_text(pretty(result) + "\n", "utf-8")
    draw(name, docs)


def draw(name: str, docs: Path, out: Path | None = None) -> None:
    """The pictures of a benchmark, by the result in *docs*; into *out*, or there."""
    for picture, path in benchmark(name).pictures.items():
        module, _, function = path.rpartition(".")
        getattr(import_module(module), function)(read(name, docs)["figures"], (out or docs) / picture)


def pretty(value: Any, indent: str = "") -> str:
    """JSON that people read, too: what fits into a line is one, and so is a list of numbers."""
    text = json.dumps(value, ensure_ascii=False)
    is_plain = isinstance(value, list) and not any(isinstance(each, (dict, str)) for each in value)
    if is_plain or not isinstance(value, (dict, list)) or len(indent + text) <= WIDTH:
        return text
    deeper, ends = indent + " ", "{}" if isinstance(value, dict) else "[]"
    if isinstance(value, dict):
        lines = [f"{json.dumps(key, ensure_ascii=False)}: {pretty(each, deeper)}" for key, each in value.items()]
    else:
        lines = [pretty(each, deeper) for each in value]
    return f"{ends[0]}\n{deeper}" + f",\n{deeper}".join(lines) + f"\n{indent}{ends[1]}"


# Markdown


def row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> Iterator[str]:
    names = list(head)
    yield row(*names)
    yield f"|{'---|' * len(names)}"
    for cells in rows:
        yield row(*cells)


def time(seconds: float) -> str:
    """Two digits, in the unit that suits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size or unit == "µs":
            break
    return f"{seconds / size:.{1 if seconds / size < 10 else 0}f} {unit}"


def rounded(number: float) -> str:
    """Two digits that count: nobody can rely on more."""
    return f"{float(f'{number:.2g}'):,.0f}"


def sources(block: Block) -> list[str]:
    """The benchmarks whose figures it shows."""
    return [*signature(block).parameters]


def shown(block: Block, results: Mapping[str, dict[str, Any]], *, more: bool = False) -> str:
    """The text of a block, and where its figures come from, unless *more* of them follow."""
    of = {name: results[name] for name in sources(block)}
    lines = block(*(result["figures"] for result in of.values()))
    whole = [*lines] if more else [*lines, "", origin(of)]
    return "\n".join(line if line.startswith("|") else fill(line, WIDTH, break_long_words=False) for line in whole)


def origin(results: Mapping[str, dict[str, Any]]) -> str:
    dates = sorted({result["date"] for result in results.values()})
    first = next(iter(results.values()))
    commands = ", ".join(f"`python -m benchmarks.{name}`" for name in results)
    when, cores = " to ".join(dates[:: max(1, len(dates) - 1)]), first["machine"].partition(",")[0]
    versions = ", ".join(f"{name} {first['versions'][name]}" for name in ("Python", "Scrapy"))
    load = max((result["load"] for name, result in results.items() if benchmark(name).is_timed), default=0)
    busy = f", busy with other work (load {load:.0f})" if load > 2 * int(cores.split()[0]) else ""
    return f"Measured by {commands}, {when}: {cores}{busy}, {versions}."


# One benchmark alone


def parser_of(name: str) -> ArgumentParser:
    one, parser = benchmark(name), ArgumentParser(prog=f"python -m benchmarks.{name}")
    for option, default in one.options().items():
        many = isinstance(default, tuple)
        kind = type(default[0] if many else default)
        many_or_one: Any = {"nargs": "+"} if many else {}
        told = "(default: %(default)s)"
        parser.add_argument(f"--{option.replace('_', '-')}", type=kind, default=default, help=told, **many_or_one)
    parser.add_argument("--out", type=Path, help="folder of pages, for the result and its pictures")
    return parser


def main(module: str) -> None:
    """What ``python -m benchmarks.NAME`` does: measure, and print the blocks."""
    name = module.rpartition(".")[2]
    options = vars(parser_of(name).parse_args())
    out = options.pop("out")
    result = measured(name, options)
    if out:
        save(name, result, out)
    print(pretty({key: value for key, value in result.items() if key != "figures"}))
    for block in benchmark(name).blocks.values():
        if sources(block) == [name]:
            print("", shown(block, {name: result}), sep="\n")
    if not benchmark(name).blocks:
        print(pretty(result["figures"]))
