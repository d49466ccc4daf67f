"""``python -m fuzz [TARGET …]``: run the targets, and say what was run, what it reached and what it found."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from functools import partial
from pathlib import Path
from typing import Final

from .engines import ENGINES, Folders, Outcome, has_atheris, with_google
from .targets import TARGETS

_ROW: Final = "{:<14}{:>12}{:>10}{:>9}{:>10}{:>9}{:>7}"
_END_OF_LOG: Final = 4_000  # characters


def main(arguments: list[str] | None = None) -> int:
    """Run the command with *arguments*, those of the process by default; 1 if something was found."""
    chosen = _parse(arguments)
    engine = partial(with_google, chosen.google) if chosen.google else ENGINES[chosen.engine]
    print(f"engine: {chosen.engine}, {chosen.seconds:g} s for each of {len(chosen.targets)} targets\n")
    print(_ROW.format("target", "executions", "per s", "edges", "features", "corpus", "found"))
    outcomes = []
    for target in chosen.targets:
        outcomes.append(engine(target, chosen.seconds, Folders.of(chosen.folder, target)))
        print(_row(outcomes[-1]), flush=True)
    _print_found(outcomes)
    return int(any(outcome.found for outcome in outcomes))


def _parse(arguments: list[str] | None) -> Namespace:
    parser = ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"all by default: {', '.join(TARGETS)}")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each target; 60 by default")
    parser.add_argument(
        "--engine", choices=ENGINES, default="atheris" if has_atheris() else "random",
        help="atheris where it is installed, else random; replay runs what is kept, and makes no new inputs",
    )  # fmt: skip
    parser.add_argument(
        "--folder", type=Path, default=Path("build/fuzz"), help="where inputs are kept; build/fuzz by default"
    )
    parser.add_argument(
        "--google", type=Path, metavar="DIR",
        help="run the part in C, sanitized, on inputs of verdict beside Google's parser, of its source in DIR",
    )  # fmt: skip
    chosen = parser.parse_args(arguments)
    if unknown := sorted({*chosen.targets} - {*TARGETS}):
        parser.error(f"no target is called {unknown[0]}: there are {', '.join(TARGETS)}")
    if chosen.google:
        chosen.engine, chosen.targets = "google", ["verdict"]
    chosen.targets = chosen.targets or [*TARGETS]
    return chosen


def _row(outcome: Outcome) -> str:
    rate = outcome.executions / outcome.seconds if outcome.seconds else 0.0
    numbers = (
        outcome.executions,
        round(rate),
        outcome.edges,
        outcome.features,
        outcome.corpus,
        len(outcome.found),
    )
    return _ROW.format(outcome.target, *(f"{number:,}" for number in numbers))


def _print_found(outcomes: list[Outcome]) -> None:
    for outcome in outcomes:
        for path in outcome.found:
            print(f"\n{outcome.target} fails with {path}: {path.read_bytes()[:300]!r}")
        if outcome.log:
            print(outcome.log[-_END_OF_LOG:])
    executions = sum(outcome.executions for outcome in outcomes)
    found = sum(len(outcome.found) for outcome in outcomes)
    print(f"\n{executions:,} executions, {found:,} found")


if __name__ == "__main__":
    sys.exit(main())
