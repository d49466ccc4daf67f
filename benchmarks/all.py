"""Every figure of README and docs in one run: ``python -m benchmarks.all --out docs``.

Each benchmark has a process of its own, one after another; its result is kept as ``docs/figures/NAME.json``. One
that is there, with the same versions and options, is not measured again unless ``--again`` says so: a run that was
stopped goes on. Then the pages are written: each ``<!-- figures: NAME -->`` is followed by what the figures say.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any, Final

from . import summary
from .figures import Block, benchmark, read, shown, sources

NAMES: Final = (
    "conformance", "gate", "crawl_delay", "backoff", "engine", "shell", "survey", "store", "instructions",
    "crawl_cost", "broad", "links", "sitemaps", "fleet", "census", "priority_queue",
)  # fmt: skip
NOT_HERE: Final = {"soak": "it crawls for as long as it is asked to, and judges rather than measures"}
BLOCK: Final = re.compile(r"(<!-- figures: (\S+) -->\n)(.*?)(<!-- /figures -->)", re.DOTALL)


def blocks() -> dict[str, Block]:
    found = dict(summary.BLOCKS)
    for name in NAMES:
        found |= benchmark(name).blocks
    return found


def pages(docs: Path) -> Iterator[Path]:
    return (path for path in [docs.parent / "README.md", *sorted(docs.rglob("*.md"))] if path.exists())


def filled(page: str, docs: Path) -> str:
    """The text of a page with all of its blocks as the results in *docs* have them; one without a result stays."""
    every = blocks()
    names = [match[2] for match in BLOCK.finditer(page) if match[2] in every]
    last = {str(sources(every[name])): name for name in names}

    def text(match: re.Match[str]) -> str:
        if match[2] == "all":
            found = {name: result for name in NAMES if (result := read(name, docs))}
            return "\n".join([match[1], *summary.runs(found), "", match[4]])
        block = every[match[2]]
        results = {name: read(name, docs) for name in sources(block)}
        more = last[str([*results])] != match[2]
        return (
            f"{match[1]}\n{shown(block, results, more=more)}\n\n{match[4]}" if all(results.values()) else match[0]
        )

    return BLOCK.sub(text, page)


def write(docs: Path) -> None:
    for path in pages(docs):
        old = path.read_text("utf-8")
        if (new := filled(old, docs)) != old:
            path.write_text(new, "utf-8")
            print(f"wrote {path}")


def is_current(name: str, docs: Path, options: dict[str, Any]) -> bool:
    result = read(name, docs)
    return bool(result) and {**result, **benchmark(name).stamp(options)} == result


def minutes(name: str, docs: Path, quick: bool) -> float:
    """How long it took, or is expected to."""
    return 0.5 if quick else float(read(name, docs).get("minutes", benchmark(name).minutes))


def run(name: str, docs: Path, options: dict[str, Any]) -> bool:
    words: list[str] = []
    for option, value in options.items():
        values = value if isinstance(value, tuple) else (value,)
        words += [f"--{option.replace('_', '-')}", *map(str, values)]
    command = [sys.executable, "-m", f"benchmarks.{name}", "--out", str(docs), *words]
    return not subprocess.run(command, check=False, stdout=subprocess.DEVNULL).returncode  # noqa: S603


def measure(names: list[str], docs: Path, quick: bool) -> list[str]:
    """Run the benchmarks one after another, and say how long the rest takes; the names of those that broke."""
    broken = []
    for number, name in enumerate(names):
        left = sum(minutes(each, docs, quick) for each in names[number:])
        print(f"{number + 1} of {len(names)}: {name}; {left:.0f} minutes left", flush=True)
        began = perf_counter()
        options = {**benchmark(name).options(), **(benchmark(name).quick if quick else {})}
        if not run(name, docs, options):
            broken.append(name)
        print(f"  {'broke' if name in broken else 'done'} after {perf_counter() - began:.0f} s", flush=True)
    return broken


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.all", description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--out", type=Path, default=Path("docs"), help="the folder of pages (default: %(default)s)"
    )
    parser.add_argument("--only", nargs="+", choices=NAMES, default=NAMES, metavar="NAME", help="of benchmarks")
    parser.add_argument("--again", action="store_true", help="also what has been measured with these versions")
    parser.add_argument(
        "--quick", action="store_true", help="a small run, into a copy of the pages that is dropped"
    )
    parser.add_argument(
        "--write", action="store_true", help="measure nothing, write the pages and draw the pictures"
    )
    given = parser.parse_args()
    if given.quick:
        with tempfile.TemporaryDirectory() as folder:
            docs = Path(shutil.copytree(given.out, Path(folder, "docs"), ignore=shutil.ignore_patterns("figures")))
            shutil.copy(given.out.resolve().parent / "README.md", folder)
            return finish(measure([*given.only], docs, quick=True), docs)
    names = [
        name for name in given.only if given.again or not is_current(name, given.out, benchmark(name).options())
    ]
    return finish([] if given.write else measure(names, given.out.resolve(), quick=False), given.out.resolve())


def finish(broken: list[str], docs: Path) -> int:
    write(docs)
    print(f"broke: {', '.join(broken)}" if broken else "all figures are there")
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main())
