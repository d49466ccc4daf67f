"""The process of libFuzzer: ``python -m fuzz.guided TARGET`` and the arguments of libFuzzer. Needs atheris.

libFuzzer ends the process when it has found something, so `engines` starts one for each run.
"""

from __future__ import annotations

import sys

import atheris


def main() -> None:
    """Fuzz the target that the first argument names; the process ends with the run."""
    name, *arguments = sys.argv[1:]
    with atheris.instrument_imports(include=["scrapy_rep"]):
        from fuzz.targets import TARGETS  # what is imported here is instrumented
    atheris.Setup([sys.argv[0], *arguments], TARGETS[name])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
